//===- DynamicSizes.cpp - numbers in the place of dynamic sizes -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DynamicSizes.h"
#include "Arrays.h"
#include "Equalities.h"

#include <map>
#include <set>
#include <tuple>

using namespace mlir;
using namespace blockscale;
using namespace blockscale::execute;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// Whether a function has a dynamic dimension there.
static bool isDynamicAt(FunctionOpInterface function, const GivenSize &place) {
  if (place.argument >= function.getNumArguments())
    return false;
  auto type = dyn_cast<ShapedType>(function.getArgumentTypes()[place.argument]);
  return type && type.hasRank() && place.dimension < type.getRank() &&
         type.isDynamicDim(place.dimension);
}

namespace {
/// Gives each class a size of its own.
class Chooser {
public:
  Chooser(FunctionOpInterface function, const SizeChoice &choice)
      : function(function), choice(choice), equal(function, Joins::Likely) {}

  FailureOr<ArgumentShapes> choose(std::string &reason);

private:
  std::string takeGiven();
  int64_t sizeOf(Value value, int64_t dimension);
  int64_t sizeOf(unsigned number);
  std::optional<int64_t> sizeIfSaid(unsigned number);
  int64_t freshSize(Role role);
  void followAssemble(AssembleOp op, ArgumentShapes &result);

  FunctionOpInterface function;
  const SizeChoice &choice;
  Equalities equal;
  std::map<unsigned, int64_t> sizes;
  std::set<int64_t> taken;
  std::set<unsigned> asked;
  std::map<std::pair<unsigned, unsigned>, int64_t> given;
};
} // namespace

/// Returns what is wrong.
std::string Chooser::takeGiven() {
  for (const GivenSize &each : choice.given) {
    if (!each.function.empty() && each.function != function.getName())
      continue;
    std::string name = "size " + std::to_string(each.argument) + "." +
                       std::to_string(each.dimension);
    // One without a name is for whichever functions have the dimension.
    bool isNamed = !each.function.empty();
    bool isThere = isDynamicAt(function, each);
    if (!isThere && isNamed)
      return name + " of '" + each.function +
             "' is given, but it has no such dynamic dimension";
    if (!isThere)
      continue;
    given[{each.argument, each.dimension}] = each.size;
    taken.insert(each.size);
    Value argument = function.getArgument(each.argument);
    sizes.try_emplace(equal.classOf(argument, each.dimension), each.size);
  }
  return "";
}

int64_t Chooser::freshSize(Role role) {
  constexpr int64_t kStep = 128;
  int64_t size = role == Role::K       ? choice.k
                 : role == Role::N     ? choice.n
                 : role == Role::Batch ? choice.batch
                                       : choice.m;
  while (!taken.insert(size).second)
    size += role == Role::Batch ? 1 : kStep;
  return size;
}

/// What a class has already, by a type, by the user or by a choice.
std::optional<int64_t> Chooser::sizeIfSaid(unsigned number) {
  if (auto it = sizes.find(number); it != sizes.end())
    return it->second;
  return equal.factsOf(number).known;
}

int64_t Chooser::sizeOf(unsigned number) {
  const Equalities::Facts &facts = equal.factsOf(number);
  std::optional<int64_t> size = sizeIfSaid(number);
  // Of columns in pairs those of the product are chosen. Where ops of which
  // nothing is known make a circle, it ends.
  if (!size && facts.twice && asked.insert(number).second)
    size = sizeOf(*facts.twice) / 2;
  else if (!size && facts.half && sizeIfSaid(*facts.half))
    size = *sizeIfSaid(*facts.half) * 2;
  if (!size)
    size = freshSize(facts.role);
  return sizes[number] = *size;
}

int64_t Chooser::sizeOf(Value value, int64_t dimension) {
  return sizeOf(equal.classOf(value, dimension));
}

/// Parts that come in as arguments have the shapes that the tensor wants.
void Chooser::followAssemble(AssembleOp op, ArgumentShapes &result) {
  ScaledTensorType type = op.getType();
  SmallVector<int64_t> shape(type.getShape());
  for (auto [i, size] : llvm::enumerate(shape))
    if (ShapedType::isDynamic(size))
      size = sizeOf(op.getResult(), int64_t(i));
  Result<ScaledTensorType> sized = withShape(type, shape);
  Result<TensorParts> parts =
      sized ? getTensorParts(*sized) : Result<TensorParts>(sized.why());
  if (!parts)
    return;
  for (auto [operand, part] : llvm::zip(op->getOperands(), parts->present())) {
    auto argument = dyn_cast<BlockArgument>(operand);
    if (!argument || argument.getOwner() != &function.getFunctionBody().front())
      continue;
    ArrayRef<int64_t> wanted = cast<RankedTensorType>(part).getShape();
    result.shapes[argument.getArgNumber()].assign(wanted.begin(), wanted.end());
  }
}

FailureOr<ArgumentShapes> Chooser::choose(std::string &reason) {
  reason = takeGiven();
  if (!reason.empty())
    return failure();
  ArgumentShapes result;
  result.shapes.resize(function.getNumArguments());
  for (AssembleOp op : equal.getAssembles())
    followAssemble(op, result);
  for (auto [number, argument] : llvm::enumerate(function.getArguments())) {
    if (!result.shapes[number].empty())
      continue;
    auto type = dyn_cast<ShapedType>(argument.getType());
    std::vector<int64_t> &shape = result.shapes[number];
    // A number that is a size of a tensor is that size.
    if (argument.getType().isIndex() &&
        equal.factsOf(equal.classOf(argument, kNumber)).isDimension)
      shape = {sizeOf(argument, kNumber)};
    if (!type || !type.hasRank())
      continue;
    for (auto [i, size] : llvm::enumerate(type.getShape())) {
      auto own = given.find({unsigned(number), unsigned(i)});
      shape.push_back(!ShapedType::isDynamic(size) ? size
                      : own != given.end() ? own->second
                                           : sizeOf(argument, int64_t(i)));
    }
  }
  std::set<int64_t> named;
  for (auto [argument, shape] :
       llvm::zip_equal(function.getArguments(), result.shapes))
    if (auto type = dyn_cast<ShapedType>(argument.getType()))
      for (auto [declared, size] : llvm::zip(type.getShape(), shape))
        if (ShapedType::isDynamic(declared) && named.insert(size).second)
          result.text +=
              (result.text.empty() ? "" : ",") + std::to_string(size);
  if (result.text.empty())
    result.text = "-";
  return result;
}

std::optional<Reason>
execute::whyNotGiven(ArrayRef<FunctionOpInterface> functions,
                     const SizeChoice &choice) {
  std::string names;
  for (FunctionOpInterface function : functions)
    names += (names.empty() ? "'" : ", '") + function.getName().str() + "'";
  std::set<std::tuple<std::string, unsigned, unsigned>> places;
  for (const GivenSize &each : choice.given) {
    std::string place =
        std::to_string(each.argument) + "." + std::to_string(each.dimension);
    if (!each.function.empty())
      place += " of '" + each.function + "'";
    if (!places.insert({each.function, each.argument, each.dimension}).second)
      return Reason("size " + place + " is given twice");
    if (each.function.empty() &&
        llvm::none_of(functions, [&](FunctionOpInterface function) {
          return isDynamicAt(function, each);
        }))
      return Reason("size " + place + " is given, but none of " + names +
                    " has such a dynamic dimension");
    if (!each.function.empty() &&
        llvm::none_of(functions, [&](FunctionOpInterface function) {
          return function.getName() == each.function;
        }))
      return Reason("size " + place +
                    " is given, but no such function is called, only " + names);
  }
  return std::nullopt;
}

FailureOr<ArgumentShapes> execute::chooseSizes(FunctionOpInterface function,
                                               const SizeChoice &choice,
                                               std::string &reason) {
  return Chooser(function, choice).choose(reason);
}

std::vector<DynamicDimension>
execute::dynamicDimensions(FunctionOpInterface function) {
  Equalities equal(function, Joins::Certain);
  std::vector<DynamicDimension> found;
  for (auto [number, argument] : llvm::enumerate(function.getArguments())) {
    auto type = dyn_cast<ShapedType>(argument.getType());
    if (!type || !type.hasRank())
      continue;
    for (auto [i, size] : llvm::enumerate(type.getShape())) {
      if (!ShapedType::isDynamic(size))
        continue;
      unsigned sizeClass = equal.classOf(argument, int64_t(i));
      found.push_back({unsigned(number), unsigned(i), sizeClass,
                       equal.factsOf(sizeClass).known});
    }
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

Result<GivenSize> execute::parseGivenSize(StringRef text) {
  GivenSize given;
  auto [place, size] = text.split('=');
  auto [rest, dimension] = place.rsplit('.');
  auto [function, argument] = rest.rsplit('.');
  if (argument.empty()) {
    argument = function;
    function = "";
  }
  given.function = function.str();
  bool isWrong = argument.getAsInteger(10, given.argument) ||
                 dimension.getAsInteger(10, given.dimension) ||
                 size.getAsInteger(10, given.size) || given.size < 0;
  if (isWrong)
    return Reason("expected [FUNCTION.]ARGUMENT.DIMENSION=SIZE, such as "
                  "'mlp.0.0=40', found '" +
                  text.str() + "'");
  return given;
}

bool execute::becomesScales(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    Operation *op = use.getOwner();
    if (auto assemble = dyn_cast<AssembleOp>(op))
      return use.get() == assemble.getScales();
    bool isShape =
        isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp,
            tensor::ExtractSliceOp, linalg::TransposeOp>(op);
    return isShape && use.getOperandNumber() == 0 &&
           becomesScales(op->getResult(0));
  });
}
