//===- MachineMutator.cpp - kernels that a parser takes
//----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MachineMutator.h"

#include <algorithm>
#include <fstream>
#include <iterator>

using namespace blockscale::fuzz;

namespace {

const char kPrologue[] =
    ".version 9.0\n.target sm_100a\n.address_size 64\n"
    ".extern .shared .align 1024 .b8 dyn[];\n"
    ".visible .entry k(.param .u64 out, .param .u64 in,\n"
    ".param .align 128 .b8 map[128])\n{\n"
    ".reg .pred %p<8>; .reg .b16 %rs<16>; .reg .b32 %r<140>;\n"
    ".reg .f32 %f<16>; .reg .b64 %rd<32>; .reg .b128 %rq<4>;\n"
    ".shared .align 16 .b8 smem[64];\n.shared .align 8 .b64 bar;\n"
    ".shared .align 4 .b32 slot;\n"
    "mov.u32 %r1, %tid.x;\nmov.u32 %r2, bar;\nmov.u32 %r3, slot;\n"
    "mov.u32 %r4, dyn;\nld.param.u64 %rd1, [out];\n"
    "ld.param.u64 %rd2, [in];\nmov.b64 %rd3, map;\ncvta.param.u64 %rd3, %rd3;\n"
    "setp.eq.u32 %p1, %r1, 0;\n"
    "@%p1 mbarrier.init.shared::cta.b64 [%r2], 1;\n"
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r3], 64;\n"
    "bar.sync 0;\nld.shared.b32 %r5, [%r3];\ntarget:\n";
const char kEpilogue[] = "ret;\n}\n";

struct Form {
  std::string mnemonic;
  std::vector<std::vector<std::string>> shapes;
};

std::vector<Form> readForms() {
  std::vector<Form> forms;
  std::ifstream file(BLOCKSCALE_FORMS);
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    size_t quote = line.find('"');
    std::string shapes = quote == std::string::npos
                             ? line.substr(line.rfind(',') + 1)
                             : line.substr(quote + 1, line.size() - quote - 2);
    Form form{line.substr(0, line.find(',')), {}};
    for (const std::string &shape : split(shapes, '/')) {
      std::vector<std::string> operands;
      for (std::string operand : split(shape, ',')) {
        operand.erase(std::remove(operand.begin(), operand.end(), ' '),
                      operand.end());
        if (!operand.empty())
          operands.push_back(operand);
      }
      form.shapes.push_back(operands);
    }
    forms.push_back(form);
  }
  return forms;
}

const std::vector<Form> &forms() {
  static const std::vector<Form> list = readForms();
  return list;
}

/// Numbers of 32 and 64 bits, descriptors among them.
std::string kernelNumber(Random &random) {
  static const char *kNumbers[] = {
      "0",    "1",          "2",          "4",
      "7",    "8",          "16",         "31",
      "32",   "64",         "127",        "128",
      "255",  "1024",       "65535",      "-1",
      "-128", "0x80000000", "4294967295", "0x7fffffffffffffff",
      "2048", "65536",      "0x08900000", "0x4000404000010040"};
  return kNumbers[below(random, std::size(kNumbers))];
}

std::string registerOf(Random &random, const char *kind, unsigned count) {
  return "%" + std::string(kind) + std::to_string(below(random, count));
}

std::string anyRegister(Random &random) {
  static const std::pair<const char *, unsigned> kKinds[] = {
      {"p", 8}, {"rs", 16}, {"r", 12}, {"f", 16}, {"rd", 12}, {"rq", 4}};
  auto [kind, count] = kKinds[below(random, std::size(kKinds))];
  return registerOf(random, kind, count);
}

std::string addressOf(Random &random, const std::string &form) {
  bool shared = form.find("shared") != std::string::npos;
  std::string text = "[";
  text += random() % 8 == 0 ? anyRegister(random)
          : shared && random() % 2
              ? "%r" + std::to_string(2 + below(random, 4))
              : "%rd" + std::to_string(1 + below(random, 3));
  if (random() % 3 == 0)
    text += "+" + kernelNumber(random);
  if (form.find("tensor.") != std::string::npos && random() % 2) {
    text += ", {";
    unsigned count = 1 + below(random, 5);
    for (unsigned i = 0; i != count; ++i)
      text += (i ? ", " : "") + registerOf(random, "r", 12);
    text += "}";
  }
  return text + "]";
}

std::string operandOf(Random &random, const std::string &form,
                      const std::string &shape) {
  if (random() % 24 == 0)
    return anyRegister(random);
  if (shape == "r16")
    return registerOf(random, "rs", 16);
  if (shape == "r32")
    return registerOf(random, "r", 12);
  if (shape == "f32")
    return registerOf(random, "f", 16);
  if (shape == "r64")
    return registerOf(random, "rd", 12);
  if (shape == "p")
    return registerOf(random, "p", 8);
  if (shape == "imm")
    return kernelNumber(random);
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
    return addressOf(random, form);
  if (shape.front() == '{') {
    unsigned count = unsigned(std::atoi(shape.c_str() + 1));
    if (random() % 16 == 0)
      count = 1 + below(random, 129);
    const char *kind = random() % 8 == 0 ? "rd" : "r";
    std::string text = "{";
    for (unsigned i = 0; i != count; ++i)
      text += (i ? ", %" : "%") + std::string(kind) + std::to_string(i % 32);
    return text + "}";
  }
  return random() % 2 ? "smem" : registerOf(random, "rq", 4);
}

std::string formLine(Random &random) {
  if (forms().empty())
    return "ret;";
  const Form &form = forms()[below(random, forms().size())];
  std::string line = random() % 6 == 0 ? "@%p1 " : "";
  line += form.mnemonic + " ";
  const auto &shape = form.shapes[below(random, form.shapes.size())];
  for (size_t i = 0; i != shape.size(); ++i)
    line += (i ? ", " : "") + operandOf(random, form.mnemonic, shape[i]);
  return line + ";";
}

std::string fresh(Random &random) {
  std::string text = kPrologue;
  for (unsigned i = 1 + below(random, 12); i; --i)
    text += formLine(random) + "\n";
  return text + kEpilogue;
}

std::string modifier(Random &random) {
  const Form &form = forms()[below(random, forms().size())];
  std::vector<std::string> words = split(form.mnemonic, '.');
  return "." + words[below(random, words.size())];
}

} // namespace

void blockscale::fuzz::changeKernel(Random &random, std::string &text) {
  if (text.size() < 40 || random() % 64 == 0)
    text = fresh(random);
  for (unsigned i = 1 + below(random, 3); i; --i)
    switch (random() % 7) {
    case 0:
    case 1:
    case 2:
    case 3:
      changeLines(random, text, formLine(random));
      break;
    case 4:
      replaceWord(random, text, '%', anyRegister(random));
      break;
    case 5:
      replaceWord(random, text, '0', kernelNumber(random));
      break;
    default:
      replaceWord(random, text, '.', modifier(random));
      break;
    }
}
