//===- ShardingInterfaceImpl.h - products over devices ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_TRANSFORMS_SHARDINGINTERFACEIMPL_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_TRANSFORMS_SHARDINGINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;
}

namespace blockscale {

/// Lets upstream's passes of the `shard` dialect split `blockscale.on_parts`
/// over devices; registers that dialect.
void registerShardingInterfaceExternalModels(mlir::DialectRegistry &registry);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_TRANSFORMS_SHARDINGINTERFACEIMPL_H
