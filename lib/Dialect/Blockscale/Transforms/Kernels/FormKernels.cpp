//===- FormKernels.cpp - outline each source into a kernel ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// One gpu.func per source of a kernel, whose arguments are typed by how the
// host makes them, and a launch in the source's place.

#include "KernelNeighbours.h"
#include "QuantizeSource.h"
#include "TileSumsSource.h"
#include "blockscale/Dialect/Blockscale/IR/Conversion.h"
#include "blockscale/Dialect/Blockscale/IR/Quantization.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "blockscale/Dialect/Blockscale/IR/TensorCore.h"
#include "blockscale/Dialect/Blockscale/IR/ZeroTerms.h"
#include "blockscale/Dialect/Blockscale/Transforms/KernelSource.h"
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"
#include "blockscale/HW/Mma.h"
#include "blockscale/HW/PtxName.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace blockscale {
#define GEN_PASS_DEF_FORMKERNELS
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

namespace {
struct FormKernels : blockscale::impl::FormKernelsBase<FormKernels> {
  using FormKernelsBase::FormKernelsBase;
  void runOnOperation() override;
  void getDependentDialects(DialectRegistry &registry) const override {
    FormKernelsBase::getDependentDialects(registry);
    registerKernelSources(registry);
    // Of the bodies that sources emit as they are.
    registry
        .insert<math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
  }

private:
  bool isWanted(KernelSourceOpInterface op) const;
  void leaveToHost(MatmulOp op) const;
  void addTerms(MatmulOp op);
  void launch(KernelSourceOpInterface op, SymbolRefAttr kernel);

  /// Sums that kernels make for the terms of a product: of A, of B, or null.
  llvm::DenseMap<Operation *, std::array<Value, 2>> terms;
};
} // namespace

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

static StringRef functionAround(Operation *op) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  return function ? function.getName() : StringRef();
}

static gpu::GPUFuncOp buildKernel(KernelSourceOpInterface op,
                                  gpu::GPUModuleOp module, StringRef name) {
  KernelOutline outline = op.getOutline(functionAround(op));
  SmallVector<Type> types;
  for (const KernelParameter &parameter : outline.parameters)
    types.push_back(parameter.type);

  ImplicitLocOpBuilder b(op.getLoc(), op.getContext());
  b.setInsertionPointToEnd(&module.getBodyRegion().front());
  auto kernel =
      gpu::GPUFuncOp::create(b, name, b.getFunctionType(types, TypeRange()));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  kernel->setAttr(KernelAttr::name, outline.launch);
  if (outline.product)
    kernel->setAttr(ProductAttr::name, outline.product);
  if (outline.quantization)
    kernel->setAttr(QuantizationAttr::name, outline.quantization);
  if (outline.transposedQuantization)
    kernel->setAttr(kTransposedQuantizationName,
                    outline.transposedQuantization);
  if (outline.isForSparse)
    kernel->setAttr(kForSparseName, b.getUnitAttr());
  if (outline.conversion)
    kernel->setAttr(ConversionAttr::name, outline.conversion);
  for (auto [index, parameter] : llvm::enumerate(outline.parameters))
    kernel.setArgAttr(index, ParameterAttr::name,
                      ParameterAttr::get(b.getContext(), parameter.role));

  b.setInsertionPointToStart(&kernel.getBody().front());
  op.buildBody(b, [&](ParameterRole role) -> Value {
    for (auto [index, parameter] : llvm::enumerate(outline.parameters))
      if (parameter.role == role)
        return kernel.getArgument(index);
    return {};
  });
  gpu::ReturnOp::create(b);
  return kernel;
}

//===----------------------------------------------------------------------===//
// The host
//===----------------------------------------------------------------------===//

/// Names the terms of zero points that launches of a kernel give, if any.
static void nameTerms(gpu::GPUFuncOp kernel, ArrayRef<Value> terms) {
  SmallVector<StringRef> names;
  for (auto [role, value] : llvm::zip(
           std::array{ParameterRole::ATerms, ParameterRole::BTerms}, terms))
    if (value)
      names.push_back(stringifyParameterRole(role));
  if (!names.empty())
    kernel->setAttr(kGivenTermsName,
                    Builder(kernel.getContext()).getStrArrayAttr(names));
}

/// The launch of a product whose kernel quantises stands for both ops.
static void replaceByLaunch(MatmulOp product, QuantizeOp quantizer,
                            SymbolRefAttr kernel, ArrayRef<Value> terms) {
  OpBuilder b(quantizer);
  SmallVector<Value> inputs(product->getOperands());
  if (quantizer.getTensorScale())
    inputs.push_back(quantizer.getTensorScale());
  llvm::copy_if(terms, std::back_inserter(inputs),
                [](Value value) { return bool(value); });
  auto launch = LaunchOp::create(b, product.getLoc(), quantizer.getType(),
                                 kernel, inputs);
  quantizer.replaceAllUsesWith(launch->getResult(0));
  quantizer.erase();
  product.erase();
}

/// A transpose that the kernel does itself is of no use then.
static void eraseQuantizer(QuantizeOp op) {
  Operation *read = op.getInput().getDefiningOp();
  op.erase();
  if (read && isOpTriviallyDead(read))
    read->erase();
}

/// The launch stands for a matrix and for its transpose, where the kernel
/// quantises both, in front of all that reads either.
static void replaceByLaunch(QuantizeOp op, SymbolRefAttr kernel) {
  SmallVector<QuantizeOp> quantizers{op};
  Operation *first = op;
  if (QuantizeOp partner = transposedPartner(op)) {
    quantizers.push_back(partner);
    if (partner->isBeforeInBlock(op))
      first = partner;
  }
  SmallVector<Type> types;
  for (QuantizeOp one : quantizers)
    types.push_back(one.getType());
  OpBuilder b(first);
  auto launch =
      LaunchOp::create(b, op.getLoc(), types, kernel, launchInputs(op));
  for (auto [one, result] : llvm::zip_equal(quantizers, launch.getResults()))
    one.replaceAllUsesWith(result);
  for (QuantizeOp one : quantizers)
    eraseQuantizer(one);
}

void FormKernels::launch(KernelSourceOpInterface op, SymbolRefAttr kernel) {
  const std::array<Value, 2> given = terms.lookup(op);
  if (auto product = dyn_cast<MatmulOp>(op.getOperation()))
    if (QuantizeOp quantizer = quantizerOf(product))
      return replaceByLaunch(product, quantizer, kernel, given);
  if (auto quantizer = dyn_cast<QuantizeOp>(op.getOperation()))
    return replaceByLaunch(quantizer, kernel);
  OpBuilder b(op);
  SmallVector<Value> inputs(op->getOperands());
  llvm::copy_if(given, std::back_inserter(inputs),
                [](Value value) { return bool(value); });
  auto launch =
      LaunchOp::create(b, op.getLoc(), op->getResultTypes(), kernel, inputs);
  for (auto &[product, sums] : terms)
    llvm::replace(sums, op->getResult(0), launch->getResult(0));
  op->replaceAllUsesWith(launch);
  op.erase();
}

/// "proj", then "proj_1", ...: `base`, numbered where it is taken. A name that
/// is not that of `source` keeps clear of the `functions`.
static std::string freeName(const std::string &base, gpu::GPUModuleOp module,
                            const SymbolTable &functions,
                            StringRef source = {}) {
  std::string name = base;
  auto isTaken = [&] {
    return module.lookupSymbol(name) ||
           (name != source && functions.lookup(name));
  };
  for (unsigned i = 1; isTaken(); ++i)
    name = base + "_" + std::to_string(i);
  return name;
}

/// The source function, as PTX can spell it, numbered where it has more than
/// one source.
static std::string kernelName(KernelSourceOpInterface op,
                              gpu::GPUModuleOp module,
                              const SymbolTable &functions) {
  StringRef source = functionAround(op);
  return freeName(hw::ptxName(source), module, functions, source);
}

/// The module of the kernels for `target`: "kernels" for the chip of the whole
/// module, "kernels_sm_103a" for one that an op names itself.
static FailureOr<gpu::GPUModuleOp> kernelsFor(ModuleOp module,
                                              hw::Target target) {
  std::string name = "kernels";
  if (target != getTarget(module))
    name += "_" + hw::targetName(target);
  Operation *symbol = module.lookupSymbol(name);
  if (!symbol) {
    auto b = OpBuilder::atBlockEnd(module.getBody());
    auto kernels = gpu::GPUModuleOp::create(b, module.getLoc(), name);
    kernels->setAttr(TargetAttr::name,
                     TargetAttr::get(module.getContext(), target));
    return kernels;
  }
  auto kernels = dyn_cast<gpu::GPUModuleOp>(symbol);
  if (!kernels)
    return symbol->emitOpError() << "has the name '" << name
                                 << "', which the module of kernels needs";
  if (getTarget(kernels) != target)
    return kernels.emitOpError()
           << "is for '" << hw::targetName(getTarget(kernels))
           << "', but has the name of the module of kernels for '"
           << hw::targetName(target) << "'";
  return kernels;
}

/// Functions of a module inside of `module` see none of its symbols, so that
/// they could not launch kernels there.
static LogicalResult checkModule(KernelSourceOpInterface op, ModuleOp module) {
  auto nearest = op->getParentOfType<ModuleOp>();
  if (nearest == module)
    return success();
  InFlightDiagnostic error =
      op->emitOpError() << "is in a module inside of the one that is compiled; "
                           "compile the inner module by itself";
  error.attachNote(nearest.getLoc()) << "the inner module";
  return error;
}

/// Why a host that knows nothing of `variant` does not give it what it takes:
/// it packs and aligns operands as the kernel of `op` for any number of rows
/// says.
static std::optional<Reason> whyNotVariant(MatmulOp op, VariantAttr variant) {
  ScheduleAttr whole = getSchedule(op), few = variant.getSchedule();
  auto packs = [](MmaAttr mma) {
    return hw::readsPacked(mma.getKind(), mma.getK(), mma.getSparse());
  };
  std::string problem;
  if (whole.getStores().value_or(Stores::Direct) !=
      few.getStores().value_or(Stores::Direct))
    problem = "has other 'stores', which want another alignment of D";
  else if (whole.getCLoads().value_or(Loads::Direct) !=
           few.getCLoads().value_or(Loads::Direct))
    problem = "has other 'c_loads', which want another alignment of C";
  else if (packs(getMma(op)) != packs(variant.getMma()))
    problem = "reads elements that are packed otherwise";
  if (problem.empty())
    return std::nullopt;
  return Reason("its kernel for up to " +
                std::to_string(variant.getMostRows()) + " rows " + problem +
                " than the one for any number; expected the same of both");
}

/// Kernels that are launched in place of `kernel` where A has few rows: the op
/// again, with their instruction and schedule.
static LogicalResult buildVariants(MatmulOp op, gpu::GPUFuncOp kernel,
                                   gpu::GPUModuleOp module,
                                   const SymbolTable &functions) {
  auto variants = op->getAttrOfType<ArrayAttr>(VariantAttr::arrayName);
  if (!variants)
    return success();
  for (auto variant : variants.getAsRange<VariantAttr>()) {
    if (auto why = whyNotVariant(op, variant))
      return op->emitOpError() << why->text;
    OpBuilder b(op);
    IRMapping copies;
    auto copy = cast<MatmulOp>(b.clone(*op, copies));
    Operation *quantizer = quantizerOf(op);
    if (quantizer) {
      b.setInsertionPoint(quantizer);
      quantizer = b.clone(*quantizer, copies);
    }
    setTensorCore(copy, variant.getMma(), variant.getSchedule());
    auto source = cast<KernelSourceOpInterface>(copy.getOperation());
    LogicalResult isReady = source.checkReady();
    if (succeeded(isReady)) {
      std::string name = freeName(kernel.getName().str() + "_m" +
                                      std::to_string(variant.getMostRows()),
                                  module, functions);
      gpu::GPUFuncOp built = buildKernel(source, module, name);
      auto product = built->getAttrOfType<ProductAttr>(ProductAttr::name);
      built->setAttr(
          ProductAttr::name,
          product.asVariant(kernel.getNameAttr(), variant.getMostRows()));
      isReady = sizeLimits(built, [&] { return op->emitOpError(); });
    }
    if (quantizer)
      quantizer->erase();
    copy.erase();
    if (failed(isReady))
      return failure();
  }
  return success();
}

/// A function that only quantises is compiled or refused; in whole functions
/// the host quantises what no kernel does, and tiles of several rows or blocks,
/// of which it keeps a scale once.
bool FormKernels::isWanted(KernelSourceOpInterface op) const {
  if (isConversion(op))
    return quantize ? isKernelSource(op)
                    : quantizeOperands && isConvertible(op) &&
                          (isKernelSource(op) || isAmongKernels(op));
  auto quantization = dyn_cast<QuantizeOp>(op.getOperation());
  if (quantization && isOfKernel(quantization))
    return false;
  if (!quantization || !quantizeOperands)
    return isKernelSource(op) && (quantize || !quantization);
  // The kernel of a matrix does its transpose, too.
  if (isPartOfPartner(quantization))
    return false;
  QuantizeOp partner = transposedPartner(quantization);
  if (partner &&
      (!isDoneByKernel(partner) || whyNotTogether(quantization, partner)))
    return false;
  return (isKernelSource(op) || isForKernels(quantization)) &&
         isDoneByKernel(quantization);
}

/// Unless asked, whole functions quantise on the host, where their code wants
/// the result; and always where a kernel would store scales of which they have
/// one.
void FormKernels::leaveToHost(MatmulOp op) const {
  QuantizeOp quantizer = quantizerOf(op);
  if (!quantizeOperands || (quantizer && repeatsScales(quantizer)))
    op->removeAttr(kQuantizedAttrName);
}

/// Where a kernel makes an operand, another one adds it up for the zero points
/// of the other operand, so that it need not leave the device.
void FormKernels::addTerms(MatmulOp op) {
  if (!hasZeroTerms(op) || !isKernelSource(op))
    return;
  OpBuilder b(op);
  for (bool isA : {true, false}) {
    TileSumsOp sums = createTermsOf(b, op, isA);
    if (!sums)
      continue;
    if (isConvertible(sums) && isMadeByKernel(sums.getInput()))
      terms[op][isA ? 0 : 1] = sums;
    else
      sums.erase();
  }
}

void FormKernels::runOnOperation() {
  ModuleOp module = getOperation();
  terms.clear();
  if (!quantize)
    module.walk([&](MatmulOp op) { leaveToHost(op); });
  if (quantizeOperands)
    module.walk([&](MatmulOp op) { addTerms(op); });
  SmallVector<KernelSourceOpInterface> sources;
  module.walk([&](KernelSourceOpInterface op) {
    if (isWanted(op))
      sources.push_back(op);
  });
  for (KernelSourceOpInterface op : sources)
    if (failed(checkModule(op, module)) || failed(op.checkReady()))
      return signalPassFailure();
  SymbolTable functions(module);
  for (KernelSourceOpInterface op : sources) {
    FailureOr<gpu::GPUModuleOp> kernels = kernelsFor(module, getTarget(op));
    if (failed(kernels))
      return signalPassFailure();
    std::string name = kernelName(op, *kernels, functions);
    gpu::GPUFuncOp kernel = buildKernel(op, *kernels, name);
    nameTerms(kernel, terms.lookup(op));
    if (failed(sizeLimits(kernel, [&] { return op->emitOpError(); })))
      return signalPassFailure();
    if (auto matmul = dyn_cast<MatmulOp>(op.getOperation()))
      if (failed(buildVariants(matmul, kernel, *kernels, functions)))
        return signalPassFailure();
    auto leaf = FlatSymbolRefAttr::get(&getContext(), name);
    launch(op, SymbolRefAttr::get(kernels->getNameAttr(), {leaf}));
  }
}
