/*===- Runtime.h - launch kernels from compiled functions ---------*- C -*-===*\
|*                                                                            *|
|* Part of the blockscale project, under the Apache License v2.0 with LLVM    *|
|* Exceptions.                                                                *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* What functions call that `blockscale-to-host` compiled: they hold launch   *|
|* plan and PTX (or cubin) of their kernels and have their operands in host   *|
|* memory or on the device. The runtime loads the CUDA driver, libcuda.so.1,  *|
|* when the first kernel is launched, and needs no header or library of CUDA  *|
|* before.                                                                    *|
|*                                                                            *|
|* All functions may be called from several threads. What a thread launches   *|
|* goes to its stream (blockscaleRuntimeSetStream).                           *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef BLOCKSCALE_RUNTIME_RUNTIME_H
#define BLOCKSCALE_RUNTIME_RUNTIME_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/** What BlockscaleOperand::flags may hold. */
enum {
  /** The values never change, as those of weights: the copy on the device is
   *  kept, up to blockscaleRuntimeUnload, and found again by address, kernel,
   *  role and shape. */
  BLOCKSCALE_OPERAND_RESIDENT = 1
};

/** One operand of a launch.
 *
 *  In host memory it is an array of any strides, of which an element takes at
 *  least a byte; it is packed and copied. `data` may also be an address of the
 *  device, which the driver is asked about: then the operand lies there as the
 *  launch plan packs it (docs/launch-plan.md), and nothing is copied. Its sizes
 *  and `elementBytes` are those of the array that it was packed from, its
 * strides those of a contiguous one. */
typedef struct BlockscaleOperand {
  /** The kernel parameter that it becomes, as the launch plan names it:
   *  "a_data", "b_scales", "alpha", "d", ...; of a kernel that quantises "x",
   *  "tensor_scale", "d_data", "d_scales", "d_tensor_scale", and as well
   *  "transposed_data" and so on of one with two results. */
  const char *role;
  /** Its first element; of "alpha" and "beta" a float in host memory. Only
   * those of "d", of its parts and of "transposed" are written. */
  void *data;
  /** Dimensions; 0 for a scalar. */
  int64_t rank;
  /** Extents and distances in elements, outermost first; `rank` of each. */
  const int64_t *sizes;
  const int64_t *strides;
  /** Bytes of an element. One of less than 8 bits takes a byte, of which the
   *  upper bits are not looked at. */
  int64_t elementBytes;
  /** BLOCKSCALE_OPERAND_RESIDENT or 0. */
  int64_t flags;
} BlockscaleOperand;

/** The kernels of one chip. Lives as long as anything launches them. */
typedef struct BlockscaleKernels {
  /** The launch plan, as JSON. */
  const char *plan;
  int64_t planBytes;
  /** PTX followed by a zero byte, or a cubin. */
  const void *image;
  int64_t imageBytes;
  /** Null at first; the runtime's own. */
  void *state;
} BlockscaleKernels;

/** Copies what is in host memory to the device, packed as the plan says, and
 *  runs the kernel. If "d" or a part of it is in host memory, waits and copies
 * it back, codes of less than a byte in a byte each; if all of it is on the
 * device, the call returns before the kernel is done, and what the kernel does
 * wrong is an error of a later call. The sizes of the product follow from the
 * shapes; nothing happens where D has no element. Runs in the calling thread's
 * context or, if it has none, in the primary context of device 0. Returns 0, or
 * 1 if anything failed: blockscaleRuntimeError says what. */
int32_t blockscaleRuntimeLaunch(BlockscaleKernels *kernels, const char *kernel,
                                const BlockscaleOperand *operands,
                                int64_t count);

/** The same for callers that have no place for errors, compiled functions: the
 *  handler gets the sentence. */
void blockscaleRuntimeRun(BlockscaleKernels *kernels, const char *kernel,
                          const BlockscaleOperand *operands, int64_t count);

/** For those who launch the kernel themselves, such as upstream's runtime of
 *  `gpu.launch_func`: everything up to the launch. The clusters that run at
 * once are taken to be those that the SMs have room for. Null where D has no
 * element and nothing is to be launched; on failure as blockscaleRuntimeRun. */
typedef struct BlockscalePreparedLaunch BlockscalePreparedLaunch;
BlockscalePreparedLaunch *
blockscaleRuntimePrepare(BlockscaleKernels *kernels, const char *kernel,
                         const BlockscaleOperand *operands, int64_t count);

/** CTAs along axis 0, 1 or 2. */
int64_t blockscaleRuntimeGrid(const BlockscalePreparedLaunch *launch,
                              int64_t axis);

/** The value of a kernel parameter, a tensor map, an address or a number; null
 *  beyond the last. Valid up to blockscaleRuntimeFinish. */
const void *blockscaleRuntimeParameter(const BlockscalePreparedLaunch *launch,
                                       int64_t index);

/** Waits for the kernel, copies "d" back and frees what
 * blockscaleRuntimePrepare made. Nothing for null; on failure as
 * blockscaleRuntimeRun. */
void blockscaleRuntimeFinish(BlockscalePreparedLaunch *launch);

/** The stream, a CUstream of the thread's context, for all that the calling
 *  thread does from now on; null, as at first, is the default stream. */
void blockscaleRuntimeSetStream(void *stream);

/** Waits for what the calling thread's stream holds. Returns 0, or 1 if
 * anything in it failed. */
int32_t blockscaleRuntimeSynchronize(void);

/** Memory of the device for results that only kernels read, in the order of the
 *  calling thread's stream. Null for 0 bytes; on failure as
 *  blockscaleRuntimeRun. */
void *blockscaleRuntimeAllocate(int64_t bytes);
void blockscaleRuntimeFree(void *memory);

/** What went wrong in this thread's last call; empty if nothing did. Valid up
 *  to the thread's next call. */
const char *blockscaleRuntimeError(void);

/** What blockscaleRuntimeRun calls on failure. The process is aborted if it
 *  returns, because the function would go on without its result. Null stands
 *  for the handler at the start, which prints to standard error. */
typedef void (*BlockscaleErrorHandler)(const char *message);
void blockscaleRuntimeSetErrorHandler(BlockscaleErrorHandler handler);

/** Unloads what was loaded for `kernels`, which may be launched again. Must not
 *  be called while they are. Returns 0, or 1 on failure. */
int32_t blockscaleRuntimeUnload(BlockscaleKernels *kernels);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif /* BLOCKSCALE_RUNTIME_RUNTIME_H */
