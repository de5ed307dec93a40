//===- Instructions.cpp - what verifiers ask the rules --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/BlockscaleNKI/IR/BlockscaleNKI.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace blockscale;
using namespace blockscale::nki;

/// First partition of a tile, as far as slices of constant offset tell.
static int64_t firstPartition(Value tile) {
  auto slice = tile.getDefiningOp<SliceOp>();
  if (!slice || ShapedType::isDynamic(slice.getStaticOffsets().front()))
    return 0;
  return slice.getStaticOffsets().front();
}

/// The target of the kernel around `op`; the newest where there is none.
static Target targetAround(Operation *op) {
  auto kernel = op->getParentOfType<KernelOp>();
  std::optional<Target> target;
  if (kernel)
    target = parseTarget(kernel.getTarget());
  return target.value_or(Target{});
}

static LogicalResult verifyMemory(Operation *op, StringRef name,
                                  BufferType type, ArrayRef<Buffer> legal,
                                  StringRef source) {
  if (llvm::is_contained(legal, type.getMemory()))
    return success();
  InFlightDiagnostic diag = op->emitOpError()
                            << "'" << name << "' is in '"
                            << StringRef(bufferName(type.getMemory()))
                            << "': expected ";
  llvm::interleave(
      legal, diag,
      [&](Buffer memory) {
        diag << "'" << StringRef(bufferName(memory)) << "'";
      },
      " or ");
  return diag << " (" << source << ")";
}

static LogicalResult verifySameShape(Operation *op, BufferType lhs,
                                     BufferType rhs) {
  if (lhs.getShape() == rhs.getShape())
    return success();
  return op->emitOpError() << "expected tiles of one shape, found " << lhs
                           << " and " << rhs;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

LogicalResult DmaCopyOp::verify() {
  constexpr StringLiteral kSource = "NKI API reference, nki.isa.dma_copy";
  BufferType src = getSrc().getType(), dst = getDst().getType();
  for (auto [name, type] :
       {std::pair<StringRef, BufferType>{"src", src}, {"dst", dst}})
    if (failed(verifyMemory(*this, name, type, {Buffer::Hbm, Buffer::Sbuf},
                            kSource)))
      return failure();
  if (src.getElementType() != dst.getElementType())
    return emitOpError() << "expected one element type, found " << src
                         << " and " << dst;
  return verifySameShape(*this, src, dst);
}

LogicalResult MemsetOp::verify() {
  if (failed(verifyMemory(*this, "dst", getDst().getType(),
                          {Buffer::Sbuf, Buffer::Psum},
                          "NKI API reference, nki.isa.memset")))
    return failure();
  unsigned bits = getDst().getType().getElementBits();
  if (isa<X4Type>(getDst().getType().getElementType()) && getValue() != 0)
    return emitOpError() << "expected value 0 for packed elements, found "
                         << getValue();
  if (getDst().getType().getElementType().isUnsignedInteger() &&
      (static_cast<int64_t>(getValue()) < 0 ||
       (bits < 64 && (getValue() >> bits) != 0)))
    return emitOpError() << "value " << getValue() << " does not fit into "
                         << bits << " bits";
  return success();
}

LogicalResult TensorCopyOp::verify() {
  constexpr StringLiteral kSource = "NKI API reference, nki.isa.tensor_copy";
  for (auto [name, type] :
       {std::pair<StringRef, BufferType>{"src", getSrc().getType()},
        {"dst", getDst().getType()}})
    if (failed(verifyMemory(*this, name, type, {Buffer::Sbuf, Buffer::Psum},
                            kSource)))
      return failure();
  return verifySameShape(*this, getSrc().getType(), getDst().getType());
}

//===----------------------------------------------------------------------===//
// MX instructions
//===----------------------------------------------------------------------===//

static LogicalResult verifyScaleTile(MatmulMXOp op, StringRef name,
                                     BufferType scale, BufferType data) {
  if (!plainType(scale.getElementType()))
    return op.emitOpError()
           << "expected scales of ui8 or f8E8M0FNU, found " << scale;
  if (scale.getRank() == 2 && scale.getDim(1) == data.getDim(1))
    return success();
  return op.emitOpError()
         << "expected '" << name << "' of free size " << data.getDim(1)
         << ", as of its data, found " << scale
         << " (NKI API reference, nki.isa.quantize_mx, Layout)";
}

/// The memory of the first operand that is not in SBUF.
static Buffer operandMemory(MatmulMXOp op) {
  for (Value operand : {op.getStationary(), op.getStationaryScale(),
                        op.getMoving(), op.getMovingScale()}) {
    Buffer memory = cast<BufferType>(operand.getType()).getMemory();
    if (memory != Buffer::Sbuf)
      return memory;
  }
  return Buffer::Sbuf;
}

static LogicalResult verifyTypes(MatmulMXOp op) {
  BufferType stationary = op.getStationary().getType();
  BufferType moving = op.getMoving().getType();
  BufferType dst = op.getDst().getType();
  for (BufferType type : {stationary, moving})
    if (type.getRank() != 2 || !isa<X4Type>(type.getElementType()))
      return op.emitOpError() << "expected two-dimensional tiles of packed "
                                 "elements, found "
                              << type << " (NKI API reference, "
                              << "nki.isa.nc_matmul_mx, Data types)";
  if (!plainType(dst.getElementType()) || dst.getRank() != 2 ||
      dst.getDim(0) != stationary.getDim(1) ||
      dst.getDim(1) != moving.getDim(1))
    return op.emitOpError()
           << "expected 'dst' of shape " << stationary.getDim(1) << "x"
           << moving.getDim(1) << ", found " << dst
           << " (NKI API reference, nki.isa.nc_matmul_mx, "
              "Layout)";
  if (failed(verifyScaleTile(op, "stationary_scale",
                             op.getStationaryScale().getType(), stationary)))
    return failure();
  return verifyScaleTile(op, "moving_scale", op.getMovingScale().getType(),
                         moving);
}

/// Operands, scales and row tile start at the same partition, but for the
/// offset of the scales.
static std::optional<std::string> whyNotPartitions(MatmulMXOp op) {
  int64_t first = firstPartition(op.getStationary());
  if (firstPartition(op.getMoving()) != first)
    return "stationary tile from partition " + std::to_string(first) +
           " and moving tile from " +
           std::to_string(firstPartition(op.getMoving())) +
           ": both feed the same rows of the array (NKI API reference, "
           "nki.isa.nc_matmul_mx, Layout)";
  for (Value scale : {op.getStationaryScale(), op.getMovingScale()}) {
    int64_t offset = firstPartition(scale) - first;
    if (offset < 0 || offset % 4 != 0 || offset > 12)
      return "scales from partition " + std::to_string(firstPartition(scale)) +
             " for data from partition " + std::to_string(first) +
             ": expected the same quadrant with offset 0, 4, 8 or 12 (NKI API "
             "reference, nki.isa.quantize_mx, Layout)";
  }
  return std::nullopt;
}

LogicalResult MatmulMXOp::verify() {
  if (failed(verifyTypes(*this)))
    return failure();
  BufferType stationary = getStationary().getType();
  BufferType moving = getMoving().getType();
  MatmulQuery query;
  query.target = targetAround(*this);
  query.stationary = cast<X4Type>(stationary.getElementType()).getFormat();
  query.moving = cast<X4Type>(moving.getElementType()).getFormat();
  query.dst = *plainType(getDst().getType().getElementType());
  query.dstBuffer = getDst().getType().getMemory();
  query.operandBuffer = operandMemory(*this);
  query.partitions = stationary.getDim(0);
  query.movingPartitions = moving.getDim(0);
  query.m = stationary.getDim(1);
  query.n = moving.getDim(1);
  query.operandPartition = firstPartition(getStationary());
  if (getRowTile()) {
    query.tileSize = {static_cast<unsigned>(*getRowTile()), kPartitions};
    query.tilePosition = {static_cast<unsigned>(*getStartRow()), 0};
  }
  for (BufferType scale :
       {getStationaryScale().getType(), getMovingScale().getType()}) {
    query.scaleType = *plainType(scale.getElementType());
    query.scalePartitions = scale.getDim(0);
    if (std::optional<std::string> why = whyNot(query))
      return emitOpError() << *why;
  }
  if (std::optional<std::string> why = whyNotPartitions(*this))
    return emitOpError() << *why;
  if (getStep() ? getStaticStep().has_value() : !getStaticStep())
    return emitOpError() << "expected one step, a constant or a value";
  return success();
}

LogicalResult QuantizeMXOp::verify() {
  BufferType src = getSrc().getType(), dst = getDst().getType();
  BufferType scale = getDstScale().getType();
  auto packed = dyn_cast<X4Type>(dst.getElementType());
  std::optional<PlainType> srcType = plainType(src.getElementType());
  std::optional<PlainType> scaleType = plainType(scale.getElementType());
  if (!packed || !srcType || !scaleType)
    return emitOpError() << "expected 'src' of plain, 'dst' of packed and "
                            "'dst_scale' of plain elements, found "
                         << src << ", " << dst << " and " << scale
                         << " (NKI API reference, nki.isa.quantize_mx, Data "
                            "types)";
  QuantizeQuery query;
  query.target = targetAround(*this);
  query.src = *srcType;
  query.dst = packed.getFormat();
  query.scaleType = *scaleType;
  query.srcBuffer = src.getMemory();
  query.dstBuffer =
      dst.getMemory() == Buffer::Sbuf ? scale.getMemory() : dst.getMemory();
  query.partitions = src.getDim(0);
  query.free = src.getRank() == 2 ? src.getDim(1) : 0;
  query.scalePartitions = scale.getDim(0);
  query.scaleOffset = firstPartition(getDstScale()) - firstPartition(getDst());
  if (std::optional<std::string> why = whyNot(query))
    return emitOpError() << *why;
  if (dst.getRank() != 2 || scale.getRank() != 2 ||
      dst.getDim(0) != src.getDim(0) ||
      dst.getDim(1) * kPack != src.getDim(1) ||
      scale.getDim(1) != dst.getDim(1))
    return emitOpError() << "expected 'dst' of the partitions and a quarter of "
                            "the free size of 'src', and 'dst_scale' of the "
                            "free size of 'dst', found "
                         << src << ", " << dst << " and " << scale
                         << " (NKI API reference, nki.isa.quantize_mx, Tile "
                            "size)";
  return success();
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

static LogicalResult verifyElementwise(Operation *op, StringRef source,
                                       ArrayRef<Value> tiles) {
  for (Value tile : tiles) {
    auto type = cast<BufferType>(tile.getType());
    if (failed(verifyMemory(op, "data", type, {Buffer::Sbuf, Buffer::Psum},
                            source)) ||
        failed(verifySameShape(op, type,
                               cast<BufferType>(tiles.front().getType()))))
      return failure();
    if (!isa<FloatType>(type.getElementType()))
      return op->emitOpError() << "expected tiles of floats, found " << type;
  }
  return success();
}

LogicalResult TensorTensorOp::verify() {
  constexpr StringLiteral kSource = "NKI API reference, nki.isa.tensor_tensor";
  if (failed(verifyElementwise(*this, kSource,
                               {getData1(), getData2(), getDst()})))
    return failure();
  if (getData1().getType().getMemory() == Buffer::Psum &&
      getData2().getType().getMemory() == Buffer::Psum)
    return emitOpError() << "'data1' and 'data2' are both in 'psum': expected "
                            "one of them in 'sbuf' ("
                         << kSource << ")";
  return success();
}

LogicalResult TensorScalarOp::verify() {
  constexpr StringLiteral kSource = "NKI API reference, nki.isa.tensor_scalar";
  if (failed(verifyElementwise(*this, kSource, {getData(), getDst()})))
    return failure();
  if (static_cast<bool>(getOperand()) == getConstant().has_value())
    return emitOpError() << "expected one operand, a column or a constant";
  if (!getOperand())
    return success();
  BufferType column = getOperand().getType();
  if (column.getRank() == 2 && column.getDim(1) == 1 &&
      column.getDim(0) == getData().getType().getDim(0) &&
      column.getMemory() != Buffer::Hbm)
    return success();
  return emitOpError() << "expected an operand of "
                       << getData().getType().getDim(0)
                       << " partitions by 1 in 'sbuf' or 'psum', found "
                       << column << " (" << kSource << ")";
}

LogicalResult ActivationOp::verify() {
  return verifyElementwise(*this, "NKI API reference, nki.isa.activation",
                           {getData(), getDst()});
}
