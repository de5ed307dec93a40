//===- UnitsRubin.h - what the tests of sm_107 share ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_UNITTESTS_EMULATOR_UNITSRUBIN_H
#define BLOCKSCALE_UNITTESTS_EMULATOR_UNITSRUBIN_H

#include "Units/TensorCore.h"

namespace blockscale::emulator::test {

/// An instruction on sm_107a.
inline MmaForm formOf(MmaKind kind, unsigned block, unsigned group,
                      bool sparse = false) {
  MmaForm form{kind, sparse, group, block};
  form.wide = true;
  form.elementwise = sparse;
  return form;
}

} // namespace blockscale::emulator::test

#endif // BLOCKSCALE_UNITTESTS_EMULATOR_UNITSRUBIN_H
