//===- CheckFunctions.cpp - whole functions, run two ways -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Execute/CheckFunctions.h"
#include "CallFrame.h"
#include "CompareResults.h"
#include "Differences.h"
#include "DynamicSizes.h"
#include "GroupEnds.h"
#include "QuantizedNumbers.h"
#include "QuantizedResults.h"
#include "blockscale/Dialect/Blockscale/IR/FloatResults.h"
#include "blockscale/Verify/Memory.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/Support/DynamicLibrary.h"

#include <iomanip>
#include <map>
#include <sstream>

using namespace mlir;
using namespace blockscale;
using namespace blockscale::execute;

//===----------------------------------------------------------------------===//
// Which functions
//===----------------------------------------------------------------------===//

/// Calls `visit` for all ops of `function` and of what it calls, but for what
/// is inside of products.
static void walkCalls(FunctionOpInterface function,
                      llvm::SmallPtrSetImpl<Operation *> &seen,
                      llvm::function_ref<void(Operation *)> visit) {
  if (!seen.insert(function).second || function.isExternal())
    return;
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    visit(op);
    if (isa<MatmulOp>(op))
      return WalkResult::skip();
    if (auto call = dyn_cast<CallOpInterface>(op))
      if (auto callee =
              dyn_cast_or_null<FunctionOpInterface>(call.resolveCallable()))
        walkCalls(callee, seen, visit);
    return WalkResult::advance();
  });
}

static void walkCalls(FunctionOpInterface function,
                      llvm::function_ref<void(Operation *)> visit) {
  llvm::SmallPtrSet<Operation *, 8> seen;
  walkCalls(function, seen, visit);
}

/// Whether `op` is part of a product with groups: what it writes has padding,
/// or rows behind the last group, that nobody outside of kernels finds.
static bool quantizesGroups(Operation *op) {
  auto quantizer = dyn_cast<QuantizeOp>(op);
  auto product =
      quantizer ? quantizer.getInput().getDefiningOp<MatmulOp>() : MatmulOp();
  return product && product.hasGroups();
}

/// Whether the kernels' own verdicts say all there is to say.
static bool isOneProduct(FunctionOpInterface function) {
  unsigned products = 0, others = 0;
  walkCalls(function, [&](Operation *op) {
    if (isa<MatmulOp>(op))
      ++products;
    else if (!quantizesGroups(op) && !op->hasTrait<OpTrait::ConstantLike>() &&
             !op->hasTrait<OpTrait::IsTerminator>() && op != function)
      ++others;
  });
  return products == 1 && others == 0 &&
         function.getFunctionBody().hasOneBlock();
}

SmallVector<FunctionOpInterface> execute::functionsToCheck(ModuleOp module) {
  SmallVector<FunctionOpInterface> functions;
  for (auto function : module.getOps<func::FuncOp>()) {
    bool hasProduct = false;
    walkCalls(function,
              [&](Operation *op) { hasProduct |= isa<MatmulOp>(op); });
    if (function.isPublic() && hasProduct && !isOneProduct(function))
      functions.push_back(function);
  }
  return functions;
}

/// Whether a value on the way is rounded to fewer bits than f32 has, so that a
/// difference in the last bit of a sum can grow.
static bool roundsOnTheWay(FunctionOpInterface function) {
  bool rounds = false;
  walkCalls(function, [&](Operation *op) {
    rounds |= isa<QuantizeOp, arith::TruncFOp>(op);
    for (Type type : op->getResultTypes())
      if (auto shaped = dyn_cast<ShapedType>(type))
        rounds |= isa<FloatType>(shaped.getElementType()) &&
                  shaped.getElementTypeBitWidth() < 32;
  });
  return rounds;
}

/// Whether a value on the way is made by functions such as erf, of which two
/// libraries differ in the last bits.
static bool hasMathOnTheWay(FunctionOpInterface function) {
  bool hasMath = false;
  auto look = [&](Operation *op) {
    hasMath |= isa_and_nonnull<math::MathDialect>(op->getDialect());
  };
  walkCalls(function, [&](Operation *op) {
    if (isa<MatmulOp>(op))
      op->walk(look);
    else
      look(op);
  });
  return hasMath;
}

/// The scales of what is quantised first, where sums of its products are
/// quantised, too: floats that follow from the data, by which sums are rounded
/// whatever the data are. Empty without such.
static std::string scalesOfRoundedSums(FunctionOpInterface function) {
  std::string scales;
  walkCalls(function, [&](Operation *op) {
    if (!scales.empty() || !isa<QuantizeOp>(op))
      return;
    BackwardSliceOptions options;
    options.omitBlockArguments = true;
    SetVector<Operation *> before;
    if (failed(getBackwardSlice(op, &before, options)))
      return;
    for (Operation *source : before)
      if (auto first = dyn_cast<QuantizeOp>(source))
        if (hasFloatScales(first.getType()))
          scales = print(first.getType().getSpec().getValue());
  });
  return scales;
}

//===----------------------------------------------------------------------===//
// The two programs
//===----------------------------------------------------------------------===//

namespace {
/// The module, with kernels and without.
struct Programs {
  std::unique_ptr<HostProgram> kernels, reference;
  /// Functions of the reference that return as well what they quantise.
  FunctionCopies copies;
};
} // namespace

static FailureOr<std::unique_ptr<HostProgram>>
compileProgram(ModuleOp copy, const CheckOptions &options, bool onHost) {
  if (failed(lowerToHost(copy, HostStage::LLVM, options.compiler, onHost)))
    return failure();
  std::string error;
  std::unique_ptr<HostProgram> program = HostProgram::create(copy, error);
  if (!program)
    return copy.emitError() << "LLVM refuses the host code: " << error;
  return program;
}

static FailureOr<Programs> compilePrograms(ModuleOp module,
                                           const CheckOptions &options) {
  Programs programs;
  OwningOpRef<ModuleOp> copy(module.clone());
  auto kernels = compileProgram(*copy, options, /*onHost=*/false);
  if (failed(kernels))
    return failure();
  copy = module.clone();
  for (FunctionOpInterface function : functionsToCheck(*copy))
    addCopyWithNumbers(function, hasMathOnTheWay(function), programs.copies);
  auto reference = compileProgram(*copy, options, /*onHost=*/true);
  if (failed(reference))
    return failure();
  programs.kernels = std::move(*kernels);
  programs.reference = std::move(*reference);
  return programs;
}

/// Functions that are declared only have to be in this process: without one the
/// JIT gives up the whole program.
static LogicalResult checkCallees(ArrayRef<FunctionOpInterface> functions) {
  for (FunctionOpInterface function : functions) {
    LogicalResult result = success();
    walkCalls(function, [&](Operation *op) {
      auto call = dyn_cast<CallOpInterface>(op);
      auto callee =
          call ? dyn_cast_or_null<FunctionOpInterface>(call.resolveCallable())
               : FunctionOpInterface();
      if (failed(result) || !callee || !callee.isExternal())
        return;
      std::string name = callee.getName().str();
      using llvm::sys::DynamicLibrary;
      DynamicLibrary::LoadLibraryPermanently(nullptr);
      if (DynamicLibrary::SearchForAddressOfSymbol(name) ||
          DynamicLibrary::SearchForAddressOfSymbol("_mlir_ciface_" + name))
        return;
      result = op->emitError()
               << "'" << name
               << "' is declared only, so that there is nothing to run; "
                  "expected a function with a body";
    });
    if (failed(result))
      return failure();
  }
  return success();
}

/// About how many bytes the arguments take: drawn once, and for either way once
/// as they are given and once as they come back.
static uint64_t bytesOf(FunctionOpInterface function,
                        const ArgumentShapes &shapes) {
  constexpr double kCopies = 5;
  double bytes = 0;
  for (auto [argument, shape] :
       llvm::zip_equal(function.getArguments(), shapes.shapes)) {
    auto type = dyn_cast<ShapedType>(argument.getType());
    bool isPlain = type && type.getElementType().isIntOrFloat();
    double size =
        isPlain ? (type.getElementTypeBitWidth() + 7) / 8 : sizeof(uint8_t);
    for (int64_t extent : shape)
      size *= double(extent);
    bytes += kCopies * size;
  }
  return uint64_t(std::min(bytes, 0x1p62));
}

/// What a call gets and gives.
static std::string signatureOf(FunctionOpInterface function,
                               const CheckOptions &options, Fill fill,
                               std::vector<HostArray> &arguments,
                               SmallVector<Type> &results, std::string &sizes) {
  std::string reason;
  uint64_t seed = options.seed;
  FailureOr<ArgumentShapes> shapes =
      chooseSizes(function, options.sizes, reason);
  if (failed(shapes))
    return reason;
  sizes = shapes->text;
  if (auto why =
          verify::whyNoMemory("calling the function",
                              bytesOf(function, *shapes), verify::freeMemory()))
    return why->text;
  for (auto [argument, shape] :
       llvm::zip_equal(function.getArguments(), shapes->shapes)) {
    auto made = makeArgument(argument.getType(), fill, shape,
                             becomesScales(argument), seed, reason);
    if (failed(made))
      return reason;
    if (auto ends = groupEndsOf(argument, *shapes))
      drawGroupEnds(made->front(), *ends, seed);
    llvm::move(*made, std::back_inserter(arguments));
  }
  for (Type type : function.getResultTypes()) {
    auto types = plainTypes(type, reason);
    if (failed(types))
      return reason;
    llvm::append_range(results, *types);
  }
  return "";
}

/// The bound of numbers that differ so, as a part of the largest magnitude.
/// What a function such as tanh makes of sums is off by as much as these are,
/// or, as that of exp, by this part of itself.
static double boundOf(Difference difference, ArrayRef<HostArray> sums) {
  if (difference == Difference::None)
    return 0;
  double bound = kSumBound;
  for (const HostArray &array : sums)
    bound = std::max(bound, kSumBound * largestOf(array));
  return difference == Difference::Sums ? std::min(bound, kCodeBound)
                                        : kCodeBound;
}

/// Compares the parts of a result, or one that has none, where scales and codes
/// are judged by themselves. Zero points may be small where numbers are large.
static void compareParts(Type type, const ScaledParts &parts, double bound,
                         DecodedCodes codes, FunctionVerdict &verdict) {
  auto scaled = dyn_cast<ScaledTensorType>(type);
  DecodedCodes none;
  for (size_t i = 0; i < parts.expected.size() && verdict.error.empty(); ++i) {
    bool isOfScale = scaled && isScale(scaled, i);
    bool isZero = i > 0 && !isOfScale && bound > 0;
    compareResult(parts.expected[i], parts.found[i],
                  "result " + std::to_string(parts.first + i),
                  {isZero ? kCodeBound : bound, isOfScale},
                  i == 0 ? codes : none, verdict);
  }
}

/// Whether no number between is nearer to another code.
static bool isToNearest(ElementRounding rounding) {
  return rounding == ElementRounding::Even ||
         rounding == ElementRounding::Away || rounding == ElementRounding::Zero;
}

/// Compares what one call gave both ways.
static void compareResults(FunctionOpInterface function,
                           const ReferenceResults &reference,
                           ArrayRef<HostArray> found, bool isExact,
                           const CheckOptions &options,
                           FunctionVerdict &verdict) {
  ArrayRef<HostArray> expected = reference.results, numbers = reference.numbers;
  double bound = roundsOnTheWay(function) ? kCodeBound : kSumBound;
  bool hasMath = hasMathOnTheWay(function);
  Differences differences(isExact);
  size_t place = 0;
  for (auto [type, quantizer] :
       llvm::zip_equal(function.getResultTypes(), quantizersOf(function))) {
    std::string reason;
    size_t count = plainTypes(type, reason)->size();
    ScaledParts parts{place, expected.slice(place, count),
                      found.slice(place, count)};
    place += count;
    double own = bound;
    const HostArray *source = nullptr;
    if (quantizer) {
      own = boundOf(differenceOf(quantizer, differences), reference.sums);
      const HostArray &input = numbers.front();
      numbers = numbers.drop_front();
      if (own > 0 && compareQuantized(quantizer, own, input, parts, verdict))
        continue;
      if (own > 0 && isToNearest(quantizer.getRounding()))
        source = &input;
    }
    auto scaled = dyn_cast<ScaledTensorType>(type);
    DecodedCodes codes;
    if (scaled && (hasMath || source) && own > 0)
      codes =
          DecodedCodes(scaled, parts.expected, parts.found, options.compiler);
    if (hasMath)
      codes.areOfTails();
    if (source)
      codes.areRoundedFrom(*source, own);
    compareParts(type, parts, own, codes, verdict);
  }
  DecodedCodes none;
  for (size_t i = place; i < expected.size() && verdict.error.empty(); ++i)
    compareResult(expected[i], found[i], "memory " + std::to_string(i - place),
                  {bound, false}, none, verdict);
}

static FunctionVerdict checkFunction(FunctionOpInterface function,
                                     Programs &programs,
                                     const CheckOptions &options,
                                     verify::DataKind kind) {
  FunctionVerdict verdict;
  verdict.function = function.getName().str();
  verdict.data = kind;
  std::vector<HostArray> arguments;
  SmallVector<Type> types;
  bool isExact = kind == verify::DataKind::Exact;
  verdict.error =
      signatureOf(function, options, isExact ? Fill::Exact : Fill::Random,
                  arguments, types, verdict.sizes);
  if (!verdict.error.empty())
    return verdict;
  verify::EmulatedDevice device;
  device.threads = options.threads;
  device.completion = options.completion;
  device.seed = options.seed;
  device.beforeRun = options.beforeRun;
  auto found =
      callFunction(*programs.kernels, verdict.function, arguments, types,
                   [&](BlockscaleKernels &kernels, const std::string &kernel,
                       const BlockscaleOperand *operands, int64_t count) {
                     return device.launch(kernels, kernel, operands, count);
                   });
  verdict.launches = device.launches;
  verdict.findings = std::move(device.findings);
  verdict.openPoints = device.openPoints;
  auto reference = callReference(function, *programs.reference, programs.copies,
                                 arguments, types);
  if (!found || !reference) {
    verdict.error = found ? reference.why().text : found.why().text;
    return verdict;
  }
  compareResults(function, *reference, *found, isExact, options, verdict);
  if (verdict.mismatches && isExact)
    verdict.scalesOfTies = scalesOfRoundedSums(function);
  return verdict;
}

FailureOr<std::vector<FunctionVerdict>>
execute::checkFunctions(ModuleOp module, const CheckOptions &options) {
  std::vector<FunctionVerdict> verdicts;
  SmallVector<FunctionOpInterface> functions = functionsToCheck(module);
  if (functions.empty())
    return verdicts;
  if (std::optional<Reason> why = whyNotGiven(functions, options.sizes))
    return module.emitError() << why->text;
  if (failed(checkCallees(functions)))
    return failure();
  FailureOr<Programs> programs = compilePrograms(module, options);
  if (failed(programs))
    return failure();
  for (FunctionOpInterface function : functions)
    for (verify::DataKind kind : options.data)
      verdicts.push_back(checkFunction(function, *programs, options, kind));
  return verdicts;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static void printDetails(const FunctionVerdict &verdict, std::ostream &out) {
  const std::string head = verdict.function + ", " +
                           std::string(verify::dataKindName(verdict.data)) +
                           " data: ";
  for (const std::string &text : {verdict.error, verdict.first})
    if (!text.empty())
      out << head << text << "\n";
  if (!verdict.scalesOfTies.empty())
    out << head << "sums under scales of '" << verdict.scalesOfTies
        << "' that follow from the data are rounded with exact data, too, and "
           "many lie in the middle between two codes of what quantises them "
           "next, of which their last bit makes one or the other; if "
           "'--data=random' passes, that may be all\n";
  for (const emulator::Finding &finding : verdict.findings)
    out << head << emulator::toString(finding) << "\n";
}

std::string
execute::printVerdicts(const std::vector<FunctionVerdict> &verdicts) {
  if (verdicts.empty())
    return "";
  size_t width = 8;
  for (const FunctionVerdict &verdict : verdicts)
    width = std::max(width, verdict.function.size());
  std::ostringstream out;
  out << std::left;
  auto cell = [&](const auto &value, int size) {
    out << std::setw(size) << value;
  };
  size_t sizesWidth = 5;
  for (const FunctionVerdict &verdict : verdicts)
    sizesWidth = std::max(sizesWidth, verdict.sizes.size());
  auto row = [&](const auto &function, const auto &data, const auto &sizes,
                 const auto &launches, const auto &compared,
                 const auto &mismatches, const auto &worst,
                 const auto &findings, const char *verdict) {
    cell(function, int(width) + 2);
    cell(data, 8);
    cell(sizes, int(sizesWidth) + 2);
    cell(launches, 10);
    cell(compared, 12);
    cell(mismatches, 12);
    cell(worst, 12);
    cell(findings, 9);
    out << "  " << verdict << "\n";
  };
  row("function", "data", "sizes", "launches", "compared", "mismatches",
      "worst error", "findings", "verdict");
  for (const FunctionVerdict &verdict : verdicts) {
    std::ostringstream worst;
    worst << std::setprecision(3) << verdict.worst;
    row(verdict.function, verify::dataKindName(verdict.data), verdict.sizes,
        verdict.launches, verdict.compared, verdict.mismatches, worst.str(),
        verdict.findings.size(), verdict.passed() ? "pass" : "FAIL");
  }
  for (const FunctionVerdict &verdict : verdicts)
    printDetails(verdict, out);
  return out.str();
}
