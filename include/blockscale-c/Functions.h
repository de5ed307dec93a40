/*===- Functions.h - whole functions, called and judged -*- C -*-===*\
|*
|* Part of the blockscale project, under the Apache License v2.0 with LLVM
|* Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
\*===----------------------------------------------------------------------===*/

#ifndef BLOCKSCALE_C_FUNCTIONS_H
#define BLOCKSCALE_C_FUNCTIONS_H

#include "blockscale-c/Compiler.h"
#include "blockscale-c/Emulator.h"

#ifdef __cplusplus
extern "C" {
#endif

/*===----------------------------------------------------------------------===*\
|* Programs
\*===----------------------------------------------------------------------===*/

/* Compiles the public functions of the module, which stays as it is, into code
   of this process: the emulator runs their kernels, the CPU the rest. `options`
   may be null; those about cubins and duties of a host are without effect. The
   program outlives the session. */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleProgramCreate(
    BlockscaleModule module, const BlockscaleCompileOptions *options,
    BlockscaleProgram *program);

/* The functions, as JSON: a list of objects with "name", "argumentTypes" and
   "resultTypes" (as MLIR writes them), and "arguments" and "results": the
   arrays that a call takes and gives, each with "index" (of the argument or
   result), "part" ("" or, of a scaled tensor, "data", "scales", "zeros",
   "tensor_scale", "metadata"), "element" ("f32", "f8E4M3FN", ...),
   "elementBytes", "sizes" (null for those that a call says), "isNumber" and
   "isMemory" (the function may write it). Borrowed until the program is
   destroyed. */
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleProgramDescribe(BlockscaleProgram program, BlockscaleSlice *json);

/* A row-major array, or a number, which has no sizes. Elements of less than a
   byte take a byte each, its upper bits zero. */
typedef struct BlockscaleArray {
  const void *data;
  /* Bytes. */
  size_t size;
  const int64_t *shape;
  size_t rank;
} BlockscaleArray;

/* To be filled by blockscaleCallOptionsInit(), which takes its size. */
typedef struct BlockscaleCallOptions {
  size_t structSize;
  /* Host threads of the emulator; 0 for all. */
  uint32_t threads;
  BlockscaleCompletion completion;
  uint64_t seed;
  /* Look for missing order, fences and waits. */
  bool strict;
  /* Ends the call early; a null handle for none. */
  BlockscaleStop stop;
  /* Called while a kernel runs, with its clusters; null for none. */
  BlockscaleProgressCallback progress;
  void *progressData;
  /* Called with `progressData` before each launch. Null for none. */
  BlockscaleStepCallback step;
} BlockscaleCallOptions;

BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleCallOptionsInit(BlockscaleCallOptions *options, size_t structSize);

/* Calls a function with `count` arrays, those of "arguments" in their order,
   which are copied. An empty `function` is the only one. `options` may be null.
   Refused if arrays do not fit, contradict each other, or if a launch fails;
   what the emulator finds wrong with a kernel is in the report of `call`. */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleProgramCall(
    BlockscaleProgram program, BlockscaleSlice function,
    const BlockscaleArray *arguments, size_t count,
    const BlockscaleCallOptions *options, BlockscaleCall *call);

/* Those of "results", then what is in the arguments that are memory. */
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleCallGetResultCount(BlockscaleCall call, size_t *count);

/* Borrowed until `call` is destroyed. */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleCallGetResult(
    BlockscaleCall call, size_t index, BlockscaleArray *result);

/* JSON: "clean"; "launches", a list of objects with "kernel", "grid",
   "cluster", "counters" and "seconds"; "findings" and "openPoints" as of
   blockscaleRunGetReport(). Borrowed until `call` is destroyed. */
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleCallGetReport(BlockscaleCall call, BlockscaleSlice *json);

BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleCallDestroy(BlockscaleCall call);

BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleProgramDestroy(BlockscaleProgram program);

/*===----------------------------------------------------------------------===*\
|* Verdicts
\*===----------------------------------------------------------------------===*/

/* Calls each public function of the module that is more than one product twice
   with inputs of ours, with its kernels on the emulator and with products
   computed on the CPU, and compares (docs/whole-functions.md). Both options may
   be null; conditions, SMs and clusters count for kernels alone, and of several
   values of a size the first. The report is a list of objects with "function",
   "passed", "data", "sizes", "error", "launches", "compared", "mismatches",
   "worstError", "firstMismatch", "findings" and "openPoints", and empty where
   blockscaleVerify() says all there is to say. */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleVerifyFunctions(
    BlockscaleModule module, const BlockscaleCompileOptions *compileOptions,
    const BlockscaleVerifyOptions *options,
    BlockscaleVerification *verification);

#ifdef __cplusplus
}
#endif

#endif /* BLOCKSCALE_C_FUNCTIONS_H */
