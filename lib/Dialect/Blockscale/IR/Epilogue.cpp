//===- Epilogue.cpp - what becomes of the sums of a product ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Epilogue.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace blockscale;

StringRef blockscale::epilogueInputName(EpilogueInput input) {
  switch (input) {
  case EpilogueInput::Product:
    return "x";
  case EpilogueInput::Up:
    return "up";
  case EpilogueInput::C:
    return "c";
  case EpilogueInput::Bias:
    return "bias";
  case EpilogueInput::UpBias:
    return "up_bias";
  }
  llvm_unreachable("covered switch");
}

SmallVector<EpilogueInput, 5>
blockscale::epilogueInputs(bool hasC, bool hasBias, bool hasPairs) {
  SmallVector<EpilogueInput, 5> inputs{EpilogueInput::Product};
  if (hasPairs)
    inputs.push_back(EpilogueInput::Up);
  if (hasC)
    inputs.push_back(EpilogueInput::C);
  if (hasBias)
    inputs.push_back(EpilogueInput::Bias);
  if (hasBias && hasPairs)
    inputs.push_back(EpilogueInput::UpBias);
  return inputs;
}

Epilogue::Epilogue(Region &region, bool hasC, bool hasBias, bool hasPairs)
    : region(region), inputs(epilogueInputs(hasC, hasBias, hasPairs)) {}

Epilogue::Epilogue(MatmulOp op)
    : Epilogue(op.getEpilogue(), bool(op.getC()), bool(op.getBias()),
               op.getPairs()) {}

Epilogue::Epilogue(KernelMatmulOp op)
    : Epilogue(op.getEpilogue(), bool(op.getC()), bool(op.getBias()),
               op.getPairs()) {}

bool Epilogue::hasPairs() const {
  return llvm::is_contained(inputs, EpilogueInput::Up);
}

//===----------------------------------------------------------------------===//
// Keywords
//===----------------------------------------------------------------------===//

static Value constant(ImplicitLocOpBuilder &b, double value) {
  return arith::ConstantOp::create(b, b.getF32FloatAttr(float(value)));
}

static Value activate(ImplicitLocOpBuilder &b, Activation activation, Value x) {
  switch (activation) {
  case Activation::ReLU:
    return arith::MaximumFOp::create(b, x, constant(b, 0.0));
  case Activation::SiLU: {
    // x * sigmoid(x); exp(-x) overflows to infinity and then x / inf is 0.
    Value decay = math::ExpOp::create(b, arith::NegFOp::create(b, x));
    Value sum = arith::AddFOp::create(b, decay, constant(b, 1.0));
    return arith::DivFOp::create(b, x, sum);
  }
  case Activation::GELU: {
    Value scaled = arith::MulFOp::create(b, x, constant(b, std::sqrt(0.5)));
    Value erf = math::ErfOp::create(b, scaled);
    Value sum = arith::AddFOp::create(b, erf, constant(b, 1.0));
    Value half = arith::MulFOp::create(b, x, constant(b, 0.5));
    return arith::MulFOp::create(b, half, sum);
  }
  }
  llvm_unreachable("covered switch");
}

bool Epilogue::reads(EpilogueInput input) const {
  const auto *found = llvm::find(inputs, input);
  if (found == inputs.end() || region.empty())
    return found != inputs.end();
  return !region.getArgument(unsigned(found - inputs.begin())).use_empty();
}

unsigned Epilogue::mostValues() const {
  if (region.empty())
    return unsigned(inputs.size());
  llvm::DenseMap<Value, Operation *> lastUse;
  for (Operation &op : region.front())
    for (Value operand : op.getOperands())
      lastUse[operand] = &op;
  auto needed = unsigned(llvm::count_if(
      region.getArguments(), [](Value input) { return !input.use_empty(); }));
  unsigned most = needed;
  for (Operation &op : region.front()) {
    if (op.hasTrait<OpTrait::ConstantLike>())
      continue;
    llvm::SmallDenseSet<Value> operands(op.operand_begin(), op.operand_end());
    for (Value operand : operands)
      needed -= lastUse[operand] == &op && !matchPattern(operand, m_Constant());
    needed += op.getNumResults();
    most = std::max(most, needed);
  }
  return most;
}

unsigned Epilogue::valuesOfFunctions() const {
  constexpr unsigned kOfPolynomial = 2;
  bool hasPolynomials = llvm::any_of(region.getOps(), [](Operation &op) {
    return isa<math::ErfOp, math::ExpM1Op, math::LogOp, math::Log1pOp,
               math::Log2Op, math::TanhOp>(op);
  });
  return hasPolynomials ? kOfPolynomial : 0;
}

void Epilogue::build(MLIRContext *context,
                     std::optional<Activation> activation) {
  ImplicitLocOpBuilder b(UnknownLoc::get(context), context);
  SmallVector<Type> types(inputs.size(), b.getF32Type());
  SmallVector<Location> locs(inputs.size(), b.getLoc());
  Block *block = b.createBlock(&region, {}, types, locs);
  Value result = block->getArgument(0);
  for (BlockArgument addend : block->getArguments().drop_front())
    result = arith::AddFOp::create(b, result, addend);
  if (activation)
    result = activate(b, *activation, result);
  YieldOp::create(b, result);
}

namespace {
/// Compares the graphs of ops that two values come from.
class GraphMatcher {
public:
  bool match(Value x, Value y) {
    auto [known, isNew] = partner.try_emplace(x, y);
    if (!isNew)
      return known->second == y;
    if (auto argument = dyn_cast<BlockArgument>(x)) {
      auto other = dyn_cast<BlockArgument>(y);
      return other && argument.getArgNumber() == other.getArgNumber();
    }
    Operation *left = x.getDefiningOp(), *right = y.getDefiningOp();
    return right && left->getName() == right->getName() &&
           left->getNumOperands() == right->getNumOperands() &&
           left->getAttrDictionary() == right->getAttrDictionary() &&
           llvm::all_of(llvm::zip(left->getOperands(), right->getOperands()),
                        [&](auto pair) {
                          return match(std::get<0>(pair), std::get<1>(pair));
                        });
  }

private:
  DenseMap<Value, Value> partner;
};
} // namespace

bool Epilogue::means(std::optional<Activation> activation) const {
  Block &block = region.front();
  auto yield =
      dyn_cast_or_null<YieldOp>(block.empty() ? nullptr : &block.back());
  if (!yield || block.getNumArguments() != inputs.size())
    return false;
  Region meaning;
  Epilogue(meaning, llvm::is_contained(inputs, EpilogueInput::C),
           llvm::is_contained(inputs, EpilogueInput::Bias))
      .build(yield.getContext(), activation);
  Block &expected = meaning.front();
  return block.getOperations().size() == expected.getOperations().size() &&
         GraphMatcher().match(
             cast<YieldOp>(expected.getTerminator()).getValue(),
             yield.getValue());
}

bool Epilogue::isSum() const {
  return !hasPairs() && (region.empty() || means(std::nullopt));
}

std::optional<Activation> Epilogue::getActivation() const {
  if (!region.empty() && !hasPairs())
    for (Activation activation :
         {Activation::ReLU, Activation::GELU, Activation::SiLU})
      if (means(activation))
        return activation;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Elsewhere
//===----------------------------------------------------------------------===//

/// `op` on `operands`, for each element of a vector like `shape` if that is
/// given.
static Value cloneElementwise(ImplicitLocOpBuilder &b, Operation &op,
                              ArrayRef<Value> operands, VectorType shape) {
  Type type = op.getResult(0).getType();
  if (shape)
    type = shape.clone(type);
  if (auto constant = dyn_cast<arith::ConstantOp>(op); constant && shape)
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(cast<ShapedType>(type),
                                  Attribute(constant.getValue())));
  OperationState state(b.getLoc(), op.getName(), operands, type,
                       op.getAttrDictionary().getValue());
  return b.create(state)->getResult(0);
}

Value Epilogue::inlineAt(ImplicitLocOpBuilder &b,
                         function_ref<Value(EpilogueInput)> valueOf,
                         VectorType shape) const {
  if (region.empty()) {
    Value sum = valueOf(EpilogueInput::Product);
    for (EpilogueInput input : ArrayRef(inputs).drop_front())
      sum = arith::AddFOp::create(b, sum, valueOf(input));
    return sum;
  }
  IRMapping map;
  // An input is made where it is first read, so that those of a long epilogue
  // do not all take registers from its start.
  auto mapped = [&](Value value) {
    if (!map.contains(value))
      map.map(value,
              valueOf(inputs[cast<BlockArgument>(value).getArgNumber()]));
    return map.lookup(value);
  };
  for (Operation &op : region.front().without_terminator()) {
    SmallVector<Value> operands(llvm::map_range(op.getOperands(), mapped));
    map.map(op.getResult(0), cloneElementwise(b, op, operands, shape));
  }
  return mapped(cast<YieldOp>(region.front().getTerminator()).getValue());
}

EpilogueAttr Epilogue::getAttr() const {
  if (isSum())
    return {};
  Block &block = region.front();
  DenseMap<Value, int64_t> numbers;
  for (BlockArgument argument : block.getArguments())
    numbers[argument] = argument.getArgNumber();
  Builder b(region.getContext());
  SmallVector<Attribute> steps;
  for (Operation &op : block.without_terminator()) {
    SmallVector<int64_t> operands(llvm::map_range(
        op.getOperands(), [&](Value operand) { return numbers.at(operand); }));
    TypedAttr value;
    StringAttr predicate;
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      value = constant.getValue();
    if (auto compare = dyn_cast<arith::CmpFOp>(op))
      predicate = b.getStringAttr(
          arith::stringifyCmpFPredicate(compare.getPredicate()));
    steps.push_back(EpilogueStepAttr::get(
        b.getContext(), op.getName().getIdentifier(), op.getResult(0).getType(),
        operands.empty() ? DenseI64ArrayAttr()
                         : b.getDenseI64ArrayAttr(operands),
        value, predicate));
    numbers[op.getResult(0)] = int64_t(inputs.size() + steps.size()) - 1;
  }
  Value result = cast<YieldOp>(block.getTerminator()).getValue();
  return EpilogueAttr::get(b.getContext(), int64_t(inputs.size()),
                           b.getArrayAttr(steps), numbers.at(result));
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

namespace {
/// What an op makes of what.
enum class Form {
  Constant, ///< an f32 or i1
  Number,   ///< an f32 of f32
  Compare,  ///< an i1 of f32
  Choice,   ///< an f32 of an i1 and two f32
  Logic,    ///< an i1 of i1
  Narrow,   ///< a bf16 or f16 of f32
  Widen     ///< and back
};

struct AllowedOp {
  StringLiteral name;
  Form form;
};
} // namespace

/// What every target computes without a library.
static constexpr AllowedOp kAllowedOps[] = {
    {"arith.addf", Form::Number},     {"arith.andi", Form::Logic},
    {"arith.cmpf", Form::Compare},    {"arith.constant", Form::Constant},
    {"arith.divf", Form::Number},     {"arith.extf", Form::Widen},
    {"arith.maximumf", Form::Number}, {"arith.maxnumf", Form::Number},
    {"arith.minimumf", Form::Number}, {"arith.minnumf", Form::Number},
    {"arith.mulf", Form::Number},     {"arith.negf", Form::Number},
    {"arith.ori", Form::Logic},       {"arith.select", Form::Choice},
    {"arith.subf", Form::Number},     {"arith.truncf", Form::Narrow},
    {"arith.xori", Form::Logic},      {"math.absf", Form::Number},
    {"math.ceil", Form::Number},      {"math.copysign", Form::Number},
    {"math.erf", Form::Number},       {"math.exp", Form::Number},
    {"math.exp2", Form::Number},      {"math.expm1", Form::Number},
    {"math.floor", Form::Number},     {"math.fma", Form::Number},
    {"math.log", Form::Number},       {"math.log1p", Form::Number},
    {"math.log2", Form::Number},      {"math.roundeven", Form::Number},
    {"math.rsqrt", Form::Number},     {"math.sqrt", Form::Number},
    {"math.tanh", Form::Number},      {"math.trunc", Form::Number},
};

/// The allowed ops of the dialect of `op`, or the two dialects.
static std::string alternatives(Operation &op) {
  std::string text;
  StringRef dialect = op.getName().getDialectNamespace();
  for (const AllowedOp &allowed : kAllowedOps)
    if (allowed.name.split('.').first == dialect)
      text += (text.empty() ? "'" : ", '") + allowed.name.str() + "'";
  return text.empty() ? "ops of 'arith' and 'math'" : "one of " + text;
}

static bool isNarrow(Type type) { return type.isBF16() || type.isF16(); }

/// Why the op does not have the types of its form; empty if it does.
static StringRef whyNotTypes(Operation &op, Form form) {
  auto areAll = [](TypeRange types, auto predicate) {
    return llvm::all_of(types, predicate);
  };
  auto isF32 = [](Type type) { return type.isF32(); };
  auto isBool = [](Type type) { return type.isInteger(1); };
  TypeRange from = op.getOperandTypes();
  Type to = op.getResult(0).getType();
  switch (form) {
  case Form::Constant:
    return isF32(to) || isBool(to) ? "" : "a constant of f32 or i1";
  case Form::Number:
    return areAll(from, isF32) && isF32(to) ? "" : "numbers of f32";
  case Form::Compare:
    return areAll(from, isF32) && isBool(to) ? "" : "numbers of f32";
  case Form::Choice:
    return isBool(from[0]) && isF32(to)
               ? ""
               : "a condition of i1 and numbers of f32";
  case Form::Logic:
    return isBool(to) ? "" : "conditions of i1";
  case Form::Narrow:
    return areAll(from, isF32) && isNarrow(to) ? "" : "f32 to bf16 or f16";
  case Form::Widen:
    return areAll(from, isNarrow) && isF32(to) ? "" : "bf16 or f16 to f32";
  }
  llvm_unreachable("covered switch");
}

/// The row of an op; null if it is not allowed.
static const AllowedOp *findAllowed(StringRef name) {
  for (const AllowedOp &allowed : kAllowedOps)
    if (allowed.name == name)
      return &allowed;
  return nullptr;
}

bool blockscale::isEpilogueOp(StringRef name) {
  return findAllowed(name) != nullptr;
}

static LogicalResult verifyOp(Operation &op) {
  const AllowedOp *allowed = findAllowed(op.getName().getStringRef());
  if (!allowed)
    return op.emitOpError()
           << "is not lowered in an epilogue; expected " << alternatives(op);
  if (StringRef expected = whyNotTypes(op, allowed->form); !expected.empty())
    return op.emitOpError() << "is not lowered for its types in an epilogue; "
                               "expected "
                            << expected;
  if (op.hasAttr("roundingmode"))
    return op.emitOpError() << "has a rounding mode, but every op of an "
                               "epilogue rounds to nearest; expected none";
  if (auto flags = dyn_cast<arith::ArithFastMathInterface>(op))
    if (arith::FastMathFlagsAttr found = flags.getFastMathFlagsAttr();
        found && found.getValue() != arith::FastMathFlags::none)
      return op.emitOpError()
             << "has the flags '"
             << arith::stringifyFastMathFlags(found.getValue())
             << "', but every op of an epilogue rounds to nearest; expected "
                "none";
  return success();
}

LogicalResult Epilogue::verify(Operation *op) const {
  if (region.empty() && hasPairs())
    return op->emitOpError() << "with 'pairs' expected an epilogue that makes "
                                "one element of 'x' and 'up'";
  if (region.empty())
    return success();
  Block &block = region.front();
  bool hasTypes = llvm::all_of(block.getArgumentTypes(),
                               [](Type type) { return type.isF32(); });
  if (block.getNumArguments() != inputs.size() || !hasTypes) {
    InFlightDiagnostic diag = op->emitOpError()
                              << "expected an epilogue with an argument of f32 "
                                 "for each of ";
    llvm::interleaveComma(inputs, diag, [&](EpilogueInput input) {
      if (input == EpilogueInput::Product)
        diag << (hasPairs() ? "the product, 'x'" : "the product");
      else
        diag << "'" << epilogueInputName(input) << "'";
    });
    return diag << ", found (" << block.getArgumentTypes() << ")";
  }
  if (block.empty() || !isa<YieldOp>(block.back()))
    return op->emitOpError() << "expected an epilogue that ends with '"
                             << YieldOp::getOperationName() << "'";
  for (Operation &inner : block.without_terminator())
    if (failed(verifyOp(inner)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// EpilogueAttr
//===----------------------------------------------------------------------===//

/// Whether a step says what its op needs besides operands, and nothing else.
static LogicalResult verifyStep(function_ref<InFlightDiagnostic()> emitError,
                                EpilogueStepAttr step) {
  const AllowedOp *allowed = findAllowed(step.getOp());
  if (!allowed)
    return emitError() << "'" << step.getOp().getValue()
                       << "' is no op of an epilogue";
  TypedAttr value = step.getValue();
  bool isConstant = value && value.getType() == step.getType() &&
                    (step.getType().isF32() || step.getType().isInteger(1));
  if (allowed->form == Form::Constant ? !isConstant : bool(value))
    return emitError() << "expected a value of f32 or i1 for a constant, and "
                          "only then";
  if ((allowed->form == Form::Compare) != bool(step.getPredicate()))
    return emitError()
           << "expected a predicate for a comparison, and only then";
  return success();
}

LogicalResult EpilogueAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t inputs, ArrayAttr steps,
                                   int64_t result) {
  if (inputs < 1 || inputs > 5)
    return emitError() << "expected 1 to 5 inputs, found " << inputs;
  int64_t count = inputs;
  auto verifyValue = [&](int64_t value) -> LogicalResult {
    if (value >= 0 && value < count)
      return success();
    return emitError() << "expected the number of one of the " << count
                       << " values before, found " << value;
  };
  for (Attribute attribute : steps) {
    auto step = dyn_cast<EpilogueStepAttr>(attribute);
    if (!step)
      return emitError() << "expected steps, found " << attribute;
    if (failed(verifyStep(emitError, step)))
      return failure();
    if (step.getOperands())
      for (int64_t operand : step.getOperands().asArrayRef())
        if (failed(verifyValue(operand)))
          return failure();
    ++count;
  }
  return verifyValue(result);
}
