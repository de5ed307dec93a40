//===- LoadStore.h - the record of ld and st -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_INSTRUCTIONS_LOADSTORE_H
#define BLOCKSCALE_LIB_EMULATOR_INSTRUCTIONS_LOADSTORE_H

#include "Access.h"

namespace blockscale::emulator::machine {

/// ld and st.
struct LoadStoreRecord {
  AddressOperand address;
  Slots data; ///< kNoSlot where a load drops an element
  uint8_t element = 0, count = 0;
  uint8_t registerBytes = 0;
  bool sign = false; ///< loads extend elements by it
  Where where = Where::Generic;
  Scope scope = Scope::Gpu;
  bool strong : 1; ///< volatile, relaxed or stronger
  bool acquires : 1, releases : 1;
  bool nonCoherent : 1;

  unsigned bytes() const { return unsigned(element) * count; }
};

/// prefetch.global.L1: nothing happens, but a timeline wants to know.
struct PrefetchRecord {
  AddressOperand address;
};

/// The common case of ld and st: all lanes run and access memory in a row.
/// False if nothing was done: the instruction needs a closer look.
bool loadPiece(Exec &x, const Record &r, const LoadStoreRecord &s);
bool storePiece(Exec &x, const Record &r, const LoadStoreRecord &s);

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_INSTRUCTIONS_LOADSTORE_H
