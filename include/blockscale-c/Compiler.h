/*===- Compiler.h - from modules to PTX and plans -*- C -*-===*\
|*
|* Part of the blockscale project, under the Apache License v2.0 with LLVM
|* Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
\*===----------------------------------------------------------------------===*/

#ifndef BLOCKSCALE_C_COMPILER_H
#define BLOCKSCALE_C_COMPILER_H

#include "blockscale-c/Session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* To be filled by blockscaleCompileOptionsInit(), which takes its size before
   fields are set; what strings point to must live until the call returns. */
typedef struct BlockscaleCompileOptions {
  /* Bytes of this structure as the program knows it. */
  size_t structSize;
  /* Chip of what names none: "sm_100a", ... Null or empty leaves it at that,
     which stands for sm_100a. Several, "sm_100a,sm_107a", are for
     blockscaleCompile() and blockscaleModuleImport(), of modules that name
     none. "trn3" compiles for AWS's chip (docs/nki.md):
     stages up to BLOCKSCALE_STAGE_ASSIGNED; denseFallback, hostDuties,
     kernelsOnly and withCubin are refused, the other options are without
     effect. */
  const char *target;
  /* Value of a dynamic M or N for the cost model, at least 1. */
  int64_t expectedRows;
  /* Multiply sparse operands that no instruction takes as dense ones. */
  bool denseFallback;
  /* Put what no kernel does into the plan, for the host to do, in place of
     refusing it. */
  bool hostDuties;
  /* Assemble the PTX. */
  bool withCubin;
  /* The assembler; null or empty for the ptxas that is installed. */
  const char *ptxas;
  /* Folder in which compiled kernels are kept by what they were made from, and
     looked up; null or empty for none. Processes may share it. */
  const char *cache;
  /* Threads that compile kernels, if there are several; 0 for as many as the
     host has cores. */
  uint32_t threads;
  /* Up to how many rows products with an unknown number of rows get kernels of
     their own: "16,512"; "auto" for what the model of time finds. Null or empty
     for none. */
  const char *dispatchRows;
  /* Let whole functions (Functions.h) run kernels for what quantises operands
     of products, where there are such, and not host code. */
  bool quantizeOnDevice;
  /* Compile the kernels of whole functions (Functions.h) alone: the plan says
     nothing of what functions do around them, which may be whatever host code
     may be. */
  bool kernelsOnly;
} BlockscaleCompileOptions;

BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleCompileOptionsInit(
    BlockscaleCompileOptions *options, size_t structSize);

/* Reads a module of another compiler, as blockscaleModuleParse() does, ops of
   dialects that are not known here among them, and writes block-scaled products
   in it as ours: TOSA, linalg, StableHLO in the generic form (docs/import.md).
   `options` may be null; of them the target counts, since operands lie as its
   chip reads them. Refused with each op by its name that is of no dialect here
   and part of no product. */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleModuleImport(
    BlockscaleSession session, BlockscaleSlice source, BlockscaleSlice name,
    const BlockscaleCompileOptions *options, BlockscaleModule *module);

typedef enum BlockscaleStage {
  /* Products with their instructions and schedules. */
  BLOCKSCALE_STAGE_TENSOR = 0,
  /* Kernels without addresses. */
  BLOCKSCALE_STAGE_KERNEL = 1,
  /* Kernels with all addresses and scale ids. */
  BLOCKSCALE_STAGE_ASSIGNED = 2,
  /* Kernels in the NVVM dialect. */
  BLOCKSCALE_STAGE_NVVM = 3,
  /* Kernels in the LLVM and NVVM dialects. */
  BLOCKSCALE_STAGE_LLVM = 4,
  /* Whole functions (docs/whole-functions.md), which become code that a host
     calls: on tensors, on memory with their kernels compiled, and in the LLVM
     dialect. The module is at most at BLOCKSCALE_STAGE_ASSIGNED before;
     hostDuties is without effect, and withCubin embeds cubins in place of PTX.
   */
  BLOCKSCALE_STAGE_HOST_LINALG = 5,
  BLOCKSCALE_STAGE_HOST_MEMREF = 6,
  BLOCKSCALE_STAGE_HOST_LLVM = 7
} BlockscaleStage;

/* Lowers the module, which may be at any stage up to `stage`, to that stage.
   `options` may be null. A module that cannot be lowered stays as it is. */
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleModuleLower(BlockscaleModule module, BlockscaleStage stage,
                      const BlockscaleCompileOptions *options);

/* In which layout kernels read the scales of two operands of a product beside
   each other, "tiled_128x4" or "plain": instructions read them in tiles, and
   those that sums are multiplied by lie row by row. Of a sparse operand it is
   the layout of its metadata, tiles. `a` and `b` are MLIR types of scaled
   tensors, of which the layouts do not count; what is written is for ever. */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleFindScaleLayouts(
    BlockscaleSlice a, BlockscaleSlice b, BlockscaleSlice *layoutOfA,
    BlockscaleSlice *layoutOfB);

/* Compiles what is in the module, which stays as it is. `options` may be
   null. */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleCompile(
    BlockscaleModule module, const BlockscaleCompileOptions *options,
    BlockscaleCompilation *compilation);

/* Products may be for several chips, or compiled for several targets; each has
   kernels of its own. Several targets come in the order in which a device is to
   be offered their code. */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleCompilationGetChipCount(
    BlockscaleCompilation compilation, size_t *count);

typedef enum BlockscaleOutput {
  /* The name of the chip. */
  BLOCKSCALE_OUTPUT_TARGET = 0,
  BLOCKSCALE_OUTPUT_PTX = 1,
  /* Empty unless it was asked for. */
  BLOCKSCALE_OUTPUT_CUBIN = 2,
  /* JSON: docs/launch-plan.md. */
  BLOCKSCALE_OUTPUT_PLAN = 3,
  /* JSON, and text for people: docs/ptx.md. */
  BLOCKSCALE_OUTPUT_REPORT = 4,
  BLOCKSCALE_OUTPUT_REPORT_TEXT = 5,
  /* C++ that launches the kernels with cuda.h alone. */
  BLOCKSCALE_OUTPUT_LAUNCHER = 6,
  /* Python for NKI, of trn3, which has this and TARGET and PLAN (JSON for the
     host: docs/nki.md). Empty for other chips. */
  BLOCKSCALE_OUTPUT_NKI = 7,
  /* PLAN and LAUNCHER of all targets in one, which choose by device; whichever
     chip is asked. Empty unless the options name several targets. */
  BLOCKSCALE_OUTPUT_JOINED_PLAN = 8,
  BLOCKSCALE_OUTPUT_JOINED_LAUNCHER = 9
} BlockscaleOutput;

/* Borrowed until the compilation is destroyed. */
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleCompilationGetOutput(BlockscaleCompilation compilation, size_t chip,
                               BlockscaleOutput output, BlockscaleSlice *slice);

BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleCompilationDestroy(BlockscaleCompilation compilation);

#ifdef __cplusplus
}
#endif

#endif /* BLOCKSCALE_C_COMPILER_H */
