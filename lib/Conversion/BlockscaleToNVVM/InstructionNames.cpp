//===- InstructionNames.cpp - NVVM's names of instructions ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InstructionNames.h"

using namespace mlir;
using namespace blockscale;

NVVM::MMABlockScaleKind blockscale::scaledKind(hw::MmaKind kind) {
  switch (kind) {
  case hw::MmaKind::MXF8F6F4:
    return NVVM::MMABlockScaleKind::MXF8F6F4;
  case hw::MmaKind::MXF4:
    return NVVM::MMABlockScaleKind::MXF4;
  case hw::MmaKind::MXF4NVF4:
    return NVVM::MMABlockScaleKind::MXF4NVF4;
  case hw::MmaKind::F8F6F4:
  case hw::MmaKind::F16:
  case hw::MmaKind::TF32:
  case hw::MmaKind::I8:
    break;
  }
  llvm_unreachable("a kind without scales");
}

NVVM::Tcgen05MMAKind blockscale::plainKind(hw::MmaKind kind) {
  switch (kind) {
  case hw::MmaKind::F8F6F4:
    return NVVM::Tcgen05MMAKind::F8F6F4;
  case hw::MmaKind::F16:
    return NVVM::Tcgen05MMAKind::F16;
  case hw::MmaKind::TF32:
    return NVVM::Tcgen05MMAKind::TF32;
  case hw::MmaKind::I8:
    return NVVM::Tcgen05MMAKind::I8;
  case hw::MmaKind::MXF8F6F4:
  case hw::MmaKind::MXF4:
  case hw::MmaKind::MXF4NVF4:
    break;
  }
  llvm_unreachable("a kind with scales");
}

NVVM::MMATypes blockscale::scaledElements(hw::OperandType type) {
  // NVVM names element types as PTX does, and so do we.
  std::optional<NVVM::MMATypes> element = NVVM::symbolizeMMATypes(type.name());
  assert(element && "elements that no kind with scales has");
  return *element;
}
