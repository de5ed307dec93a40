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
|* memory. The runtime loads the CUDA driver, libcuda.so.1, when the first    *|
|* kernel is launched, and needs no header or library of CUDA before.         *|
|*                                                                            *|
|* All functions may be called from several threads.                          *|
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

/** One operand of a launch, in host memory. */
typedef struct BlockscaleOperand {
  /** The kernel parameter that it becomes, as the launch plan names it:
   *  "a_data", "b_scales", "alpha", "d", ... */
  const char *role;
  /** Its first element; of "alpha" and "beta" a float. Only that of "d" is
   *  written. */
  void *data;
  /** Dimensions; 0 for a scalar. */
  int64_t rank;
  /** Extents and distances in elements, outermost first; `rank` of each. */
  const int64_t *sizes;
  const int64_t *strides;
  /** Bytes of an element. One of less than 8 bits takes a byte, of which the
   *  upper bits are not looked at. */
  int64_t elementBytes;
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

/** Copies the operands to the device, packed as the plan says, runs the kernel
 *  on the default stream, waits for it and copies "d" back. The sizes of the
 *  product follow from the shapes; nothing happens where D has no element.
 *  Runs in the calling thread's context or, if it has none, in the primary
 *  context of device 0. Returns 0, or 1 if anything failed:
 *  blockscaleRuntimeError says what. */
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
typedef struct BlockscaleLaunch BlockscaleLaunch;
BlockscaleLaunch *blockscaleRuntimePrepare(BlockscaleKernels *kernels,
                                           const char *kernel,
                                           const BlockscaleOperand *operands,
                                           int64_t count);

/** CTAs along axis 0, 1 or 2. */
int64_t blockscaleRuntimeGrid(const BlockscaleLaunch *launch, int64_t axis);

/** The value of a kernel parameter, a tensor map, an address or a number; null
 *  beyond the last. Valid up to blockscaleRuntimeFinish. */
const void *blockscaleRuntimeParameter(const BlockscaleLaunch *launch,
                                       int64_t index);

/** Waits for the kernel, copies "d" back and frees what
 * blockscaleRuntimePrepare made. Nothing for null; on failure as
 * blockscaleRuntimeRun. */
void blockscaleRuntimeFinish(BlockscaleLaunch *launch);

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
