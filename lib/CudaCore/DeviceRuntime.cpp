//===- DeviceRuntime.cpp - functions that kernels get from CUDA -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceRuntime.h"

#include <algorithm>

using namespace blockscale;

namespace {

/// The handle is the address of the value: see Conditionals.h.
constexpr const char *kSetConditional = R"(.version 7.0
.target sm_50
.address_size 64
.visible .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value)
{
  .reg .b64 %address;
  .reg .b32 %new;
  ld.param.b64 %address, [handle];
  ld.param.b32 %new, [value];
  st.global.b32 [%address], %new;
  ret;
}
)";

} // namespace

emulator::PtxLinkResult
cuda::linkDeviceCode(std::vector<emulator::PtxPiece> pieces) {
  emulator::PtxLinkResult linked = emulator::linkPtx(pieces);
  bool isWanted = std::any_of(
      linked.unresolved.begin(), linked.unresolved.end(),
      [](const std::string &name) {
        return name.find("'cudaGraphSetConditional'") != std::string::npos;
      });
  if (!isWanted)
    return linked;
  pieces.push_back({"the device runtime", kSetConditional});
  return emulator::linkPtx(pieces);
}
