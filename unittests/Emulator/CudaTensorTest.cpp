//===- CudaTensorTest.cpp - tcgen05 kernels that nvcc compiled ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaHarness.h"
#include "TensorLaunches.h"

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

class CudaTensor : public CudaTest {
protected:
  TensorLaunch t;

  /// Runs under each order of completion and compares every element.
  RunResult check(const std::string &name, const std::string &arch) {
    RunResult result;
    for (Completion completion :
         {Completion::Immediate, Completion::Random, Completion::Latest}) {
      Options options;
      options.completion = completion;
      t.clear();
      result = runCuda(GetParam(), name, arch, t.launch, options);
      unsigned wrong = 0;
      for (unsigned i = 0; i != t.p.out.size() && wrong < 5; ++i)
        if (t.p.out[i] != t.p.expected[i]) {
          ADD_FAILURE() << "row " << i / t.p.n << " column " << i % t.p.n
                        << ": " << t.p.out[i] << ", expected "
                        << t.p.expected[i] << " (completion " << int(completion)
                        << ")";
          ++wrong;
        }
    }
    return result;
  }

  void ring(const std::string &kernel, unsigned group) {
    t.ring(kernel, group);
    RunResult result = check("tensor", "sm_100a");
    EXPECT_EQ(result.counters.mmas[6], 12u);
    EXPECT_EQ(result.counters.tensorCopies, 36u);
    EXPECT_EQ(result.counters.commits, 4u);
  }

  void sparse(const std::string &kernel, unsigned group, bool fp4) {
    t.sparse(kernel, group, fp4);
    EXPECT_EQ(check("tensor", "sm_100a").counters.mmas[fp4 ? 6 : 4], 2u);
  }
};

TEST_P(CudaTensor, RingOfStages) { ring("ringSingle", 1); }
TEST_P(CudaTensor, RingOfStagesInPairs) { ring("ringPair", 2); }

TEST_P(CudaTensor, SparseMxf8) { sparse("sparseMxf8Single", 1, false); }
TEST_P(CudaTensor, SparseMxf8InPairs) { sparse("sparseMxf8Pair", 2, false); }
TEST_P(CudaTensor, SparseNvf4) { sparse("sparseNvf4Single", 1, true); }
TEST_P(CudaTensor, SparseNvf4InPairs) { sparse("sparseNvf4Pair", 2, true); }

TEST_P(CudaTensor, LeftOperandFromTensorMemory) {
  t.fromTensor();
  EXPECT_EQ(check("tensor", "sm_100a").counters.mmas[4], 4u);
}

TEST_P(CudaTensor, DenseMxf8InPairs) {
  t.denseMxf8Pair();
  EXPECT_EQ(check("tensor", "sm_100a").counters.mmas[4], 4u);
}

TEST_P(CudaTensor, K96) {
  t.wide("wideSingle", 1);
  check("wide", "sm_103a");
}
TEST_P(CudaTensor, K96InPairs) {
  t.wide("widePair", 2);
  check("wide", "sm_103a");
}

INSTANTIATE_CUDA(CudaTensor);

} // namespace
