//===- CudaTensorTest.cpp - tcgen05 kernels that nvcc compiled ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockProblem.h"
#include "CudaHarness.h"

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

class CudaTensor : public CudaTest {
protected:
  BlockProblem p;
  Launch launch;

  /// The buffers 0..5: A, B, scales of both, metadata, output.
  void prepare(const std::string &kernel, unsigned group, unsigned threads) {
    p.fill();
    launch.kernel = kernel;
    launch.grid.x = launch.cluster.x = group;
    launch.block.x = threads;
    launch.buffers = {bufferOf(p.a, false),        bufferOf(p.b, false),
                      bufferOf(p.scaleA, false),   bufferOf(p.scaleB, false),
                      bufferOf(p.metadata, false), bufferOf(p.out)};
  }

  /// Runs under each order of completion and compares every element.
  RunResult check(const std::string &name, const std::string &arch) {
    RunResult result;
    for (Completion completion :
         {Completion::Immediate, Completion::Random, Completion::Latest}) {
      Options options;
      options.completion = completion;
      p.out.assign(p.out.size(), -12345);
      launch.buffers[5] = bufferOf(p.out);
      result = runCuda(GetParam(), name, arch, launch, options);
      unsigned wrong = 0;
      for (unsigned i = 0; i != p.out.size() && wrong < 5; ++i)
        if (p.out[i] != p.expected[i]) {
          ADD_FAILURE() << "row " << i / p.n << " column " << i % p.n << ": "
                        << p.out[i] << ", expected " << p.expected[i]
                        << " (completion " << int(completion) << ")";
          ++wrong;
        }
    }
    return result;
  }

  TensorMapArgument mapA(unsigned boxBytes) {
    return {BlockProblem::rowsMap(p.rowBytesA(), p.m, boxBytes, 128), 0, 0};
  }
  TensorMapArgument mapB(unsigned rows) {
    return {BlockProblem::rowsMap(p.rowBytesB(), p.n, 128, rows), 1, 0};
  }

  void ring(const std::string &kernel, unsigned group) {
    p.m = 128 * group;
    p.n = 192;
    p.k = 768;
    p.block = 16;
    p.fp4 = true;
    prepare(kernel, group, 256);
    launch.dynamicSharedBytes = group == 1 ? 98304 : 75776;
    launch.arguments = {
        mapA(128), mapB(192 / group),
        TensorMapArgument{BlockProblem::atomsMap(p.scaleA.size()), 2, 0},
        TensorMapArgument{BlockProblem::atomsMap(p.scaleB.size()), 3, 0},
        BufferArgument{5, 0}};
    RunResult result = check("tensor", "sm_100a");
    EXPECT_EQ(result.counters.mmas[6], 12u);
    EXPECT_EQ(result.counters.tensorCopies, 36u);
    EXPECT_EQ(result.counters.commits, 4u);
  }

  void sparse(const std::string &kernel, unsigned group, bool fp4) {
    p.m = 128 * group;
    p.n = 64 * group;
    p.k = fp4 ? 256 : 128;
    p.block = fp4 ? 32 : 64;
    p.fp4 = fp4;
    p.sparse = true;
    prepare(kernel, group, 128);
    launch.arguments = {mapA(64),
                        mapB(64),
                        BufferArgument{2, 0},
                        BufferArgument{3, 0},
                        BufferArgument{4, 0},
                        BufferArgument{5, 0}};
    EXPECT_EQ(check("tensor", "sm_100a").counters.mmas[fp4 ? 6 : 4], 2u);
  }

  RunResult wide(const std::string &kernel, unsigned group) {
    p.m = 128 * group;
    p.n = 128;
    p.k = 768;
    p.block = 16;
    p.fp4 = true;
    prepare(kernel, group, 128);
    launch.dynamicSharedBytes = 115712;
    launch.arguments = {mapA(128), mapB(128 / group), BufferArgument{2, 0},
                        BufferArgument{3, 0}, BufferArgument{5, 0}};
    return check("wide", "sm_103a");
  }
};

TEST_P(CudaTensor, RingOfStages) { ring("ringSingle", 1); }
TEST_P(CudaTensor, RingOfStagesInPairs) { ring("ringPair", 2); }

TEST_P(CudaTensor, SparseMxf8) { sparse("sparseMxf8Single", 1, false); }
TEST_P(CudaTensor, SparseMxf8InPairs) { sparse("sparseMxf8Pair", 2, false); }
TEST_P(CudaTensor, SparseNvf4) { sparse("sparseNvf4Single", 1, true); }
TEST_P(CudaTensor, SparseNvf4InPairs) { sparse("sparseNvf4Pair", 2, true); }

TEST_P(CudaTensor, LeftOperandFromTensorMemory) {
  prepare("fromTensor", 1, 128);
  launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0},
                      BufferArgument{2, 0}, BufferArgument{3, 0},
                      BufferArgument{5, 0}};
  EXPECT_EQ(check("tensor", "sm_100a").counters.mmas[4], 4u);
}

TEST_P(CudaTensor, K96) {
  RunResult result = wide("wideSingle", 1);
  EXPECT_TRUE(result.openPoints.contains(OpenPoint::K96CtaGroup1));
}
TEST_P(CudaTensor, K96InPairs) {
  RunResult result = wide("widePair", 2);
  EXPECT_FALSE(result.openPoints.contains(OpenPoint::K96CtaGroup1));
}

INSTANTIATE_CUDA(CudaTensor);

} // namespace
