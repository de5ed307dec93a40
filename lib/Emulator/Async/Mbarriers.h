//===- Mbarriers.h - parts of the mbarrier instructions ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_ASYNC_MBARRIERS_H
#define BLOCKSCALE_LIB_EMULATOR_ASYNC_MBARRIERS_H

#include "../Instructions/Access.h"
#include "../Instructions/Lanes.h"
#include "Async.h"

namespace blockscale::emulator::machine {

/// An operation on an mbarrier.
struct MbarrierRecord {
  AddressOperand address;
  Where where = Where::Generic;
  Scope scope = Scope::Cta;
  bool relaxed = false;
};

/// Fills in what all operations have.
void decodeCommon(Decoder &d, const Instruction &in, const Operand &address,
                  MbarrierRecord &m);

/// The object that an operation names in `lane`; null after a report.
MBarrier *barrierOf(Exec &x, const Record &r, const MbarrierRecord &m,
                    unsigned lane, Cta *&cta, uint32_t &address, bool create);

/// The entry of the catalogue for an error of the object.
Hazard hazardOf(MBarrierError error, bool isInit);

/// mbarrier.test_wait, try_wait, check_layout and pending_count.
bool decodeMbarrierWait(Decoder &d, const Instruction &in, Record &r);

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_ASYNC_MBARRIERS_H
