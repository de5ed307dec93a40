//===- core.cpp - libBlockscale for Python --------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support.h"

using namespace blockscale::python;

NB_MODULE(_core, m) {
  m.doc() = "The C library, call by call.";
  m.attr("version") = blockscaleVersion();
#ifdef BLOCKSCALE_PYTHON_HAS_COMPILER
  m.attr("has_compiler") = true;
  defineCompiler(m);
#else
  m.attr("has_compiler") = false;
#endif
  defineCheckpoint(m);
  defineDlpack(m);
  defineEmulator(m);
  definePacking(m);
  defineQuestions(m);
}
