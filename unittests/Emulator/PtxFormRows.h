//===- PtxFormRows.h - rows of the list of instruction forms ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// test/Emulator/ptx/instruction-forms.csv lists the instruction forms of seven
// published kernels compiled by nvcc 13.0, with their operand shapes.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_UNITTESTS_EMULATOR_PTXFORMROWS_H
#define BLOCKSCALE_UNITTESTS_EMULATOR_PTXFORMROWS_H

#include <string>
#include <vector>

namespace blockscale::emulator {

inline std::vector<std::string> split(const std::string &text,
                                      const std::string &by) {
  std::vector<std::string> parts;
  size_t at = 0;
  for (size_t next; (next = text.find(by, at)) != std::string::npos;
       at = next + by.size())
    parts.push_back(text.substr(at, next - at));
  parts.push_back(text.substr(at));
  return parts;
}

inline bool contains(const std::string &text, const char *part) {
  return text.find(part) != std::string::npos;
}

/// `{n}`: n registers of the class that the form needs.
inline std::string vectorOf(const std::string &form, unsigned count) {
  const char *name = "%r";
  if (contains(form, "64") && !contains(form, "mma") && !contains(form, "x64."))
    name = form == "mov.b64" ? "%r" : "%rd";
  if (contains(form, "u8") || form == "mov.b32")
    name = "%rs";
  if (form == "ld.shared.v4.u32" || form == "mma")
    name = "%r";
  std::string text = "{";
  for (unsigned i = 0; i != count; ++i)
    text += (i ? ", " : "") + std::string(name) + std::to_string(i);
  return text + "}";
}

/// A concrete operand for an abstract one. `sym` is a register or variable
/// with a name of the user's; which, the form tells.
inline std::string operandOf(const std::string &form, const std::string &shape,
                             unsigned position) {
  if (shape == "r16")
    return "%rs1";
  if (shape == "r32")
    return "%r1";
  if (shape == "f32")
    return "%f1";
  if (shape == "r64")
    return "%rd1";
  if (shape == "p")
    return "%p1";
  if (shape == "imm")
    return form == "mov.pred" ? "1" : "16";
  if (shape == "f32imm")
    return "0f3F800000";
  if (shape == "r32|p")
    return "%r1|%p1";
  if (shape == "sreg")
    return "%tid.x";
  if (shape == "label")
    return "target";
  if (shape == "(params)")
    return "()";
  if (shape == "_")
    return "_";
  if (shape == "[]")
    return contains(form, "tensor.") && position != 2 ? "[%rd1, {%r1, %r2}]"
                                                      : "[%rd1+16]";
  if (shape.front() == '{')
    return vectorOf(form, std::stoi(shape.substr(1)));
  if (form == "bra")
    return "target";
  if (form == "call.uni")
    return "callee";
  if (contains(form, "mov."))
    return "smem";
  if (contains(form, "b128") && !contains(form, "pred.b128"))
    return "%rq1";
  if (contains(form, "pred.b128"))
    return position == 0 ? "user" : "%rq1";
  return contains(form, "mapa") ? "%r2" : "user";
}

/// A form and the operand shapes it occurs with.
struct FormRow {
  std::string form;
  std::vector<std::string> shapes;
};

/// The rows of the list's text.
inline std::vector<FormRow> formRows(const std::string &text) {
  std::vector<FormRow> rows;
  std::vector<std::string> lines = split(text, "\n");
  for (size_t i = 1; i + 1 < lines.size(); ++i) {
    std::vector<std::string> cells = split(lines[i], ",");
    size_t quote = lines[i].find('"');
    std::string shapes =
        quote == std::string::npos
            ? cells[3]
            : lines[i].substr(quote + 1, lines[i].rfind('"') - quote - 1);
    rows.push_back({cells[0], split(shapes, " / ")});
  }
  return rows;
}

/// The instruction of a form with concrete operands of one shape.
inline std::string instructionOf(const std::string &form,
                                 const std::string &shape) {
  std::string line = form + " ";
  unsigned position = 0;
  for (const std::string &operand : split(shape, ",")) {
    if (operand.empty())
      continue;
    line += (position ? ", " : "") + operandOf(form, operand, position);
    ++position;
  }
  return line + ";";
}

} // namespace blockscale::emulator

#endif // BLOCKSCALE_UNITTESTS_EMULATOR_PTXFORMROWS_H
