//===- BlockscaleToNVVM.cpp - kernels to the NVVM dialect -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Descriptors.h"
#include "Lowering.h"
#include "blockscale/Conversion/BlockscaleToNVVM/Passes.h"
#include "blockscale/Dialect/Blockscale/IR/Quantization.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace blockscale {
#define GEN_PASS_DEF_CONVERTBLOCKSCALETONVVM
#include "blockscale/Conversion/BlockscaleToNVVM/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

namespace {
struct ConvertBlockscaleToNVVM
    : blockscale::impl::ConvertBlockscaleToNVVMBase<ConvertBlockscaleToNVVM> {
  using ConvertBlockscaleToNVVMBase::ConvertBlockscaleToNVVMBase;
  void getDependentDialects(DialectRegistry &registry) const override {
    ConvertBlockscaleToNVVMBase::getDependentDialects(registry);
    nvvm::registerDialect(registry);
  }
  void runOnOperation() override;
};
} // namespace

//===----------------------------------------------------------------------===//
// Small pieces of code
//===----------------------------------------------------------------------===//

Value blockscale::constantI32(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIntOp::create(b, b.getI32Type(), value);
}

Value blockscale::add(ImplicitLocOpBuilder &b, Value x, Value y) {
  return b.createOrFold<arith::AddIOp>(x, y);
}

Value blockscale::add(ImplicitLocOpBuilder &b, Value x, int64_t y) {
  return y == 0 ? x : add(b, x, constantI32(b, y));
}

Value blockscale::element(ImplicitLocOpBuilder &b, Value base, Value index,
                          int64_t stride) {
  Value offset = b.createOrFold<arith::MulIOp>(index, constantI32(b, stride));
  return add(b, base, offset);
}

LLVM::LLVMPointerType blockscale::pointerType(MLIRContext *context,
                                              AddressSpace space) {
  return LLVM::LLVMPointerType::get(context, static_cast<unsigned>(space));
}

Value blockscale::pointer(ImplicitLocOpBuilder &b, Value address,
                          AddressSpace space) {
  return LLVM::IntToPtrOp::create(b, pointerType(b.getContext(), space),
                                  address);
}

Value blockscale::barrierPointer(ImplicitLocOpBuilder &b, Value barriers,
                                 Value index) {
  return pointer(b, element(b, barriers, index, kBarrierBytes),
                 AddressSpace::Shared);
}

Value blockscale::multicastMask(ImplicitLocOpBuilder &b, Value mask) {
  return mask ? arith::TruncIOp::create(b, b.getI16Type(), mask) : Value();
}

Value blockscale::mapToRank(ImplicitLocOpBuilder &b, Value address,
                            Value rank) {
  auto window = pointerType(b.getContext(), AddressSpace::SharedCluster);
  Value mapped = nvvm::mapToRank(
      b, window, pointer(b, address, AddressSpace::Shared), rank);
  return LLVM::PtrToIntOp::create(b, b.getI32Type(), mapped);
}

Value blockscale::threadIndex(ImplicitLocOpBuilder &b) {
  return nvvm::threadId(b, /*axis=*/0);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

void blockscale::populateBlockscaleToNVVMTypeConversions(
    TypeConverter &converter) {
  converter.addConversion([](Type type) { return type; });
  converter.addConversion([](Type type) -> std::optional<Type> {
    MLIRContext *context = type.getContext();
    if (isa<SharedType, BarrierType, TensorMemoryType>(type))
      return IntegerType::get(context, 32);
    if (isa<TensorMapType>(type))
      return LLVM::LLVMPointerType::get(context);
    if (isa<GlobalType>(type))
      return pointerType(context, AddressSpace::Global);
    return std::nullopt;
  });
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// A tensor map is a parameter by value that TMA reads where it lies.
static void setParameterAttributes(LLVM::LLVMFuncOp function,
                                   gpu::GPUFuncOp kernel) {
  Builder b(function.getContext());
  for (unsigned i = 0, e = kernel.getNumArguments(); i < e; ++i) {
    NamedAttrList attributes(kernel.getArgAttrDict(i));
    if (isa<TensorMapType>(kernel.getArgumentTypes()[i])) {
      auto bytes = LLVM::LLVMArrayType::get(b.getI8Type(), kTensorMapBytes);
      attributes.set(LLVM::LLVMDialect::getByValAttrName(),
                     TypeAttr::get(bytes));
      attributes.set(LLVM::LLVMDialect::getAlignAttrName(),
                     b.getI64IntegerAttr(kTensorMapAlignment));
      attributes.set(nvvm::gridConstantName(), b.getUnitAttr());
    }
    if (!attributes.empty())
      function.setArgAttrs(i, attributes.getDictionary(b.getContext()));
  }
}

static bool hasParameter(gpu::GPUFuncOp op, ParameterRole role) {
  return llvm::any_of(op.getArguments(), [&](BlockArgument argument) {
    auto parameter = op.getArgAttrOfType<ParameterAttr>(argument.getArgNumber(),
                                                        ParameterAttr::name);
    return parameter && parameter.getRole() == role;
  });
}

/// Whether ptxas would spill to have two CTAs of a kernel that quantises both
/// ways share the registers of an SM: a float scale of more than 32 elements,
/// errors of blocks of 16 to compare, random numbers where the tensor scale is
/// found on the way.
static bool needsAllRegisters(gpu::GPUFuncOp op, QuantizationAttr what) {
  const ScaleSpec &spec = what.getD().getSpec().getValue();
  bool isShort = spec.isTile() && spec.columns->size <= 32;
  bool comparesErrors = what.getRule() == ScaleRule::MinError &&
                        spec.isTile() && spec.columns->size <= 16;
  bool isRandom = what.getRounding() == ElementRounding::Stochastic ||
                  what.getRounding() == ElementRounding::StochasticRS;
  return comparesErrors ||
         (!isShort && what.getD().getLayout() == ScaleLayout::Plain) ||
         (isRandom && spec.isMultiscale() &&
          !hasParameter(op, ParameterRole::TensorScale));
}

/// CTAs that ptxas leaves an SM registers for at once. Shared memory, of which
/// it does not see the dynamic part, lets one CTA of most kernels live there,
/// and for more it would spill. Those that quantise columns load, meet and
/// store: an H100 takes 1.1 to 1.2 times as long as for their bytes with two
/// CTAs, of which one goes on while the other waits, and 1.5 to 1.8 times with
/// one. Blocks of sparse instructions are too long for the registers of two.
static int32_t ctasPerSm(gpu::GPUFuncOp op) {
  auto what = op->getAttrOfType<QuantizationAttr>(QuantizationAttr::name);
  if (!what || op->hasAttr(ProductAttr::name) || op->hasAttr(kForSparseName))
    return 1;
  auto columns =
      op->getAttrOfType<QuantizationAttr>(kTransposedQuantizationName);
  if (!columns && !what.getTransposed())
    return 1;
  // Two CTAs of few threads have all registers that a thread can have.
  constexpr int64_t kFewThreads = 256;
  auto kernel = op->getAttrOfType<KernelAttr>(KernelAttr::name);
  if (!columns || kernel.getBlock() <= kFewThreads)
    return 2;
  return needsAllRegisters(op, what) || needsAllRegisters(op, columns) ? 1 : 2;
}

namespace {
struct KernelToNVVM : OpConversionPattern<gpu::GPUFuncOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(gpu::GPUFuncOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto kernel = op->getAttrOfType<KernelAttr>(KernelAttr::name);
    if (!kernel)
      return rewriter.notifyMatchFailure(op, "not a kernel of the dialect");
    if (op.getBody().getNumArguments() != op.getNumArguments())
      return rewriter.notifyMatchFailure(op, "has memory attributions");

    const TypeConverter &converter = *getTypeConverter();
    TypeConverter::SignatureConversion signature(op.getNumArguments());
    if (failed(
            converter.convertSignatureArgs(op.getArgumentTypes(), signature)))
      return rewriter.notifyMatchFailure(op, "has an argument of unknown type");
    auto type =
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(op.getContext()),
                                    signature.getConvertedTypes());
    auto function =
        LLVM::LLVMFuncOp::create(rewriter, op.getLoc(), op.getName(), type);
    for (StringRef name :
         {KernelAttr::name, ProductAttr::name, QuantizationAttr::name,
          ConversionAttr::name, TargetAttr::name})
      if (Attribute attribute = op->getAttr(name))
        function->setAttr(name, attribute);
    nvvm::makeKernel(function, static_cast<int32_t>(kernel.getBlock()),
                     static_cast<int32_t>(kernel.getCluster()), ctasPerSm(op));
    setParameterAttributes(function, op);
    rewriter.inlineRegionBefore(op.getBody(), function.getBody(),
                                function.getBody().end());
    if (failed(rewriter.convertRegionTypes(&function.getBody(), converter,
                                           &signature)))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};

struct ReturnToNVVM : OpConversionPattern<gpu::ReturnOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(gpu::ReturnOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::ReturnOp>(op, ValueRange());
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// The array of dynamic shared memory of the module around `op`.
static LLVM::GlobalOp getSharedMemory(gpu::GPUModuleOp module) {
  if (auto global = module.lookupSymbol<LLVM::GlobalOp>(kSharedMemoryName))
    return global;
  // The strictest alignment that a swizzle needs.
  constexpr unsigned kAlignment = 1024;
  auto b = OpBuilder::atBlockBegin(module.getBody());
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
  return LLVM::GlobalOp::create(b, module.getLoc(), type, /*isConstant=*/false,
                                LLVM::Linkage::External, kSharedMemoryName,
                                /*value=*/Attribute(), kAlignment,
                                static_cast<unsigned>(AddressSpace::Shared));
}

/// The byte address of `offset` in dynamic shared memory.
static Value sharedAddress(ImplicitLocOpBuilder &b, int64_t offset) {
  auto type = pointerType(b.getContext(), AddressSpace::Shared);
  Value start = LLVM::AddressOfOp::create(b, type, kSharedMemoryName);
  return add(b, LLVM::PtrToIntOp::create(b, b.getI32Type(), start), offset);
}

namespace {
struct SharedAllocToNVVM : OpConversionPattern<SharedAllocOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(SharedAllocOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op.getOffset())
      return rewriter.notifyMatchFailure(op, "has no offset");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, sharedAddress(b, *op.getOffset()));
    return success();
  }
};

/// A thread initialises each of the barriers, so that nothing waits for one
/// that does so in turn; the fence makes them known to the async proxy.
struct BarrierAllocToNVVM : OpConversionPattern<BarrierAllocOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(BarrierAllocOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op.getOffset())
      return rewriter.notifyMatchFailure(op, "has no offset");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value barriers = sharedAddress(b, *op.getOffset());
    Value thread = threadIndex(b);
    Value hasOne =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, thread,
                              constantI32(b, op.getType().getCount()));
    auto onlyThose = scf::IfOp::create(b, hasOne);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(onlyThose.thenBlock());
      Value address = element(b, barriers, thread, kBarrierBytes);
      nvvm::initBarrier(b, pointer(b, address, AddressSpace::Shared),
                        constantI32(b, op.getArrivals()));
      nvvm::fenceBarrierInit(b);
    }
    rewriter.replaceOp(op, barriers);
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

void blockscale::populateBlockscaleToNVVMPatterns(
    const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns
      .add<KernelToNVVM, ReturnToNVVM, SharedAllocToNVVM, BarrierAllocToNVVM>(
          converter, patterns.getContext());
  populateRolePatterns(converter, patterns);
  populateClusterPatterns(converter, patterns);
  populateGridPatterns(converter, patterns);
  populateSharedPatterns(converter, patterns);
  populateStorePatterns(converter, patterns);
  populateTcgen05Patterns(converter, patterns);
  populateWarpPatterns(converter, patterns);
  populateRowPatterns(converter, patterns);
  populateEpiloguePatterns(converter, patterns);
}

/// Whether the passes before this one have done their part on `op`.
static LogicalResult checkReady(Operation *op) {
  auto missing = [&](StringRef what, StringRef pass) -> LogicalResult {
    return op->emitOpError() << what << "; run '" << pass << "' first";
  };
  constexpr llvm::StringLiteral kMemory = "blockscale-assign-memory";
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<SharedAllocOp, BarrierAllocOp>([&](auto alloc) {
        return alloc.getOffset() ? success()
                                 : missing("has no offset", kMemory);
      })
      .Case<TmemAllocOp, TmemDeallocOp>([&](auto alloc) {
        return alloc.getColumns()
                   ? success()
                   : missing("has no number of columns", kMemory);
      })
      .Case([&](TmemViewOp view) {
        return view.getColumn() ? success() : missing("has no column", kMemory);
      })
      .Case([&](MmaOp mma) {
        return mma.getSteps()
                   ? checkDescriptors(mma)
                   : missing("has no steps", "blockscale-assign-steps");
      })
      .Case([&](WarpMmaOp mma) {
        return !mma.getSfa() || mma.getSfaId()
                   ? success()
                   : missing("has no scale ids", "blockscale-assign-steps");
      })
      .Case([&](KernelMatmulOp) {
        return missing("is not expanded", "blockscale-expand-kernels");
      })
      .Case([](gpu::GPUFuncOp function) -> LogicalResult {
        if (function.getBody().getNumArguments() == function.getNumArguments())
          return success();
        return function.emitOpError()
               << "has memory attributions; kernels take shared memory from "
                  "'blockscale.shared_alloc'";
      })
      .Default([](Operation *) { return success(); });
}

void ConvertBlockscaleToNVVM::runOnOperation() {
  SmallVector<Operation *> kernels;
  for (auto function : getOperation().getOps<gpu::GPUFuncOp>())
    if (function->hasAttrOfType<KernelAttr>(KernelAttr::name))
      kernels.push_back(function);
  if (kernels.empty())
    return;
  for (Operation *kernel : kernels)
    if (kernel
            ->walk([](Operation *op) {
              return failed(checkReady(op)) ? WalkResult::interrupt()
                                            : WalkResult::advance();
            })
            .wasInterrupted())
      return signalPassFailure();
  getSharedMemory(getOperation());

  TypeConverter converter;
  populateBlockscaleToNVVMTypeConversions(converter);
  ConversionTarget target(getContext());
  target.addIllegalDialect<BlockscaleDialect, gpu::GPUDialect>();
  target.addLegalDialect<arith::ArithDialect, LLVM::LLVMDialect,
                         math::MathDialect, vector::VectorDialect>();
  target.addLegalDialect(nvvm::kDialectName);
  populateEpilogueLegality(target);
  RewritePatternSet patterns(&getContext());
  populateBlockscaleToNVVMPatterns(converter, patterns);
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                       target);
  if (failed(applyPartialConversion(kernels, target, std::move(patterns))))
    signalPassFailure();
}
