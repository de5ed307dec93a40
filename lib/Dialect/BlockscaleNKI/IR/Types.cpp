//===- Types.cpp - packed elements and buffers ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/ElementTypes.h"
#include "blockscale/Dialect/BlockscaleNKI/IR/BlockscaleNKI.h"
#include "blockscale/NKI/Documents.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

#include <array>

using namespace mlir;
using namespace blockscale;
using namespace blockscale::nki;

#define GET_TYPEDEF_CLASSES
#include "blockscale/Dialect/BlockscaleNKI/IR/BlockscaleNKITypes.cpp.inc"

void BlockscaleNKIDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "blockscale/Dialect/BlockscaleNKI/IR/BlockscaleNKITypes.cpp.inc"
      >();
}

std::optional<ElementFormat> blockscale::nki::formatOf(Type type) {
  std::optional<hw::OperandType> operand = getOperandType(type);
  return operand ? operand->format() : std::nullopt;
}

ElementFormat X4Type::getFormat() const { return *formatOf(getElement()); }

LogicalResult X4Type::verify(function_ref<InFlightDiagnostic()> emitError,
                             Type element) {
  std::optional<ElementFormat> format = formatOf(element);
  if (format && findPackedType(*format))
    return success();
  return emitError() << "NKI packs no four elements of type " << element
                     << ": expected f8E4M3FN, f8E5M2 or f4E2M1FN"
                     << cite(kLanguageTypes);
}

std::optional<PlainType> blockscale::nki::plainType(Type type) {
  if (type.isF32())
    return PlainType::F32;
  if (type.isBF16())
    return PlainType::BF16;
  if (type.isF16())
    return PlainType::F16;
  if (type.isUnsignedInteger(8))
    return PlainType::U8;
  if (type.isUnsignedInteger(16))
    return PlainType::U16;
  if (type.isUnsignedInteger(32))
    return PlainType::U32;
  if (isa<Float8E8M0FNUType>(type))
    return PlainType::E8M0;
  return std::nullopt;
}

StringRef blockscale::nki::elementTypeName(Type type) {
  if (auto packed = dyn_cast<X4Type>(type))
    return findPackedType(packed.getFormat())->name;
  if (std::optional<PlainType> plain = plainType(type))
    return plainTypeName(*plain);
  return "";
}

//===----------------------------------------------------------------------===//
// BufferType
//===----------------------------------------------------------------------===//

unsigned BufferType::getElementBits() const {
  if (auto packed = dyn_cast<X4Type>(getElementType()))
    return findPackedType(packed.getFormat())->bits;
  return getElementType().getIntOrFloatBitWidth();
}

int64_t BufferType::getPartitionBytes() const {
  int64_t elements = 1;
  for (int64_t size : getShape().drop_front(getMemory() == Buffer::Hbm ? 0 : 1))
    elements *= size;
  return elements * getElementBits() / 8;
}

LogicalResult BufferType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> shape, Type elementType,
                                 Buffer memory) {
  if (shape.size() < 2 || shape.size() > 3)
    return emitError() << "expected 2 or 3 dimensions, found " << shape.size();
  for (int64_t size : shape)
    if (size < 1)
      return emitError() << "expected sizes of at least 1, found " << size;
  if (elementTypeName(elementType).empty())
    return emitError() << "NKI has no tensors of " << elementType
                       << cite(kLanguageTypes);
  if (memory != Buffer::Hbm && shape.front() > int64_t(kPartitions))
    return emitError() << "'" << StringRef(bufferName(memory))
                       << "' has 128 partitions, found " << shape.front()
                       << cite(kMemories);
  return success();
}

Type BufferType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  StringRef memoryName;
  SMLoc start = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(elementType) || parser.parseComma())
    return {};
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&memoryName))
    return {};
  std::optional<Buffer> memory;
  for (Buffer candidate : {Buffer::Hbm, Buffer::Sbuf, Buffer::Psum})
    if (memoryName == StringRef(bufferName(candidate)))
      memory = candidate;
  if (!memory) {
    parser.emitError(loc) << "'" << memoryName
                          << "' is no memory, expected hbm, sbuf or psum";
    return {};
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<BufferType>(start, parser.getContext(), shape,
                                       elementType, *memory);
}

void BufferType::print(AsmPrinter &printer) const {
  printer << "<";
  for (int64_t size : getShape())
    printer << size << "x";
  printer << getElementType() << ", " << StringRef(bufferName(getMemory()))
          << ">";
}
