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
  BLOCKSCALE_SCALES_TILED_128X4 = 1
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

#ifdef __cplusplus
}
#endif

#endif /* BLOCKSCALE_C_PACKING_H */
