//===- SourceLines.cpp - findings in the source of a kernel ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/SourceLines.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cxxabi.h>
#include <filesystem>
#include <fstream>

namespace blockscale::emulator {

std::string readableName(const std::string &mangled) {
  int status = 0;
  char *plain = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 && plain ? plain : mangled;
  std::free(plain);
  // Kernels of CUTLASS have names of some thousand characters.
  constexpr size_t kLongest = 160;
  if (result.size() > kLongest)
    result.replace(kLongest, std::string::npos, "...");
  return result;
}

/// The instruction at that line of the PTX, with its function; null if none is.
static const Instruction *findInstruction(const Module &module,
                                          uint32_t ptxLine,
                                          const Function *&function) {
  for (const Function &each : module.functions)
    for (const Instruction &instruction : each.instructions)
      if (instruction.position.line == ptxLine) {
        function = &each;
        return &instruction;
      }
  return nullptr;
}

std::vector<SourceFrame> sourceFrames(const Module &module, uint32_t ptxLine) {
  std::vector<SourceFrame> frames;
  const Function *function = nullptr;
  const Instruction *instruction = findInstruction(module, ptxLine, function);
  if (!instruction)
    return frames;
  for (uint32_t at = instruction->location; at != kNone;
       at = function->locations[at].inlinedAt) {
    const DebugLocation &location = function->locations[at];
    auto file = std::find_if(
        module.files.begin(), module.files.end(),
        [&](const auto &entry) { return entry.first == location.file; });
    // Line 0 is what the compiler made by itself.
    if (file == module.files.end() || !location.line)
      continue;
    frames.push_back({file->second, location.line, location.column,
                      module.debugStrings.find(location.functionLabel,
                                               location.functionOffset)});
  }
  return frames;
}

/// A line of a file without the blanks around it; empty if it cannot be read.
static std::string textOfLine(const std::string &path, uint32_t number) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    return "";
  std::ifstream file(path);
  std::string line;
  for (uint32_t i = 0; i != number; ++i)
    if (!std::getline(file, line))
      return "";
  size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string::npos)
    return "";
  line = line.substr(first, line.find_last_not_of(" \t\r") + 1 - first);
  constexpr size_t kLongest = 200;
  return line.size() > kLongest ? line.substr(0, kLongest) + "..." : line;
}

static std::string describe(const SourceFrame &frame) {
  std::string text = frame.file + ":" + std::to_string(frame.line);
  if (frame.column)
    text += ":" + std::to_string(frame.column);
  std::string line = textOfLine(frame.file, frame.line);
  return line.empty() ? text : text + ": " + line;
}

/// `prefix` and the frames of a line of the PTX.
static std::string describe(const Module &module, uint32_t ptxLine,
                            const std::string &prefix) {
  std::vector<SourceFrame> frames = sourceFrames(module, ptxLine);
  std::string text;
  for (size_t i = 0; i != frames.size(); ++i) {
    if (i == 0) {
      text += "  " + prefix;
    } else {
      const std::string &callee = frames[i - 1].function;
      text += "    inlined ";
      text += callee.empty() ? "at " : "'" + readableName(callee) + "' at ";
    }
    text += describe(frames[i]) + "\n";
  }
  return text;
}

/// The lines of the PTX that a message names as "line 12".
static std::vector<uint32_t> linesIn(const std::string &message) {
  std::vector<uint32_t> lines;
  constexpr std::string_view kWord = "line ";
  for (size_t at = message.find(kWord); at != std::string::npos;
       at = message.find(kWord, at + 1)) {
    uint32_t line = 0;
    const char *begin = message.data() + at + kWord.size();
    auto end = std::from_chars(begin, message.data() + message.size(), line);
    if (end.ec == std::errc() &&
        std::find(lines.begin(), lines.end(), line) == lines.end())
      lines.push_back(line);
  }
  return lines;
}

std::string sourceNote(const Module &module, const Finding &finding) {
  std::string text = describe(module, finding.line, "");
  for (uint32_t line : linesIn(finding.message))
    if (line != finding.line)
      text += describe(module, line, "line " + std::to_string(line) + " is ");
  return text;
}

} // namespace blockscale::emulator
