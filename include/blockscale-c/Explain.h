/*===- Explain.h - what the hardware allows, and where bytes lie -*- C -*-===*\
|*
|* Part of the blockscale project, under the Apache License v2.0 with LLVM
|* Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
\*===----------------------------------------------------------------------===*/

#ifndef BLOCKSCALE_C_EXPLAIN_H
#define BLOCKSCALE_C_EXPLAIN_H

#include "blockscale-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A word of a question, by the name that `blockscale explain legality` has for
   it: target, kind, a, b, scale, family, block, m, n, k, cta-group, sparse
   (true, false), a-major, b-major, sfa-id, sfb-id. */
typedef struct BlockscaleField {
  BlockscaleSlice name, value;
} BlockscaleField;

/* Whether there is such an instruction, and a sentence with the rule and the
   nearest legal choice. What no field names is chosen by us. */
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleExplainLegality(const BlockscaleField *fields, size_t count,
                          bool *isLegal, BlockscaleBytes *text);

typedef enum BlockscaleTableFormat {
  BLOCKSCALE_TABLE_MARKDOWN = 0,
  BLOCKSCALE_TABLE_CSV = 1,
  BLOCKSCALE_TABLE_JSON = 2
} BlockscaleTableFormat;

/* All instructions of one chip, or of all chips for an empty name. */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleExplainInstructions(
    BlockscaleSlice target, BlockscaleTableFormat format,
    BlockscaleBytes *text);

/* Answers a table of questions about layouts and encodings: CSV in, the same
   with answers out. `table` is one that `blockscale explain` knows. */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleExplainTable(
    BlockscaleSlice table, BlockscaleSlice questions, BlockscaleBytes *answers);

typedef enum BlockscaleLayoutForm {
  BLOCKSCALE_LAYOUT_TEXT = 0,
  BLOCKSCALE_LAYOUT_JSON = 1,
  /* A picture of one memory. */
  BLOCKSCALE_LAYOUT_SVG = 2
} BlockscaleLayoutForm;

/* Where the scales or the metadata of an instruction lie in memory, in tensor
   memory and in registers, or one byte of them: what `blockscale explain
   layout` says. Fields are its options: memory (shared, tensor, registers),
   operand (a, b, metadata), kind, block-size, m, n, k, cta-group, sparse,
   sfa-id, sfb-id, thread-id, row, block, blocks. For formulas by themselves:
   Layout.h. */
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleExplainLayout(const BlockscaleField *fields, size_t count,
                        BlockscaleLayoutForm form, BlockscaleBytes *text);

/* The catalogue of what the emulator's strict mode finds, in Markdown. */
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleExplainHazards(BlockscaleBytes *text);

#ifdef __cplusplus
}
#endif

#endif /* BLOCKSCALE_C_EXPLAIN_H */
