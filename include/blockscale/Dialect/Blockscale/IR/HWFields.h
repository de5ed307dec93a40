//===- HWFields.h - HW's enums as attribute and type parameters -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Each enum is declared once, in HW or Formats; attributes and types take it
// as a parameter through that library's table of names.

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_HWFIELDS_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_HWFIELDS_H

#include "blockscale/Formats/Format.h"
#include "blockscale/HW/Memory.h"
#include "blockscale/HW/Mma.h"
#include "blockscale/HW/Target.h"
#include "blockscale/HW/TensorMap.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/Hashing.h"

namespace blockscale {
inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os,
                                     ElementFormat format) {
  return os << llvm::StringRef(formatName(format));
}
} // namespace blockscale

namespace blockscale::hw {
inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, OperandType type) {
  return os << type.name();
}
inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, MmaKind kind) {
  return os << llvm::StringRef(kindName(kind));
}
inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, Target target) {
  return os << targetName(target);
}
inline llvm::hash_code hash_value(Target target) {
  return llvm::hash_combine(target.chip, target.variant);
}
inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, Swizzle swizzle) {
  return os << '"' << llvm::StringRef(swizzleName(swizzle)) << '"';
}
inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os,
                                     TensorMapDataType type) {
  return os << llvm::StringRef(tensorMapDataTypeInfo(type).name);
}
} // namespace blockscale::hw

namespace mlir {
namespace detail {
/// A keyword that `parse` knows.
template <typename Enum, typename Parse>
FailureOr<Enum> parseHWEnum(AsmParser &parser, Parse parse, const char *what) {
  SMLoc loc = parser.getCurrentLocation();
  std::string name;
  if (parser.parseKeywordOrString(&name))
    return failure();
  if (std::optional<Enum> value = parse(name))
    return *value;
  return parser.emitError(loc) << "'" << name << "' is not " << what;
}
} // namespace detail

template <> struct FieldParser<blockscale::ElementFormat> {
  static FailureOr<blockscale::ElementFormat> parse(AsmParser &parser) {
    return detail::parseHWEnum<blockscale::ElementFormat>(
        parser, blockscale::parseFormat, "an element format");
  }
};
template <> struct FieldParser<std::optional<blockscale::ElementFormat>> {
  static FailureOr<std::optional<blockscale::ElementFormat>>
  parse(AsmParser &parser) {
    auto format = FieldParser<blockscale::ElementFormat>::parse(parser);
    if (failed(format))
      return failure();
    return std::optional(*format);
  }
};
template <> struct FieldParser<blockscale::hw::OperandType> {
  static FailureOr<blockscale::hw::OperandType> parse(AsmParser &parser) {
    return detail::parseHWEnum<blockscale::hw::OperandType>(
        parser, blockscale::hw::parseOperandType, "an element format");
  }
};
template <> struct FieldParser<blockscale::hw::MmaKind> {
  static FailureOr<blockscale::hw::MmaKind> parse(AsmParser &parser) {
    return detail::parseHWEnum<blockscale::hw::MmaKind>(
        parser, blockscale::hw::parseKind, "a kind of matrix instruction");
  }
};
template <> struct FieldParser<blockscale::hw::Target> {
  static FailureOr<blockscale::hw::Target> parse(AsmParser &parser) {
    SMLoc loc = parser.getCurrentLocation();
    std::string name;
    if (parser.parseKeywordOrString(&name))
      return failure();
    auto target = blockscale::hw::parseTarget(name);
    if (!target)
      return parser.emitError(loc) << target.why().text;
    return *target;
  }
};
template <> struct FieldParser<blockscale::hw::Swizzle> {
  static FailureOr<blockscale::hw::Swizzle> parse(AsmParser &parser) {
    return detail::parseHWEnum<blockscale::hw::Swizzle>(
        parser, blockscale::hw::parseSwizzle, "a swizzle");
  }
};
template <> struct FieldParser<blockscale::hw::TensorMapDataType> {
  static FailureOr<blockscale::hw::TensorMapDataType> parse(AsmParser &parser) {
    return detail::parseHWEnum<blockscale::hw::TensorMapDataType>(
        parser, blockscale::hw::parseTensorMapDataType,
        "a tensor map data type");
  }
};
} // namespace mlir

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_HWFIELDS_H
