//===- FormKernels.cpp - make a kernel of each function -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"
#include "blockscale/Dialect/Blockscale/IR/Epilogue.h"
#include "blockscale/Dialect/BlockscaleNKI/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"

namespace blockscale::nki {
#define GEN_PASS_DEF_NKIFORMKERNELS
#include "blockscale/Dialect/BlockscaleNKI/Transforms/Passes.h.inc"
} // namespace blockscale::nki

using namespace mlir;
using namespace blockscale;
using namespace blockscale::nki;

namespace {
struct NKIFormKernels
    : blockscale::nki::impl::NKIFormKernelsBase<NKIFormKernels> {
  using NKIFormKernelsBase::NKIFormKernelsBase;
  void runOnOperation() override;
};

/// Turns one function into a kernel.
class KernelFormer {
public:
  KernelFormer(func::FuncOp function, StringRef target)
      : function(function), target(target), builder(function),
        b(builder, function.getLoc()) {}

  LogicalResult form();

private:
  /// What the function computes, and that it computes nothing else.
  LogicalResult recognize();
  LogicalResult begin(ShapedType result);
  LogicalResult formProduct();
  LogicalResult formQuantize();

  /// Adds a parameter to the kernel.
  Value parameter(StringRef name, HostForm role, StringRef operand, Type source,
                  ArrayRef<int64_t> shape, Type element);
  FailureOr<PackedMatrix> operand(Value value, StringRef name, int64_t columns);
  /// The packed form of a quantised argument, computed by the kernel.
  FailureOr<PackedMatrix> quantized(QuantizeOp op, StringRef name,
                                    int64_t columns);
  /// An argument that keeps its shape, with the batch in front of the rows.
  FailureOr<Value> plain(Value value, StringRef name, ArrayRef<int64_t> shape);
  FailureOr<EpilogueSteps::Factor> factor(Value value, StringRef name);
  FailureOr<EpilogueSteps::Factor> loadFactor(Type source, StringRef name,
                                              StringRef operand);
  LogicalResult epilogue(EpilogueSteps &steps);
  LogicalResult isArgument(Value value, StringRef name);
  void finish(ArrayRef<Value> results);

  func::FuncOp function;
  std::string target;
  OpBuilder builder;
  KernelBuilder b;
  MatmulOp matmul;
  QuantizeOp quantize;
  KernelOp kernel;
  SmallVector<Attribute> parameters;
  int64_t batch = 1, m = 0, n = 0, k = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// What the function computes
//===----------------------------------------------------------------------===//

LogicalResult KernelFormer::recognize() {
  if (function.isDeclaration())
    return function.emitError()
           << "function '" << function.getName() << "' has no body to lower";
  if (!function.getBody().hasOneBlock())
    return function.emitError() << "function '" << function.getName()
                                << "' has control flow, which is not lowered "
                                   "to NKI";
  for (Operation &op : function.getBody().front()) {
    if (auto product = dyn_cast<MatmulOp>(op)) {
      if (matmul)
        return op.emitOpError() << "is the second product of its function; a "
                                   "kernel of NKI computes one: expected a "
                                   "function for each";
      matmul = product;
    } else if (auto source = dyn_cast<QuantizeOp>(op)) {
      quantize = source;
    } else if (!isa<func::ReturnOp, arith::ConstantOp>(op)) {
      return op.emitOpError() << "is not lowered to NKI: a function holds one "
                                 "'blockscale.matmul' of arguments or of "
                                 "'blockscale.quantize', and nothing else";
    }
  }
  Operation *last = matmul ? matmul.getOperation() : quantize.getOperation();
  if (!last)
    return function.emitError() << "function '" << function.getName()
                                << "' holds no 'blockscale.matmul' or "
                                   "'blockscale.quantize' to lower";
  Operation *end = function.getBody().front().getTerminator();
  if (end->getNumOperands() != 1 || end->getOperand(0).getDefiningOp() != last)
    return end->emitOpError()
           << "expected to return the result of '" << last->getName()
           << "' and nothing else, which is what the kernel computes";
  for (Operation &op : function.getBody().front())
    if (isa<QuantizeOp>(op) && &op != last && op.use_empty())
      return op.emitOpError() << "has no use, and is no result of the kernel";
  return success();
}

LogicalResult KernelFormer::isArgument(Value value, StringRef name) {
  if (isa<BlockArgument>(value))
    return success();
  return value.getDefiningOp()->emitOpError()
         << "makes operand '" << name
         << "', which must be an argument of the function: the host passes it";
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

Value KernelFormer::parameter(StringRef name, HostForm role, StringRef operand,
                              Type source, ArrayRef<int64_t> shape,
                              Type element) {
  parameters.push_back(
      HostTensorAttr::get(builder.getContext(), name, role, operand, source));
  return kernel.getBody().front().addArgument(
      BufferType::get(shape, element, Buffer::Hbm), function.getLoc());
}

static X4Type packedType(ScaledTensorType type) {
  return X4Type::get(type.getContext(), type.getElementType());
}

/// Integers as wide as four elements.
static Type hostType(X4Type type) {
  unsigned bits = findPackedType(type.getFormat())->bits;
  return IntegerType::get(type.getContext(), bits, IntegerType::Unsigned);
}

FailureOr<PackedMatrix> KernelFormer::quantized(QuantizeOp op, StringRef name,
                                                int64_t columns) {
  if (failed(isArgument(op.getInput(), name)))
    return failure();
  RankedTensorType input = op.getInput().getType();
  ContractionGeometry geometry{k};
  int64_t rows = op.getResult().getType().getNumRows();
  Value source = parameter(name, HostForm::Plain, name, input,
                           {batch * rows, k}, input.getElementType());
  PackedMatrix matrix;
  matrix.element = packedType(op.getResult().getType());
  matrix.columns = columns;
  int64_t packedRows = batch * geometry.packedRows();
  matrix.data = b.alloc((name + "_data").str(), {packedRows, columns},
                        hostType(matrix.element), Buffer::Hbm);
  matrix.scales = b.alloc((name + "_scales").str(),
                          {packedRows / int64_t(kGroupPartitions), columns},
                          b.u8(), Buffer::Hbm);
  emitQuantize(b, source, batch, rows, geometry, matrix);
  return matrix;
}

FailureOr<PackedMatrix> KernelFormer::operand(Value value, StringRef name,
                                              int64_t columns) {
  if (auto op = value.getDefiningOp<QuantizeOp>())
    return quantized(op, name, columns);
  if (failed(isArgument(value, name)))
    return failure();
  auto type = cast<ScaledTensorType>(value.getType());
  PackedMatrix matrix;
  matrix.element = packedType(type);
  matrix.columns = columns;
  int64_t rows = batch * ContractionGeometry{k}.packedRows();
  matrix.data = parameter((name + "_data").str(), HostForm::Packed, name, type,
                          {rows, columns}, hostType(matrix.element));
  matrix.scales =
      parameter((name + "_scales").str(), HostForm::Scales, name, type,
                {rows / int64_t(kGroupPartitions), columns}, b.u8());
  return matrix;
}

FailureOr<Value> KernelFormer::plain(Value value, StringRef name,
                                     ArrayRef<int64_t> shape) {
  if (failed(isArgument(value, name)))
    return failure();
  auto type = cast<RankedTensorType>(value.getType());
  return parameter(name, HostForm::Plain, name, type, shape,
                   type.getElementType());
}

/// A number of the host in each partition.
FailureOr<EpilogueSteps::Factor>
KernelFormer::loadFactor(Type source, StringRef name, StringRef operand) {
  Value scalar =
      parameter(name, HostForm::Plain, operand, source, {1, 1}, b.f32());
  Value column = b.alloc((name + "_column").str(), {int64_t(kPartitions), 1},
                         b.f32(), Buffer::Sbuf);
  b.copy(b.access(scalar, b.constant(0), {0, 1}, {int64_t(kPartitions), 1},
                  b.f32()),
         column);
  return EpilogueSteps::Factor{column, {}};
}

FailureOr<EpilogueSteps::Factor> KernelFormer::factor(Value value,
                                                      StringRef name) {
  FloatAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return EpilogueSteps::Factor{{}, constant};
  if (failed(isArgument(value, name)))
    return failure();
  return loadFactor(value.getType(), name, name);
}

LogicalResult KernelFormer::epilogue(EpilogueSteps &steps) {
  for (auto [type, name] :
       {std::pair<ScaledTensorType, StringRef>(matmul.getA().getType(), "a"),
        {matmul.getB().getType(), "b"}}) {
    if (!type.getSpec().getValue().tensorScale)
      continue;
    if (type.isBatched())
      return matmul.emitOpError() << "operand '" << name
                                  << "' has a tensor scale for each matrix of "
                                     "a batch, which is not lowered to NKI";
    auto loaded = loadFactor(type, (name + "_tensor_scale").str(), name);
    if (failed(loaded))
      return failure();
    steps.factors.push_back(*loaded);
  }
  if (matmul.getAlpha()) {
    auto alpha = factor(matmul.getAlpha(), "alpha");
    if (failed(alpha))
      return failure();
    steps.factors.push_back(*alpha);
  }
  if (matmul.getC()) {
    FailureOr<Value> c = plain(matmul.getC(), "c", {batch * m, n});
    if (failed(c))
      return failure();
    steps.c = *c;
  }
  if (matmul.getBeta()) {
    auto beta = factor(matmul.getBeta(), "beta");
    if (failed(beta))
      return failure();
    steps.beta = *beta;
  }
  if (matmul.getBias()) {
    steps.biasPerRow = matmul.getBiasKind() == BiasKind::Row;
    SmallVector<int64_t> shape{1, n};
    if (steps.biasPerRow)
      shape = {m, 1};
    FailureOr<Value> bias = plain(matmul.getBias(), "bias", shape);
    if (failed(bias))
      return failure();
    steps.bias = *bias;
  }
  blockscale::Epilogue epilogue(matmul);
  if (!epilogue.isNamed())
    return matmul.emitOpError()
           << "has an epilogue that is not lowered to NKI; expected none, or "
              "'activation(relu)', 'activation(gelu)' or 'activation(silu)'";
  steps.activation = epilogue.getActivation();
  return success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

LogicalResult KernelFormer::begin(ShapedType result) {
  batch = result.getRank() == 3 ? result.getDimSize(0) : 1;
  m = result.getDimSize(result.getRank() - 2);
  auto size = [&](StringRef name, int64_t value) {
    return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
  };
  kernel = KernelOp::create(
      builder, function.getLoc(), function.getName(), target,
      builder.getDictionaryAttr(
          {size("M", m), size("N", n), size("K", k), size("batch", batch)}),
      builder.getArrayAttr({}));
  builder.setInsertionPointToStart(&kernel.getBody().emplaceBlock());
  return success();
}

void KernelFormer::finish(ArrayRef<Value> results) {
  nki::ReturnOp::create(builder, function.getLoc(), results);
  kernel.setParametersAttr(builder.getArrayAttr(parameters));
}

LogicalResult KernelFormer::formProduct() {
  RankedTensorType type = matmul.getResult().getType();
  k = matmul.getA().getType().getK();
  n = matmul.getB().getType().getNumRows();
  if (failed(begin(type)))
    return failure();
  auto config = matmul->getAttrOfType<ConfigAttr>(kConfigName);
  if (!config)
    return matmul.emitOpError() << "has no '" << kConfigName
                                << "'; run 'blockscale-nki-legalize' before";
  Product product;
  product.config = config;
  product.k = {k};
  product.batch = batch;
  product.m = m;
  product.n = n;
  auto a = operand(matmul.getA(), "a", stationaryColumns(m));
  if (failed(a))
    return failure();
  auto moving = operand(matmul.getB(), "b", n);
  if (failed(moving) || failed(epilogue(product.epilogue)))
    return failure();
  product.a = *a;
  product.b = *moving;
  product.result =
      b.alloc("d", {batch * m, n}, type.getElementType(), Buffer::Hbm);
  emitProduct(b, product);
  finish(product.result);
  return success();
}

LogicalResult KernelFormer::formQuantize() {
  ScaledTensorType type = quantize.getResult().getType();
  k = type.getK();
  n = 0;
  if (failed(begin(type)))
    return failure();
  // Even, so that the result can be a stationary operand.
  auto result = quantized(quantize, "x", stationaryColumns(m));
  if (failed(result))
    return failure();
  finish({result->data, result->scales});
  return success();
}

LogicalResult KernelFormer::form() {
  if (failed(recognize()))
    return failure();
  return matmul ? formProduct() : formQuantize();
}

/// Whether every part has been chosen. A row tile beyond the partitions would
/// leave none of them to work side by side.
static bool isComplete(ConfigAttr config) {
  return config.getRowTile() > 0 && config.getRowTile() <= kPartitions &&
         config.getTileM() > 0 && config.getTileN() > 0 &&
         config.getBlockM() > 0;
}

/// The target that the module was legalised for: that of its ops.
static FailureOr<std::string> targetOf(ModuleOp module) {
  std::string name;
  WalkResult result = module.walk([&](Operation *op) {
    if (!isa<MatmulOp, QuantizeOp>(op))
      return WalkResult::advance();
    auto config = op->getAttrOfType<ConfigAttr>(kConfigName);
    if (!config) {
      op->emitOpError() << "has no '" << kConfigName
                        << "'; run 'blockscale-nki-legalize' before";
      return WalkResult::interrupt();
    }
    if (isa<MatmulOp>(op) && !isComplete(config)) {
      op->emitOpError() << "has " << config
                        << ", which is not complete and legal; run "
                           "'blockscale-nki-legalize' before";
      return WalkResult::interrupt();
    }
    name = config.getTarget().getValue().str();
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  return name.empty() ? targetName(Target{}) : name;
}

void NKIFormKernels::runOnOperation() {
  FailureOr<std::string> target = targetOf(getOperation());
  if (failed(target))
    return signalPassFailure();
  for (Operation &op :
       llvm::make_early_inc_range(getOperation().getBody()->getOperations())) {
    if (isa<KernelOp>(op))
      continue;
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function) {
      op.emitOpError() << "is not lowered to NKI";
      return signalPassFailure();
    }
    if (failed(KernelFormer(function, *target).form()))
      return signalPassFailure();
    function.erase();
  }
}
