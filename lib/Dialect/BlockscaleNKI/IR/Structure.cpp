//===- Structure.cpp - kernels, loops and buffers -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Dialect/BlockscaleNKI/IR/BlockscaleNKI.h"
#include "blockscale/NKI/Documents.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace blockscale;
using namespace blockscale::nki;

#define GET_OP_CLASSES
#include "blockscale/Dialect/BlockscaleNKI/IR/BlockscaleNKIOps.cpp.inc"

//===----------------------------------------------------------------------===//
// KernelOp
//===----------------------------------------------------------------------===//

Target KernelOp::getParsedTarget() { return *parseTarget(getTarget()); }

int64_t KernelOp::getSize(StringRef name) {
  return cast<IntegerAttr>(getSizes().get(name)).getInt();
}

void KernelOp::getAsmBlockArgumentNames(Region &region,
                                        OpAsmSetValueNameFn setName) {
  if (region.empty())
    return;
  for (auto [argument, attribute] :
       llvm::zip(region.front().getArguments(), getParameters()))
    setName(argument, cast<HostTensorAttr>(attribute).getName());
}

LogicalResult KernelOp::verify() {
  Result<Target> parsed = parseTarget(getTarget());
  if (!parsed)
    return emitOpError() << parsed.why().text;
  if (std::optional<Reason> reason = whyNotTarget(*parsed))
    return emitOpError() << reason->text;
  for (StringRef name : {"M", "N", "K", "batch"})
    if (!isa_and_nonnull<IntegerAttr>(getSizes().get(name)))
      return emitOpError() << "expected a size '" << name << "'";
  Block &block = getBody().front();
  if (block.getNumArguments() != getParameters().size())
    return emitOpError() << "expected an argument for each of "
                         << getParameters().size() << " parameters, found "
                         << block.getNumArguments();
  for (BlockArgument argument : block.getArguments()) {
    auto type = dyn_cast<BufferType>(argument.getType());
    if (!type || type.getMemory() != Buffer::Hbm)
      return emitOpError() << "expected arguments in 'hbm', found "
                           << argument.getType();
  }
  if (!isa<nki::ReturnOp>(block.back()))
    return emitOpError() << "expected to end in 'blockscale_nki.return'";
  return success();
}

/// Steps that the instructions on `tile` take, in program order, as pairs of
/// first step and one behind the last; empty where that cannot be said.
static FailureOr<SmallVector<std::pair<int64_t, int64_t>>>
stepsOf(AllocOp tile, ArrayRef<MatmulMXOp> instructions) {
  SmallVector<std::pair<int64_t, int64_t>> steps;
  for (MatmulMXOp op : instructions) {
    if (op.getStaticStep()) {
      if (op->getBlock() != tile->getBlock())
        return op.emitOpError()
               << "is repeated by a loop inside its accumulation group: "
                  "expected its step to be the loop's variable"
               << cite(kMatmulParameters);
      steps.push_back({*op.getStaticStep(), *op.getStaticStep() + 1});
      continue;
    }
    auto loop = dyn_cast<LoopOp>(op->getParentOp());
    if (!loop || op.getStep() != loop.getVariable() || loop.getStep() != 1 ||
        loop->getBlock() != tile->getBlock())
      return op.emitOpError()
             << "expected as step a constant or the variable of the loop that "
                "stands beside the tile's 'blockscale_nki.alloc'";
    steps.push_back({loop.getLower(), loop.getUpper()});
  }
  return steps;
}

/// The instructions that write one PSUM tile are one group.
static LogicalResult verifyGroup(AllocOp tile,
                                 ArrayRef<MatmulMXOp> instructions) {
  auto steps = stepsOf(tile, instructions);
  if (failed(steps))
    return failure();
  int64_t next = 0;
  for (auto [op, range] : llvm::zip(instructions, *steps)) {
    if (range.first != next)
      return MatmulMXOp(op).emitOpError()
             << "is step " << range.first
             << " of its accumulation group where step " << next
             << " is due: one instruction opens a group, each adds one step"
             << cite(kMatmulParameters);
    next = range.second;
  }
  for (MatmulMXOp op : instructions)
    if (op.getSteps() != static_cast<uint64_t>(next))
      return MatmulMXOp(op).emitOpError()
             << "is in a group of " << op.getSteps() << " steps, but " << next
             << " write its tile: the last one closes the group"
             << cite(kMatmulParameters);
  return success();
}

LogicalResult KernelOp::verifyRegions() {
  // In program order, which is what walk() follows.
  llvm::MapVector<Operation *, SmallVector<MatmulMXOp>> groups;
  WalkResult result = walk([&](MatmulMXOp op) {
    Operation *tile = op.getDst().getDefiningOp();
    if (auto slice = dyn_cast_or_null<SliceOp>(tile))
      tile = slice.getSource().getDefiningOp();
    if (!isa_and_nonnull<AllocOp>(tile)) {
      op.emitOpError() << "expected to write a 'blockscale_nki.alloc'";
      return WalkResult::interrupt();
    }
    groups[tile].push_back(op);
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  for (auto &[tile, instructions] : groups)
    if (failed(verifyGroup(cast<AllocOp>(tile), instructions)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// LoopOp
//===----------------------------------------------------------------------===//

void LoopOp::getAsmBlockArgumentNames(Region &region,
                                      OpAsmSetValueNameFn setName) {
  if (!region.empty() && region.front().getNumArguments() == 1)
    setName(region.front().getArgument(0), getName());
}

LogicalResult LoopOp::verifyRegions() {
  Block &block = getBody().front();
  if (block.getNumArguments() != 1 || !block.getArgument(0).getType().isIndex())
    return emitOpError() << "expected one argument of type index";
  int64_t lower = getLower(), upper = getUpper(), step = getStep();
  if (step < 1 || lower < 0 || upper <= lower)
    return emitOpError() << "expected 0 <= lower < upper and a step of at "
                            "least 1, found "
                         << lower << " to " << upper << " step " << step;
  return success();
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

void AllocOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getName());
}

LogicalResult AllocOp::verify() {
  BufferType type = getResult().getType();
  if (!getAddress())
    return success();
  int64_t first = *getAddress(), bytes = type.getPartitionBytes();
  if (type.getMemory() == Buffer::Hbm)
    return emitOpError() << "has an address, but lies in 'hbm'";
  int64_t limit = type.getMemory() == Buffer::Sbuf
                      ? kSbufBytesPerPartition
                      : kPsumBanks * kPsumBankBytes;
  if (first < 0 || first + bytes > limit)
    return emitOpError() << "bytes " << first << " to " << first + bytes
                         << " of a partition are outside of '"
                         << StringRef(bufferName(type.getMemory()))
                         << "', which has " << limit << cite(kMemories);
  if (type.getMemory() == Buffer::Psum &&
      first / kPsumBankBytes != (first + bytes - 1) / kPsumBankBytes)
    return emitOpError() << "bytes " << first << " to " << first + bytes
                         << " of a partition are in more than one bank of "
                            "2048 bytes"
                         << cite(kMemories);
  return success();
}

SmallVector<OpFoldResult> SliceOp::getMixedOffsets() {
  Builder builder(getContext());
  return getMixedValues(getStaticOffsets(), getOffsets(), builder);
}

LogicalResult SliceOp::verify() {
  BufferType source = getSource().getType(), result = getResult().getType();
  if (source.getElementType() != result.getElementType() ||
      source.getMemory() != result.getMemory() ||
      source.getRank() != result.getRank())
    return emitOpError() << "expected element type, memory and rank of "
                         << source << ", found " << result;
  if (static_cast<int64_t>(getStaticOffsets().size()) != source.getRank())
    return emitOpError() << "expected " << source.getRank()
                         << " offsets, found " << getStaticOffsets().size();
  for (auto [i, offset] : llvm::enumerate(getStaticOffsets())) {
    int64_t first = ShapedType::isDynamic(offset) ? 0 : offset;
    if (first < 0 || first + result.getDim(i) > source.getDim(i))
      return emitOpError() << "takes " << result.getDim(i) << " from " << first
                           << " on of " << source.getDim(i) << " in dimension "
                           << i;
  }
  return success();
}

LogicalResult AccessOp::verify() {
  BufferType source = getSource().getType(), result = getResult().getType();
  if (source.getMemory() != Buffer::Hbm || result.getMemory() != Buffer::Hbm)
    return emitOpError() << "expected a pattern over a tensor in 'hbm'";
  if (source.getElementBits() != result.getElementBits())
    return emitOpError() << "reads elements of " << source.getElementBits()
                         << " bits as elements of " << result.getElementBits()
                         << cite(kAccessPatterns);
  if (static_cast<int64_t>(getStrides().size()) != result.getRank())
    return emitOpError() << "expected " << result.getRank()
                         << " strides, found " << getStrides().size();
  int64_t last = 0, total = 1;
  for (auto [stride, count] : llvm::zip(getStrides(), result.getShape())) {
    if (stride < 0)
      return emitOpError() << "expected strides of at least 0, found "
                           << stride;
    last += stride * (count - 1);
  }
  for (int64_t size : source.getShape())
    total *= size;
  if (last >= total)
    return emitOpError() << "reaches element " << last << " of " << total
                         << cite(kAccessPatterns);
  return success();
}

LogicalResult ReshapeOp::verify() {
  BufferType source = getSource().getType(), result = getResult().getType();
  auto elements = [](BufferType type) {
    int64_t count = 1;
    for (int64_t size : type.getShape())
      count *= size;
    return count;
  };
  if (source.getElementType() != result.getElementType() ||
      source.getMemory() != result.getMemory() ||
      source.getDim(0) != result.getDim(0) ||
      elements(source) != elements(result))
    return emitOpError() << "expected the partitions and elements of " << source
                         << ", found " << result;
  return success();
}
