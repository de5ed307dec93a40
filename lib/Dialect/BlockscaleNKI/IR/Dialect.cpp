//===- Dialect.cpp - the blockscale_nki dialect ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Dialect/Blockscale/IR/Bytecode.h"
#include "blockscale/Dialect/BlockscaleNKI/IR/BlockscaleNKI.h"
#include "blockscale/NKI/Documents.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace blockscale;
using namespace blockscale::nki;

#include "blockscale/Dialect/BlockscaleNKI/IR/BlockscaleNKIDialect.cpp.inc"
#include "blockscale/Dialect/BlockscaleNKI/IR/BlockscaleNKIEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "blockscale/Dialect/BlockscaleNKI/IR/BlockscaleNKIAttrs.cpp.inc"

void BlockscaleNKIDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "blockscale/Dialect/BlockscaleNKI/IR/BlockscaleNKIOps.cpp.inc"
      >();
  addInterface(makeBytecodeInterface(this));
}

void BlockscaleNKIDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "blockscale/Dialect/BlockscaleNKI/IR/BlockscaleNKIAttrs.cpp.inc"
      >();
}

/// Why a value that the user wrote is not one; empty if it is, or is left to
/// the compiler.
static std::optional<Reason> whyNotConfig(ConfigAttr config) {
  Result<Target> target = parseTarget(config.getTarget().getValue());
  if (!target)
    return target.why();
  if (std::optional<Reason> reason = whyNotTarget(*target))
    return reason;
  MatmulQuery query;
  query.target = *target;
  if (config.getRowTile() != 0) {
    query.tileSize = {saturated(config.getRowTile()), kPartitions};
    query.tilePosition = {0, 0};
    query.partitions = query.movingPartitions = query.scalePartitions =
        kQuadrant;
  }
  if (config.getTileM() != 0)
    query.m = saturated(config.getTileM());
  if (config.getTileN() != 0)
    query.n = saturated(config.getTileN());
  if (std::optional<Reason> reason = whyNot(query))
    return reason;
  constexpr int64_t kBankColumns = kPsumBankBytes / sizeof(float);
  if (config.getTileN() > kBankColumns)
    return "tile_n = " + std::to_string(config.getTileN()) +
           " does not fit into a bank of PSUM: at most " +
           std::to_string(kBankColumns) + " columns of float32" +
           cite(kMemories);
  if (config.getBlockM() < 0 || config.getBlockM() > int64_t(kPsumBanks))
    return "block_m = " + std::to_string(config.getBlockM()) +
           ": expected 1 to " + std::to_string(kPsumBanks) +
           ", a bank of PSUM for each tile" + cite(kMemories);
  return std::nullopt;
}

LogicalResult
BlockscaleNKIDialect::verifyOperationAttribute(Operation *op,
                                               NamedAttribute attribute) {
  if (attribute.getName() != kConfigName)
    return op->emitOpError()
           << "unknown attribute '" << attribute.getName().getValue()
           << "', the dialect has '" << kConfigName << "'";
  auto config = dyn_cast<ConfigAttr>(attribute.getValue());
  if (!config || !isa<MatmulOp, QuantizeOp>(op))
    return op->emitOpError() << "expected '" << kConfigName
                             << "' to be a '#blockscale_nki.config' of a "
                                "'blockscale.matmul' or 'blockscale.quantize'";
  if (isa<QuantizeOp>(op) &&
      config !=
          ConfigAttr::get(op->getContext(), config.getTarget(), 0, 0, 0, 0))
    return op->emitOpError()
           << "'" << kConfigName
           << "' of a quantisation names a target only: its tiles are not "
              "chosen";
  if (std::optional<Reason> why = whyNotConfig(config))
    return op->emitOpError() << why->text;
  return success();
}
