/*===- Session.h - sessions, diagnostics and modules -*- C -*-===*\
|*
|* Part of the blockscale project, under the Apache License v2.0 with LLVM
|* Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
\*===----------------------------------------------------------------------===*/

#ifndef BLOCKSCALE_C_SESSION_H
#define BLOCKSCALE_C_SESSION_H

#include "blockscale-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A session holds the modules that are read in it and tells what is wrong with
   them. */
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleSessionCreate(BlockscaleSession *session);

/* Destroys the modules of the session, too. */
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleSessionDestroy(BlockscaleSession session);

typedef enum BlockscaleSeverity {
  BLOCKSCALE_SEVERITY_NOTE = 0,
  BLOCKSCALE_SEVERITY_REMARK = 1,
  BLOCKSCALE_SEVERITY_WARNING = 2,
  BLOCKSCALE_SEVERITY_ERROR = 3
} BlockscaleSeverity;

/* Valid while the callback runs. */
typedef struct BlockscaleDiagnostic {
  BlockscaleSeverity severity;
  BlockscaleSlice message;
  /* Where it is: the name under which the source was read, or what a location
     of the IR names. Empty and 0 where nobody knows. Lines and columns are
     counted from 1. */
  BlockscaleSlice file;
  uint32_t line, column;
  const struct BlockscaleDiagnostic *notes;
  size_t noteCount;
} BlockscaleDiagnostic;

typedef void (*BlockscaleDiagnosticCallback)(
    const BlockscaleDiagnostic *diagnostic, void *userData);

/* `callback` gets the diagnostics of each further call that uses the session,
   in their order, on the thread of the call and before it returns; the session
   is still in use then. Null for none: the first error is what
   blockscaleLastError() says in any case. If the callback throws a C++
   exception, it is not called again for that call, which then returns
   BLOCKSCALE_CALLBACK_FAILED and changes nothing. It must not leave by
   longjmp. */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleSessionSetDiagnosticCallback(
    BlockscaleSession session, BlockscaleDiagnosticCallback callback,
    void *userData);

/* Reads MLIR as text or as bytecode. `name` is what diagnostics call it; it may
   be empty. At most 2 GiB, with brackets at most 256 deep. */
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleModuleParse(BlockscaleSession session, BlockscaleSlice source,
                      BlockscaleSlice name, BlockscaleModule *module);

BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleModuleClone(BlockscaleModule module, BlockscaleModule *clone);

BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleModuleDestroy(BlockscaleModule module);

/* The module as text. */
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleModulePrint(BlockscaleModule module, BlockscaleBytes *text);

/* The module as MLIR bytecode, which docs/compatibility.md says who can read.
 */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleModuleWriteBytecode(
    BlockscaleModule module, BlockscaleBytes *bytecode);

#ifdef __cplusplus
}
#endif

#endif /* BLOCKSCALE_C_SESSION_H */
