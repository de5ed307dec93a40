//===- Targets.cpp - which instructions a target has ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the target notes of the PTX ISA 9.1 and 9.4, each row tried on the
// assembler of CUDA 13.0, those of sm_107 on that of 13.5. Targets before sm_90
// are not told apart.
//
//===----------------------------------------------------------------------===//

#include "Targets.h"
#include "Parser.h"

#include "blockscale/Emulator/Machine.h"

#include <algorithm>
#include <optional>

namespace blockscale::emulator {
namespace {

#define TENSOR_A "100a 101a 103a 107a 110a"
#define TENSOR TENSOR_A " 100f 101f 103f 107f 110f"
#define RUBIN "107a 107f"
#define WARP "120a 121a 120f 121f"
#define MULTIMEM_FP8 TENSOR " 120a 121a"
#define DATA_CENTER_100 "100a 100f 103a 103f 107a 107f"

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
    {Opcode::Tcgen05Ld, "red", "101a 103a 107a 110a 101f 103f 107f 110f"},
    {Opcode::Tcgen05Ld, "spcompress", "107a"},
    {Opcode::Tcgen05St, "", TENSOR},
    {Opcode::Tcgen05WaitLd, "", TENSOR},
    {Opcode::Tcgen05WaitSt, "", TENSOR},
    {Opcode::Tcgen05FenceBefore, "", TENSOR},
    {Opcode::Tcgen05FenceAfter, "", TENSOR},
    {Opcode::Tcgen05Cp, "", TENSOR},
    {Opcode::Tcgen05Shift, "", TENSOR_A},
    {Opcode::Tcgen05Commit, "", TENSOR},
    {Opcode::Tcgen05Commit, "multicast::cluster::32b", RUBIN},
    {Opcode::Tcgen05Commit, "sync_restrict::shared::read::mma::a", RUBIN},
    {Opcode::Tcgen05Mma, "", TENSOR},
    {Opcode::Tcgen05Mma, "kind::i8", "100a 101a 110a"},
    {Opcode::Tcgen05Mma, "kind::ti16", RUBIN},
    {Opcode::Tcgen05Mma, "decompress::lut::b", RUBIN},
    {Opcode::Tcgen05Mma, "collector::b::fill", RUBIN},
    {Opcode::Tcgen05Mma, "collector::b::use", RUBIN},
    {Opcode::Tcgen05Mma, "collector::b::lastuse", RUBIN},
    {Opcode::Tcgen05Mma, "collector::b::discard", RUBIN},
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
    {Opcode::CpAsyncBulkTensor, "multicast::cluster::32b", RUBIN},
    {Opcode::CpAsyncBulkTensor, "override::global_address", RUBIN},
    {Opcode::CpReduceAsyncBulkTensor, "override::global_address", RUBIN},
    {Opcode::CpAsyncBulkPrefetchTensor, "override::global_address", RUBIN},
    {Opcode::CpAsyncBulk, "multicast::cluster::32b", RUBIN},
    {Opcode::MbarrierArrive, "multicast::cluster::32b", RUBIN},
    {Opcode::MbarrierArriveDrop, "multicast::cluster::32b", RUBIN},
    {Opcode::MbarrierExpectTx, "multicast::cluster::32b", RUBIN},
    {Opcode::MbarrierCompleteTx, "multicast::cluster::32b", RUBIN},
    {Opcode::CpAsyncBulk, "cp_mask", "100+"},
    {Opcode::TensormapReplace, "", "90a " TENSOR " " WARP},
    {Opcode::SetMaxNReg, "", "90a " TENSOR " " WARP},
    {Opcode::ClcTryCancel, "", "100+"},
    {Opcode::ClcTryCancel, "multicast::cluster::all", TENSOR " " WARP},
    {Opcode::ClcQueryCancel, "", "100+"},
    {Opcode::StBulk, "", "100+"},
    {Opcode::LdMatrix, "m16n16", TENSOR " " WARP},
    {Opcode::LdMatrix, "m8n16 b8x16", TENSOR " " WARP},
    {Opcode::LdMatrix, "m8n16 s4", "90a " TENSOR " " WARP},
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
    {Opcode::Cvt, "rs", "100a 103a 107a"},
    {Opcode::Cvt, "ue5m3x2", RUBIN},
    {Opcode::Cvt, "scaled::n1::ue8m0", RUBIN},
    {Opcode::Cvt, "s2f6x2", "100a 103a 107a 110a 120a 121a"},
    {Opcode::FabricCommitGroup, "", "100+"},
    {Opcode::Cvt, "pzo", RUBIN},
    {Opcode::Cvt, "rz e4m3x2", RUBIN},
    {Opcode::Cvt, "rz e5m2x2", RUBIN},
    {Opcode::Cvt, "rz e2m3x2", RUBIN},
    {Opcode::Cvt, "rz e3m2x2", RUBIN},
    {Opcode::Cvt, "rz e2m1x2", RUBIN},
    {Opcode::ReduxSync, "f32", DATA_CENTER_100},
    {Opcode::Add, "f32x2", "100+"},
    {Opcode::Sub, "f32x2", "100+"},
    {Opcode::Mul, "f32x2", "100+"},
    {Opcode::Fma, "f32x2", "100+"},
};

/// What comes with a version of PTX: instructions whose mnemonic has all of
/// `words`, of which `>bf16x2` is the type of the result. Each tried on the
/// assembler of CUDA 13.5.
struct VersionRow {
  Opcode opcode;
  std::string_view words;
  unsigned minor; ///< of PTX 9
};

constexpr VersionRow kVersions[] = {
    {Opcode::Cvt, "e4m3x2 >bf16x2", 2},
    {Opcode::Cvt, "e5m2x2 >bf16x2", 2},
    {Opcode::Cvt, "e2m3x2 >bf16x2", 2},
    {Opcode::Cvt, "e3m2x2 >bf16x2", 2},
    {Opcode::Cvt, "e2m1x2 >bf16x2", 2},
    {Opcode::Cvt, "bf16x2 >e4m3x2", 1},
    {Opcode::Cvt, "bf16x2 >e5m2x2", 1},
    {Opcode::Cvt, "bf16x2 >e2m3x2", 1},
    {Opcode::Cvt, "bf16x2 >e3m2x2", 1},
    {Opcode::Cvt, "bf16x2 >e2m1x2", 1},
    {Opcode::Cvt, "f16x2 >e2m3x2", 1},
    {Opcode::Cvt, "f16x2 >e3m2x2", 1},
    {Opcode::Cvt, "f16x2 >e2m1x2", 1},
    {Opcode::Cvt, "s2f6x2", 1},
    {Opcode::Clmad, "", 3},
    {Opcode::MbarrierInit, "layout::v0", 3},
    {Opcode::MbarrierInit, "layout::v1", 3},
    {Opcode::MbarrierCheckLayout, "", 3},
    {Opcode::MbarrierPendingCount, "layout::v0", 3},
    {Opcode::MbarrierTestWait, "phase_type::primary", 3},
    {Opcode::MbarrierTestWait, "phase_type::conditional", 3},
    {Opcode::MbarrierTryWait, "phase_type::primary", 3},
    {Opcode::MbarrierTryWait, "phase_type::conditional", 3},
    {Opcode::Mma, "scale_vec::4X ue8m0", 1},
    {Opcode::Ld, "proxy::readonly", 4},
    {Opcode::LdMatrix, "s4", 4},
    {Opcode::Tcgen05Alloc, "exclusive", 4},
    {Opcode::Tcgen05Dealloc, "exclusive", 4},
    {Opcode::Tcgen05Commit, "multicast::cluster::16b", 4},
    {Opcode::CpAsyncBulk, "multicast::cluster::16b", 4},
    {Opcode::CpAsyncBulkTensor, "multicast::cluster::16b", 4},
    {Opcode::FabricCommitGroup, "", 5},
};

/// The newest version of PTX whose rules are known here.
constexpr unsigned kNewestMajor = 9, kNewestMinor = 5;

/// What targets have besides instructions.
struct FeatureRow {
  TargetFeature feature;
  std::string_view targets;
};

constexpr FeatureRow kFeatures[] = {
    {TargetFeature::MmaK96, "103a 107a"},
    {TargetFeature::WideMma, RUBIN},
    {TargetFeature::ElementwiseSparsity, "107a"},
    {TargetFeature::AbsoluteLeading, "103a 107a"},
    {TargetFeature::OversizedShared, "107 107a 107f"},
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

/// SMs of a card: GB10, RTX 5090, Thor, VR200, B200 and B300, H100, A100.
struct SmRow {
  std::string_view targets;
  unsigned sms;
};

constexpr SmRow kSms[] = {
    {"121+", 48},  {"120+", 170}, {"110+", 20}, {"107+", 212},
    {"100+", 148}, {"90+", 132},  {"0+", 108},
};

/// Cuts the next word.
std::string_view takeWord(std::string_view &text) {
  size_t end = std::min(text.find(' '), text.size());
  std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

/// Whether the mnemonic has all of the words.
bool hasWords(const Instruction &inst, std::string_view words) {
  while (!words.empty()) {
    std::string_view word = takeWord(words);
    if (word.front() == '>') {
      if (inst.type(0) != ptx::findType(word.substr(1)))
        return false;
      continue;
    }
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

/// Whether a tcgen05.mma scales the sum that it adds to.
bool scalesInput(const Instruction &inst) {
  if (inst.opcode != Opcode::Tcgen05Mma || inst.has(Modifier::Ws) ||
      !(inst.has(Modifier::KindF16) || inst.has(Modifier::KindTf32)))
    return false;
  size_t without = 5 + inst.has(Modifier::Sp);
  for (const Operand &operand : inst.operands)
    without += operand.kind == OperandKind::Vector;
  return inst.operands.size() > without;
}

/// Whether a copy says how its data are reported, be it not at all.
bool reportsData(const Instruction &inst) {
  for (Modifier modifier : inst.modifiers)
    if (modifier >= Modifier::ReportDisabled &&
        modifier <= Modifier::ReportPerElement)
      return true;
  return false;
}

bool namesLocality(const Instruction &inst) {
  for (const Operand &operand : inst.operands)
    if (operand.special == SpecialRegister::LocalityDomainId ||
        operand.special == SpecialRegister::LocalityDomainSupplementalSm)
      return true;
  return false;
}

/// The minor version of PTX 9 from which on there is the instruction.
unsigned firstMinor(const Instruction &inst) {
  if (namesLocality(inst))
    return 5;
  for (const VersionRow &row : kVersions)
    if (row.opcode == inst.opcode && hasWords(inst, row.words))
      return row.minor;
  return 0;
}

std::string versionText(unsigned major, unsigned minor) {
  return "PTX " + std::to_string(major) + "." + std::to_string(minor);
}

/// Why the header is refused, if it is.
std::optional<std::string> whyNotHeader(const Module &module) {
  auto older = [&](unsigned major, unsigned minor) {
    return module.versionMajor < major ||
           (module.versionMajor == major && module.versionMinor < minor);
  };
  std::string version = versionText(module.versionMajor, module.versionMinor);
  if (!older(kNewestMajor, kNewestMinor + 1))
    return version + " is not known here; the newest is " +
           versionText(kNewestMajor, kNewestMinor);
  if (TargetName(module.target).number == 107 && older(9, 4))
    return version + " does not have " + module.target +
           "; PTX 9.4 and later do";
  return std::nullopt;
}

} // namespace

bool hasFeature(std::string_view target, TargetFeature feature) {
  for (const FeatureRow &row : kFeatures)
    if (row.feature == feature && lists(row.targets, TargetName(target)))
      return true;
  return false;
}

unsigned tensorColumns(std::string_view target) {
  return TargetName(target).number == 107 ? 576 : 512;
}

uint32_t oversizedSharedCapacity(std::string_view target) {
  return hasFeature(target, TargetFeature::OversizedShared) ? 327 << 10 : 0;
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
  if (auto reason = whyNotHeader(module)) {
    refusals.push_back({function.position, *reason});
    return refusals;
  }
  auto older = [&](unsigned minor) {
    return module.versionMajor < 9 ||
           (module.versionMajor == 9 && module.versionMinor < minor);
  };
  for (const Instruction &inst : function.instructions) {
    for (const TargetRow &row : kRows)
      if (row.opcode == inst.opcode && hasWords(inst, row.words) &&
          !lists(row.targets, target)) {
        refuse(inst, row.targets);
        break;
      }
    if (reportsData(inst) && !lists(RUBIN, target))
      refuse(inst, RUBIN);
    // The text of 9.4 has no scale-input-d on sm_110, nor has the assembler.
    if (scalesInput(inst) && (target.number == 101 || target.number == 110))
      refuse(inst, "100a 100f 103a 103f " RUBIN);
    if (unsigned minor = firstMinor(inst); minor && older(minor))
      refusals.push_back(
          {inst.position,
           "'" + std::string(function.mnemonic(inst)) + "' needs " +
               versionText(9, minor) + ", the module is " +
               versionText(module.versionMajor, module.versionMinor)});
  }
  return refusals;
}

} // namespace blockscale::emulator
