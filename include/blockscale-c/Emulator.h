/*===- Emulator.h - PTX on the emulator, and verdicts -*- C -*-===*\
|*
|* Part of the blockscale project, under the Apache License v2.0 with LLVM
|* Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
\*===----------------------------------------------------------------------===*/

#ifndef BLOCKSCALE_C_EMULATOR_H
#define BLOCKSCALE_C_EMULATOR_H

#include "blockscale-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/* When an asynchronous operation takes effect. */
typedef enum BlockscaleCompletion {
  BLOCKSCALE_COMPLETION_IMMEDIATE = 0,
  BLOCKSCALE_COMPLETION_RANDOM = 1,
  BLOCKSCALE_COMPLETION_LATEST = 2
} BlockscaleCompletion;

/*===----------------------------------------------------------------------===*\
|* Launches
\*===----------------------------------------------------------------------===*/

/* A launch of the entry `kernel` of any PTX, with one CTA of one thread and no
   arguments to begin with. */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleLaunchCreate(
    BlockscaleSlice ptx, BlockscaleSlice kernel, BlockscaleLaunch *launch);

/* A launch as the plan of the PTX says. An empty `kernel` is the plan's
   first. Where it has variants for few rows, the M that is set decides, which
   has to be set first then: the name that blockscaleLaunchDescribe gives is
   that of the kernel that is launched. */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleLaunchCreateFromPlan(
    BlockscaleSlice ptx, BlockscaleSlice plan, BlockscaleSlice kernel,
    BlockscaleLaunch *launch);

BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleLaunchDestroy(BlockscaleLaunch launch);

/* Without a plan: CTAs of the grid, CTAs of a cluster, threads of a CTA, each
   at least 1, and bytes of dynamic shared memory. */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleLaunchSetGrid(
    BlockscaleLaunch launch, uint32_t x, uint32_t y, uint32_t z);
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleLaunchSetCluster(
    BlockscaleLaunch launch, uint32_t x, uint32_t y, uint32_t z);
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleLaunchSetBlock(
    BlockscaleLaunch launch, uint32_t x, uint32_t y, uint32_t z);
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleLaunchSetSharedBytes(BlockscaleLaunch launch, uint32_t bytes);

/* Without a plan: the next argument. A scalar is copied; memory is the
   program's, must stay until the launch is destroyed, and must not be null or
   empty. */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleLaunchAddScalar(
    BlockscaleLaunch launch, const void *bytes, size_t size);
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleLaunchAddMemory(
    BlockscaleLaunch launch, void *data, size_t size, bool isWritable);

/* The fields of cuTensorMapEncodeTiled with the numbers of cuda.h. Dimensions
   and boxes are in elements, innermost first, strides in bytes of all
   dimensions but the first. */
typedef struct BlockscaleTensorMap {
  uint32_t dataType, rank;
  uint64_t globalDim[5];
  uint64_t globalStrides[4];
  uint32_t boxDim[5];
  uint32_t elementStrides[5];
  uint32_t interleave, swizzle, l2Promotion, oobFill;
} BlockscaleTensorMap;

/* The next argument is a tensor map of `data`. */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleLaunchAddTensorMap(
    BlockscaleLaunch launch, const BlockscaleTensorMap *map, void *data,
    size_t size, bool isWritable);

/* With a plan: a dynamic size (M, N, K, batch), num_sms or max_clusters; a
   factor (alpha, beta). */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleLaunchSetSize(
    BlockscaleLaunch launch, BlockscaleSlice name, int64_t value);
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleLaunchSetFactor(
    BlockscaleLaunch launch, BlockscaleSlice name, float value);

/* With a plan: bytes of the memory behind a parameter ("a_data", "b_scales",
   "bias", "d", ...) with the sizes that are set. */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleLaunchGetMemorySize(
    BlockscaleLaunch launch, BlockscaleSlice role, uint64_t *bytes);

/* With a plan: that memory, of exactly this size. It is the program's and must
   stay until the launch is destroyed; a run writes the result into that of
   "d". A "workspace" may be left out: a run makes one then. */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleLaunchSetMemory(
    BlockscaleLaunch launch, BlockscaleSlice role, void *data, size_t size);

/* With a plan: what a host that launches the kernel on a device needs to know,
   with the sizes that are set, as JSON. "kernel", "target", "sizes"; "grid",
   "cluster" and "block", three numbers each; "sharedMemoryBytes",
   "dependentLaunch", "cooperative"; "parameters", a list of objects with
   "role", "kind", "offset", "size", "bytes" and "alignment" of the memory
   behind it (0 for scalars), "value" (of a size; else null) and "tensorMap":
   the fields of BlockscaleTensorMap, or null. `num_sms` and `max_clusters` are
   those of the chip's reference part unless they are set. */
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleLaunchDescribe(BlockscaleLaunch launch, BlockscaleBytes *json);

/* To be filled by blockscaleRunOptionsInit(), which takes its size. */
typedef struct BlockscaleRunOptions {
  size_t structSize;
  /* Host threads; 0 for all. */
  uint32_t threads;
  BlockscaleCompletion completion;
  uint64_t seed;
  /* Instructions that one warp may execute. */
  uint64_t stepLimit;
  /* Look for missing order, fences and waits. */
  bool strict;
  /* Tell also what is formally wrong but works in published kernels. */
  bool advice;
  /* Ends the run early; a null handle for none. */
  BlockscaleStop stop;
  /* Called when a cluster has ended; null for none. */
  BlockscaleProgressCallback progress;
  void *progressData;
} BlockscaleRunOptions;

BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleRunOptionsInit(BlockscaleRunOptions *options, size_t structSize);

/* Runs the launch; it may be run again. `options` may be null. What the
   emulator finds wrong with the kernel is in `run`, whose status is
   BLOCKSCALE_OK. */
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleLaunchRun(BlockscaleLaunch launch,
                    const BlockscaleRunOptions *options, BlockscaleRun *run);

/* Whether nothing was found. */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleRunIsClean(BlockscaleRun run,
                                                          bool *isClean);

/* What was found and counted, as JSON: "clean"; "findings" and "advice", each a
   list of objects with "kind", "message", "line", "cta", "warp", "lane",
   "address", "hazard" and "text"; "counters"; "openPoints", the choices that
   the run depended on where the PTX ISA is open. Borrowed until `run` is
   destroyed. */
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleRunGetReport(BlockscaleRun run, BlockscaleSlice *json);

BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleRunDestroy(BlockscaleRun run);

/*===----------------------------------------------------------------------===*\
|* Verdicts
\*===----------------------------------------------------------------------===*/

typedef enum BlockscaleVerifyData {
  /* Small numbers, which must agree bit for bit. */
  BLOCKSCALE_DATA_EXACT = 0,
  /* All codes, which must agree within a bound. */
  BLOCKSCALE_DATA_RANDOM = 1,
  BLOCKSCALE_DATA_BOTH = 2
} BlockscaleVerifyData;

typedef enum BlockscaleConditions {
  BLOCKSCALE_CONDITIONS_PLAIN = 0,
  /* Least alignment, every legal byte as padding, many tiles for a CTA, NaNs.
   */
  BLOCKSCALE_CONDITIONS_HARSH = 1,
  /* Harsh with random data, plain with exact data. */
  BLOCKSCALE_CONDITIONS_BOTH = 2
} BlockscaleConditions;

/* To be filled by blockscaleVerifyOptionsInit(), which takes its size. */
typedef struct BlockscaleVerifyOptions {
  size_t structSize;
  BlockscaleVerifyData data;
  BlockscaleConditions conditions;
  /* Values of dynamic sizes to try, each with each; where there are none, one
     of ours. */
  const int64_t *m;
  size_t mCount;
  const int64_t *n;
  size_t nCount;
  const int64_t *k;
  size_t kCount;
  const int64_t *batch;
  size_t batchCount;
  /* SMs that the launch assumes; 0 for those of the chip's reference part. */
  int64_t numSms;
  /* Clusters to run, spread over the grid; 0 for all. */
  uint64_t sampleClusters;
  uint64_t seed;
  /* Host threads; 0 for all. */
  uint32_t threads;
  BlockscaleCompletion completion;
  /* Ends the runs early; a null handle for none. */
  BlockscaleStop stop;
  /* Called while inputs are made, while a kernel runs and while the reference
     is computed; each of these steps counts from 0. Null for none. */
  BlockscaleProgressCallback progress;
  void *progressData;
  /* Called with `progressData` before each step. Null for none. */
  BlockscaleStepCallback step;
} BlockscaleVerifyOptions;

BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleVerifyOptionsInit(
    BlockscaleVerifyOptions *options, size_t structSize);

/* Runs all kernels of the plan on the emulator, with inputs of ours, and
   compares what they write with a reference product. `options` may be null.
   That a kernel is wrong is a verdict, with the status BLOCKSCALE_OK. */
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleVerify(BlockscaleSlice ptx, BlockscaleSlice plan,
                 const BlockscaleVerifyOptions *options,
                 BlockscaleVerification *verification);

/* Whether all kernels passed in all runs. */
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleVerificationPassed(BlockscaleVerification verification, bool *passed);

/* The verdicts as the command line prints them, and as JSON: a list of objects
   with "kernel", "passed", "data", "conditions", "sizes", "error", "compared",
   "mismatches", "unwritten", "diagnosis", "findings", "clusters",
   "clustersRun" and "seconds". Borrowed until `verification` is destroyed. */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleVerificationGetText(
    BlockscaleVerification verification, BlockscaleSlice *text);
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleVerificationGetReport(
    BlockscaleVerification verification, BlockscaleSlice *json);

BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleVerificationDestroy(BlockscaleVerification verification);

#ifdef __cplusplus
}
#endif

#endif /* BLOCKSCALE_C_EMULATOR_H */
