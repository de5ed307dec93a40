//===- CheckFunctionsTest.cpp - what a check of functions notices ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Execute/CheckFunctions.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

using namespace blockscale;
using namespace blockscale::execute;

namespace {

/// Two products that feed each other, with arithmetic between.
constexpr const char *kChain = R"(
!x = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!v = !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!h = !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @chain(%x: !x, %w: !w, %v: !v) -> tensor<?x64xf32> {
  %y = blockscale.matmul %x, %w : !x, !w -> tensor<?x128xf32>
  %z = arith.addf %y, %y : tensor<?x128xf32>
  %h = blockscale.quantize %z : tensor<?x128xf32> to !h
  %r = blockscale.matmul %h, %v : !h, !v -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
})";

/// The same of a matrix that the function quantises itself, under scales of
/// which only the data know.
constexpr const char *kFloatChain = R"(
!x = !blockscale.tensor<?x256xf8E4M3FN, "float32_t128">
!w = !blockscale.tensor<128x256xf8E4M3FN, "float32_t128_t128">
!v = !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!h = !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @chain(%m: tensor<?x256xf32>, %w: !w, %v: !v) -> tensor<?x64xf32> {
  %x = blockscale.quantize %m : tensor<?x256xf32> to !x
  %y = blockscale.matmul %x, %w : !x, !w -> tensor<?x128xf32>
  %h = blockscale.quantize %y : tensor<?x128xf32> to !h
  %r = blockscale.matmul %h, %v : !h, !v -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
})";

/// Where 1 + erf(x / sqrt(2)) is 2^-24 in f32, or 0 by another erf.
constexpr float kTail = -5.3708f;

/// gelu of 0 plus the bias: in each row a block of tails, and one of 1.
const std::string &tails() {
  static const std::string text = [] {
    std::string bias;
    for (int column = 0; column < 64; ++column)
      bias += (column ? ", " : "") +
              (column < 32 ? std::to_string(kTail) : std::string("1.0"));
    return R"(
!x = !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = !blockscale.tensor<?x64xf8E5M2, "e8m0_t32", layout = tiled_128x4>
func.func @tails(%x: !x, %w: !w) -> !q {
  %alpha = arith.constant 0.0 : f32
  %bias = arith.constant dense<[)" +
           bias + R"(]> : tensor<64xf32>
  %y = blockscale.matmul %x, %w alpha(%alpha) bias(%bias) activation(gelu) : !x, !w, tensor<64xf32> -> tensor<?x64xf32>
  %q = blockscale.quantize %y : tensor<?x64xf32> to !q
  return %q : !q
})";
  }();
  return text;
}

/// Writes `to` where the bias of `tails` has its first `from`.
void changeBias(emulator::Launch &launch, float from, float to) {
  for (emulator::Buffer &buffer : launch.buffers)
    for (uint64_t at = 0; at + sizeof(from) <= buffer.size; at += sizeof(from))
      if (std::memcmp(buffer.data + at, &from, sizeof(from)) == 0) {
        std::memcpy(buffer.data + at, &to, sizeof(to));
        return;
      }
  ADD_FAILURE() << "no buffer holds the bias";
}

/// In each row a block of 1, and one of which all but one number is 0: `small`.
/// They are the bias alone.
constexpr float kSmall = 0x1.8p-10f;
std::string smallBlock(const std::string &type, float small = kSmall) {
  uint32_t bits;
  std::memcpy(&bits, &small, sizeof(bits));
  std::string bias =
      "0x" + llvm::utohexstr(bits, /*LowerCase=*/false, /*Width=*/8);
  for (int column = 1; column < 64; ++column)
    bias += column < 32 ? ", 0.0" : ", 1.0";
  return R"(
!x = !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!q = )" + type +
         R"(
func.func @small(%x: !x, %w: !w) -> !q {
  %alpha = arith.constant 0.0 : f32
  %bias = arith.constant dense<[)" +
         bias + R"(]> : tensor<64xf32>
  %y = blockscale.matmul %x, %w alpha(%alpha) bias(%bias) : !x, !w, tensor<64xf32> -> tensor<?x64xf32>
  %q = blockscale.quantize %y : tensor<?x64xf32> to !q
  return %q : !q
})";
}

class CheckFunctions : public ::testing::Test {
protected:
  CheckFunctions() : context(mlir::MLIRContext::Threading::DISABLED) {
    mlir::DialectRegistry registry;
    registerCompilerDialects(registry);
    context.appendDialectRegistry(registry);
    options.sizes.m = 40;
    options.data = {verify::DataKind::Exact};
  }

  FunctionVerdict check(const char *text) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    auto verdicts = checkFunctions(*module, options);
    if (mlir::failed(verdicts) || verdicts->size() != 1) {
      ADD_FAILURE() << "expected one verdict";
      return {};
    }
    return verdicts->front();
  }

  mlir::MLIRContext context;
  CheckOptions options;
};

TEST_F(CheckFunctions, AgreesBitForBitOnExactData) {
  FunctionVerdict verdict = check(kChain);
  EXPECT_TRUE(verdict.passed()) << printVerdicts({verdict});
  EXPECT_EQ(verdict.launches, 2u);
  EXPECT_EQ(verdict.compared, 40u * 64);
  EXPECT_EQ(verdict.worst, 0);
}

// One bit of one element of A: 1 becomes another number in one row.
TEST_F(CheckFunctions, NoticesAChangedElement) {
  options.beforeRun = [](emulator::Launch &launch, emulator::Options &) {
    if (launch.kernel == "chain")
      launch.buffers[0].data[7 * 256 + 33] ^= 0x80;
  };
  FunctionVerdict verdict = check(kChain);
  EXPECT_FALSE(verdict.passed());
  EXPECT_GT(verdict.mismatches, 0u);
  EXPECT_EQ(verdict.first.rfind("result 0, element 7x", 0), 0u)
      << verdict.first;
}

// One scale of the second product's B: one column.
TEST_F(CheckFunctions, NoticesAChangedScale) {
  options.beforeRun = [](emulator::Launch &launch, emulator::Options &) {
    if (launch.kernel == "chain_1")
      launch.buffers[3].data[5 * 16] += 2;
  };
  FunctionVerdict verdict = check(kChain);
  EXPECT_FALSE(verdict.passed());
  EXPECT_NE(verdict.first.find("x5: expected"), std::string::npos)
      << verdict.first;
  EXPECT_EQ(verdict.scalesOfTies, "");
}

// Not even exact data make the sums of the first product exact.
TEST_F(CheckFunctions, SaysWhereSumsOfExactDataAreRounded) {
  options.beforeRun = [](emulator::Launch &launch, emulator::Options &) {
    if (launch.kernel == "chain_1")
      launch.buffers[3].data[5 * 16] += 2;
  };
  FunctionVerdict verdict = check(kFloatChain);
  EXPECT_GT(verdict.mismatches, 0u) << printVerdicts({verdict});
  EXPECT_EQ(verdict.scalesOfTies, "float32_t128");
}

// The codes of a block whose scale follows from the last bit of a number
// near 1.
TEST_F(CheckFunctions, JudgesTailsByTheirNumbers) {
  // gelu of -20 is 0 by any erf, as that of `kTail` may be.
  options.beforeRun = [](emulator::Launch &launch, emulator::Options &) {
    changeBias(launch, kTail, -20);
  };
  FunctionVerdict verdict = check(tails().c_str());
  EXPECT_TRUE(verdict.passed()) << printVerdicts({verdict});
}

TEST_F(CheckFunctions, NoticesACodeBesideTails) {
  options.beforeRun = [](emulator::Launch &launch, emulator::Options &) {
    changeBias(launch, 1, 0.5);
  };
  FunctionVerdict verdict = check(tails().c_str());
  EXPECT_EQ(verdict.mismatches, 40u) << printVerdicts({verdict});
}

// The scale of a block of small numbers beside one of larger ones. Its codes
// stay what they are.
TEST_F(CheckFunctions, NoticesAWrongScaleOfASmallBlock) {
  options.beforeRun = [](emulator::Launch &launch, emulator::Options &) {
    changeBias(launch, kSmall, 2 * kSmall);
  };
  for (const char *type :
       {"!blockscale.tensor<?x64xf8E4M3FN, \"e8m0_t32\", layout = tiled_128x4>",
        "!blockscale.tensor<?x64xf8E4M3FN, \"float32_t32\">",
        "!blockscale.tensor<?x64xf8E4M3FN, \"multi_float32_e4m3_t16\">",
        "!blockscale.tensor<?x64xf8E4M3FN, \"float32_t4_t32\">"}) {
    FunctionVerdict verdict = check(smallBlock(type).c_str());
    EXPECT_GT(verdict.mismatches, 0u) << printVerdicts({verdict});
    EXPECT_EQ(verdict.first.rfind("result 1, scale of block 0x0: expected ", 0),
              0u)
        << type << ": " << verdict.first;
  }
}

// One part in 2^9 of a number is far more than sums are off.
TEST_F(CheckFunctions, NoticesAScaleThatIsNearTheRightOne) {
  options.beforeRun = [](emulator::Launch &launch, emulator::Options &) {
    changeBias(launch, kSmall, kSmall * (1 + 0x1p-7f));
  };
  FunctionVerdict verdict = check(
      smallBlock("!blockscale.tensor<?x64xf8E4M3FN, \"float32_t32\">").c_str());
  EXPECT_EQ(verdict.mismatches, 40u) << printVerdicts({verdict});
}

// The next power of two is the next number of f32: half of the codes, and twice
// the scale.
TEST_F(CheckFunctions, TakesTheNextScaleWhereASumDecides) {
  constexpr float kNearNext = 0x1.fffffep-10f;
  options.beforeRun = [](emulator::Launch &launch, emulator::Options &) {
    changeBias(launch, kNearNext, 0x1p-9f);
  };
  for (const char *type :
       {"!blockscale.tensor<?x64xf8E4M3FN, \"e8m0_t32\", layout = tiled_128x4>",
        "!blockscale.tensor<?x64xf8E4M3FN, \"float32_t32\">"}) {
    FunctionVerdict verdict = check(smallBlock(type, kNearNext).c_str());
    EXPECT_TRUE(verdict.passed()) << printVerdicts({verdict});
    EXPECT_EQ(verdict.worst, 1);
  }
}

TEST_F(CheckFunctions, LeavesSingleProductsToTheirKernels) {
  const char *text = R"(
!x = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32">
func.func @one(%x: !x, %w: !x) -> tensor<?x?xf32> {
  %y = blockscale.matmul %x, %w : !x, !x -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
})";
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  EXPECT_TRUE(functionsToCheck(*module).empty());
}

TEST_F(CheckFunctions, SaysWhichArgumentsItCannotMake) {
  const char *text = R"(
!x = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @g(%x: !x, %v: vector<4xf32>) -> (tensor<128x128xf32>, vector<4xf32>) {
  %y = blockscale.matmul %x, %x : !x, !x -> tensor<128x128xf32>
  %w = arith.addf %v, %v : vector<4xf32>
  return %y, %w : tensor<128x128xf32>, vector<4xf32>
})";
  EXPECT_EQ(check(text).error,
            "values of type 'vector<4xf32>' cannot be made or compared");
}

} // namespace
