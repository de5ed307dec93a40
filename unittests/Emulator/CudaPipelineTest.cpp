//===- CudaPipelineTest.cpp - bulk copies, barriers, clusters -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaHarness.h"

#include <algorithm>
#include <numeric>

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

/// A row-major matrix of f32 and a box of it.
TensorMap matrix(uint64_t columns, uint64_t rows, uint32_t boxColumns,
                 uint32_t boxRows, Swizzle swizzle = Swizzle::None) {
  TensorMap map;
  map.type = TensorMapType::F32;
  map.rank = 2;
  map.globalDim = {columns, rows, 0, 0, 0};
  map.globalStrides = {columns * 4, 0, 0, 0};
  map.boxDim = {boxColumns, boxRows, 0, 0, 0};
  map.swizzle = swizzle;
  return map;
}

class CudaPipeline : public CudaTest {
protected:
  RunResult go(const Launch &launch, const Options &options = {}) {
    return runCuda(GetParam(), "pipeline", "sm_100a", launch, options);
  }
};

TEST_P(CudaPipeline, Stream) {
  // 3 columns of tiles, the last one 8 wide; 5 rows of tiles, the last 20 high.
  const unsigned width = 72, height = 148;
  for (Completion completion :
       {Completion::Immediate, Completion::Random, Completion::Latest}) {
    std::vector<float> in(width * height), out(in.size(), -1);
    std::iota(in.begin(), in.end(), 1.0f);
    Launch launch;
    launch.kernel = "stream";
    launch.grid.x = 3;
    launch.block.x = 96;
    launch.buffers = {bufferOf(in, false), bufferOf(out)};
    TensorMap map = matrix(width, height, 32, 32, Swizzle::B128);
    launch.arguments = {TensorMapArgument{map, 0, 0},
                        TensorMapArgument{map, 1, 0}, scalar(5), scalar(2.0f)};
    Options options;
    options.completion = completion;
    RunResult result = go(launch, options);
    EXPECT_EQ(result.counters.tmaLoadBytes, 3u * 5 * 4096);
    for (unsigned y = 0; y != height; ++y)
      for (unsigned x = 0; x != width; ++x)
        ASSERT_EQ(out[y * width + x],
                  2 * in[y * width + x] + float(y / 32 * 1000 + x % 32))
            << x << " " << y;
  }
}

TEST_P(CudaPipeline, Reductions) {
  std::vector<float> sum(16 * 20), top(16 * 8, 500), line(64, 0.5f);
  std::iota(sum.begin(), sum.end(), 0.0f);
  Launch launch;
  launch.kernel = "accumulate";
  launch.grid.x = 3;
  launch.block.x = 128;
  launch.buffers = {bufferOf(sum), bufferOf(top), bufferOf(line)};
  // There is no maximum of f32; positive floats compare as integers do.
  TensorMap integers = matrix(16, 8, 16, 8);
  integers.type = TensorMapType::S32;
  launch.arguments = {TensorMapArgument{matrix(16, 20, 16, 8), 0, 0},
                      TensorMapArgument{integers, 1, 0}, BufferArgument{2, 0}};
  go(launch);
  for (int y = 0; y != 20; ++y)
    for (int x = 0; x != 16; ++x) {
      float expected = float(y * 16 + x);
      if (y >= 2 && y < 10 && x >= 4) // the box starts at (4, 2)
        expected += 3 * float((y - 2) * 16 + x - 4) + 3000;
      EXPECT_EQ(sum[y * 16 + x], expected) << x << " " << y;
    }
  for (int i = 0; i != 128; ++i)
    EXPECT_EQ(top[i], float(2000 + i));
  for (int i = 0; i != 64; ++i)
    EXPECT_EQ(line[i], 0.5f + 3 * float(i) + 3000);
}

TEST_P(CudaPipeline, GatherAndScatter) {
  std::vector<float> in(64 * 50), out(32 * 40, -1);
  std::iota(in.begin(), in.end(), 0.0f);
  std::vector<int> rows = {31, 2, 49, 7, 5, 39, 0, 11};
  Launch launch;
  launch.kernel = "gather";
  launch.block.x = 32;
  launch.buffers = {bufferOf(in, false), bufferOf(out), bufferOf(rows, false)};
  launch.arguments = {TensorMapArgument{matrix(64, 50, 32, 1), 0, 0},
                      TensorMapArgument{matrix(32, 40, 32, 1), 1, 0},
                      BufferArgument{2, 0}};
  go(launch);
  for (int y = 0; y != 40; ++y)
    for (int x = 0; x != 32; ++x) {
      float expected = -1;
      for (int i = 0; i != 4; ++i)
        if (rows[4 + i] == y)
          expected = float(rows[i] * 64 + 8 + x);
      EXPECT_EQ(out[y * 32 + x], expected) << x << " " << y;
    }
}

TEST_P(CudaPipeline, MulticastAndRemoteMemory) {
  std::vector<float> in(64 * 16), out(8 * 512, -2);
  std::vector<int> counts(8 * 129);
  std::iota(in.begin(), in.end(), 10.0f);
  Launch launch;
  launch.kernel = "share";
  launch.grid.x = 8;
  launch.cluster.x = 4;
  launch.block.x = 128;
  launch.buffers = {bufferOf(in, false), bufferOf(out), bufferOf(counts)};
  launch.arguments = {TensorMapArgument{matrix(64, 16, 16, 8), 0, 0},
                      BufferArgument{1, 0}, BufferArgument{2, 0}};
  go(launch);
  // Who receives the tile of which rank: odd ranks send to all, even ranks to
  // themselves and the next.
  const bool receives[4][4] = {{true, true, false, true},
                               {true, true, false, true},
                               {false, true, true, true},
                               {false, true, true, true}};
  auto element = [&](int cluster, int rank, int i) {
    return in[(cluster * 8 + i / 16) * 64 + rank * 16 + i % 16];
  };
  for (int cta = 0; cta != 8; ++cta) {
    for (int i = 0; i != 512; ++i)
      ASSERT_EQ(out[cta * 512 + i], receives[cta % 4][i / 128]
                                        ? element(cta / 4, i / 128, i % 128)
                                        : -1.0f)
          << cta << " " << i;
    EXPECT_EQ(counts[cta * 129], (cta + 3) % 4 + 10);
    for (int t = 0; t != 128; ++t)
      ASSERT_EQ(counts[cta * 129 + 1 + t], int(element(cta / 4, 1, t)));
  }
}

TEST_P(CudaPipeline, PersistentLoopVisitsEachTileOnce) {
  for (unsigned resident : {1u, 3u, 0u}) {
    std::vector<int> out(12), workers(12);
    Launch launch;
    launch.kernel = "persistent";
    launch.grid.x = 12;
    launch.block.x = 64;
    launch.buffers = {bufferOf(out), bufferOf(workers)};
    launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0}};
    Options options;
    options.residentClusters = resident;
    go(launch, options);
    for (int tile = 0; tile != 12; ++tile)
      EXPECT_EQ(out[tile], tile * 3 + 1) << resident;
    EXPECT_EQ(std::count_if(workers.begin(), workers.end(),
                            [](int tiles) { return tiles != 0; }),
              resident ? resident : 12)
        << "CTAs that started";
  }
}

INSTANTIATE_CUDA(CudaPipeline);

} // namespace
