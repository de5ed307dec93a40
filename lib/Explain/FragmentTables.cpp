//===- FragmentTables.cpp - tables of register fragments===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <cstdio>

#include "Table.h"
#include "blockscale/HW/Fragments.h"

namespace blockscale::explain {

using namespace hw;

static RowAnswer answerTmemFragment(Question &q) {
  std::optional<TmemShape> shape = parseTmemShape(q.text("shape"));
  if (!shape)
    q.fail("shape", "expected '32x32b', '16x64b', '16x128b', '16x256b' or "
                    "'16x32bx2', found '" +
                        q.text("shape") + "'");
  unsigned num = q.count("num");
  unsigned thread = q.count("thread"), reg = q.count("register");
  if (q.why())
    return *q.why();
  // The table places the halves of 16x32bx2 next to each other.
  Result<TmemOffset> offset = tmemFragment(*shape, num, thread, reg, num);
  if (!offset)
    return offset.why();
  return decimals(offset->lane, offset->column);
}

/// Checks the selector of "SFA(byte-id 0 thread-id 0)", if the text has one.
static void checkSelector(Question &q, WarpOperand operand, unsigned scales) {
  const std::string &text = q.text("operand");
  std::size_t at = text.find("(byte-id ");
  if (at == std::string::npos)
    return;
  unsigned byteId = 0, threadId = 0;
  if (std::sscanf(text.c_str() + at, "(byte-id %4u thread-id %4u)", &byteId,
                  &threadId) != 2) {
    q.fail("operand", "cannot read the scale selector in '" + text + "'");
    return;
  }
  if (auto why = whyNotScaleSelector(operand, scales, byteId, threadId))
    q.fail("operand", why->text);
}

static RowAnswer answerWarpFragment(Question &q) {
  std::size_t instr =
      q.oneOf("instruction", {"m16n8k32.mxf8f6f4", "m16n8k64.mxf4",
                              "m16n8k64.mxf4nvf4", "sp.m16n8k64.mxf8f6f4",
                              "sp.m16n8k128.mxf4", "sp.m16n8k128.mxf4nvf4"});
  constexpr WarpMma shapes[] = {WarpMma::K32,        WarpMma::K64,
                                WarpMma::K64,        WarpMma::SparseK64,
                                WarpMma::SparseK128, WarpMma::SparseK128};
  constexpr unsigned scaleCounts[] = {1, 2, 4, 1, 2, 4};
  // A remark in parentheses may follow the name of the operand.
  const std::string &written = q.text("operand");
  Question name;
  name.set("operand", written.substr(0, written.find('(')));
  std::size_t index = name.oneOf("operand", {"A", "B", "C", "E", "SFA", "SFB"});
  if (name.why())
    q.fail("operand", "expected 'A', 'B', 'C', 'E', 'SFA' or 'SFB', found '" +
                          written + "'");
  constexpr WarpOperand operands[] = {
      WarpOperand::A,        WarpOperand::B,      WarpOperand::C,
      WarpOperand::Metadata, WarpOperand::ScaleA, WarpOperand::ScaleB};
  unsigned thread = q.count("thread"), value = q.count("value_index");
  if (index >= 4)
    checkSelector(q, operands[index], scaleCounts[instr]);
  if (q.why())
    return *q.why();
  Result<WarpElement> element = warpFragment(shapes[instr], operands[index],
                                             scaleCounts[instr], thread, value);
  if (!element)
    return element.why();
  return decimals(element->rowOrColumn, element->k);
}

void addFragmentTables(std::vector<Table> &tables) {
  tables.push_back({"tcgen05_ld_fragments",
                    {{"shape", false},
                     {"num", false},
                     {"thread", false},
                     {"register", false},
                     {"lane_offset", true},
                     {"column_offset", true}},
                    answerTmemFragment});
  tables.push_back({"mma_sync_fragments",
                    {{"instruction", false},
                     {"operand", false},
                     {"thread", false},
                     {"value_index", false},
                     {"row_m_or_col_n", true},
                     {"k_element_or_n", true}},
                    answerWarpFragment});
}

} // namespace blockscale::explain
