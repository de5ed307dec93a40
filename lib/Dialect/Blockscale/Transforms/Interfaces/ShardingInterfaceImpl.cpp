//===- ShardingInterfaceImpl.cpp - products over devices ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops of a product are its batch, if it has one, M, N and K. An input is
// split where the dimensions of its memory follow these loops: data element by
// element, scales and metadata tile by tile.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/Transforms/ShardingInterfaceImpl.h"
#include "blockscale/Dialect/Blockscale/IR/BlockscaleHost.h"
#include "blockscale/Dialect/Blockscale/IR/Epilogue.h"
#include "blockscale/Dialect/Blockscale/IR/LayoutOfScales.h"
#include "blockscale/Dialect/Blockscale/IR/Layouts.h"
#include "blockscale/HW/Metadata.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Dialect/Shard/Interfaces/ShardingInterface.h"
#include "mlir/Dialect/Shard/Interfaces/ShardingInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

#include <numeric>

using namespace mlir;
using namespace blockscale;
using shard::Sharding;
using utils::IteratorType;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {
/// The loops of a product, by number.
struct Loops {
  explicit Loops(OnPartsOp op)
      : hasBatch(cast<RankedTensorType>(op.getType()).getRank() > 2) {}

  unsigned m() const { return hasBatch; }
  unsigned n() const { return hasBatch + 1; }
  unsigned k() const { return hasBatch + 2; }
  unsigned count() const { return hasBatch + 3; }

  AffineMap map(ArrayRef<unsigned> loops, MLIRContext *context) const {
    SmallVector<AffineExpr> results;
    for (unsigned loop : loops)
      results.push_back(getAffineDimExpr(loop, context));
    return AffineMap::get(count(), 0, results, context);
  }
  /// `loops` behind the batch.
  SmallVector<unsigned> batched(std::initializer_list<unsigned> loops) const {
    SmallVector<unsigned> all;
    if (hasBatch)
      all.push_back(0);
    all.append(loops);
    return all;
  }

  bool hasBatch;
};
} // namespace

/// The loops that the dimensions of `layout` follow, slowest first, up to the
/// first of fixed size. Those behind it are inside of a tile.
static SmallVector<unsigned> storageLoops(const hw::Layout &layout,
                                          unsigned row, unsigned k) {
  SmallVector<unsigned> loops;
  for (hw::Dim dim : {hw::Dim::Storage0, hw::Dim::Storage1}) {
    std::optional<hw::Dim> source = layout.endlessSource(dim);
    if (!source)
      break;
    loops.push_back(*source == hw::Dim::Row ? row : k);
  }
  return loops;
}

/// Loops of the dimensions of all parts of `type`, whose rows are the loop
/// `row`.
static SmallVector<SmallVector<unsigned>>
loopsOfParts(ScaledTensorType type, const Loops &loops, unsigned row) {
  const ScaleSpec &spec = type.getSpec().getValue();
  SmallVector<SmallVector<unsigned>> parts;
  bool mnMajor = type.getOrder() == DataOrder::MNMajor;
  parts.push_back(mnMajor ? loops.batched({loops.k(), row})
                          : loops.batched({row, loops.k()}));
  auto add = [&](bool isThere, const hw::Layout &layout) {
    if (!isThere)
      return;
    parts.push_back(loops.batched({}));
    llvm::append_range(parts.back(), storageLoops(layout, row, loops.k()));
  };
  const hw::Layout &scales = getScaleStorage(getScaleLayout(type));
  add(!spec.isUnscaled(), scales);
  add(spec.zero.has_value(), scales);
  if (spec.tensorScale)
    parts.push_back(loops.batched({}));
  // The numbers of tables lie row by row, whatever the scales do.
  add(type.hasMetadata(), spec.isSparse()
                              ? getMetadataStorage(getMetadataLayout(type))
                              : getScaleStorage(ScaleLayout::Plain));
  return parts;
}

/// The loops of the dimensions of each input.
static SmallVector<SmallVector<unsigned>> loopsOfInputs(OnPartsOp op) {
  Loops loops(op);
  MatmulOp product = op.getProduct();
  SmallVector<SmallVector<unsigned>> inputs;
  for (Value operand : product->getOperands()) {
    if (operand == product.getA())
      llvm::append_range(
          inputs, loopsOfParts(product.getA().getType(), loops, loops.m()));
    else if (operand == product.getB())
      llvm::append_range(
          inputs, loopsOfParts(product.getB().getType(), loops, loops.n()));
    else if (operand == product.getC())
      inputs.push_back(loops.batched({loops.m(), loops.n()}));
    else if (operand == product.getBias())
      inputs.push_back(
          {product.getBiasKind() == BiasKind::Column ? loops.n() : loops.m()});
    else
      inputs.emplace_back();
  }
  return inputs;
}

//===----------------------------------------------------------------------===//
// What can be split
//===----------------------------------------------------------------------===//

namespace {
/// Rows and elements of K between which scales and metadata can be cut.
struct Units {
  int64_t rows = 1, k = 1;
};
} // namespace

static Units unitsOf(ScaledTensorType type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  Units units;
  auto add = [&](const hw::Layout &layout, int64_t rows, int64_t k) {
    units.rows =
        std::lcm(units.rows, rows * int64_t(layout.multipleOf(hw::Dim::Row)));
    units.k = std::lcm(units.k, k * int64_t(layout.multipleOf(hw::Dim::Block)));
  };
  // A tile of size 0 is all there is.
  auto tileOf = [](int64_t tile, int64_t size) { return tile ? tile : size; };
  if (!spec.isUnscaled())
    add(getScaleStorage(getScaleLayout(type)),
        std::max<int64_t>(1, tileOf(type.getRowTile(), type.getNumRows())),
        std::max<int64_t>(1, tileOf(type.getKTile(), type.getK())));
  if (spec.isSparse()) {
    SparseForm form = sparseForm(type);
    add(getMetadataStorage(getMetadataLayout(type)), 1,
        std::lcm(form.perByte, form.chunk));
  }
  return units;
}

namespace {
/// How a product is cut: for each loop the axes of the grid, and the number of
/// devices along them, which is dynamic if the grid's is.
struct Cut {
  shard::ShardingArray axes;
  SmallVector<int64_t> devices;
};
} // namespace

static FailureOr<Cut> cutOf(OnPartsOp op, shard::ShardingArray axes,
                            FlatSymbolRefAttr grid,
                            SymbolTableCollection &symbols) {
  Cut cut;
  cut.axes = std::move(axes);
  cut.axes.resize(Loops(op).count());
  for (ArrayRef<shard::GridAxis> list : cut.axes) {
    int64_t count = 1;
    if (!list.empty()) {
      shard::GridOp found = shard::getGridOrNull(op, grid, symbols);
      if (!found)
        return op.emitOpError() << "there is no grid " << grid;
      count = shard::collectiveProcessGroupSize(list, found);
    }
    cut.devices.push_back(count);
  }
  return cut;
}

/// `size` on one of `devices` devices.
static int64_t share(int64_t size, int64_t devices) {
  return devices == 1 ? size : shard::shardDimension(size, devices);
}

static LogicalResult verifySplit(OnPartsOp op, StringRef what, int64_t size,
                                 int64_t devices, int64_t unit) {
  if (devices == 1 || ShapedType::isDynamic(size) ||
      ShapedType::isDynamic(devices))
    return success();
  if (size % devices == 0 && size / devices % unit == 0)
    return success();
  InFlightDiagnostic diag = op.emitOpError();
  diag << "cannot split " << what << " = " << size << " over " << devices
       << " devices: expected a multiple of " << devices * unit;
  if (unit > 1)
    diag << ", whole tiles of " << unit << " on each device";
  return diag;
}

static LogicalResult verifyCut(OnPartsOp op, const Cut &cut) {
  Loops loops(op);
  MatmulOp product = op.getProduct();
  ScaledTensorType a = product.getA().getType(), b = product.getB().getType();
  Units ofA = unitsOf(a), ofB = unitsOf(b);
  auto verify = [&](StringRef what, int64_t size, unsigned loop, int64_t unit) {
    return verifySplit(op, what, size, cut.devices[loop], unit);
  };
  if (product.getPairs() &&
      (cut.devices[loops.n()] != 1 || cut.devices[loops.k()] != 1))
    return op.emitOpError()
           << "with 'pairs' cannot split N or K; expected devices along M"
           << (loops.hasBatch ? " or the batch" : "");
  if (loops.hasBatch && failed(verify("the batch", a.getShape().front(), 0, 1)))
    return failure();
  return success(
      succeeded(verify("M", a.getNumRows(), loops.m(), ofA.rows)) &&
      succeeded(verify("N", b.getNumRows(), loops.n(), ofB.rows)) &&
      succeeded(verify("K", a.getK(), loops.k(), std::lcm(ofA.k, ofB.k))));
}

//===----------------------------------------------------------------------===//
// One device's part
//===----------------------------------------------------------------------===//

namespace {
/// Writes what one device does.
class Partitioner {
public:
  Partitioner(OpBuilder &builder, OnPartsOp op, const Cut &cut,
              FlatSymbolRefAttr grid)
      : b(op.getLoc(), builder), op(op), product(op.getProduct()), loops(op),
        cut(cut), grid(grid) {}

  /// The device's share of the result; `inputs` are its shares of the inputs.
  Value run(ArrayRef<Value> inputs);

private:
  ScaledTensorType shareOf(ScaledTensorType type, unsigned row) const;
  RankedTensorType shareOf(RankedTensorType type,
                           ArrayRef<unsigned> dimensions) const;
  /// The sums of products of the device, from the parts of A and B alone.
  Value partialSums(ArrayRef<Value> inputs, Type element);
  Value finish(Value sums, RankedTensorType type, ArrayRef<Value> inputs);

  ImplicitLocOpBuilder b;
  OnPartsOp op;
  MatmulOp product;
  Loops loops;
  const Cut &cut;
  FlatSymbolRefAttr grid;
};
} // namespace

ScaledTensorType Partitioner::shareOf(ScaledTensorType type,
                                      unsigned row) const {
  SmallVector<int64_t> shape(type.getShape());
  if (loops.hasBatch)
    shape.front() = share(shape.front(), cut.devices[0]);
  shape[shape.size() - 2] = share(shape[shape.size() - 2], cut.devices[row]);
  shape.back() = share(shape.back(), cut.devices[loops.k()]);
  return ScaledTensorType::get(shape, type.getElementType(), type.getSpec(),
                               type.getLayout(), type.getOrder());
}

RankedTensorType Partitioner::shareOf(RankedTensorType type,
                                      ArrayRef<unsigned> dimensions) const {
  SmallVector<int64_t> shape(type.getShape());
  for (auto [size, loop] : llvm::zip(shape, dimensions))
    size = share(size, cut.devices[loop]);
  return type.clone(shape);
}

Value Partitioner::partialSums(ArrayRef<Value> inputs, Type element) {
  ScaledTensorType a = shareOf(product.getA().getType(), loops.m());
  ScaledTensorType bType = shareOf(product.getB().getType(), loops.n());
  auto result = shareOf(cast<RankedTensorType>(op.getType()),
                        loops.batched({loops.m(), loops.n()}))
                    .clone(element);
  size_t count = getTensorParts(a)->present().size() +
                 getTensorParts(bType)->present().size();
  // Alpha, C, bias and the epilogue are of the whole sum.
  auto sums = MatmulOp::create(
      b, result, product.getA(), product.getB(), /*alpha=*/Value(),
      /*beta=*/Value(), /*c=*/Value(), /*bias=*/Value(),
      /*offsets=*/Value(), /*rowNumbers=*/Value(), product.getBiasKindAttr(),
      UnitAttr(), product.getLoweringAttr());
  if (!isa<IntegerType>(element))
    Epilogue(sums).build(b.getContext(), std::nullopt);
  sums->setDiscardableAttrs(llvm::to_vector(product->getDiscardableAttrs()));
  Value found =
      OnPartsOp::create(b, sums, result, {a, bType}, inputs.take_front(count))
          .getResult();
  sums.erase();
  return shard::AllReduceOp::create(b, found, grid.getValue(),
                                    cut.axes[loops.k()],
                                    shard::ReductionKind::Sum)
      .getResult();
}

/// What a product does to a sum before it stores it.
Value Partitioner::finish(Value sums, RankedTensorType type,
                          ArrayRef<Value> inputs) {
  SmallVector<BlockArgument> owners = op.getArgumentsOfInputs();
  auto inputOf = [&](Value operand) -> Value {
    for (auto [owner, input] : llvm::zip_equal(owners, inputs))
      if (owner == operand)
        return input;
    return {};
  };
  unsigned rank = unsigned(type.getRank());
  SmallVector<Value> operands{sums};
  SmallVector<AffineMap> maps{b.getMultiDimIdentityMap(rank)};
  auto add = [&](Value operand, AffineMap map) {
    operands.push_back(inputOf(operand));
    maps.push_back(map);
    return unsigned(operands.size()) - 1;
  };
  unsigned c = 0, bias = 0;
  if (product.getC())
    c = add(product.getC(), b.getMultiDimIdentityMap(rank));
  if (product.getBias()) {
    bool perColumn = product.getBiasKind() == BiasKind::Column;
    bias = add(product.getBias(),
               AffineMap::get(rank, 0,
                              b.getAffineDimExpr(rank - (perColumn ? 1 : 2))));
  }
  maps.push_back(b.getMultiDimIdentityMap(rank));
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, b.getLoc(), sums);
  Value init = tensor::EmptyOp::create(b, sizes, type.getElementType());
  SmallVector<IteratorType> iterators(rank, IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, init.getType(), operands, init, maps, iterators,
      [&](OpBuilder &inner, Location loc, ValueRange values) {
        ImplicitLocOpBuilder body(loc, inner);
        auto asF32 = [&](Value value) -> Value {
          if (isa<IntegerType>(value.getType()))
            return arith::SIToFPOp::create(body, body.getF32Type(), value);
          if (value.getType().isF32())
            return value;
          return arith::ExtFOp::create(body, body.getF32Type(), value);
        };
        auto times = [&](Value value, Value factor) -> Value {
          return factor ? arith::MulFOp::create(body, value, inputOf(factor))
                              .getResult()
                        : value;
        };
        Value result =
            Epilogue(product).inlineAt(body, [&](EpilogueInput input) -> Value {
              switch (input) {
              case EpilogueInput::Product:
                return times(asF32(values[0]), product.getAlpha());
              case EpilogueInput::C:
                return times(asF32(values[c]), product.getBeta());
              case EpilogueInput::Bias:
                return asF32(values[bias]);
              case EpilogueInput::Up:
              case EpilogueInput::UpBias:
                break;
              }
              llvm_unreachable("K is not split with pairs");
            });
        if (result.getType() != type.getElementType())
          result = arith::TruncFOp::create(body, type.getElementType(), result);
        linalg::YieldOp::create(body, result);
      });
  return generic.getResult(0);
}

Value Partitioner::run(ArrayRef<Value> inputs) {
  auto type = shareOf(cast<RankedTensorType>(op.getType()),
                      loops.batched({loops.m(), loops.n()}));
  if (cut.axes[loops.k()].empty()) {
    SmallVector<Type> arguments;
    SmallVector<SmallVector<unsigned>> inputLoops = loopsOfInputs(op);
    SmallVector<BlockArgument> owners = op.getArgumentsOfInputs();
    for (BlockArgument argument : op.getBody().getArguments()) {
      auto scaled = dyn_cast<ScaledTensorType>(argument.getType());
      auto plain = dyn_cast<RankedTensorType>(argument.getType());
      auto at = size_t(llvm::find(owners, argument) - owners.begin());
      if (scaled)
        arguments.push_back(shareOf(
            scaled, argument == product.getA() ? loops.m() : loops.n()));
      else
        arguments.push_back(plain ? Type(shareOf(plain, inputLoops[at]))
                                  : argument.getType());
    }
    return OnPartsOp::create(b, product, type, arguments, inputs).getResult();
  }
  auto isInteger = [](ScaledTensorType operand) {
    return operand.getSpec().getValue().isUnscaled() &&
           isa<IntegerType>(operand.getElementType());
  };
  Type sum = isInteger(product.getA().getType()) ? Type(b.getI32Type())
                                                 : Type(b.getF32Type());
  Value sums = partialSums(inputs, sum);
  bool isWhole = sum == type.getElementType() && !product.getAlpha() &&
                 !product.getC() && !product.getBias() &&
                 Epilogue(product).isSum();
  return isWhole ? sums : finish(sums, type, inputs);
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

namespace {
struct OnPartsSharding
    : shard::ShardingInterface::ExternalModel<OnPartsSharding, OnPartsOp> {
  SmallVector<IteratorType> getLoopIteratorTypes(Operation *op) const {
    Loops loops{cast<OnPartsOp>(op)};
    SmallVector<IteratorType> types(loops.count(), IteratorType::parallel);
    types[loops.k()] = IteratorType::reduction;
    return types;
  }

  SmallVector<shard::ReductionKind>
  getReductionLoopIteratorKinds(Operation *) const {
    return {shard::ReductionKind::Sum};
  }

  SmallVector<AffineMap> getIndexingMaps(Operation *op) const {
    auto parts = cast<OnPartsOp>(op);
    Loops loops(parts);
    SmallVector<AffineMap> maps;
    for (ArrayRef<unsigned> dimensions : loopsOfInputs(parts))
      maps.push_back(loops.map(dimensions, op->getContext()));
    maps.push_back(
        loops.map(loops.batched({loops.m(), loops.n()}), op->getContext()));
    return maps;
  }

  LogicalResult
  addShardingAnnotations(Operation *op, OpBuilder &builder,
                         const shard::ShardingOption &option) const {
    auto parts = cast<OnPartsOp>(op);
    SymbolTableCollection symbols;
    FailureOr<Cut> cut =
        cutOf(parts, option.shardingArray, option.grid, symbols);
    if (failed(cut) || failed(verifyCut(parts, *cut)))
      return failure();
    FailureOr<std::vector<Sharding>> shardings =
        shard::detail::defaultGetShardingAnnotations(op, option);
    if (failed(shardings))
      return failure();
    // Upstream's own would annotate numbers, too.
    for (OpOperand &operand : op->getOpOperands())
      if (isa<RankedTensorType>(operand.get().getType()))
        shard::maybeInsertSourceShardingAnnotation(
            (*shardings)[operand.getOperandNumber()], operand, builder);
    shard::maybeInsertTargetShardingAnnotation(shardings->back(),
                                               op->getResult(0), builder);
    return success();
  }

  LogicalResult partition(Operation *op, ArrayRef<Value> inputs,
                          ArrayRef<Sharding> inputShardings,
                          ArrayRef<Sharding> resultShardings,
                          IRMapping &partitionMap,
                          SymbolTableCollection &symbols,
                          OpBuilder &builder) const {
    auto parts = cast<OnPartsOp>(op);
    FlatSymbolRefAttr grid;
    for (ArrayRef<Sharding> shardings : {inputShardings, resultShardings})
      for (const Sharding &sharding : shardings)
        if (sharding)
          grid = sharding.getGridAttr();
    shard::ShardingArray axes = shard::getGridAxisAssignmentForLoopIterators(
        inputShardings, resultShardings, getLoopIteratorTypes(op),
        getIndexingMaps(op));
    FailureOr<Cut> cut = cutOf(parts, std::move(axes), grid, symbols);
    if (failed(cut) || failed(verifyCut(parts, *cut)))
      return failure();
    Value result = Partitioner(builder, parts, *cut, grid).run(inputs);
    partitionMap.map(parts.getResult(), result);
    return success();
  }
};
} // namespace

void blockscale::registerShardingInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.insert<shard::ShardDialect>();
  // Only where there are devices: kernels are compiled in contexts of their
  // own, many of them.
  registry.addExtension(
      +[](MLIRContext *context, BlockscaleDialect *, shard::ShardDialect *) {
        OnPartsOp::attachInterface<OnPartsSharding>(*context);
        // What the parts are made of beside products.
        context->loadDialect<arith::ArithDialect, linalg::LinalgDialect,
                             tensor::TensorDialect>();
      });
}
