//===- ImageFuzzer.cpp - hostile fat binaries and cubins ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads whatever comes as device code, and adds PTX to it if it is a cubin,
// which must then be read as that PTX.
//
//===----------------------------------------------------------------------===//

#include "Images.h"

#include "blockscale/HW/Device.h"

#include <algorithm>
#include <cstdlib>

using namespace blockscale;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // A wrapper is followed to wherever its pointer leads, which a program means.
  constexpr uint8_t kWrapper[] = {0xB1, 0x43, 0x62, 0x46};
  if (size >= 4 && std::equal(kWrapper, kWrapper + 4, data))
    return 0;
  cuda::FatBinary binary = cuda::readImages(data, size);
  if (binary.error.empty()) {
    std::string why;
    (void)cuda::chooseImage(binary, hw::allDevices().front().chip().name, why);
  }
  std::optional<std::string> both = cuda::addPtx(
      {reinterpret_cast<const char *>(data), size}, ".version 8.7\n");
  if (!both || binary.images.empty() ||
      binary.images[0].kind == cuda::ImageKind::Ptx)
    return 0;
  cuda::FatBinary again = cuda::readImages(
      reinterpret_cast<const uint8_t *>(both->data()), both->size());
  if (again.images.empty() || again.images[0].ptx != ".version 8.7\n")
    std::abort();
  return 0;
}
