//===- BytecodeOps.cpp - attributes of ops in bytecode --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops of the tensor level have their attributes as one dictionary, so that
// one that is added later is not taken for another. Version 1 had them one
// after another; its lists are below and never change.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/BlockscaleSums.h"
#include "blockscale/Dialect/Blockscale/IR/Bytecode.h"

using namespace mlir;
using namespace blockscale;

namespace {
/// An attribute in an op of version 1.
struct Stored {
  StringLiteral name;
  /// Whether it may be left out.
  bool isOptional = false;
};

/// Where MLIR before its bytecode version 6 had the sizes of operand segments.
/// Later ones have them behind everything else.
constexpr StringLiteral kSegments = "operandSegmentSizes";
constexpr uint64_t kSegmentsLast = 6;

/// The attributes of an op in version 1, in their order.
template <typename Op> struct VersionOne;
template <> struct VersionOne<AssembleOp> {
  static constexpr Stored attributes[] = {{kSegments}};
  static constexpr size_t segments = 5;
};
template <> struct VersionOne<DimOp> {
  static constexpr Stored attributes[] = {{"dimension"}};
  static constexpr size_t segments = 0;
};
template <> struct VersionOne<MatmulOp> {
  static constexpr Stored attributes[] = {
      {"bias_kind", true}, {"lowering", true}, {kSegments}};
  static constexpr size_t segments = 6;
};
template <> struct VersionOne<PruneOp> {
  static constexpr Stored attributes[] = {{"group"}, {"keep"}, {"pairs", true}};
  static constexpr size_t segments = 0;
};
template <> struct VersionOne<QuantizeOp> {
  static constexpr Stored attributes[] = {{"rule", true}};
  static constexpr size_t segments = 0;
};
template <> struct VersionOne<SliceRowsOp> {
  static constexpr Stored attributes[] = {
      {kSegments}, {"static_offsets"}, {"static_sizes"}};
  static constexpr size_t segments = 3;
};
// It is younger, and has nothing that would stand differently.
template <> struct VersionOne<TileSumsOp> {
  static constexpr Stored attributes[] = {{"tile", true}};
  static constexpr size_t segments = 0;
};
} // namespace

template <typename Carrier> static uint64_t versionIn(Carrier &carrier) {
  auto version =
      carrier.getDialectVersion(BlockscaleDialect::getDialectNamespace());
  return succeeded(version)
             ? static_cast<const BytecodeVersion *>(*version)->number
             : kBytecodeVersion;
}

//===----------------------------------------------------------------------===//
// Version 1
//===----------------------------------------------------------------------===//

template <typename Op>
static LogicalResult readVersionOne(DialectBytecodeReader &reader,
                                    MLIRContext *context,
                                    NamedAttrList &attributes) {
  bool segmentsLast = reader.getBytecodeVersion() >= kSegmentsLast;
  for (const Stored &stored : VersionOne<Op>::attributes) {
    if (stored.name == kSegments && segmentsLast)
      continue;
    Attribute value;
    if (failed(stored.isOptional ? reader.readOptionalAttribute(value)
                                 : reader.readAttribute(value)))
      return failure();
    if (value)
      attributes.set(stored.name, value);
  }
  if (VersionOne<Op>::segments == 0 || !segmentsLast)
    return success();
  SmallVector<int32_t> sizes(VersionOne<Op>::segments);
  if (failed(reader.readSparseArray(MutableArrayRef(sizes))))
    return failure();
  attributes.set(kSegments, DenseI32ArrayAttr::get(context, sizes));
  return success();
}

template <typename Op>
static void writeVersionOne(DictionaryAttr attributes,
                            DialectBytecodeWriter &writer) {
  bool segmentsLast = writer.getBytecodeVersion() >= int64_t(kSegmentsLast);
  for (const Stored &stored : VersionOne<Op>::attributes) {
    if (stored.name == kSegments && segmentsLast)
      continue;
    Attribute value = attributes.get(stored.name);
    if (stored.name == kSegments)
      value = DenseI32ArrayAttr::get(
          attributes.getContext(),
          cast<DenseI32ArrayAttr>(value).asArrayRef().take_front(
              VersionOne<Op>::segments));
    if (stored.isOptional)
      writer.writeOptionalAttribute(value);
    else
      writer.writeAttribute(value);
  }
  if (VersionOne<Op>::segments && segmentsLast)
    writer.writeSparseArray(
        attributes.getAs<DenseI32ArrayAttr>(kSegments).asArrayRef().take_front(
            VersionOne<Op>::segments));
}

//===----------------------------------------------------------------------===//
// By name
//===----------------------------------------------------------------------===//

/// Refuses an attribute that only a later blockscale knows: without it the op
/// would mean something else.
template <typename Op>
static LogicalResult verifyNames(DialectBytecodeReader &reader,
                                 DictionaryAttr attributes) {
  for (NamedAttribute attribute : attributes)
    if (attribute.getName() != kSegments &&
        !llvm::is_contained(Op::getAttributeNames(), attribute.getName()))
      return reader.emitError()
             << "'" << Op::getOperationName() << "' has the attribute "
             << attribute.getName() << ", which this blockscale does not know";
  return success();
}

/// Gives an op that was written before it got its last operands, which are
/// optional, a size for each of them.
template <typename Op>
static void addLaterSegments(DictionaryAttr &attributes) {
  if constexpr (std::is_same_v<Op, MatmulOp>) {
    auto sizes = attributes.getAs<DenseI32ArrayAttr>(kSegments);
    constexpr size_t kSegmentsNow =
        std::tuple_size_v<decltype(MatmulOp::Properties::operandSegmentSizes)>;
    if (!sizes || size_t(sizes.size()) < VersionOne<Op>::segments ||
        size_t(sizes.size()) >= kSegmentsNow)
      return;
    SmallVector<int32_t> all(sizes.asArrayRef());
    all.resize(kSegmentsNow, 0);
    NamedAttrList list(attributes);
    list.set(kSegments, DenseI32ArrayAttr::get(attributes.getContext(), all));
    attributes = list.getDictionary(attributes.getContext());
  }
}

template <typename Op>
static LogicalResult readAttributes(DialectBytecodeReader &reader,
                                    OperationState &state) {
  MLIRContext *context = state.name.getContext();
  DictionaryAttr attributes;
  if (versionIn(reader) == 1) {
    NamedAttrList list;
    if (failed(readVersionOne<Op>(reader, context, list)))
      return failure();
    attributes = list.getDictionary(context);
  } else if (failed(reader.readAttribute(attributes)) ||
             failed(verifyNames<Op>(reader, attributes))) {
    return failure();
  }
  addLaterSegments<Op>(attributes);
  auto &properties = state.getOrAddProperties<typename Op::Properties>();
  return Op::setPropertiesFromAttr(properties, attributes,
                                   [&] { return reader.emitError(); });
}

template <typename Op>
static void writeAttributes(Op op, DialectBytecodeWriter &writer) {
  auto attributes =
      dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute());
  if (!attributes)
    attributes = DictionaryAttr::get(op.getContext());
  if (versionIn(writer) == 1)
    writeVersionOne<Op>(attributes, writer);
  else
    writer.writeAttribute(attributes);
}

#define BLOCKSCALE_NAMED_ATTRIBUTES(Op)                                        \
  LogicalResult Op::readProperties(DialectBytecodeReader &reader,              \
                                   OperationState &state) {                    \
    return readAttributes<Op>(reader, state);                                  \
  }                                                                            \
  void Op::writeProperties(DialectBytecodeWriter &writer) {                    \
    writeAttributes(*this, writer);                                            \
  }
BLOCKSCALE_NAMED_ATTRIBUTES(AssembleOp)
BLOCKSCALE_NAMED_ATTRIBUTES(DimOp)
BLOCKSCALE_NAMED_ATTRIBUTES(MatmulOp)
BLOCKSCALE_NAMED_ATTRIBUTES(PruneOp)
BLOCKSCALE_NAMED_ATTRIBUTES(QuantizeOp)
BLOCKSCALE_NAMED_ATTRIBUTES(SliceRowsOp)
BLOCKSCALE_NAMED_ATTRIBUTES(TileSumsOp)
#undef BLOCKSCALE_NAMED_ATTRIBUTES
