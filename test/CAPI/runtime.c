/* RUN: %cc -std=c99 -pedantic-errors -fsyntax-only %s

   The headers of the library and of the runtime of compiled functions in one
   program: no name is of both. */

#include "blockscale-runtime/Runtime.h"
#include "blockscale-c/Emulator.h"

int64_t gridOf(const BlockscalePreparedLaunch *launch);

int64_t gridOf(const BlockscalePreparedLaunch *launch) {
  return blockscaleRuntimeGrid(launch, 0);
}
