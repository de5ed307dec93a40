//===- CudaCallsTest.cpp - function pointers, recursion and alloca --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaHarness.h"

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

class CudaCalls : public CudaTest {
protected:
  std::vector<int> go(const char *kernel, std::vector<int> in, unsigned threads,
                      unsigned results) {
    std::vector<int> out(threads * results, -7);
    Launch launch;
    launch.kernel = kernel;
    launch.block.x = threads;
    launch.buffers = {bufferOf(in, false), bufferOf(out)};
    launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0}};
    runCuda(GetParam(), "calls", "sm_100a", launch);
    return out;
  }
};

TEST_P(CudaCalls, TableOfFunctions) {
  std::vector<int> in(4 * 64);
  for (int i = 0; i != 4 * 64; ++i)
    in[i] = (i * 7 + i / 5) % 3;
  std::vector<int> out = go("table", in, 64, 2);
  for (int t = 0; t != 64; ++t) {
    int first = t, second = 1000 - t;
    for (int i = 0; i != 4; ++i) {
      int b = i + 2, old = first;
      switch (in[4 * t + i]) {
      case 0:
        first += b;
        second += 2 * b;
        break;
      case 1:
        first = second;
        second = old - b;
        break;
      default:
        first *= b;
      }
    }
    EXPECT_EQ(out[2 * t], first) << t;
    EXPECT_EQ(out[2 * t + 1], second) << t;
  }
}

int count(int n, int *parent) {
  int own[2] = {n, 1};
  parent[1] += 1;
  if (n < 2) {
    parent[0] += 10 * n;
    return n;
  }
  int left = count(n - 1, own);
  int right = count(n - 2, own);
  return left + 3 * right + own[0] + own[1];
}

TEST_P(CudaCalls, RecursionKeepsTheVariablesOfItsCallers) {
  std::vector<int> in(64);
  for (int t = 0; t != 64; ++t)
    in[t] = t * 5 % 11;
  std::vector<int> out = go("recursion", in, 64, 2);
  for (int t = 0; t != 64; ++t) {
    int top[2] = {0, 0};
    EXPECT_EQ(out[2 * t], count(in[t], top)) << t;
    EXPECT_EQ(out[2 * t + 1], top[0] * 1000 + top[1]) << t;
  }
}

TEST_P(CudaCalls, FunctionsThatCallEachOther) {
  std::vector<int> in(32);
  for (int t = 0; t != 32; ++t)
    in[t] = t * 3 % 20;
  std::vector<int> out = go("mutualRecursion", in, 32, 1);
  for (int t = 0; t != 32; ++t) {
    // From the innermost call outwards, which is of isOdd for odd numbers.
    int value = in[t] % 2 ? -1 : 1;
    for (int n = 1; n <= in[t]; ++n)
      value = (in[t] - n) % 2 ? value + 1 : 2 * value;
    EXPECT_EQ(out[t], value) << t << " " << in[t];
  }
}

TEST_P(CudaCalls, VirtualFunctions) {
  std::vector<int> in(32);
  for (int t = 0; t != 32; ++t)
    in[t] = t * 7 % 23;
  std::vector<int> out = go("virtuals", in, 32, 1);
  for (int t = 0; t != 32; ++t)
    EXPECT_EQ(out[t], in[t] % 3 == 0 ? 2 * in[t] * in[t] : 2 * t * in[t] + 1)
        << t;
}

TEST_P(CudaCalls, StackOfVariableSize) {
  std::vector<int> in(32);
  for (int t = 0; t != 32; ++t)
    in[t] = 1 + t * 11 % 40;
  std::vector<int> out = go("stack", in, 32, 1);
  for (int t = 0; t != 32; ++t) {
    int total = 0;
    for (int round = 0; round != 100; ++round) {
      int n = in[t] + round % 7, sum = 0;
      for (int i = n; i-- > 0;)
        sum = 2 * sum % 1009 + i * i + n;
      total += sum;
    }
    EXPECT_EQ(out[t], total) << t;
  }
}

INSTANTIATE_CUDA(CudaCalls);

//===----------------------------------------------------------------------===//
// Bad calls
//===----------------------------------------------------------------------===//

const char kFunctions[] = R"(
.func (.param .b32 result) one(.param .b32 x)
{
.reg .b32 %r<4>;
ld.param.b32 %r1, [x];
add.u32 %r1, %r1, 100;
st.param.b32 [result], %r1;
ret;
}
.func two(.param .b64 x) { ret; }
.func (.param .b32 result) endless(.param .b32 x);
.func (.param .b32 result) endless(.param .b32 x)
{
.reg .b32 %r<4>;
.local .align 4 .b8 own[64];
ld.param.b32 %r1, [x];
st.local.b32 [own+4], %r1;
{
.param .b32 a;
st.param.b32 [a], %r1;
.param .b32 b;
call (b), endless, (a);
ld.param.b32 %r2, [b];
}
st.param.b32 [result], %r2;
ret;
}
.global .u64 table[3] = {one, two, endless};
)";

/// Calls the address in %rd10 with the thread.
const char kCall[] = "{\n.param .b32 a;\nst.param.b32 [a], %r1;\n"
                     ".param .b32 b;\n"
                     "P: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                     "call (b), %rd10, (a), P;\nld.param.b32 %r10, [b];\n}\n"
                     "st.global.u32 [%rd1], %r10;\n";

std::string finding(const std::string &instructions) {
  Simple s = runBody(instructions, {}, 32, 1, {}, 1, kFunctions);
  return s.result.findings.empty() ? "" : s.result.findings[0].message;
}

TEST(MachineCalls, IndirectCallsNeedAFunctionThatFits) {
  Simple s = runBody(std::string("mov.u64 %rd10, one;\n") + kCall, {}, 32, 1,
                     {}, 1, kFunctions);
  expectClean(s.result);
  for (unsigned t = 0; t != 32; ++t)
    EXPECT_EQ(s.out[t], 100 + t);
  EXPECT_EQ(finding(std::string("mov.u64 %rd10, 4096;\n") + kCall),
            "call of 0x1000, which is no function");
  EXPECT_EQ(finding(std::string("ld.global.u64 %rd10, [table+8];\n") + kCall),
            "call of 'two', which has other parameters or no body");
}

TEST(MachineCalls, TheStackEnds) {
  EXPECT_EQ(finding(std::string("ld.global.u64 %rd10, [table+16];\n") + kCall),
            "the stack of a thread has 16384 bytes, which are used up");
  EXPECT_EQ(
      finding("mov.u64 %rd11, 16000;\nalloca.u64 %rd10, %rd11, 32;\n"
              "cvta.local.u64 %rd10, %rd10;\nst.u32 [%rd10+15996], %r1;\n"),
      "");
  EXPECT_EQ(finding("mov.u64 %rd11, 16400;\nalloca.u64 %rd10, %rd11;\n"),
            "the stack of a thread has 16384 bytes, which are used up");
  EXPECT_EQ(finding("mov.u64 %rd11, 9000;\nstacksave.u64 %rd12;\n"
                    "alloca.u64 %rd10, %rd11;\nstackrestore.u64 %rd12;\n"
                    "alloca.u64 %rd10, %rd11;\n"),
            "");
  EXPECT_EQ(finding("mov.u64 %rd11, 8;\nstackrestore.u64 %rd11;\n"),
            "stackrestore of 0x8, which stacksave has not given");
}

} // namespace
