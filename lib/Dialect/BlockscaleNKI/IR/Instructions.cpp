//===- Instructions.cpp - what verifiers ask the rules --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/BlockscaleNKI/IR/BlockscaleNKI.h"
#include "blockscale/NKI/Documents.h"
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
  if (!kernel)
    return Target{};
  Result<Target> target = parseTarget(kernel.getTarget());
  return target ? *target : Target{};
}

static LogicalResult verifyMemory(Operation *op, StringRef name,
                                  BufferType type, ArrayRef<Buffer> legal,
                                  std::string_view source) {
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
  return diag << cite(source);
}

static LogicalResult verifySameShape(Operation *op, BufferType lhs,
                                     BufferType rhs, std::string_view source) {
  if (lhs.getShape() == rhs.getShape())
    return success();
  return op->emitOpError() << "expected tiles of one shape, found " << lhs
                           << " and " << rhs << cite(source);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

LogicalResult DmaCopyOp::verify() {
  BufferType src = getSrc().getType(), dst = getDst().getType();
  for (auto [name, type] :
       {std::pair<StringRef, BufferType>{"src", src}, {"dst", dst}})
    if (failed(verifyMemory(*this, name, type, {Buffer::Hbm, Buffer::Sbuf},
                            kDmaCopy)))
      return failure();
  if (src.getElementType() != dst.getElementType())
    return emitOpError() << "expected one element type, found " << src
                         << " and " << dst << cite(kDmaCopy);
  return verifySameShape(*this, src, dst, kDmaCopy);
}

LogicalResult MemsetOp::verify() {
  if (failed(verifyMemory(*this, "dst", getDst().getType(),
                          {Buffer::Sbuf, Buffer::Psum}, kMemset)))
    return failure();
  unsigned bits = getDst().getType().getElementBits();
  if (isa<X4Type>(getDst().getType().getElementType()) && getValue() != 0)
    return emitOpError() << "expected value 0 for packed elements, found "
                         << getValue() << cite(kMemset);
  if (getDst().getType().getElementType().isUnsignedInteger() &&
      (static_cast<int64_t>(getValue()) < 0 ||
       (bits < 64 && (getValue() >> bits) != 0)))
    return emitOpError() << "value " << getValue() << " does not fit into "
                         << bits << " bits" << cite(kMemset);
  return success();
}

LogicalResult TensorCopyOp::verify() {
  for (auto [name, type] :
       {std::pair<StringRef, BufferType>{"src", getSrc().getType()},
        {"dst", getDst().getType()}})
    if (failed(verifyMemory(*this, name, type, {Buffer::Sbuf, Buffer::Psum},
                            kTensorCopy)))
      return failure();
  return verifySameShape(*this, getSrc().getType(), getDst().getType(),
                         kTensorCopy);
}

//===----------------------------------------------------------------------===//
// MX instructions
//===----------------------------------------------------------------------===//

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

/// Checks that the rules can be asked: what sort of tiles these are.
static LogicalResult verifyTypes(MatmulMXOp op) {
  for (BufferType type :
       {op.getStationary().getType(), op.getMoving().getType()})
    if (type.getRank() != 2 || !isa<X4Type>(type.getElementType()))
      return op.emitOpError()
             << "expected two-dimensional tiles of packed elements, found "
             << type << cite(kMatmulTypes);
  for (BufferType type : {op.getStationaryScale().getType(),
                          op.getMovingScale().getType(), op.getDst().getType()})
    if (type.getRank() != 2 || !plainType(type.getElementType()))
      return op.emitOpError()
             << "expected two-dimensional tiles of plain elements as scales "
                "and result, found "
             << type << cite(kMatmulTypes);
  return success();
}

/// `size` if it is not `expected`, which the query assumes.
static std::optional<unsigned> unless(int64_t size, int64_t expected) {
  if (size == expected)
    return std::nullopt;
  return saturated(size);
}

/// What the operation asks of the hardware, but for its scales.
static MatmulQuery queryOf(MatmulMXOp op) {
  BufferType stationary = op.getStationary().getType();
  BufferType moving = op.getMoving().getType();
  BufferType dst = op.getDst().getType();
  MatmulQuery query;
  query.target = targetAround(op);
  query.stationary = cast<X4Type>(stationary.getElementType()).getFormat();
  query.moving = cast<X4Type>(moving.getElementType()).getFormat();
  query.dst = *plainType(dst.getElementType());
  query.dstBuffer = dst.getMemory();
  query.operandBuffer = operandMemory(op);
  query.partitions = saturated(stationary.getDim(0));
  query.movingPartitions = saturated(moving.getDim(0));
  query.m = saturated(stationary.getDim(1));
  query.n = saturated(moving.getDim(1));
  query.dstPartitions = unless(dst.getDim(0), query.m);
  query.dstFree = unless(dst.getDim(1), query.n);
  query.stationaryScaleFree =
      unless(op.getStationaryScale().getType().getDim(1), query.m);
  query.movingScaleFree =
      unless(op.getMovingScale().getType().getDim(1), query.n);
  query.operandPartition = firstPartition(op.getStationary());
  query.movingPartition =
      unless(firstPartition(op.getMoving()), query.operandPartition);
  if (op.getRowTile())
    query.tileSize = {saturated(*op.getRowTile()), kPartitions};
  if (op.getStartRow())
    query.tilePosition = {saturated(*op.getStartRow()), 0};
  return query;
}

LogicalResult MatmulMXOp::verify() {
  if (failed(verifyTypes(*this)))
    return failure();
  MatmulQuery query = queryOf(*this);
  for (auto scale : {getStationaryScale(), getMovingScale()}) {
    query.scaleType = *plainType(scale.getType().getElementType());
    query.scalePartitions = saturated(scale.getType().getDim(0));
    query.scaleOffset =
        firstPartition(scale) - static_cast<int64_t>(query.operandPartition);
    if (std::optional<Reason> why = whyNot(query))
      return emitOpError() << why->text;
  }
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
                         << cite(kQuantizeTypes);
  for (BufferType type : {src, dst, scale})
    if (type.getRank() != 2)
      return emitOpError() << "expected two-dimensional tiles, found " << type
                           << cite(kQuantizeSize);
  QuantizeQuery query;
  query.target = targetAround(*this);
  query.src = *srcType;
  query.dst = packed.getFormat();
  query.scaleType = *scaleType;
  query.srcBuffer = src.getMemory();
  query.dstBuffer =
      dst.getMemory() == Buffer::Sbuf ? scale.getMemory() : dst.getMemory();
  query.partitions = saturated(src.getDim(0));
  query.free = saturated(src.getDim(1));
  query.dstPartitions = unless(dst.getDim(0), src.getDim(0));
  query.dstFree = unless(dst.getDim(1), src.getDim(1) / kPack);
  query.scaleFree = unless(scale.getDim(1), src.getDim(1) / kPack);
  query.scalePartitions = saturated(scale.getDim(0));
  query.scaleOffset = firstPartition(getDstScale()) - firstPartition(getDst());
  if (std::optional<Reason> why = whyNot(query))
    return emitOpError() << why->text;
  return success();
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

static LogicalResult verifyElementwise(Operation *op, std::string_view source,
                                       ArrayRef<Value> tiles) {
  for (Value tile : tiles) {
    auto type = cast<BufferType>(tile.getType());
    if (failed(verifyMemory(op, "data", type, {Buffer::Sbuf, Buffer::Psum},
                            source)) ||
        failed(verifySameShape(
            op, type, cast<BufferType>(tiles.front().getType()), source)))
      return failure();
    if (!isa<FloatType>(type.getElementType()))
      return op->emitOpError()
             << "expected tiles of floats, found " << type << cite(source);
  }
  return success();
}

LogicalResult TensorTensorOp::verify() {
  if (failed(verifyElementwise(*this, kTensorTensor,
                               {getData1(), getData2(), getDst()})))
    return failure();
  if (getData1().getType().getMemory() == Buffer::Psum &&
      getData2().getType().getMemory() == Buffer::Psum)
    return emitOpError() << "'data1' and 'data2' are both in 'psum': expected "
                            "one of them in 'sbuf'"
                         << cite(kTensorTensor);
  return success();
}

LogicalResult TensorScalarOp::verify() {
  if (failed(verifyElementwise(*this, kTensorScalar, {getData(), getDst()})))
    return failure();
  if (static_cast<bool>(getOperand()) == getConstant().has_value())
    return emitOpError() << "expected one operand, a column or a constant"
                         << cite(kTensorScalar);
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
                       << column << cite(kTensorScalar);
}

LogicalResult ActivationOp::verify() {
  return verifyElementwise(*this, kActivation, {getData(), getDst()});
}
