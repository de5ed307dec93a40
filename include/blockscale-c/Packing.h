/*===- Packing.h - numbers into codes, codes into memory -*- C -*-===*\
|*
|* Part of the blockscale project, under the Apache License v2.0 with LLVM
|* Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
\*===----------------------------------------------------------------------===*/

#ifndef BLOCKSCALE_C_PACKING_H
#define BLOCKSCALE_C_PACKING_H

#include "blockscale-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Elements of an operand: batch x rows x k codes. */
typedef struct BlockscaleElements {
  /* Bits of an element in memory: 4 (two to a byte, the first in the low
     half), 6 (a little-endian stream of bits), 8, 16 or 32. */
  uint32_t bits;
  /* Rows along M or N in place of K; with 8 bits only. */
  bool mnMajor;
  uint64_t batch, rows, k;
  /* Bytes from one row and one matrix to the next; 0 for no padding. */
  uint64_t rowPitch, batchPitch;
} BlockscaleElements;

BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleElementsGetSize(const BlockscaleElements *elements, uint64_t *bytes);

/* One code to a byte (two and four bytes, little endian, above 8 and 16 bits)
   into memory, and back. Both sizes must be exact. Padding becomes zero. */
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscalePackElements(const BlockscaleElements *elements, const void *codes,
                       size_t codesSize, void *memory, size_t memorySize);
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleUnpackElements(const BlockscaleElements *elements, const void *memory,
                         size_t memorySize, void *codes, size_t codesSize);

typedef enum BlockscaleScaleLayout {
  /* One byte per row and block, row after row. */
  BLOCKSCALE_SCALES_PLAIN = 0,
  /* Tiles of 128 rows by 4 blocks, as the tensor core reads them. */
  BLOCKSCALE_SCALES_TILED_128X4 = 1,
  /* Tiles of 128 rows by 16 blocks, row after row, as sm_107 can read those of
     A. */
  BLOCKSCALE_SCALES_TILED_128X16 = 2
} BlockscaleScaleLayout;

/* Scales of an operand: batch x rows x blocks bytes. */
typedef struct BlockscaleScales {
  BlockscaleScaleLayout layout;
  uint64_t batch, rows, blocks;
} BlockscaleScales;

/* With padding to whole tiles. */
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleScalesGetSize(const BlockscaleScales *scales, uint64_t *bytes);

/* Plain scales into memory of the layout, whose padding becomes `padding`, and
   back. Both sizes must be exact. */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscalePackScales(
    const BlockscaleScales *scales, const void *plain, size_t plainSize,
    uint8_t padding, void *memory, size_t memorySize);
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleUnpackScales(const BlockscaleScales *scales, const void *memory,
                       size_t memorySize, void *plain, size_t plainSize);

/* Scales of which one is for `rowsPerScale` rows, all of a matrix if that is 0,
   and for `blocksPerScale` blocks, to a plain one for each row and block of
   `scales`, whose layout does not matter. `own` has batch x ceil(rows /
   rowsPerScale) x ceil(blocks / blocksPerScale) bytes. Of a plan these are
   `rows` and `elements` / `block` of an operand's scales. */
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleRepeatScales(const BlockscaleScales *scales, uint64_t rowsPerScale,
                       uint64_t blocksPerScale, const void *own, size_t ownSize,
                       void *plain, size_t plainSize);

typedef enum BlockscaleSparsePattern {
  /* Two of four elements. */
  BLOCKSCALE_SPARSE_2_OF_4 = 0,
  /* Two of four aligned pairs of elements. */
  BLOCKSCALE_SPARSE_PAIRS_4_OF_8 = 1,
  /* One of two elements. */
  BLOCKSCALE_SPARSE_1_OF_2 = 2
} BlockscaleSparsePattern;

/* A sparse operand: batch x rows x k codes of which half are not zero. */
typedef struct BlockscaleSparse {
  BlockscaleSparsePattern pattern;
  /* As in BlockscaleElements. */
  uint32_t bits;
  /* The code with only its highest bit set is a number, and not -0. */
  bool isInteger;
  uint64_t batch, rows, k;
} BlockscaleSparse;

/* Bytes of the codes that are stored, one to a byte as in
   blockscalePackElements(), and of the metadata in their tiles. k has to be a
   multiple of what a byte of metadata describes. */
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleSparseGetSizes(const BlockscaleSparse *sparse, uint64_t *storedBytes,
                         uint64_t *metadataBytes);

/* Codes, zeros included, into those that are stored, batch x rows x k/2, and
   metadata in tiles of 128 rows by 16 bytes, padded with `padding`, each half
   of which names places as docs/launch-plan.md says (0x44). Refused where a
   group has more codes that are not zero than the pattern keeps. Sizes must be
   exact. */
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleCompress(const BlockscaleSparse *sparse, const void *codes,
                   size_t codesSize, uint8_t padding, void *stored,
                   size_t storedSize, void *metadata, size_t metadataSize);

/* Numbers to codes of a format ("e2m1", "e4m3", "ue8m0", "bf16", ...), to the
   nearest, ties to even, saturating; and back. A code takes a byte, or two,
   little endian, in formats of 16 bits. */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleEncode(BlockscaleSlice format,
                                                      const float *values,
                                                      size_t count, void *codes,
                                                      size_t codesSize);
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleDecode(BlockscaleSlice format,
                                                      const void *codes,
                                                      size_t codesSize,
                                                      float *values,
                                                      size_t count);

/* What a data type has, in the words of plans; its texts last as long as the
   program. */
typedef struct BlockscaleDataType {
  /* "e2m1", "int8", "e4m3b8fnuz", "cb51ie_int7", ... */
  BlockscaleSlice element;
  /* "ue8m0", "ue4m3", "f32", "f16" or "bf16"; empty without scales. */
  BlockscaleSlice scale;
  /* "int8", "f32", "f16" or "bf16"; empty without zero points. */
  BlockscaleSlice zero;
  /* Elements along K and rows that share a scale, 0 if all do, and 0 and 1
     without; and elements along K that share a table of a codebook, else 1. */
  uint32_t block, rows, subtile;
} BlockscaleDataType;

/* The data type of a name as other software has them ("mxfp4", "nvf4", "bfp16",
   "mx6", "fp8F32s"), in that case. */
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleFindDataType(BlockscaleSlice name, BlockscaleDataType *type);

#ifdef __cplusplus
}
#endif

#endif /* BLOCKSCALE_C_PACKING_H */
