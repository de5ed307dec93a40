/*===- Layout.h - where things lie, by formula and by name -*- C -*-===*\
|*
|* Part of the blockscale project, under the Apache License v2.0 with LLVM
|* Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
\*===----------------------------------------------------------------------===*/

#ifndef BLOCKSCALE_C_LAYOUT_H
#define BLOCKSCALE_C_LAYOUT_H

#include "blockscale-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A layout of operands of certain sizes: of scales or sparsity metadata in
   memory, of scales, metadata and sums in tensor memory, of operands in
   registers. What lies (its contents: row and block, say) has a place, and a
   place has what lies there. */
typedef struct BlockscaleLayout {
  uint64_t id;
} BlockscaleLayout;

/* A size that a layout needs, by its name. */
typedef struct BlockscaleLayoutParameter {
  BlockscaleSlice name;
  uint64_t value;
} BlockscaleLayoutParameter;

/* All layouts as JSON: a list of objects with "name", "summary" and
   "parameters", each of them with "name", "meaning" and, if it may be left out,
   "default". */
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleLayoutList(BlockscaleBytes *json);

/* The layout of a name: "tiled_128x4" with rows, blocks and batch, for example.
   Refused are unknown names, and sizes that there are not. */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleLayoutCreate(
    BlockscaleSlice name, const BlockscaleLayoutParameter *parameters,
    size_t count, BlockscaleLayout *layout);

/* JSON: "name", "size", "formula" (a line for each term), "contents" and
   "places", each a list of coordinates with "name" and "extent" in the order
   that the functions below take and give. */
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleLayoutDescribe(BlockscaleLayout layout, BlockscaleBytes *json);

/* Places, padding and unused ones included: in memory, bytes. */
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleLayoutGetSize(BlockscaleLayout layout, uint64_t *size);

/* How many coordinates contents and places have. */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleLayoutGetRanks(
    BlockscaleLayout layout, size_t *contentRank, size_t *placeRank);

/* Places of `count` contents: `contents` has the coordinates of the first, then
   those of the second; so have `places`. Refused if one is outside of the
   extents or has no place; nothing is promised of `places` then. */
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleLayoutFindPlaces(BlockscaleLayout layout, const uint64_t *contents,
                           size_t count, uint64_t *places);

/* The inverse. Coordinates of what only pads, or is not used, are all
   UINT64_MAX. */
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleLayoutFindContents(BlockscaleLayout layout, const uint64_t *places,
                             size_t count, uint64_t *contents);

/* A picture: SVG. Of large layouts the first places, and with `everyLine` false
   without the lines in the middle. */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleLayoutDraw(
    BlockscaleLayout layout, bool everyLine, BlockscaleBytes *svg);

BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleLayoutDestroy(BlockscaleLayout layout);

#ifdef __cplusplus
}
#endif

#endif /* BLOCKSCALE_C_LAYOUT_H */
