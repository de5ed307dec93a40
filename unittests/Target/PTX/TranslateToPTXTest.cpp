//===- TranslateToPTXTest.cpp - LLVM dialect to PTX -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Target/PTX/TranslateToPTX.h"
#include "blockscale/Target/PTX/Ptxas.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace blockscale;

namespace {

// Allocates tensor memory, copies scales, multiplies, reads the accumulator:
// one of each instruction family that the lowering needs. Addresses and
// descriptors are arguments: this is about names and operands, not layouts.
constexpr const char *kKernel = R"mlir(
gpu.module @kernels {
  llvm.mlir.global internal @slot() {addr_space = 3 : i32, alignment = 8 : i64}
      : !llvm.array<16 x i8>
  llvm.func @gemm(%out: !llvm.ptr<1>, %a: i64, %b: i64, %sf: i64, %idesc: i32)
      attributes {gpu.kernel, nvvm.kernel,
                  nvvm.reqntid = array<i32: 128, 1, 1>} {
    %slot = llvm.mlir.addressof @slot : !llvm.ptr<3>
    %bar = llvm.getelementptr %slot[8] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %c512 = llvm.mlir.constant(512 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %false = llvm.mlir.constant(false) : i1
    nvvm.mbarrier.init %bar, %c1 : !llvm.ptr<3>, i32
    nvvm.tcgen05.alloc %slot, %c512 : !llvm.ptr<3>, i32
    nvvm.tcgen05.relinquish_alloc_permit
    nvvm.barrier0
    %base = llvm.load %slot : !llvm.ptr<3> -> i32
    %c256 = llvm.mlir.constant(256 : i32) : i32
    %sfa = llvm.add %base, %c256 : i32
    %d = llvm.inttoptr %base : i32 to !llvm.ptr<6>
    %s = llvm.inttoptr %sfa : i32 to !llvm.ptr<6>
    %elected = nvvm.elect.sync -> i1
    llvm.cond_br %elected, ^issue, ^join
  ^issue:
    nvvm.tcgen05.cp %s, %sf {shape = #nvvm.tcgen05_cp_shape<shape_32x128b>,
        multicast = #nvvm.tcgen05_cp_multicast<warpx4>}
    nvvm.tcgen05.mma.block_scale %d, %a, %b, %idesc, %false, %s, %s
        {kind = #nvvm.block_scale_kind<mxf4nvf4>, ctaGroup = #nvvm.cta_group<cta_1>,
         blockScale = #nvvm.tcgen05_mma_block_scale<block16>}
        : (!llvm.ptr<6>, i64, i64, i32, i1, !llvm.ptr<6>, !llvm.ptr<6>)
    nvvm.tcgen05.commit %bar : !llvm.ptr<3>
    llvm.br ^join
  ^join:
    %r = nvvm.tcgen05.ld %d {shape = #nvvm.tcgen05_ldst_shape<shape_32x32b>}
        : vector<4xi32>
    nvvm.tcgen05.wait <load>
    llvm.store %r, %out : vector<4xi32>, !llvm.ptr<1>
    nvvm.tcgen05.dealloc %d, %c512 : !llvm.ptr<6>, i32
    llvm.return
  }
}
)mlir";

// The target has no tensor memory: LLVM finds no instruction to select.
constexpr const char *kWait = R"mlir(
gpu.module @kernels {
  llvm.func @wait() attributes {gpu.kernel, nvvm.kernel} {
    nvvm.tcgen05.wait <load>
    llvm.return
  }
}
)mlir";

class TranslateToPTX : public testing::Test {
protected:
  TranslateToPTX() {
    mlir::DialectRegistry registry;
    registerPTXTranslations(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// Translates the first op of `source`; errors go to `errors`.
  mlir::FailureOr<std::string> translate(const char *source,
                                         const PTXOptions &options) {
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) {
      errors += d.str() + "\n";
      return mlir::success();
    });
    auto module = mlir::parseSourceString<mlir::ModuleOp>(source, &context);
    if (!module) {
      ADD_FAILURE() << errors;
      return mlir::failure();
    }
    return translateToPTX(&module->getBody()->front(), options);
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::string errors;
};

class TranslateToPTXChip : public TranslateToPTX,
                           public testing::WithParamInterface<const char *> {};

TEST_P(TranslateToPTXChip, WritesTensorMemoryInstructionsThatPtxasTakes) {
  PTXOptions options;
  options.chip = GetParam();
  mlir::FailureOr<std::string> ptx = translate(kKernel, options);
  ASSERT_TRUE(mlir::succeeded(ptx)) << errors;
  // sm_107 came with 9.4.
  bool isRubin = options.chip.rfind("sm_107", 0) == 0;
  // Spellings from the PTX ISA 9.1, sections on tcgen05.
  for (const char *expected : {
           isRubin ? ".version 9.4" : ".version 9.0",
           ".visible .entry gemm(",
           ".reqntid 128",
           "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32",
           "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned",
           "elect.sync",
           "tcgen05.cp.cta_group::1.32x128b.warpx4",
           "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16",
           "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster"
           ".b64",
           "tcgen05.ld.sync.aligned.32x32b.x4.b32",
           "tcgen05.wait::ld.sync.aligned",
           "tcgen05.dealloc.cta_group::1.sync.aligned.b32",
       })
    EXPECT_NE(ptx->find(expected), std::string::npos)
        << "no '" << expected << "' in\n"
        << *ptx;
  EXPECT_NE(ptx->find(std::string(".target ") + GetParam()), std::string::npos);

  PtxasOptions ptxas;
  ptxas.program = BLOCKSCALE_NEWEST_PTXAS;
  ptxas.chip = GetParam();
  llvm::Expected<PtxasResult> result = runPtxas(*ptx, ptxas);
  ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
  ASSERT_EQ(result->functions.size(), 1u);
  EXPECT_EQ(result->functions[0].name, "gemm");
  EXPECT_EQ(result->functions[0].spillStoreBytes, 0u);
}

INSTANTIATE_TEST_SUITE_P(Chips, TranslateToPTXChip,
                         testing::Values("sm_100a", "sm_103a", "sm_107a",
                                         "sm_107f", "sm_110a"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

// LLVM 22 has no such instruction and writes PTX up to 9.0.
constexpr const char *kExclusive = R"mlir(
gpu.module @kernels {
  llvm.func @wait(%address: i32) attributes {gpu.kernel, nvvm.kernel} {
    llvm.inline_asm has_side_effects "tcgen05.alloc.exclusive.cta_group::1.sync.aligned.shared::cta.b32 [$0], 384;", "r" %address : (i32) -> ()
    llvm.return
  }
}
)mlir";

TEST_F(TranslateToPTX, NamesTheVersionThatInlineAssemblyNeeds) {
  mlir::FailureOr<std::string> ptx = translate(kExclusive, {});
  ASSERT_TRUE(mlir::succeeded(ptx)) << errors;
  EXPECT_NE(ptx->find("\n.version 9.4\n.target sm_100a\n"), std::string::npos)
      << *ptx;
  PtxasOptions ptxas;
  ptxas.program = BLOCKSCALE_NEWEST_PTXAS;
  llvm::Expected<PtxasResult> result = runPtxas(*ptx, ptxas);
  EXPECT_TRUE(bool(result)) << llvm::toString(result.takeError());
}

// LLVM 22 does not know the chip either.
TEST_F(TranslateToPTX, NamesAChipThatIsNewerThanLLVM) {
  PTXOptions options;
  options.chip = "sm_107a";
  mlir::FailureOr<std::string> ptx = translate(kKernel, options);
  ASSERT_TRUE(mlir::succeeded(ptx)) << errors;
  EXPECT_NE(ptx->find("\n.version 9.4\n.target sm_107a\n"), std::string::npos)
      << *ptx;
  EXPECT_EQ(ptx->find("sm_103"), std::string::npos) << *ptx;
}

TEST_F(TranslateToPTX, IsDeterministic) {
  mlir::FailureOr<std::string> first = translate(kKernel, {});
  mlir::FailureOr<std::string> second = translate(kKernel, {});
  ASSERT_TRUE(mlir::succeeded(first) && mlir::succeeded(second)) << errors;
  EXPECT_EQ(*first, *second);
}

TEST_F(TranslateToPTX, PrintsLLVMIR) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(kKernel, &context);
  ASSERT_TRUE(bool(module));
  mlir::FailureOr<std::string> text =
      translateToLLVMIR(&module->getBody()->front(), {});
  ASSERT_TRUE(mlir::succeeded(text));
  EXPECT_NE(text->find("define ptx_kernel void @gemm("), std::string::npos);
  EXPECT_NE(text->find("target triple = \"nvptx64-nvidia-cuda\""),
            std::string::npos);
}

TEST_F(TranslateToPTX, SurvivesAnInstructionThatTheChipLacks) {
  PTXOptions options;
  options.chip = "sm_120a";
  EXPECT_TRUE(mlir::failed(translate(kWait, options)));
  EXPECT_EQ(errors.find("LLVM cannot compile the module for 'sm_120a': Cannot "
                        "select"),
            0u)
      << errors;
  // The process is still good for the next module.
  errors.clear();
  options.chip = "sm_100a";
  EXPECT_TRUE(mlir::succeeded(translate(kWait, options))) << errors;
}

TEST_F(TranslateToPTX, SurvivesAPTXVersionTooOldForTheChip) {
  PTXOptions options;
  options.chip = "sm_103a";
  options.ptxVersion = 86;
  EXPECT_TRUE(mlir::failed(translate(kWait, options)));
  EXPECT_EQ(errors.find("LLVM cannot compile the module for 'sm_103a': "), 0u)
      << errors;
}

TEST_F(TranslateToPTX, RefusesAnUnknownChip) {
  PTXOptions options;
  options.chip = "sm_999a";
  EXPECT_TRUE(mlir::failed(translate(kWait, options)));
  EXPECT_EQ(errors, "chip 'sm_999a' is not one that LLVM's NVPTX back end "
                    "knows; expected a name such as 'sm_100a'\n");
}

TEST_F(TranslateToPTX, RefusesAnUnknownPTXVersion) {
  PTXOptions options;
  options.ptxVersion = 99;
  EXPECT_TRUE(mlir::failed(translate(kWait, options)));
  EXPECT_EQ(errors, "PTX version 99 is not one that LLVM's NVPTX back end "
                    "knows; the newest is 90\n");
}

TEST_F(TranslateToPTX, RefusesAnOptimisationLevelOutOfRange) {
  PTXOptions options;
  options.optLevel = 4;
  EXPECT_TRUE(mlir::failed(translate(kWait, options)));
  EXPECT_EQ(errors, "optimisation level 4 is out of range; expected 0 to 3\n");
}

TEST_F(TranslateToPTX, RefusesAModuleWithoutFunctions) {
  EXPECT_TRUE(mlir::failed(translate("gpu.module @empty {}", {})));
  EXPECT_EQ(errors, "expected at least one 'llvm.func' with a body to "
                    "translate\n");
}

TEST_F(TranslateToPTX, RefusesAnOpThatIsNotLowered) {
  EXPECT_TRUE(mlir::failed(translate(R"mlir(
    gpu.module @kernels {
      llvm.func @f() {
        %0 = gpu.thread_id x
        llvm.return
      }
    })mlir",
                                     {})));
  EXPECT_NE(errors.find("gpu.thread_id"), std::string::npos) << errors;
}

// No register of NVPTX goes by 'z'. LLVM says so without giving up.
TEST_F(TranslateToPTX, PassesOnWhatLLVMRefuses) {
  EXPECT_TRUE(mlir::failed(translate(R"mlir(
    gpu.module @kernels {
      llvm.func @f() attributes {gpu.kernel, nvvm.kernel} {
        %0 = llvm.inline_asm has_side_effects "mov.u32 $0, 1;", "=z" : () -> i32
        llvm.return
      }
    })mlir",
                                     {})));
  EXPECT_EQ(errors.find("LLVM refuses the module: "), 0u) << errors;
  EXPECT_NE(errors.find("'z'"), std::string::npos) << errors;
}

} // namespace
