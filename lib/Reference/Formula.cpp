//===- Formula.cpp - what a product's epilogue computes -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Reference/Formula.h"
#include "blockscale/Formats/Format.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

using namespace blockscale;
using namespace blockscale::reference;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kLargest = std::numeric_limits<float>::max();

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

static const Range kNothing{kInfinity, -kInfinity, false};

Range Range::of(double value) {
  if (std::isnan(value))
    return {kInfinity, -kInfinity, true};
  return {value, value, false};
}

bool Range::contains(double value) const {
  return std::isnan(value) ? nan : lo <= value && value <= hi;
}

static bool isEmpty(const Range &x) { return x.lo > x.hi; }

static bool hasInfinity(const Range &x) {
  return !isEmpty(x) && (std::isinf(x.lo) || std::isinf(x.hi));
}

/// The smallest range with both.
static Range hull(const Range &x, const Range &y) {
  return {std::min(x.lo, y.lo), std::max(x.hi, y.hi), x.nan || y.nan};
}

/// What is left when numbers below `least` give NaN.
static Range clipped(Range x, double least) {
  if (isEmpty(x))
    return x;
  x.nan |= x.lo < least;
  if (x.hi < least)
    return {kInfinity, -kInfinity, true};
  x.lo = std::max(x.lo, least);
  return x;
}

/// Room for an error of `relative` and `absolute`, and for overflow.
static Range widened(Range x, double relative, double absolute = 0) {
  if (isEmpty(x))
    return x;
  if (!std::isinf(x.lo))
    x.lo -= std::fabs(x.lo) * relative + absolute;
  if (!std::isinf(x.hi))
    x.hi += std::fabs(x.hi) * relative + absolute;
  // What lies beyond the largest number may be it or infinity.
  if (x.hi > kLargest)
    x.hi = kInfinity;
  else
    x.hi = std::max(x.hi, -kLargest);
  if (x.lo < -kLargest)
    x.lo = -kInfinity;
  else
    x.lo = std::min(x.lo, kLargest);
  return x;
}

/// One rounding to nearest in f32, subnormals included.
static Range rounded(const Range &x) { return widened(x, 0x1p-23, 0x1p-149); }

template <typename Function>
static Range increasing(const Range &x, Function function) {
  if (isEmpty(x))
    return x;
  return {function(x.lo), function(x.hi), x.nan};
}

/// The hull of `function` at the corners; a corner that is no number, as
/// infinity minus infinity, gives NaN.
template <typename Function>
static Range ofCorners(const Range &x, const Range &y, Function function) {
  Range result = kNothing;
  result.nan = x.nan || y.nan;
  if (isEmpty(x) || isEmpty(y))
    return result;
  for (double left : {x.lo, x.hi})
    for (double right : {y.lo, y.hi})
      result = hull(result, Range::of(function(left, right)));
  return result;
}

static Range sum(const Range &x, const Range &y) {
  Range result = ofCorners(x, y, [](double a, double b) { return a + b; });
  // Beside the corner without a number there may be any.
  if (result.nan && hasInfinity(x) && hasInfinity(y))
    return {-kInfinity, kInfinity, true};
  return result;
}

static Range negated(const Range &x) {
  return isEmpty(x) ? x : Range{-x.hi, -x.lo, x.nan};
}

static bool hasZero(const Range &x) { return x.lo <= 0 && 0 <= x.hi; }

static Range product(const Range &x, const Range &y) {
  Range result = ofCorners(x, y, [](double a, double b) { return a * b; });
  bool unbounded =
      (hasZero(x) && hasInfinity(y)) || (hasZero(y) && hasInfinity(x));
  return unbounded ? Range{-kInfinity, kInfinity, true} : result;
}

static Range quotient(const Range &x, const Range &y) {
  if (!isEmpty(x) && !isEmpty(y) &&
      (hasZero(y) || (hasInfinity(x) && hasInfinity(y))))
    return {-kInfinity, kInfinity,
            x.nan || y.nan || hasZero(x) || hasInfinity(x)};
  return ofCorners(x, y, [](double a, double b) { return a / b; });
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

namespace {
/// How two numbers can compare.
enum Outcome : unsigned {
  Never = 0,
  Equal = 1,
  Greater = 2,
  Less = 4,
  Unordered = 8
};

struct Predicate {
  std::string_view name;
  unsigned outcomes;
};
} // namespace

static constexpr Predicate kPredicates[] = {
    {"false", 0},
    {"oeq", Equal},
    {"ogt", Greater},
    {"oge", Greater | Equal},
    {"olt", Less},
    {"ole", Less | Equal},
    {"one", Less | Greater},
    {"ord", Less | Greater | Equal},
    {"ueq", Equal | Unordered},
    {"ugt", Greater | Unordered},
    {"uge", Greater | Equal | Unordered},
    {"ult", Less | Unordered},
    {"ule", Less | Equal | Unordered},
    {"une", Less | Greater | Unordered},
    {"uno", Unordered},
    {"true", Less | Greater | Equal | Unordered}};

static unsigned possibleOutcomes(const Range &x, const Range &y) {
  unsigned outcomes = x.nan || y.nan ? Unordered : Never;
  if (isEmpty(x) || isEmpty(y))
    return outcomes;
  outcomes |= x.lo < y.hi ? Less : Never;
  outcomes |= x.hi > y.lo ? Greater : Never;
  outcomes |= x.lo <= y.hi && y.lo <= x.hi ? Equal : Never;
  return outcomes;
}

/// Conditions are ranges too: 0 is false and 1 is true.
static Range compared(unsigned possible, unsigned satisfying) {
  Range result = kNothing;
  if (possible & ~satisfying)
    result = hull(result, Range::of(0));
  if (possible & satisfying)
    result = hull(result, Range::of(1));
  return result;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

namespace {
/// Types of a function's operands and of its result.
enum class Form { Numbers, Compare, Select, Logic, Constant };
} // namespace

struct reference::FormulaFunction {
  std::string_view name;
  unsigned arity;
  Form form;
  /// Whether there is one right result.
  bool exact;
  /// The type of the result.
  std::string_view type;
  float (*number)(const float *x);
  Range (*range)(const Range *x);
};

template <typename Function>
static Range bitwise(const Range &x, const Range &y, Function function) {
  return ofCorners(x, y, [&](double a, double b) {
    return double(function(a != 0, b != 0));
  });
}

static float roundedTo(ElementFormat format, float x) {
  return decode(format,
                encode(format, x, Rounding::NearestEven, Saturation::None));
}

template <ElementFormat format> static Range narrowed(const Range &x) {
  return increasing(
      x, [](double v) { return double(roundedTo(format, float(v))); });
}

static float maximum(float x, float y) {
  return std::isnan(x) || std::isnan(y) ? x + y : std::max(x, y);
}

static float minimum(float x, float y) {
  return std::isnan(x) || std::isnan(y) ? x + y : std::min(x, y);
}

static double larger(double x, double y) { return std::max(x, y); }
static double smaller(double x, double y) { return std::min(x, y); }

/// The larger or smaller of what are numbers.
static Range ofNumbers(const Range &x, const Range &y,
                       double (*choose)(double, double)) {
  Range result = ofCorners(x, y, choose);
  result.nan = x.nan && y.nan;
  if (x.nan)
    result = hull(result, Range{y.lo, y.hi, false});
  if (y.nan)
    result = hull(result, Range{x.lo, x.hi, false});
  return result;
}

static Range magnitude(const Range &x) {
  if (isEmpty(x) || x.lo >= 0)
    return x;
  Range mirrored = negated(x);
  return x.hi <= 0 ? mirrored : Range{0, std::max(x.hi, mirrored.hi), x.nan};
}

/// The sign of a zero or a NaN is not known.
static Range withSign(const Range &x, const Range &sign) {
  Range positive = magnitude(x);
  bool mayBePositive = sign.nan || (!isEmpty(sign) && sign.hi >= 0);
  bool mayBeNegative = sign.nan || (!isEmpty(sign) && sign.lo <= 0);
  Range result = kNothing;
  if (mayBePositive)
    result = hull(result, positive);
  if (mayBeNegative)
    result = hull(result, negated(positive));
  return result;
}

static Range selected(const Range *x) {
  Range result = kNothing;
  if (x[0].contains(1))
    result = hull(result, x[1]);
  if (x[0].contains(0))
    result = hull(result, x[2]);
  return result;
}

/// An instruction takes powers of two, so that the error of x * log2(e) counts
/// in proportion to x. It is off by 2^-22 of the power at most (PTX ISA,
/// ex2.approx).
static double powerError(const Range &x) {
  constexpr double kBeyond = 256;
  double largest = std::min(kBeyond, std::max(-x.lo, x.hi));
  return 0x1p-21 + std::max(0.0, largest) * 0x1p-22;
}

static Range exponential(const Range &x) {
  return widened(increasing(x, [](double v) { return std::exp(v); }),
                 powerError(x), 0x1p-148);
}

static Range inverseRoot(const Range &x) {
  Range positive = clipped(x, 0);
  if (!isEmpty(positive) && positive.lo == 0)
    // The root of -0 is -0.
    return {-kInfinity, kInfinity, positive.nan};
  return widened(
      negated(increasing(positive, [](double v) { return -1 / std::sqrt(v); })),
      0x1p-22);
}

/// The logarithm of a subnormal number is that of the smallest normal one.
template <typename Function>
static Range logarithm(const Range &x, Function function) {
  constexpr double kSmallest = std::numeric_limits<float>::min();
  Range positive = clipped(x, 0);
  if (positive.hi > 0 && positive.hi < kSmallest)
    positive.hi = kSmallest;
  return increasing(positive, function);
}

/// Polynomials are good to a few units of the last place; this leaves room for
/// eight.
static constexpr double kPolynomial = 0x1p-20;

#define NUMBER(...) [](const float *x) -> float { return __VA_ARGS__; }
#define RANGE(...) [](const Range *x) -> Range { return __VA_ARGS__; }
#define OF_DOUBLE(function)                                                    \
  [](const float *x) -> float { return float(function(double(x[0]))); }
#define INCREASING(function)                                                   \
  increasing(x[0], [](double v) { return function(v); })

static constexpr std::string_view kF32 = "f32", kBool = "i1";

/// What the functions mean: the pages of MLIR's `arith` and `math` dialects.
/// A step in f32 that rounds once may be computed in double and rounded then.
static const FormulaFunction kFunctions[] = {
    {"arith.constant", 0, Form::Constant, true, kF32, nullptr, nullptr},
    {"arith.constant", 0, Form::Constant, true, kBool, nullptr, nullptr},
    {"arith.addf", 2, Form::Numbers, true, kF32,
     NUMBER(float(double(x[0]) + x[1])), RANGE(rounded(sum(x[0], x[1])))},
    {"arith.subf", 2, Form::Numbers, true, kF32,
     NUMBER(float(double(x[0]) - x[1])),
     RANGE(rounded(sum(x[0], negated(x[1]))))},
    {"arith.mulf", 2, Form::Numbers, true, kF32,
     NUMBER(float(double(x[0]) * x[1])), RANGE(rounded(product(x[0], x[1])))},
    {"arith.divf", 2, Form::Numbers, true, kF32,
     NUMBER(float(double(x[0]) / x[1])), RANGE(rounded(quotient(x[0], x[1])))},
    {"arith.negf", 1, Form::Numbers, true, kF32, NUMBER(-x[0]),
     RANGE(negated(x[0]))},
    {"arith.maximumf", 2, Form::Numbers, true, kF32,
     NUMBER(maximum(x[0], x[1])), RANGE(ofCorners(x[0], x[1], larger))},
    {"arith.minimumf", 2, Form::Numbers, true, kF32,
     NUMBER(minimum(x[0], x[1])), RANGE(ofCorners(x[0], x[1], smaller))},
    {"arith.maxnumf", 2, Form::Numbers, true, kF32,
     NUMBER(std::fmax(x[0], x[1])), RANGE(ofNumbers(x[0], x[1], larger))},
    {"arith.minnumf", 2, Form::Numbers, true, kF32,
     NUMBER(std::fmin(x[0], x[1])), RANGE(ofNumbers(x[0], x[1], smaller))},
    {"arith.cmpf", 2, Form::Compare, true, kBool, nullptr, nullptr},
    {"arith.select", 3, Form::Select, true, kF32,
     NUMBER(x[0] != 0 ? x[1] : x[2]), RANGE(selected(x))},
    {"arith.andi", 2, Form::Logic, true, kBool, NUMBER(x[0] != 0 && x[1] != 0),
     RANGE(bitwise(x[0], x[1], [](bool a, bool b) { return a && b; }))},
    {"arith.ori", 2, Form::Logic, true, kBool, NUMBER(x[0] != 0 || x[1] != 0),
     RANGE(bitwise(x[0], x[1], [](bool a, bool b) { return a || b; }))},
    {"arith.xori", 2, Form::Logic, true, kBool,
     NUMBER((x[0] != 0) != (x[1] != 0)),
     RANGE(bitwise(x[0], x[1], [](bool a, bool b) { return a != b; }))},
    {"arith.truncf", 1, Form::Numbers, true, "bf16",
     NUMBER(roundedTo(ElementFormat::BF16, x[0])),
     RANGE(narrowed<ElementFormat::BF16>(x[0]))},
    {"arith.truncf", 1, Form::Numbers, true, "f16",
     NUMBER(roundedTo(ElementFormat::F16, x[0])),
     RANGE(narrowed<ElementFormat::F16>(x[0]))},
    {"arith.extf", 1, Form::Numbers, true, kF32, NUMBER(x[0]), RANGE(x[0])},
    {"math.absf", 1, Form::Numbers, true, kF32, NUMBER(std::fabs(x[0])),
     RANGE(magnitude(x[0]))},
    {"math.copysign", 2, Form::Numbers, true, kF32,
     NUMBER(std::copysign(x[0], x[1])), RANGE(withSign(x[0], x[1]))},
    {"math.fma", 3, Form::Numbers, true, kF32,
     NUMBER(std::fma(x[0], x[1], x[2])),
     RANGE(rounded(sum(product(x[0], x[1]), x[2])))},
    {"math.floor", 1, Form::Numbers, true, kF32, NUMBER(std::floor(x[0])),
     RANGE(INCREASING(std::floor))},
    {"math.ceil", 1, Form::Numbers, true, kF32, NUMBER(std::ceil(x[0])),
     RANGE(INCREASING(std::ceil))},
    {"math.trunc", 1, Form::Numbers, true, kF32, NUMBER(std::trunc(x[0])),
     RANGE(INCREASING(std::trunc))},
    {"math.roundeven", 1, Form::Numbers, true, kF32,
     NUMBER(std::nearbyint(x[0])), RANGE(INCREASING(std::nearbyint))},
    {"math.sqrt", 1, Form::Numbers, true, kF32, OF_DOUBLE(std::sqrt),
     RANGE(rounded(
         increasing(clipped(x[0], 0), [](double v) { return std::sqrt(v); })))},
    {"math.rsqrt", 1, Form::Numbers, false, kF32,
     NUMBER(float(1 / std::sqrt(double(x[0])))), RANGE(inverseRoot(x[0]))},
    {"math.exp", 1, Form::Numbers, false, kF32, OF_DOUBLE(std::exp),
     RANGE(exponential(x[0]))},
    {"math.exp2", 1, Form::Numbers, false, kF32, OF_DOUBLE(std::exp2),
     RANGE(widened(INCREASING(std::exp2), 0x1p-21, 0x1p-148))},
    {"math.expm1", 1, Form::Numbers, false, kF32, OF_DOUBLE(std::expm1),
     RANGE(widened(INCREASING(std::expm1), 4 * powerError(x[0]), 0x1p-148))},
    {"math.log", 1, Form::Numbers, false, kF32, OF_DOUBLE(std::log),
     RANGE(widened(logarithm(x[0], [](double v) { return std::log(v); }),
                   kPolynomial))},
    {"math.log2", 1, Form::Numbers, false, kF32, OF_DOUBLE(std::log2),
     RANGE(widened(logarithm(x[0], [](double v) { return std::log2(v); }),
                   kPolynomial))},
    {"math.log1p", 1, Form::Numbers, false, kF32, OF_DOUBLE(std::log1p),
     RANGE(widened(
         increasing(clipped(x[0], -1), [](double v) { return std::log1p(v); }),
         2 * kPolynomial, 0x1p-148))},
    {"math.tanh", 1, Form::Numbers, false, kF32, OF_DOUBLE(std::tanh),
     RANGE(widened(INCREASING(std::tanh), kPolynomial, 0x1p-148))},
    {"math.erf", 1, Form::Numbers, false, kF32, OF_DOUBLE(std::erf),
     RANGE(widened(INCREASING(std::erf), kPolynomial, 0x1p-148))},
};

#undef NUMBER
#undef RANGE
#undef OF_DOUBLE
#undef INCREASING

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

Formula::Formula()
    : numbers{{"x", 0}, {"c", 1}, {"bias", 2}, {"up", 3}, {"up_bias", 4}},
      isCondition(kInputs, false) {}

static const FormulaFunction *findFunction(const std::string &name,
                                           const std::string &type) {
  for (const FormulaFunction &function : kFunctions)
    if (function.name == name && function.type == type)
      return &function;
  return nullptr;
}

std::optional<Reason>
Formula::findOperands(const std::vector<std::string> &operands,
                      Step &step) const {
  const FormulaFunction &function = *step.function;
  if (operands.size() != function.arity)
    return "expected " + std::to_string(function.arity) + " operands, found " +
           std::to_string(operands.size());
  for (const std::string &operand : operands) {
    auto found = numbers.find(operand);
    if (found == numbers.end())
      return "no step before makes '" + operand + "'";
    bool isFirst = step.operands.empty();
    bool wantsCondition = function.form == Form::Logic ||
                          (function.form == Form::Select && isFirst);
    if (isCondition[found->second] != wantsCondition)
      return "'" + operand + "' is " +
             (wantsCondition ? "a number, not a condition"
                             : "a condition, not a number");
    step.operands.push_back(found->second);
  }
  return std::nullopt;
}

/// A number that fills all of `text`.
static std::optional<float> parseConstant(const std::string &text) {
  char *end = nullptr;
  float value = std::strtof(text.c_str(), &end);
  if (text.empty() || *end != '\0')
    return std::nullopt;
  return value;
}

std::optional<Reason>
Formula::addStep(const std::string &name, const std::string &function,
                 const std::vector<std::string> &operands,
                 const std::string &type, const std::string &predicate,
                 const std::optional<std::string> &constant) {
  std::string place = "epilogue: step '" + name + "': ";
  if (numbers.count(name))
    return place + "its name is taken";
  Step step{findFunction(function, type), {}, 0, 0};
  if (!step.function)
    return place + "function '" + function + "' of type '" + type +
           "' is not known";
  if (auto why = findOperands(operands, step))
    return place + why->text;
  if (step.function->form == Form::Compare) {
    auto found = std::find_if(
        std::begin(kPredicates), std::end(kPredicates),
        [&](const Predicate &known) { return known.name == predicate; });
    if (found == std::end(kPredicates))
      return place + "predicate '" + predicate + "' is not known";
    step.outcomes = found->outcomes;
  }
  if (step.function->form == Form::Constant) {
    std::optional<float> value = parseConstant(constant.value_or(""));
    if (!value)
      return place + "'" + constant.value_or("") + "' is no number";
    step.constant = *value;
  }
  steps.push_back(std::move(step));
  numbers[name] = static_cast<unsigned>(isCondition.size());
  isCondition.push_back(type == kBool);
  return std::nullopt;
}

std::optional<Reason> Formula::setResult(const std::string &name) {
  auto found = numbers.find(name);
  if (found == numbers.end())
    return "epilogue: no step makes the result '" + name + "'";
  result = found->second;
  if (isCondition[result])
    return "epilogue: the result '" + name + "' is a condition, not a number";
  return std::nullopt;
}

bool Formula::isExact() const {
  return std::all_of(steps.begin(), steps.end(),
                     [](const Step &step) { return step.function->exact; });
}

template <typename T, typename Apply>
T Formula::run(const Inputs<T> &inputs, Apply apply) const {
  std::vector<T> values(inputs.begin(), inputs.end());
  values.reserve(kInputs + steps.size());
  constexpr unsigned kMaxArity = 3;
  T operands[kMaxArity] = {};
  for (const Step &step : steps) {
    for (size_t i = 0; i < step.operands.size(); ++i)
      operands[i] = values[step.operands[i]];
    values.push_back(apply(step, operands));
  }
  return values[result];
}

float Formula::evaluate(const Inputs<float> &inputs) const {
  return run<float>(inputs, [](const Step &step, const float *x) -> float {
    if (step.function->form == Form::Constant)
      return step.constant;
    if (step.function->form == Form::Compare)
      return possibleOutcomes(Range::of(x[0]), Range::of(x[1])) & step.outcomes
                 ? 1.0f
                 : 0.0f;
    return step.function->number(x);
  });
}

Range Formula::evaluate(const Inputs<Range> &inputs) const {
  return run<Range>(inputs, [](const Step &step, const Range *x) -> Range {
    if (step.function->form == Form::Constant)
      return Range::of(step.constant);
    if (step.function->form == Form::Compare)
      return compared(possibleOutcomes(x[0], x[1]), step.outcomes);
    return step.function->range(x);
  });
}
