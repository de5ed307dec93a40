/*===- Checkpoint.h - quantised models in files -*- C -*-===*\
|*
|* Part of the blockscale project, under the Apache License v2.0 with LLVM
|* Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
\*===----------------------------------------------------------------------===*/

#ifndef BLOCKSCALE_C_CHECKPOINT_H
#define BLOCKSCALE_C_CHECKPOINT_H

#include "blockscale-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An open model: headers are in memory, data are read when they are asked for.
   Several threads may use it at a time. */
typedef struct BlockscaleCheckpoint {
  uint64_t id;
} BlockscaleCheckpoint;

/* Opens a .safetensors file, the index of several, their directory, or an
   array in a .npy file. */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleCheckpointOpen(
    BlockscaleSlice path, BlockscaleCheckpoint *checkpoint);
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleCheckpointDestroy(BlockscaleCheckpoint checkpoint);

/* JSON: "files"; "metadata"; "tensors" with "name", "dtype", "shape", and with
   the "file" (a number), byte "offset" and "bytes" of their data; "parameters",
   sorted by name, as `blockscale check --format=json` prints them, with "spec",
   "parts", "packed", "interleavedRows" and, where their values cannot be read,
   "whyNot". */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleCheckpointDescribe(
    BlockscaleCheckpoint checkpoint, BlockscaleBytes *json);

typedef struct BlockscaleCheckOptions {
  size_t structSize;
  /* Whether to read block scales; else headers and single numbers alone. */
  bool readScales;
  /* Which parameters, by their numbers in "parameters". */
  uint64_t first, count;
} BlockscaleCheckOptions;

/* Scales of all parameters. */
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleCheckOptionsInit(BlockscaleCheckOptions *options, size_t structSize);

/* What `blockscale check` says, for people and for programs, and whether there
   is no error among it. `options` may be null. */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleCheckpointCheck(
    BlockscaleCheckpoint checkpoint, const BlockscaleCheckOptions *options,
    bool *passed, BlockscaleBytes *text, BlockscaleBytes *json);

/* Rows of one matrix of a parameter; all but the last two dimensions count
   matrices. A vector is a row. */
typedef struct BlockscaleRows {
  uint64_t batch, first, count;
} BlockscaleRows;

/* The values of whole rows: element times block scale, rounded to binary32, and
   that times (or over) the global scale. `count` is exact. */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleCheckpointReadValues(
    BlockscaleCheckpoint checkpoint, BlockscaleSlice parameter,
    const BlockscaleRows *rows, float *values, size_t count);

/* The codes of the elements of whole rows of a quantised parameter, one in a
   byte; integers as they are stored. `size` is exact. */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleCheckpointReadCodes(
    BlockscaleCheckpoint checkpoint, BlockscaleSlice parameter,
    const BlockscaleRows *rows, void *codes, size_t size);

/* Called with bytes done and to be done, by one thread at a time, which need
   not be that of the call. False ends the work, which then is refused as
   "interrupted". It must not throw. */
typedef bool (*BlockscaleProgress)(uint64_t done, uint64_t total,
                                   void *userData);

/* Words are those of `blockscale pack`; null or empty is the default. */
typedef struct BlockscalePackOptions {
  size_t structSize;
  const char *to, *names, *rule, *scales, *prune, *shardSize;
  bool compress, checksums;
  /* Names of parameters to change, '*' being any text. None: all that can be.
   */
  const char *const *tensors;
  size_t tensorCount;
  /* 0: as many as the host has. */
  uint32_t threads;
  /* Write this shard alone, counted from 0, and no index; -1: all. */
  int64_t shard;
  BlockscaleProgress progress;
  void *userData;
} BlockscalePackOptions;

BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscalePackOptionsInit(BlockscalePackOptions *options, size_t structSize);

/* Writes what the options make of the model to `path`. Names are given when all
   is written; on failure nothing is left. JSON: a list of what was written,
   with "name", "dtype", "shape" and "crc32". */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleCheckpointPack(
    BlockscaleCheckpoint checkpoint, BlockscaleSlice path,
    const BlockscalePackOptions *options, BlockscaleBytes *json);

/* The shards that blockscaleCheckpointPack would write: JSON, a list of "path",
   "bytes" and "tensors". */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleCheckpointPlanShards(
    BlockscaleCheckpoint checkpoint, BlockscaleSlice path,
    const BlockscalePackOptions *options, BlockscaleBytes *json);

/* Writes the index of shards that were written one by one. All must be there,
   with the tensors that are expected in them. */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleCheckpointFinishShards(
    BlockscaleCheckpoint checkpoint, BlockscaleSlice path,
    const BlockscalePackOptions *options);

#ifdef __cplusplus
}
#endif

#endif /* BLOCKSCALE_C_CHECKPOINT_H */
