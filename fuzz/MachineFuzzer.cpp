//===- MachineFuzzer.cpp - hostile kernels --------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses, decodes and runs a few steps of whatever comes.
//
//===----------------------------------------------------------------------===//

#include "MachineMutator.h"
#include "blockscale/Emulator/Machine.h"

#include <algorithm>

using namespace blockscale;
using namespace blockscale::emulator;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  fuzz::Random random(seed);
  if (random() % 16 == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::string text(reinterpret_cast<char *>(data), size);
  fuzz::changeKernel(random, text);
  return fuzz::store(text, data, maxSize);
}

static std::vector<uint8_t> zeros(uint64_t size) {
  return std::vector<uint8_t>(std::min<uint64_t>(size, 1 << 16));
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ParseResult parsed = parsePtx({reinterpret_cast<const char *>(data), size});
  if (!parsed)
    return 0;
  std::vector<uint8_t> memory(1 << 16, 0x38);
  TensorMap map;
  map.type = TensorMapType::U8;
  map.rank = 2;
  map.globalDim = {128, 64, 0, 0, 0};
  map.globalStrides = {128, 0, 0, 0};
  map.boxDim = {128, 8, 0, 0, 0};
  map.swizzle = Swizzle::B128;
  for (const Function &function : parsed.module->functions) {
    if (!function.isEntry)
      continue;
    Launch launch;
    launch.kernel = function.name;
    launch.block.x =
        function.launch.reqntid[0] ? function.launch.reqntid[0] : 32;
    launch.cluster.x = std::max(function.launch.reqnctapercluster[0], 1u);
    launch.grid.x = launch.cluster.x;
    launch.dynamicSharedBytes = 8192;
    launch.buffers = {{memory.data(), memory.size(), true}};
    for (const Parameter &parameter : function.parameters)
      if (parameter.size == 8)
        launch.arguments.push_back(BufferArgument{0, 0});
      else if (parameter.size == 128)
        launch.arguments.push_back(TensorMapArgument{map, 0, 0});
      else
        launch.arguments.push_back(zeros(parameter.size));
    Options options;
    options.threads = 1;
    options.stepLimit = 2000;
    options.completion = size % 2 ? Completion::Immediate : Completion::Random;
    (void)run(*parsed.module, launch, options);
  }
  return 0;
}
