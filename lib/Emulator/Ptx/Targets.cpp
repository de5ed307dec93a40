//===- Targets.cpp - which instructions a target has ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the target notes of the PTX ISA 9.1, each row tried on the assembler of
// CUDA 13.0. Targets before sm_90 are not told apart.
//
//===----------------------------------------------------------------------===//

#include "Targets.h"
#include "Parser.h"

#include "blockscale/Emulator/Machine.h"

#include <algorithm>

namespace blockscale::emulator {
namespace {

#define TENSOR_A "100a 101a 103a 110a"
#define TENSOR TENSOR_A " 100f 101f 103f 110f"
#define WARP "120a 121a 120f 121f"
#define MULTIMEM_FP8 TENSOR " 120a 121a"
#define DATA_CENTER_100 "100a 100f 103a 103f"

/// Instructions whose mnemonic has all of `words` exist on `targets` only: a
/// list of names without `sm_`, or `100+` for all from that number on.
struct TargetRow {
  Opcode opcode;
  std::string_view words, targets;
};

constexpr TargetRow kRows[] = {
    {Opcode::Tcgen05Alloc, "", TENSOR},
    {Opcode::Tcgen05Dealloc, "", TENSOR},
    {Opcode::Tcgen05Relinquish, "", TENSOR},
    {Opcode::Tcgen05Ld, "", TENSOR},
    {Opcode::Tcgen05Ld, "red", "101a 103a 110a 101f 103f 110f"},
    {Opcode::Tcgen05St, "", TENSOR},
    {Opcode::Tcgen05WaitLd, "", TENSOR},
    {Opcode::Tcgen05WaitSt, "", TENSOR},
    {Opcode::Tcgen05FenceBefore, "", TENSOR},
    {Opcode::Tcgen05FenceAfter, "", TENSOR},
    {Opcode::Tcgen05Cp, "", TENSOR},
    {Opcode::Tcgen05Shift, "", TENSOR_A},
    {Opcode::Tcgen05Commit, "", TENSOR},
    {Opcode::Tcgen05Mma, "", TENSOR},
    {Opcode::Tcgen05Mma, "kind::i8", "100a 101a 110a"},
    {Opcode::Tcgen05Mma, "scale_vec::1X", TENSOR_A},
    {Opcode::Tcgen05Mma, "scale_vec::2X", TENSOR_A},
    {Opcode::Tcgen05Mma, "scale_vec::4X", TENSOR_A},
    {Opcode::Tcgen05Mma, "sp kind::mxf4", TENSOR_A},
    {Opcode::Tcgen05Mma, "sp kind::mxf4nvf4", TENSOR_A},
    {Opcode::CpAsyncBulkTensor, "cta_group::1", TENSOR},
    {Opcode::CpAsyncBulkTensor, "cta_group::2", TENSOR},
    {Opcode::CpAsyncBulkTensor, "tile::gather4 shared::cluster", TENSOR},
    {Opcode::CpAsyncBulkTensor, "tile::gather4", "100+"},
    {Opcode::CpAsyncBulkTensor, "tile::scatter4", TENSOR},
    {Opcode::CpAsyncBulkTensor, "im2col::w shared::cluster", TENSOR},
    {Opcode::CpAsyncBulkTensor, "im2col::w", "100+"},
    {Opcode::CpAsyncBulkTensor, "im2col::w::128", TENSOR},
    {Opcode::CpAsyncBulk, "cp_mask", "100+"},
    {Opcode::TensormapReplace, "", "90a " TENSOR " " WARP},
    {Opcode::SetMaxNReg, "", "90a " TENSOR " " WARP},
    {Opcode::ClcTryCancel, "", "100+"},
    {Opcode::ClcQueryCancel, "", "100+"},
    {Opcode::StBulk, "", "100+"},
    {Opcode::LdMatrix, "m16n16", TENSOR " " WARP},
    {Opcode::LdMatrix, "m8n16", TENSOR " " WARP},
    {Opcode::StMatrix, "m16n8", TENSOR " " WARP},
    {Opcode::Mma, "f64 m16n8k4", "90+"},
    {Opcode::Mma, "f64 m16n8k8", "90+"},
    {Opcode::Mma, "f64 m16n8k16", "90+"},
    {Opcode::Mma, "kind::f8f6f4", TENSOR " " WARP},
    {Opcode::Mma, "kind::f8f6f4 e2m1", WARP},
    {Opcode::Mma, "kind::f8f6f4 e2m3", WARP},
    {Opcode::Mma, "kind::f8f6f4 e3m2", WARP},
    {Opcode::Mma, "block_scale", WARP},
    {Opcode::Mma, "sp::ordered_metadata kind::mxf4", "120a 121a"},
    {Opcode::Mma, "sp::ordered_metadata kind::mxf4nvf4", "120a 121a"},
    {Opcode::MultimemLdReduce, "e4m3", MULTIMEM_FP8},
    {Opcode::MultimemLdReduce, "e5m2", MULTIMEM_FP8},
    {Opcode::MultimemLdReduce, "e4m3x2", MULTIMEM_FP8},
    {Opcode::MultimemLdReduce, "e5m2x2", MULTIMEM_FP8},
    {Opcode::MultimemLdReduce, "e4m3x4", MULTIMEM_FP8},
    {Opcode::MultimemLdReduce, "e5m2x4", MULTIMEM_FP8},
    {Opcode::MultimemSt, "e4m3", MULTIMEM_FP8},
    {Opcode::MultimemSt, "e5m2", MULTIMEM_FP8},
    {Opcode::MultimemSt, "e4m3x2", MULTIMEM_FP8},
    {Opcode::MultimemSt, "e5m2x2", MULTIMEM_FP8},
    {Opcode::MultimemSt, "e4m3x4", MULTIMEM_FP8},
    {Opcode::MultimemSt, "e5m2x4", MULTIMEM_FP8},
    {Opcode::MultimemLdReduce, "", "90+"},
    {Opcode::MultimemSt, "", "90+"},
    {Opcode::MultimemRed, "", "90+"},
    {Opcode::WgmmaMma, "", "90a"},
    {Opcode::WgmmaFence, "", "90a"},
    {Opcode::WgmmaCommitGroup, "", "90a"},
    {Opcode::WgmmaWaitGroup, "", "90a"},
    {Opcode::Cvt, "e2m1x2", TENSOR " " WARP},
    {Opcode::Cvt, "e2m3x2", TENSOR " " WARP},
    {Opcode::Cvt, "e3m2x2", TENSOR " " WARP},
    {Opcode::Cvt, "ue8m0x2", TENSOR " " WARP},
    {Opcode::Cvt, "bf16x2 e4m3x2", TENSOR " " WARP},
    {Opcode::Cvt, "bf16x2 e5m2x2", TENSOR " " WARP},
    {Opcode::Cvt, "rs", "100a 103a"},
    {Opcode::ReduxSync, "f32", DATA_CENTER_100},
    {Opcode::Add, "f32x2", "100+"},
    {Opcode::Sub, "f32x2", "100+"},
    {Opcode::Mul, "f32x2", "100+"},
    {Opcode::Fma, "f32x2", "100+"},
};

/// What targets have besides instructions.
struct FeatureRow {
  TargetFeature feature;
  std::string_view targets;
};

constexpr FeatureRow kFeatures[] = {
    {TargetFeature::MmaK96, "103a 103f"},
    {TargetFeature::AbsoluteLeading, "103a 103f"},
    {TargetFeature::PaddedTypesInOwnCta, "120+"},
};

/// Shared memory that a CTA may have, in bytes; the first row that lists the
/// target counts.
struct SharedRow {
  std::string_view targets;
  uint32_t bytes;
};

constexpr SharedRow kShared[] = {
    {"120+", 99 << 10}, {"90+", 227 << 10}, {"89+", 99 << 10},
    {"87+", 163 << 10}, {"86+", 99 << 10},  {"80+", 163 << 10},
    {"75+", 64 << 10},  {"70+", 96 << 10},  {"0+", 48 << 10},
};

/// SMs of a card: GB10, RTX 5090, Thor, B200 and B300, H100, A100.
struct SmRow {
  std::string_view targets;
  unsigned sms;
};

constexpr SmRow kSms[] = {
    {"121+", 48},  {"120+", 170}, {"110+", 20},
    {"100+", 148}, {"90+", 132},  {"0+", 108},
};

/// Cuts the next word.
std::string_view takeWord(std::string_view &text) {
  size_t end = std::min(text.find(' '), text.size());
  std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

bool matches(const TargetRow &row, const Instruction &inst) {
  if (row.opcode != inst.opcode)
    return false;
  std::string_view words = row.words;
  while (!words.empty()) {
    std::string_view word = takeWord(words);
    Modifier modifier = ptx::findModifier(word);
    Type type = ptx::findType(word);
    bool found = modifier != Modifier::Unknown && inst.has(modifier);
    found |= type != Type::None && inst.types.has(type);
    if (!found)
      return false;
  }
  return true;
}

/// `sm_103a` as 103 and `a`; number 0 for other names.
struct TargetName {
  unsigned number = 0;
  std::string_view suffix;

  explicit TargetName(std::string_view name) {
    if (name.substr(0, 3) == "sm_")
      name.remove_prefix(3);
    while (!name.empty() && name[0] >= '0' && name[0] <= '9' &&
           number < 10000) {
      number = number * 10 + unsigned(name[0] - '0');
      name.remove_prefix(1);
    }
    suffix = name;
  }
};

bool lists(std::string_view targets, const TargetName &target) {
  while (!targets.empty()) {
    TargetName one(takeWord(targets));
    bool open = one.suffix == "+";
    if (open ? target.number >= one.number
             : target.number == one.number && target.suffix == one.suffix)
      return true;
  }
  return false;
}

std::string spelled(std::string_view targets) {
  std::string text;
  while (!targets.empty()) {
    std::string_view word = takeWord(targets);
    text += text.empty() ? "" : targets.empty() ? " and " : ", ";
    if (word.back() == '+')
      text += "sm_" + std::string(word.substr(0, word.size() - 1)) + " and up";
    else
      text += "sm_" + std::string(word);
  }
  return text;
}

} // namespace

bool hasFeature(std::string_view target, TargetFeature feature) {
  for (const FeatureRow &row : kFeatures)
    if (row.feature == feature && lists(row.targets, TargetName(target)))
      return true;
  return false;
}

uint32_t sharedCapacity(std::string_view target) {
  for (const SharedRow &row : kShared)
    if (lists(row.targets, TargetName(target)))
      return row.bytes;
  return 0;
}

unsigned smCount(std::string_view target) {
  for (const SmRow &row : kSms)
    if (lists(row.targets, TargetName(target)))
      return row.sms;
  return 0;
}

std::vector<Diagnostic> checkTarget(const Module &module,
                                    const Function &function) {
  std::vector<Diagnostic> refusals;
  TargetName target(module.target);
  auto refuse = [&](const Instruction &inst, std::string_view targets) {
    refusals.push_back(
        {inst.position, "'" + std::string(function.mnemonic(inst)) +
                            "' does not exist on " + module.target +
                            "; it does on " + spelled(targets)});
  };
  for (const Instruction &inst : function.instructions) {
    for (const TargetRow &row : kRows)
      if (matches(row, inst) && !lists(row.targets, target)) {
        refuse(inst, row.targets);
        break;
      }
  }
  return refusals;
}

} // namespace blockscale::emulator
