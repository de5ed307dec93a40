//===- Arrays.cpp - arguments and results of functions --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arrays.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace blockscale;
using namespace blockscale::execute;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static constexpr unsigned kIndexBits = 64;

static unsigned bitsOf(Type element) {
  return element.isIndex() ? kIndexBits : element.getIntOrFloatBitWidth();
}

unsigned execute::bytesOf(Type element) {
  constexpr unsigned kByte = 8;
  return unsigned(
      llvm::PowerOf2Ceil(llvm::divideCeil(::bitsOf(element), kByte)));
}

uint64_t HostArray::count() const {
  uint64_t count = 1;
  for (int64_t size : sizes)
    count *= uint64_t(size);
  return count;
}

llvm::APInt HostArray::bitsOf(uint64_t index) const {
  uint64_t bits = 0;
  unsigned size = bytesOf(element);
  std::memcpy(&bits, bytes.data() + index * size, size);
  return llvm::APInt(kIndexBits, bits).trunc(::bitsOf(element));
}

void HostArray::setBits(uint64_t index, const llvm::APInt &bits) {
  uint64_t value = bits.getZExtValue();
  unsigned size = bytesOf(element);
  std::memcpy(bytes.data() + index * size, &value, size);
}

double HostArray::valueOf(uint64_t index) const {
  llvm::APInt bits = bitsOf(index);
  auto type = dyn_cast<FloatType>(element);
  if (!type)
    return element.isUnsignedInteger() || element.isInteger(1)
               ? double(bits.getZExtValue())
               : double(bits.getSExtValue());
  llvm::APFloat value(type.getFloatSemantics(), bits);
  bool losesInfo = false;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.convertToDouble();
}

/// The code of `value`, rounded to the type.
static llvm::APInt encode(double value, Type element) {
  unsigned bits = bitsOf(element);
  auto type = dyn_cast<FloatType>(element);
  if (!type)
    return llvm::APInt(kIndexBits, uint64_t(int64_t(value))).trunc(bits);
  llvm::APFloat number(value);
  bool losesInfo = false;
  number.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return number.bitcastToAPInt();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// A number of 64 bits that depends on the one before only.
static uint64_t next(uint64_t &seed) {
  // splitmix64, as published by its author.
  uint64_t z = (seed += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// From 0 up to 1.
static double fraction(uint64_t &seed) {
  constexpr unsigned kUnused = 11;
  return double(next(seed) >> kUnused) * 0x1p-53;
}

namespace {
/// What an array is for.
enum class Part { Plain, Elements, Scales, Metadata };

/// Makes values for the parts of one argument.
class Filler {
public:
  Filler(Fill fill, uint64_t &seed) : exact(fill == Fill::Exact), seed(seed) {}

  HostArray make(RankedTensorType type, Part part,
                 ArrayRef<uint8_t> groups = {});
  HostArray makeMask(RankedTensorType type, SparseForm form);
  HostArray makeNumber(Type type);

private:
  double valueFor(Type element, Part part);

  bool exact;
  uint64_t &seed;
};
} // namespace

double Filler::valueFor(Type element, Part part) {
  if (element.isInteger(1))
    return double(next(seed) % 2);
  // Codes without a sign are scales wherever they stand.
  if (part == Part::Scales || isa<Float8E8M0FNUType>(element))
    return exact ? std::ldexp(1.0, int(next(seed) % 3) - 1)
                 : 0.5 + 1.5 * fraction(seed);
  bool isSigned = !element.isUnsignedInteger() && !element.isIndex();
  if (!isa<FloatType>(element)) {
    // Integers may be sizes or places: outside of scaled tensors they are
    // small.
    int64_t range = part == Part::Elements && !exact ? 7 : 3;
    int64_t value = int64_t(next(seed) % uint64_t(range + 1));
    return double(isSigned && part == Part::Elements && next(seed) % 2 ? -value
                                                                       : value);
  }
  if (exact)
    return double(int64_t(next(seed) % 7)) - 3;
  double size = std::ldexp(1 + fraction(seed), int(next(seed) % 4) - 2);
  return next(seed) % 2 ? -size : size;
}

HostArray Filler::make(RankedTensorType type, Part part,
                       ArrayRef<uint8_t> groups) {
  HostArray array;
  array.element = type.getElementType();
  array.sizes.assign(type.getShape().begin(), type.getShape().end());
  array.bytes.resize(array.count() * bytesOf(array.element));
  constexpr unsigned kNibble = 4;
  for (uint64_t i = 0, e = array.count(); i < e; ++i) {
    if (part != Part::Metadata) {
      array.setBits(i, encode(valueFor(array.element, part), array.element));
      continue;
    }
    unsigned low = groups[next(seed) % groups.size()];
    unsigned high = groups[next(seed) % groups.size()];
    array.setBits(i, llvm::APInt(2 * kNibble, low | high << kNibble));
  }
  return array;
}

/// Of each group as many bits as are stored, at any places.
HostArray Filler::makeMask(RankedTensorType type, SparseForm form) {
  HostArray array;
  array.element = type.getElementType();
  array.sizes.assign(type.getShape().begin(), type.getShape().end());
  array.bytes.resize(array.count());
  constexpr uint64_t kByte = 8;
  for (uint64_t first = 0; first < array.count() * kByte;
       first += uint64_t(form.chunk)) {
    int64_t left = form.stored;
    for (int64_t i = 0; i < form.chunk; ++i) {
      bool isKept = int64_t(next(seed) % uint64_t(form.chunk - i)) < left;
      left -= isKept;
      uint64_t bit = first + uint64_t(i);
      array.bytes[bit / kByte] |= uint8_t(unsigned(isKept) << bit % kByte);
    }
  }
  return array;
}

HostArray Filler::makeNumber(Type type) {
  HostArray number;
  number.element = type;
  number.isNumber = true;
  number.bytes.resize(bytesOf(type));
  // Either branch is taken by one kind of data.
  double value = type.isInteger(1)      ? double(exact)
                 : isa<FloatType>(type) ? (exact ? 2 : 1.25)
                                        : (exact ? 2 : 3);
  number.setBits(0, encode(value, type));
  return number;
}

/// The halves of metadata bytes that name two places, or one of 1 of 2, as the
/// type's pattern allows, or numbers of tables.
static ArrayRef<uint8_t> metadataGroups(ScaledTensorType type) {
  static constexpr uint8_t kTwoOfFour[] = {4, 8, 12, 9, 13, 14};
  static constexpr uint8_t kOneOfTwo[] = {4, 14};
  static constexpr uint8_t kOneOfEachTwo[] = {8, 12, 9, 13};
  static constexpr uint8_t kNumbers[] = {0, 1, 2,  3,  4,  5,  6,  7,
                                         8, 9, 10, 11, 12, 13, 14, 15};
  if (isa<CodebookType>(type.getElementType()))
    return kNumbers;
  if (sparsePattern(type) == hw::SparsePattern::OneOfTwo)
    return kOneOfTwo;
  bool isOfEachTwo = type.getSpec().getValue().ofM == 2;
  return isOfEachTwo ? ArrayRef<uint8_t>(kOneOfEachTwo)
                     : ArrayRef<uint8_t>(kTwoOfFour);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static bool isNumber(Type type) { return type.isIntOrIndexOrFloat(); }

static std::string textOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

Result<ScaledTensorType> execute::withShape(ScaledTensorType type,
                                            ArrayRef<int64_t> shape) {
  if (type.getLayout() == ScaleLayout::Grouped128x4)
    return Reason("the scales of '" + textOf(type) +
                  "' have padding that only the offsets of its groups say");
  if (type.getLayout() == ScaleLayout::Grouped)
    return Reason("the scales of '" + textOf(type) +
                  "' are those of as many groups as only a product says");
  // What the type refuses it says by a diagnostic.
  MLIRContext *context = type.getContext();
  std::string why;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    why = diagnostic.str();
    return success();
  });
  auto sized = ScaledTensorType::getChecked(
      [&] { return emitError(UnknownLoc::get(context)); }, shape,
      type.getElementType(), type.getSpec(), type.getLayout(), type.getOrder());
  if (sized)
    return sized;
  return Reason("sizes for '" + textOf(type) + "': " + why);
}

FailureOr<SmallVector<Type>> execute::plainTypes(Type type,
                                                 std::string &reason) {
  if (auto scaled = dyn_cast<ScaledTensorType>(type)) {
    Result<TensorParts> parts = getTensorParts(scaled);
    if (!parts) {
      reason = parts.why().text;
      return failure();
    }
    return parts->present();
  }
  if (isNumber(type))
    return SmallVector<Type>{type};
  auto shaped = dyn_cast<ShapedType>(type);
  auto memory = dyn_cast<MemRefType>(type);
  bool isArray =
      isa<RankedTensorType>(type) ||
      (memory && memory.getLayout().isIdentity() && !memory.getMemorySpace());
  if (isArray && isNumber(shaped.getElementType()))
    return SmallVector<Type>{
        RankedTensorType::get(shaped.getShape(), shaped.getElementType())};
  reason = "values of type '" + textOf(type) + "' cannot be made or compared";
  return failure();
}

FailureOr<std::vector<HostArray>>
execute::makeArgument(Type type, Fill fill, ArrayRef<int64_t> shape,
                      bool isScales, uint64_t &seed, std::string &reason) {
  Filler filler(fill, seed);
  std::vector<HostArray> arrays;
  if (auto scaled = dyn_cast<ScaledTensorType>(type)) {
    Result<ScaledTensorType> sized = withShape(scaled, shape);
    if (!sized) {
      reason = sized.why().text;
      return failure();
    }
    Result<TensorParts> parts = getTensorParts(*sized);
    if (!parts) {
      reason = parts.why().text;
      return failure();
    }
    arrays.push_back(filler.make(parts->data, Part::Elements));
    for (RankedTensorType part :
         {parts->scales, parts->zeros, parts->tensorScale})
      if (part)
        arrays.push_back(filler.make(part, Part::Scales));
    bool isMask =
        (*sized).getSpec().getValue().isSparse() && sparseForm(*sized).isMask;
    if (isMask)
      arrays.push_back(filler.makeMask(parts->metadata, sparseForm(*sized)));
    else if (parts->metadata)
      arrays.push_back(
          filler.make(parts->metadata, Part::Metadata, metadataGroups(*sized)));
    return arrays;
  }
  FailureOr<SmallVector<Type>> plain = plainTypes(type, reason);
  if (failed(plain))
    return failure();
  if (auto tensor = dyn_cast<RankedTensorType>(plain->front()))
    arrays.push_back(filler.make(tensor.clone(shape),
                                 isScales ? Part::Scales : Part::Plain));
  else
    arrays.push_back(filler.makeNumber(type));
  arrays.back().isMemory = isa<MemRefType>(type);
  if (type.isIndex() && !shape.empty())
    arrays.back().setBits(
        0, llvm::APInt(kIndexBits, static_cast<uint64_t>(shape.front())));
  return arrays;
}
