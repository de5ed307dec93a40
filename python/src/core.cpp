//===- core.cpp - libBlockscaleWithoutMLIR for Python ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support.h"

using namespace blockscale::python;

NB_MODULE(_core, m) {
  m.doc() = "The C library but for the compiler, call by call.";
  m.attr("version") = blockscaleVersion();
  defineCheckpoint(m);
  defineDlpack(m);
  defineEmulator(m);
  defineLayout(m);
  definePacking(m);
  defineQuestions(m);
}
