//===- QuantizeSource.cpp - a quantisation as the source of a kernel ------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuantizeSource.h"
#include "ElementwiseSource.h"
#include "GridMaxima.h"
#include "QuantizeBothWays.h"
#include "QuantizeLines.h"
#include "QuantizeLongColumns.h"
#include "blockscale/Dialect/Blockscale/IR/GivenScales.h"
#include "blockscale/Dialect/Blockscale/IR/Quantization.h"
#include "blockscale/Dialect/Blockscale/IR/Quantize.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "blockscale/Dialect/Blockscale/Transforms/KernelSource.h"
#include "blockscale/HW/ScaleLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace blockscale;

static std::optional<Reason> whyNotPart(QuantizeOp op, bool isBothWays);

static QuantizedStorage storageOf(QuantizeOp op) {
  Result<QuantizedStorage> storage =
      quantizedStorage(op.getType(), getTarget(op), {}, scaleReader(op));
  assert(storage && "checkReady asks first");
  return *storage;
}

bool blockscale::repeatsScales(QuantizeOp op) {
  QuantizedStorage storage = storageOf(op);
  return storage.scale && storage.repetitions() > 1;
}

static bool hasTensorScale(QuantizeOp op) {
  return op.getType().getSpec().getValue().tensorScale.has_value();
}

/// Whether a kernel finds the tensor scale that nobody gives.
static bool findsTensorScale(QuantizeOp op) {
  return hasTensorScale(op) && !op.getTensorScale();
}

/// Whether it finds the one scale of a matrix.
static bool findsScale(QuantizeOp op) {
  return storageOf(op).coversMatrix() && !givesScale(op);
}

/// Whether it has to look at the whole matrix for one of both.
static bool findsMaximum(QuantizeOp op) {
  return findsScale(op) ||
         (findsTensorScale(op) && storageOf(op).scale != ElementFormat::UE8M0);
}

static linalg::TransposeOp transposeOf(QuantizeOp op) {
  return op.getInput().getDefiningOp<linalg::TransposeOp>();
}

/// The permutation that exchanges rows and columns of matrices.
static SmallVector<int64_t> exchangeOf(linalg::TransposeOp op) {
  auto rank = int64_t(op.getPermutation().size());
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(order[rank - 2], order[rank - 1]);
  return order;
}

Value blockscale::transposedInput(QuantizeOp op) {
  linalg::TransposeOp transpose = transposeOf(op);
  if (!transpose ||
      transpose.getPermutation() != ArrayRef(exchangeOf(transpose)))
    return {};
  return transpose.getInput();
}

SmallVector<Value> blockscale::launchInputs(QuantizeOp op) {
  SmallVector<Value> inputs(op->getOperands());
  QuantizeOp partner = transposedPartner(op);
  if (partner && partner.getTensorScale() && !op.getTensorScale())
    inputs.push_back(partner.getTensorScale());
  if (Value input = transposedInput(op))
    inputs.front() = input;
  return inputs;
}

/// Whether `other` only says what matrix `op` quantises: it is its transpose,
/// or of the tensor that this has its sizes from.
static bool isOfTranspose(Operation &other, QuantizeOp op) {
  linalg::TransposeOp transpose = transposeOf(op);
  if (!transpose || isa<tensor::EmptyOp, tensor::DimOp>(other))
    return static_cast<bool>(transpose);
  auto constant = dyn_cast<arith::ConstantOp>(other);
  return &other == transpose || (constant && constant.getType().isIndex());
}

/// The ops that quantise what the function around returns, if it does nothing
/// else.
static SmallVector<QuantizeOp> wholeFunction(QuantizeOp op) {
  auto function = dyn_cast<FunctionOpInterface>(op->getParentOp());
  if (!function || !function.getFunctionBody().hasOneBlock())
    return {};
  Block &block = function.getFunctionBody().front();
  auto ops = llvm::to_vector(block.getOps<QuantizeOp>());
  bool nothingElse =
      llvm::all_of(block.without_terminator(), [&](Operation &other) {
        return isa<QuantizeOp>(other) || llvm::any_of(ops, [&](QuantizeOp one) {
                 return isOfTranspose(other, one);
               });
      });
  ValueRange returned = block.getTerminator()->getOperands();
  bool returnsAll =
      returned.size() == ops.size() && llvm::all_of(ops, [&](QuantizeOp one) {
        return llvm::is_contained(returned, one.getResult());
      });
  return nothingElse && returnsAll ? ops : SmallVector<QuantizeOp>();
}

/// The other one of two such ops, of a matrix and of its transpose.
static QuantizeOp otherWay(QuantizeOp op) {
  SmallVector<QuantizeOp> ops = wholeFunction(op);
  if (ops.size() != 2)
    return {};
  QuantizeOp other = ops[ops.front() == op];
  return transposedInput(op) == other.getInput() ||
                 transposedInput(other) == op.getInput()
             ? other
             : QuantizeOp();
}

/// The only one of `ops`; null if there are others or none.
static QuantizeOp onlyOne(ArrayRef<QuantizeOp> ops) {
  return ops.size() == 1 ? ops.front() : QuantizeOp();
}

/// Of ops that read `x` or its transpose, the ones that quantise either.
static std::array<QuantizeOp, 2> bothWaysOf(Value x) {
  SmallVector<QuantizeOp> rows, columns;
  for (Operation *user : x.getUsers()) {
    if (auto quantizer = dyn_cast<QuantizeOp>(user))
      if (quantizer.getInput() == x)
        rows.push_back(quantizer);
    auto transpose = dyn_cast<linalg::TransposeOp>(user);
    if (!transpose || transpose.getInput() != x)
      continue;
    for (Operation *reader : transpose->getUsers())
      if (auto quantizer = dyn_cast<QuantizeOp>(reader))
        if (transposedInput(quantizer) == x)
          columns.push_back(quantizer);
  }
  return {onlyOne(rows), onlyOne(columns)};
}

/// Whether nothing but products reads what `op` makes, or their launches, which
/// some may have become.
static bool isForProducts(QuantizeOp op) {
  return !op->use_empty() && llvm::all_of(op->getUsers(), [](Operation *user) {
    return isa<MatmulOp, LaunchOp>(user);
  });
}

/// Whether the launch of one kernel for both ops can stand where the first one
/// does.
static bool canStandTogether(QuantizeOp op, QuantizeOp other) {
  if (op->getBlock() != other->getBlock())
    return false;
  Operation *first = op->isBeforeInBlock(other) ? op : other;
  return llvm::all_of(std::array{op, other}, [&](QuantizeOp one) {
    Value scale = one.getTensorScale();
    Operation *source = scale ? scale.getDefiningOp() : nullptr;
    return !source || source->getBlock() != first->getBlock() ||
           source->isBeforeInBlock(first);
  });
}

/// The same where the function does other things, too: one kernel does both
/// for the products that read them.
static QuantizeOp otherWayAmongProducts(QuantizeOp op) {
  Value transposed = transposedInput(op);
  auto [rows, columns] = bothWaysOf(transposed ? transposed : op.getInput());
  if (!rows || !columns || (op != rows && op != columns))
    return {};
  bool isDone = llvm::all_of(std::array{rows, columns}, [](QuantizeOp one) {
    return isForProducts(one) && !whyNotPart(one, /*isBothWays=*/true) &&
           !repeatsScales(one);
  });
  if (!isDone || !canStandTogether(rows, columns) ||
      whyNotTogether(rows, columns))
    return {};
  return op == rows ? columns : rows;
}

/// Either.
static QuantizeOp partnerOf(QuantizeOp op) {
  QuantizeOp other = otherWay(op);
  return other ? other : otherWayAmongProducts(op);
}

QuantizeOp blockscale::transposedPartner(QuantizeOp op) {
  return transposedInput(op) ? QuantizeOp() : partnerOf(op);
}

bool blockscale::isPartOfPartner(QuantizeOp op) {
  return transposedInput(op) && partnerOf(op);
}

/// Whether the function around does nothing but this, or but this both ways.
static bool isAlone(QuantizeOp op) {
  return wholeFunction(op).size() == 1 || otherWay(op);
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// The sizes must suit the 32-bit arithmetic of kernels and whole blocks.
static std::optional<Reason> whyNotSizes(const QuantizedStorage &storage) {
  if (auto why = whyNotWholeBlocks(storage))
    return why;
  if (auto why = whyNotReached(storage))
    return why;
  AffineExpr bytes = threadsToQuantize(storage);
  if (auto constant = dyn_cast<AffineConstantExpr>(bytes);
      constant && constant.getValue() > kMaxProductSize)
    return "its scales would take " + std::to_string(constant.getValue()) +
           " bytes, more than the " + std::to_string(kMaxProductSize) +
           " that the threads of a kernel are counted to";
  return std::nullopt;
}

/// Errors of a tile are added up in 32 bits.
static std::optional<Reason> whyNotCompared(QuantizeOp op,
                                            const QuantizedStorage &storage) {
  constexpr int64_t kMostCompared = 2048;
  if (op.getRule() == ScaleRule::MinError && storage.coversK())
    return "a kernel adds up the errors of at most " +
           std::to_string(kMostCompared) +
           " elements under the rule 'min_error', but scales of '" +
           std::string(op.getType().getSpec().getText()) + "' are for all of " +
           (storage.coversMatrix() ? "a matrix" : "K") +
           "; nearest legal: the rule 'floor'";
  int64_t elements = storage.rowTile * storage.tileElements();
  if (op.getRule() != ScaleRule::MinError || elements <= kMostCompared)
    return std::nullopt;
  return "a kernel adds up the errors of at most " +
         std::to_string(kMostCompared) +
         " elements under the rule 'min_error', but tiles of '" +
         std::string(op.getType().getSpec().getText()) + "' have " +
         std::to_string(elements) + "; nearest legal: tiles of " +
         std::to_string(kMostCompared / storage.tileElements()) + " rows";
}

/// A CTA that writes a transpose has an atom of scales, or whole rows. One that
/// writes both a matrix and that has a tile of numbers.
static std::optional<Reason> whyNotTurned(QuantizeOp op,
                                          const QuantizedStorage &storage) {
  if (storage.coversRow())
    return std::nullopt;
  if (storage.rowTile <= hw::kAtomRows && storage.tileBlocks <= hw::kAtomScales)
    return std::nullopt;
  return "a kernel that quantises a transpose has tiles of at most " +
         std::to_string(hw::kAtomRows) + " rows and " +
         std::to_string(hw::kAtomScales * storage.block) +
         " elements along K, but those of '" +
         std::string(op.getType().getSpec().getText()) + "' have " +
         std::to_string(storage.rowTile) + " and " +
         std::to_string(storage.tileElements());
}

/// Why no kernel computes `op`, alone or together with the other way.
static std::optional<Reason> whyNotPart(QuantizeOp op, bool isBothWays) {
  hw::Target target = getTarget(op);
  if (auto why = hw::whyNotFeature(hw::Feature::NarrowConvert, target))
    return why;
  if (op.getOffsets())
    return Reason(
        "a kernel that only quantises knows no groups; nearest legal: "
        "the result of a 'blockscale.matmul' with the same 'groups', "
        "which nothing else reads");
  Result<QuantizedStorage> storage =
      quantizedStorage(op.getType(), target, {}, scaleReader(op));
  if (!storage)
    return storage.why();
  if (auto why = whyNotCompared(op, *storage))
    return why;
  if (transposedInput(op) || isBothWays)
    if (auto why = whyNotTurned(op, *storage))
      return why;
  if (isBothWays && scaleReader(op) == ScaleReader::Sparse)
    return Reason("a kernel that quantises a matrix and its transpose writes "
                  "scales for dense instructions, but it has '" +
                  kForSparseName.str() +
                  "'; nearest legal: functions of their own");
  return whyNotSizes(*storage);
}

std::optional<Reason> blockscale::whyNotKernel(QuantizeOp op) {
  return whyNotPart(op, static_cast<bool>(otherWay(op)));
}

/// Kernels read rows or columns of matrices; other transposes are the host's,
/// which a function that does nothing else has none for.
static std::optional<Reason> whyNotTransposed(QuantizeOp op) {
  linalg::TransposeOp transpose = transposeOf(op);
  if (!transpose || transposedInput(op) || !isAlone(op))
    return std::nullopt;
  auto textOf = [](ArrayRef<int64_t> list) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::interleaveComma(list, stream << "[");
    return text + "]";
  };
  return Reason(
      "a kernel quantises the transpose of each matrix, but its input "
      "is transposed with the permutation " +
      textOf(transpose.getPermutation()) +
      "; nearest legal: " + textOf(exchangeOf(transpose)));
}

/// Whether one of both has a scale for all of a row.
static bool hasLines(QuantizeOp op, QuantizeOp partner) {
  return storageOf(op).coversRow() || storageOf(partner).coversRow();
}

/// A matrix and its transpose have the same largest magnitude.
std::optional<Reason> blockscale::whyNotTogether(QuantizeOp op,
                                                 QuantizeOp partner) {
  Value one = op.getTensorScale(), other = partner.getTensorScale();
  auto isMissed = [](QuantizeOp giver, QuantizeOp finder) {
    return giver.getTensorScale() &&
           (findsTensorScale(finder) ||
            (givesScale(giver) && findsScale(finder)));
  };
  if (isMissed(op, partner) || isMissed(partner, op))
    return Reason(
        "a kernel that quantises a matrix and its transpose finds the "
        "tensor scale of both or of none, but one has a "
        "'tensor_scale'; nearest legal: the same for the other");
  if (hasLines(op, partner) && (findsMaximum(op) || findsMaximum(partner)))
    return Reason(
        "a kernel that quantises a matrix and its transpose finds one scale "
        "for all of a matrix, or those for all of a row, but not both; nearest "
        "legal: a 'tensor_scale' for the first, or functions of their own");
  if (!one || !other || one == other)
    return std::nullopt;
  return Reason("a kernel that quantises a matrix and its transpose reads one "
                "tensor scale for both, but they have two; nearest legal: the "
                "same 'tensor_scale', or functions of their own");
}

static LogicalResult checkReady(QuantizeOp op) {
  if (std::optional<Reason> why = whyNotKernel(op))
    return op.emitOpError() << why->text;
  if (QuantizeOp partner = transposedPartner(op)) {
    if (std::optional<Reason> why = whyNotKernel(partner))
      return partner.emitOpError() << why->text;
    if (std::optional<Reason> why = whyNotTogether(op, partner))
      return partner.emitOpError() << why->text;
  }
  if (std::optional<Reason> why = whyNotTransposed(op))
    return op.emitOpError() << why->text;
  return success();
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// What a kernel writes of one result.
struct ResultRoles {
  ParameterRole data, scales, tensorScale;
};
static constexpr ResultRoles kResult{
    ParameterRole::DData, ParameterRole::DScales, ParameterRole::DTensorScale};
static constexpr ResultRoles kTransposedResult{
    ParameterRole::TransposedData, ParameterRole::TransposedScales,
    ParameterRole::TransposedTensorScale};

static SmallVector<KernelParameter>
parametersOf(QuantizeOp op, const QuantizedStorage &storage) {
  MLIRContext *context = op.getContext();
  auto memory = [&](Type element) { return GlobalType::get(context, element); };
  Type f32 = Float32Type::get(context), i8 = IntegerType::get(context, 8);
  QuantizeOp partner = transposedPartner(op);
  SmallVector<KernelParameter> list{
      {memory(op.getInput().getType().getElementType()), ParameterRole::X}};
  if (op.getTensorScale() || (partner && partner.getTensorScale()))
    list.push_back({memory(f32), ParameterRole::TensorScale});
  auto addResult = [&](QuantizeOp one, const ResultRoles &roles) {
    list.push_back({memory(i8), roles.data});
    list.push_back({memory(storageOf(one).scaleMemory()), roles.scales});
    if (hasTensorScale(one))
      list.push_back({memory(f32), roles.tensorScale});
  };
  addResult(op, kResult);
  if (partner)
    addResult(partner, kTransposedResult);
  if (findsMaximum(op) || (partner && findsMaximum(partner)))
    list.push_back(
        {memory(IntegerType::get(context, 32)), ParameterRole::Workspace});
  addSizes(storage, list);
  return list;
}

/// CTAs that wait for each other stand for the `ctas` of an ordinary grid, as
/// many as run at once.
static KernelAttr launchTogether(AffineExpr ctas, AffineExpr batch,
                                 int64_t threads) {
  constexpr unsigned kClusters = 5;
  MLIRContext *context = ctas.getContext();
  AffineExpr atOnce = getAffineSymbolExpr(kClusters, context);
  return KernelAttr::get(context, AffineMap::get(0, 6, {ctas, atOnce}, context),
                         threads,
                         /*sharedBytes=*/0, /*tensorColumns=*/0, /*cluster=*/1,
                         /*dependentLaunch=*/false,
                         GridMaxima::workspaceFor(batch), /*cooperative=*/true);
}

static QuantizationAttr attributeOf(QuantizeOp op, StringRef source) {
  return quantizationOf(op, source, static_cast<bool>(transposedInput(op)));
}

static KernelOutline outlineOf(QuantizeOp op, StringRef source) {
  QuantizedStorage storage = storageOf(op);
  QuantizeOp partner = transposedPartner(op);
  KernelOutline outline;
  outline.parameters = parametersOf(op, storage);
  bool isTogether = findsMaximum(op) || (partner && findsMaximum(partner));
  bool hasColumns = partner || transposedInput(op);
  int64_t units =
      hasColumns ? kColumnThreads : quantizeThreads(storage, isTogether);
  int64_t threads = units;
  AffineExpr ctas =
      partner ? tilesOf(storage) : threadsToQuantize(storage).ceilDiv(units);
  QuantizationAttr what = attributeOf(op, source);
  if (partner && hasLines(op, partner))
    ctas = ctasOfLines(storage, storageOf(partner));
  else if (partner)
    threads /= columnsOfThread(
        {what, storage, {}},
        {attributeOf(partner, source), storageOf(partner), {}}, isTogether);
  else if (hasColumns)
    threads /= columnsOfThread(what, storage, isTogether);
  if (transposedInput(op) && storage.coversRow())
    ctas = tilesOfColumns(storage);
  outline.launch = isTogether ? launchTogether(ctas, storage.batch, threads)
                              : elementwiseLaunch(ctas, threads);
  outline.quantization = what;
  outline.isForSparse = scaleReader(op) == ScaleReader::Sparse;
  if (partner)
    outline.transposedQuantization = attributeOf(partner, source);
  return outline;
}

/// Where a kernel finds what one op is about; the sizes follow.
static QuantizeArguments
argumentsOf(QuantizeOp op, const ResultRoles &roles,
            function_ref<Value(ParameterRole)> argument) {
  QuantizeArguments arguments;
  arguments.x = argument(ParameterRole::X);
  if (op.getTensorScale())
    arguments.tensorScale = argument(ParameterRole::TensorScale);
  arguments.workspace = argument(ParameterRole::Workspace);
  arguments.data = argument(roles.data);
  arguments.scales = argument(roles.scales);
  arguments.storedTensorScale = argument(roles.tensorScale);
  return arguments;
}

static void buildBody(QuantizeOp op, ImplicitLocOpBuilder &b,
                      function_ref<Value(ParameterRole)> argument) {
  QuantizedStorage storage = storageOf(op);
  LaunchSizes sizes = launchSizes(storage, b, argument);
  QuantizeArguments arguments = argumentsOf(op, kResult, argument);
  arguments.rows = sizes.rows;
  arguments.k = sizes.k;
  arguments.batch = sizes.batch;
  QuantizationAttr what = attributeOf(op, /*source=*/"");
  if (QuantizeOp partner = transposedPartner(op)) {
    QuantizeArguments columns =
        argumentsOf(partner, kTransposedResult, argument);
    columns.rows = arguments.k;
    columns.k = arguments.rows;
    columns.batch = arguments.batch;
    QuantizedWay ofRows{what, storage, arguments},
        ofColumns{attributeOf(partner, ""), storageOf(partner), columns};
    if (hasLines(op, partner))
      buildLines(b, ofRows, ofColumns);
    else
      buildBothWays(b, ofRows, ofColumns);
  } else if (storage.coversRow() && what.getTransposed()) {
    QuantizeLongColumns(what, storage, b, arguments).build();
  } else if (storage.coversRow()) {
    QuantizeRows(what, storage, b, arguments).build();
  } else if (what.getTransposed()) {
    ColumnShare share;
    share.columns = columnsOfThread(what, storage, bool(arguments.workspace));
    QuantizeColumns(what, storage, b, arguments, share).build();
  } else {
    QuantizeBody(what, storage, b, arguments).build();
  }
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

namespace {
struct QuantizeSource
    : KernelSourceOpInterface::ExternalModel<QuantizeSource, QuantizeOp> {
  bool isWanted(Operation *op) const {
    auto quantizer = cast<QuantizeOp>(op);
    return isAlone(quantizer) && !isPartOfPartner(quantizer);
  }
  /// There is nothing to choose; checkReady says what cannot be.
  LogicalResult legalize(Operation *, hw::Target, bool) const {
    return success();
  }
  LogicalResult selectSchedule(Operation *, hw::Target, int64_t) const {
    return success();
  }
  LogicalResult checkReady(Operation *op) const {
    return ::checkReady(cast<QuantizeOp>(op));
  }
  KernelOutline getOutline(Operation *op, StringRef source) const {
    return outlineOf(cast<QuantizeOp>(op), source);
  }
  void buildBody(Operation *op, ImplicitLocOpBuilder &b,
                 function_ref<Value(ParameterRole)> argument) const {
    ::buildBody(cast<QuantizeOp>(op), b, argument);
  }
};
} // namespace

void blockscale::attachQuantizeSource(MLIRContext &context) {
  QuantizeOp::attachInterface<QuantizeSource>(context);
}
