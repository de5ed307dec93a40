//===- MachineFuzzer.cpp - hostile kernels --------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses, decodes and runs a few steps of whatever comes. The mutator knows
// lines, registers, numbers and the instruction forms of real kernels, so that
// most inputs pass the parser and reach the decoder and the handlers.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/Machine.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <random>

using namespace blockscale::emulator;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace {

using Random = std::minstd_rand;

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

std::vector<std::string> split(const std::string &text, char by) {
  std::vector<std::string> parts(1);
  for (char c : text)
    if (c == by)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

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

unsigned below(Random &random, size_t count) {
  return unsigned(random() % std::max<size_t>(count, 1));
}

std::string number(Random &random) {
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
    text += "+" + number(random);
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
    return number(random);
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

/// Replaces a random word that begins with `lead` (or a digit for '0').
void replaceWord(Random &random, std::string &text, char lead,
                 const std::string &by) {
  std::vector<size_t> at;
  for (size_t i = 1; i < text.size(); ++i) {
    bool begins = lead == '0'
                      ? std::isdigit(text[i]) && !std::isalnum(text[i - 1]) &&
                            text[i - 1] != '.'
                      : text[i] == lead;
    if (begins)
      at.push_back(i);
  }
  if (at.empty())
    return;
  size_t from = at[below(random, at.size())], to = from + 1;
  while (to < text.size() &&
         (std::isalnum(text[to]) || text[to] == '_' || text[to] == ':'))
    ++to;
  text.replace(from, to - from, by);
}

std::string modifier(Random &random) {
  const Form &form = forms()[below(random, forms().size())];
  std::vector<std::string> words = split(form.mnemonic, '.');
  return "." + words[below(random, words.size())];
}

void changeLines(Random &random, std::string &text) {
  std::vector<std::string> lines = split(text, '\n');
  unsigned at = below(random, lines.size());
  switch (random() % 4) {
  case 0:
    lines.erase(lines.begin() + at);
    break;
  case 1:
    lines.insert(lines.begin() + at, lines[below(random, lines.size())]);
    break;
  case 2:
    std::swap(lines[at], lines[below(random, lines.size())]);
    break;
  default:
    lines.insert(lines.begin() + at, formLine(random));
    break;
  }
  text.clear();
  for (const std::string &line : lines)
    text += line + "\n";
  text.pop_back();
}

std::vector<uint8_t> zeros(uint64_t size) {
  return std::vector<uint8_t>(std::min<uint64_t>(size, 1 << 16));
}

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  Random random(seed);
  std::string text(reinterpret_cast<char *>(data), size);
  if (size < 40 || random() % 64 == 0)
    text = fresh(random);
  for (unsigned i = 1 + below(random, 3); i; --i)
    switch (random() % 8) {
    case 0:
    case 1:
    case 2:
    case 3:
      changeLines(random, text);
      break;
    case 4:
      replaceWord(random, text, '%', anyRegister(random));
      break;
    case 5:
      replaceWord(random, text, '0', number(random));
      break;
    case 6:
      replaceWord(random, text, '.', modifier(random));
      break;
    default:
      if (random() % 4 == 0) {
        size = std::min(text.size(), maxSize);
        std::copy_n(text.data(), size, data);
        return LLVMFuzzerMutate(data, size, maxSize);
      }
      break;
    }
  size = std::min(text.size(), maxSize);
  std::copy_n(text.data(), size, data);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ParseResult parsed = parsePtx({reinterpret_cast<const char *>(data), size});
  if (!parsed)
    return 0;
  std::vector<uint8_t> memory(1 << 16, 0x38);
  TensorMap map;
  map.type = TensorMapType::U8;
  map.rank = 2;
  map.globalDim = {128, 64, 0, 0, 0};
  map.globalStrides = {128, 0, 0, 0};
  map.boxDim = {128, 8, 0, 0, 0};
  map.swizzle = Swizzle::B128;
  for (const Function &function : parsed.module->functions) {
    if (!function.isEntry)
      continue;
    Launch launch;
    launch.kernel = function.name;
    launch.block.x =
        function.launch.reqntid[0] ? function.launch.reqntid[0] : 32;
    launch.cluster.x = std::max(function.launch.reqnctapercluster[0], 1u);
    launch.grid.x = launch.cluster.x;
    launch.dynamicSharedBytes = 8192;
    launch.buffers = {{memory.data(), memory.size(), true}};
    for (const Parameter &parameter : function.parameters)
      if (parameter.size == 8)
        launch.arguments.push_back(BufferArgument{0, 0});
      else if (parameter.size == 128)
        launch.arguments.push_back(TensorMapArgument{map, 0, 0});
      else
        launch.arguments.push_back(zeros(parameter.size));
    Options options;
    options.threads = 1;
    options.stepLimit = 2000;
    options.completion = size % 2 ? Completion::Immediate : Completion::Random;
    (void)run(*parsed.module, launch, options);
  }
  return 0;
}
