//===- Shards.h - which file a tensor goes to -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CHECKPOINT_SHARDS_H
#define BLOCKSCALE_LIB_CHECKPOINT_SHARDS_H

#include "PackPlan.h"
#include "blockscale/Checkpoint/TensorWriter.h"

namespace blockscale::checkpoint {

/// The files of all tensors of the plan: one, or shards of options.shardBytes.
/// A parameter is never torn, so that one can be longer.
Result<ShardedFiles> shardFiles(const PackPlan &plan, const std::string &path,
                                const PackOptions &options);

/// Why files beside the ones to be written would be taken in their place: a
/// folder has one file or an index of several, and loaders choose either.
std::optional<Reason> whyMistaken(const std::string &path,
                                  const ShardedFiles &files);

/// Leaves in the plan what `shard` holds.
void restrictTo(PackPlan &plan, const std::vector<size_t> &shardOf,
                size_t shard);

} // namespace blockscale::checkpoint

#endif // BLOCKSCALE_LIB_CHECKPOINT_SHARDS_H
