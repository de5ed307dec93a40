//===- MmaTable.cpp - the rows of the legality table ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Data only. A form says what an instruction multiplies, a shape which M and N
// its group of forms has; the table is every form with every shape of its
// group. Another chip is more rows here, and its bit in the sets of targets.
//
//===----------------------------------------------------------------------===//

#include "Capabilities.h"

#include <array>

using namespace blockscale;
using namespace blockscale::hw;

namespace {

using EF = ElementFormat;

// Who has what: tried with ptxas 13.0 (docs/sources.md, [ptxas]).
constexpr TargetSet kTcgen = targetsWith(&Capabilities::tcgen05);
// K = 96 (PTX ISA 9.7.16.2.1.1) is asked for in the descriptor, where ptxas
// cannot check it; only the architecture-specific target promises it.
constexpr TargetSet kK96 = archTargets(&Capabilities::k96);
// kind::i8: measurements find none on sm_103 (docs/sources.md, [rates]).
constexpr TargetSet kTcgenI8 = archTargets(&Capabilities::tcgen05Integer);
// FP4 with a sparse A: pairs of elements are what our metadata describe.
constexpr TargetSet kPairwise = archTargets(&Capabilities::pairwiseSparsity);
// Wide K, and what descriptors of sm_107 say besides (docs/sources.md,
// [rubin]).
constexpr TargetSet kWide = targetsWith(&Capabilities::wideK);
constexpr TargetSet kWideArch = archTargets(&Capabilities::wideK);
constexpr TargetSet kWarpArch = archTargetsWithoutTcgen05();
constexpr TargetSet kWarp = targetsWithoutTcgen05();

constexpr OperandTypeSet kNone{};
constexpr OperandTypeSet kFp4{EF::E2M1};
constexpr OperandTypeSet kFp8{EF::E4M3, EF::E5M2};
constexpr OperandTypeSet kFp8Fp4{EF::E4M3, EF::E5M2, EF::E2M1};
constexpr OperandTypeSet kNarrow{EF::E4M3, EF::E5M2, EF::E2M3, EF::E3M2,
                                 EF::E2M1};
constexpr OperandTypeSet kInt8{EF::INT8, OperandType::uint8()};
constexpr OperandTypeSet kHalf{EF::F16, EF::BF16};
constexpr OperandTypeSet kTf32{OperandType::tf32()};

/// Which shapes a form has.
enum class Group {
  ScaledDense,
  ScaledSparse,
  ScaledK96,
  ScaledWide,
  ScaledWideK96,
  Plain,
  PlainWide,
  PlainI8,
  Warp
};

struct Shape {
  Group group;
  unsigned ctaGroup, m, nMin, nMax, nStep, nStepMnMajorB;
  /// The weakest link: a row is no surer than its shape.
  Source source;
};

constexpr Source kIsa = Source::IsaTable;
constexpr Source kPublic = Source::PublicKernels;

// PTX ISA 9.7.16.2.1; the plain kinds as the static checks of CUTLASS have them
// (docs/sources.md, [cutlass]). cta_group 2 with M = 128 is in the ISA's table,
// but no public matrix multiplication uses it, so it comes last in its group.
constexpr std::array kShapes{
    Shape{Group::ScaledDense, 1, 128, 8, 256, 8, 16, kIsa},
    Shape{Group::ScaledDense, 2, 256, 16, 256, 16, 32, kIsa},
    Shape{Group::ScaledDense, 2, 128, 16, 256, 16, 32, kIsa},
    Shape{Group::ScaledSparse, 1, 128, 8, 256, 8, 16, kIsa},
    Shape{Group::ScaledSparse, 2, 256, 16, 256, 16, 32, kIsa},
    Shape{Group::ScaledK96, 2, 256, 16, 256, 16, 16, kIsa},
    Shape{Group::ScaledK96, 1, 128, 16, 256, 16, 16, kPublic},
    // PTX ISA 9.4, table 48: the wide ones need all of M.
    Shape{Group::ScaledWide, 1, 128, 8, 256, 8, 16, kIsa},
    Shape{Group::ScaledWide, 2, 256, 16, 256, 16, 32, kIsa},
    Shape{Group::ScaledWideK96, 2, 256, 16, 256, 16, 16, kIsa},
    Shape{Group::ScaledWideK96, 1, 128, 8, 256, 8, 8, kIsa},
    Shape{Group::PlainWide, 1, 128, 16, 256, 16, 16, kIsa},
    Shape{Group::PlainWide, 2, 256, 16, 256, 16, 32, kIsa},
    Shape{Group::Plain, 1, 128, 16, 256, 16, 16, kPublic},
    Shape{Group::Plain, 1, 64, 8, 256, 8, 16, kPublic},
    Shape{Group::Plain, 2, 256, 32, 256, 32, 32, kPublic},
    Shape{Group::Plain, 2, 128, 32, 256, 32, 32, kPublic},
    Shape{Group::PlainI8, 1, 128, 16, 256, 16, 16, kPublic},
    Shape{Group::PlainI8, 1, 64, 16, 256, 16, 16, kPublic},
    Shape{Group::PlainI8, 1, 64, 8, 8, 8, 16, kPublic},
    Shape{Group::PlainI8, 2, 256, 32, 256, 32, 32, kPublic},
    Shape{Group::PlainI8, 2, 128, 32, 256, 32, 32, kPublic},
    Shape{Group::Warp, 1, 16, 8, 8, 8, 8, kIsa},
};

/// Sets of scale ids as bits (PTX ISA 9.7.16.10.7.2 and 9.7.16.10.7.3).
constexpr unsigned kAnyId = 0b1111;
constexpr unsigned kEvenId = 0b0101;
constexpr unsigned kId0 = 0b0001;

struct Form {
  Group group;
  MmaKind kind;
  bool sparse;
  OperandTypeSet types;
  bool sameTypes;
  std::optional<ElementFormat> scale;
  unsigned block, k, scales, ids;
  std::string_view qualifier, scaleVector;
  OperandTypeSet mnMajor;
  TargetSet targets;
  unsigned minPtx;
  Source source;
  std::string_view evidence = {};
};

// Tags: docs/sources.md, [rubin]. The shape table of the ISA names K = 128 in
// the row of pairs only; one CTA is compiled and tested by others.
constexpr std::string_view kNvfp4Wide =
    "[T] PTX ISA 9.4, [C] vendor's DSL, [H] ThunderKittens' tests, [S] Triton, "
    "FlashInfer, TensorRT-LLM; one CTA by [C] and [H]";
constexpr std::string_view kFp4Compiled =
    "[T] PTX ISA 9.4, [C] vendor's DSL, [S] Triton, cuDNN-frontend";
constexpr std::string_view kFp4Block32 =
    "[T] PTX ISA 9.4, [C] vendor's DSL, [S] Triton, cuDNN-frontend; nobody "
    "published a test of values";
constexpr std::string_view kFp4Read =
    "[T] PTX ISA 9.4, [S] CuTe DSL's table, FlashInfer, cuDNN-frontend";
constexpr std::string_view kMxf4Wide = "[T] PTX ISA 9.4, [S] Triton";
constexpr std::string_view kMxf8Wide =
    "[T] PTX ISA 9.4, [C] vendor's DSL, [S] Triton, cuDNN-frontend, "
    "TensorRT-LLM; two scales per row by [C] and [S], one by [T] table 68";
constexpr std::string_view kFp6Wide = "[T] PTX ISA 9.4, [S] CuTe DSL's table; "
                                      "no public kernel, and no tensor map "
                                      "brings packed 6-bit elements [I]";
constexpr std::string_view kFp8Wide =
    "[T] PTX ISA 9.4, [S] CUTLASS (pairs with N in steps of 32), Triton, "
    "TensorRT-LLM, [H] ThunderKittens' tests";
constexpr std::string_view kNewScales =
    "[T] PTX ISA 9.4's table of scale types; no public kernel with the old K";
constexpr std::string_view kK96Again =
    "[T] PTX ISA 9.4, [S] cuDNN-frontend, [H] ThunderKittens' tests; whether "
    "sm_107a has absolute leading addresses is open";

constexpr std::string_view k16 = ".block_scale.block16";
constexpr std::string_view k32 = ".block_scale.block32";
constexpr std::string_view k1X = ".block_scale.scale_vec::1X";
constexpr std::string_view k2X = ".block_scale.scale_vec::2X";
constexpr std::string_view k4X = ".block_scale.scale_vec::4X";

// Order is preference. Types, scales and blocks: PTX ISA 9.7.16.10.7.1. The
// block16/block32 spellings need PTX 8.8 (docs/sources.md, [ptxas]).
constexpr std::array kForms{
    // tcgen05.mma, dense, block-scaled.
    Form{Group::ScaledDense, MmaKind::MXF4, false, kFp4, false, EF::UE8M0, 32,
         64, 2, kEvenId, k32, k2X, kNone, kTcgen, 88, kIsa},
    Form{Group::ScaledDense, MmaKind::MXF4NVF4, false, kFp4, false, EF::UE4M3,
         16, 64, 4, kId0, k16, k4X, kNone, kTcgen, 88, kIsa},
    Form{Group::ScaledDense, MmaKind::MXF4NVF4, false, kFp4, false, EF::UE8M0,
         32, 64, 2, kEvenId, k32, k2X, kNone, kTcgen, 88, kIsa},
    Form{Group::ScaledDense, MmaKind::MXF4NVF4, false, kFp4, false, EF::UE8M0,
         16, 64, 4, kId0, k16, k4X, kNone, kTcgen, 88, kIsa},
    Form{Group::ScaledDense, MmaKind::MXF8F6F4, false, kNarrow, false,
         EF::UE8M0, 32, 32, 1, kAnyId, k32, k1X, kFp8, kTcgen, 88, kIsa},
    // tcgen05.mma, K = 96.
    Form{Group::ScaledK96, MmaKind::MXF4, false, kFp4, false, EF::UE8M0, 32, 96,
         3, kAnyId, k32, "", kNone, kK96, 88, kIsa},
    Form{Group::ScaledK96, MmaKind::MXF4NVF4, false, kFp4, false, EF::UE4M3, 16,
         96, 6, kEvenId, k16, "", kNone, kK96, 88, kIsa},
    Form{Group::ScaledK96, MmaKind::MXF4NVF4, false, kFp4, false, EF::UE8M0, 32,
         96, 3, kAnyId, k32, "", kNone, kK96, 88, kIsa},
    Form{Group::ScaledK96, MmaKind::MXF4NVF4, false, kFp4, false, EF::UE8M0, 16,
         96, 6, kEvenId, k16, "", kNone, kK96, 88, kIsa},
    // tcgen05.mma, wide K, and K = 96 beside it.
    Form{Group::ScaledWide, MmaKind::MXF4, false, kFp4, false, EF::UE8M0, 32,
         128, 4, kId0, k32, "", kNone, kWide, 94, kIsa, kMxf4Wide},
    Form{Group::ScaledWide, MmaKind::MXF4NVF4, false, kFp4, false, EF::UE4M3,
         16, 128, 8, kId0, k16, "", kNone, kWide, 94, kIsa, kNvfp4Wide},
    Form{Group::ScaledWide, MmaKind::MXF4NVF4, false, kFp4, false, EF::UE5M3,
         16, 128, 8, kId0, k16, "", kNone, kWide, 94, kIsa, kFp4Compiled},
    Form{Group::ScaledWide, MmaKind::MXF4NVF4, false, kFp4, false, EF::UE8M0,
         16, 128, 8, kId0, k16, "", kNone, kWide, 94, kIsa, kFp4Read},
    Form{Group::ScaledWide, MmaKind::MXF4NVF4, false, kFp4, false, EF::UE8M0,
         32, 128, 4, kId0, k32, "", kNone, kWide, 94, kIsa, kFp4Compiled},
    Form{Group::ScaledWide, MmaKind::MXF4NVF4, false, kFp4, false, EF::UE4M3,
         32, 128, 4, kId0, k32, "", kNone, kWide, 94, kIsa, kFp4Block32},
    Form{Group::ScaledWide, MmaKind::MXF4NVF4, false, kFp4, false, EF::UE5M3,
         32, 128, 4, kId0, k32, "", kNone, kWide, 94, kIsa, kFp4Block32},
    Form{Group::ScaledWide, MmaKind::MXF8F6F4, false, kFp8Fp4, false, EF::UE8M0,
         32, 64, 2, kEvenId, k32, "", kFp8, kWide, 94, kIsa, kMxf8Wide},
    Form{Group::ScaledWide, MmaKind::MXF8F6F4, false, kNarrow, false, EF::UE8M0,
         32, 64, 2, kEvenId, k32, "", kFp8, kWide, 94, kIsa, kFp6Wide},
    Form{Group::ScaledWideK96, MmaKind::MXF4, false, kFp4, false, EF::UE8M0, 32,
         96, 3, kAnyId, k32, "", kNone, kWideArch, 94, kIsa, kK96Again},
    Form{Group::ScaledWideK96, MmaKind::MXF4NVF4, false, kFp4, false, EF::UE4M3,
         16, 96, 6, kEvenId, k16, "", kNone, kWideArch, 94, kIsa, kK96Again},
    Form{Group::ScaledWideK96, MmaKind::MXF4NVF4, false, kFp4, false, EF::UE8M0,
         32, 96, 3, kAnyId, k32, "", kNone, kWideArch, 94, kIsa, kK96Again},
    // The new scale type and block with the old K.
    Form{Group::ScaledDense, MmaKind::MXF4NVF4, false, kFp4, false, EF::UE5M3,
         16, 64, 4, kId0, k16, k4X, kNone, kWide, 94, kIsa, kNewScales},
    Form{Group::ScaledDense, MmaKind::MXF4NVF4, false, kFp4, false, EF::UE4M3,
         32, 64, 2, kEvenId, k32, k2X, kNone, kWide, 94, kIsa, kNewScales},
    Form{Group::ScaledDense, MmaKind::MXF4NVF4, false, kFp4, false, EF::UE5M3,
         32, 64, 2, kEvenId, k32, k2X, kNone, kWide, 94, kIsa, kNewScales},
    // tcgen05.mma.sp, block-scaled; FP4 not on family targets.
    Form{Group::ScaledSparse, MmaKind::MXF4, true, kFp4, false, EF::UE8M0, 32,
         128, 2, kEvenId, k32, k2X, kNone, kPairwise, 88, kIsa},
    Form{Group::ScaledSparse, MmaKind::MXF4NVF4, true, kFp4, false, EF::UE4M3,
         16, 128, 4, kId0, k16, k4X, kNone, kPairwise, 88, kIsa},
    Form{Group::ScaledSparse, MmaKind::MXF4NVF4, true, kFp4, false, EF::UE8M0,
         32, 128, 2, kEvenId, k32, k2X, kNone, kPairwise, 88, kIsa},
    Form{Group::ScaledSparse, MmaKind::MXF4NVF4, true, kFp4, false, EF::UE8M0,
         16, 128, 4, kId0, k16, k4X, kNone, kPairwise, 88, kIsa},
    Form{Group::ScaledSparse, MmaKind::MXF8F6F4, true, kNarrow, false,
         EF::UE8M0, 32, 64, 1, kAnyId, k32, k1X, kFp8, kTcgen, 88, kIsa},
    // tcgen05.mma without scales, dense and sparse; wide K only by 8 bits.
    Form{Group::Plain, MmaKind::F8F6F4, false, kNarrow, false, std::nullopt, 0,
         32, 0, kId0, "", "", kFp8, kTcgen, 86, kIsa},
    Form{Group::PlainWide, MmaKind::F8F6F4, false, kFp8, false, std::nullopt, 0,
         64, 0, kId0, "", "", kFp8, kWide, 94, kIsa, kFp8Wide},
    Form{Group::Plain, MmaKind::F16, false, kHalf, true, std::nullopt, 0, 16, 0,
         kId0, "", "", kHalf, kTcgen, 86, kIsa},
    Form{Group::Plain, MmaKind::TF32, false, kTf32, true, std::nullopt, 0, 8, 0,
         kId0, "", "", kTf32, kTcgen, 86, kIsa},
    Form{Group::PlainI8, MmaKind::I8, false, kInt8, false, std::nullopt, 0, 32,
         0, kId0, "", "", kInt8, kTcgenI8, 86, kIsa},
    Form{Group::Plain, MmaKind::F8F6F4, true, kNarrow, false, std::nullopt, 0,
         64, 0, kId0, "", "", kFp8, kTcgen, 86, kIsa},
    Form{Group::Plain, MmaKind::F16, true, kHalf, true, std::nullopt, 0, 32, 0,
         kId0, "", "", kHalf, kTcgen, 86, kIsa},
    Form{Group::Plain, MmaKind::TF32, true, kTf32, true, std::nullopt, 0, 16, 0,
         kId0, "", "", kTf32, kTcgen, 86, kIsa},
    Form{Group::PlainI8, MmaKind::I8, true, kInt8, false, std::nullopt, 0, 64,
         0, kId0, "", "", kInt8, kTcgenI8, 86, kIsa},
    // mma.sync, block-scaled (PTX ISA 9.7.14.3). 4X with ue8m0 is PTX 9.1.
    Form{Group::Warp, MmaKind::MXF4, false, kFp4, false, EF::UE8M0, 32, 64, 2,
         kEvenId, k2X, k2X, kNone, kWarp, 87, kIsa},
    Form{Group::Warp, MmaKind::MXF4NVF4, false, kFp4, false, EF::UE4M3, 16, 64,
         4, kId0, k4X, k4X, kNone, kWarp, 87, kIsa},
    Form{Group::Warp, MmaKind::MXF4NVF4, false, kFp4, false, EF::UE8M0, 32, 64,
         2, kEvenId, k2X, k2X, kNone, kWarp, 87, kIsa},
    Form{Group::Warp, MmaKind::MXF4NVF4, false, kFp4, false, EF::UE8M0, 16, 64,
         4, kId0, k4X, k4X, kNone, kWarp, 91, kIsa},
    Form{Group::Warp, MmaKind::MXF8F6F4, false, kNarrow, false, EF::UE8M0, 32,
         32, 1, kAnyId, k1X, k1X, kNone, kWarp, 87, kIsa},
    // mma.sp::ordered_metadata, block-scaled; FP4 not on family targets.
    Form{Group::Warp, MmaKind::MXF4, true, kFp4, false, EF::UE8M0, 32, 128, 2,
         kEvenId, k2X, k2X, kNone, kWarpArch, 87, kIsa},
    Form{Group::Warp, MmaKind::MXF4NVF4, true, kFp4, false, EF::UE4M3, 16, 128,
         4, kId0, k4X, k4X, kNone, kWarpArch, 87, kIsa},
    Form{Group::Warp, MmaKind::MXF4NVF4, true, kFp4, false, EF::UE8M0, 32, 128,
         2, kEvenId, k2X, k2X, kNone, kWarpArch, 87, kIsa},
    Form{Group::Warp, MmaKind::MXF4NVF4, true, kFp4, false, EF::UE8M0, 16, 128,
         4, kId0, k4X, k4X, kNone, kWarpArch, 91, kIsa},
    Form{Group::Warp, MmaKind::MXF8F6F4, true, kNarrow, false, EF::UE8M0, 32,
         64, 1, kAnyId, k1X, k1X, kNone, kWarp, 87, kIsa},
    // mma.sync without scales, as on older chips but for kind::f8f6f4. Chips
    // with tensor memory have it too, at a fraction of tcgen05's rate; there it
    // is left out. The sparse forms: ptxas 13.0 takes them. ldmatrix.trans
    // brings 16-bit elements that lie along M or N (PTX ISA 9.7.14.5.15).
    Form{Group::Warp, MmaKind::F8F6F4, false, kNarrow, false, std::nullopt, 0,
         32, 0, kId0, "", "", kNone, kWarp, 87, kIsa},
    Form{Group::Warp, MmaKind::F16, false, kHalf, true, std::nullopt, 0, 16, 0,
         kId0, "", "", kHalf, kWarp, 87, kIsa},
    Form{Group::Warp, MmaKind::TF32, false, kTf32, true, std::nullopt, 0, 8, 0,
         kId0, "", "", kNone, kWarp, 87, kIsa},
    Form{Group::Warp, MmaKind::I8, false, kInt8, false, std::nullopt, 0, 32, 0,
         kId0, "", "", kNone, kWarp, 87, kIsa},
    Form{Group::Warp, MmaKind::F8F6F4, true, kNarrow, false, std::nullopt, 0,
         64, 0, kId0, "", "", kNone, kWarp, 87, Source::Inferred},
    Form{Group::Warp, MmaKind::F16, true, kHalf, true, std::nullopt, 0, 32, 0,
         kId0, "", "", kNone, kWarp, 87, Source::Inferred},
    Form{Group::Warp, MmaKind::TF32, true, kTf32, true, std::nullopt, 0, 16, 0,
         kId0, "", "", kNone, kWarp, 87, Source::Inferred},
    Form{Group::Warp, MmaKind::I8, true, kInt8, false, std::nullopt, 0, 64, 0,
         kId0, "", "", kNone, kWarp, 87, Source::Inferred},
};

/// Where the PTX ISA lists shapes, types and, for the scaled ones, scales.
std::string_view sectionsOf(const Form &form) {
  if (!form.evidence.empty())
    return form.scale ? "9.4, tables 48, 53 and 68" : "9.4, table 48";
  if (form.group == Group::Warp) {
    if (form.scale)
      return form.sparse ? "9.7.14.3, 9.7.14.6.3" : "9.7.14.3, 9.7.14.5.14";
    return form.sparse ? "9.7.14.6.3" : "9.7.14.5.14";
  }
  if (form.scale)
    return form.sparse ? "9.7.16.2.1, 9.7.16.10.7, 9.7.16.10.8"
                       : "9.7.16.2.1, 9.7.16.10.7";
  return form.sparse ? "9.7.16.2.1, 9.7.16.10.8" : "9.7.16.2.1";
}

MmaRow join(const Form &form, const Shape &shape) {
  MmaRow row{};
  row.family =
      form.group == Group::Warp ? MmaFamily::MmaSync : MmaFamily::Tcgen05;
  row.kind = form.kind;
  row.sparse = form.sparse;
  row.a = row.b = form.types;
  row.sameTypes = form.sameTypes;
  row.scale = form.scale;
  row.block = form.block;
  row.scalesPerMma = form.scales;
  row.k = form.k;
  row.ctaGroup = shape.ctaGroup;
  row.m = shape.m;
  row.nMin = shape.nMin;
  row.nMax = shape.nMax;
  row.nStep = shape.nStep;
  row.nStepMnMajorB = shape.nStepMnMajorB;
  row.mnMajor = form.mnMajor;
  row.scaleIds = form.ids;
  row.qualifier = form.qualifier;
  row.scaleVector = form.scaleVector;
  row.targets = form.targets;
  row.minPtx = form.minPtx;
  row.source = form.source > shape.source ? form.source : shape.source;
  row.sections = sectionsOf(form);
  row.evidence = form.evidence;
  return row;
}

} // namespace

const std::vector<MmaRow> &blockscale::hw::allRows() {
  static const std::vector<MmaRow> rows = [] {
    std::vector<MmaRow> result;
    for (const Form &form : kForms)
      for (const Shape &shape : kShapes)
        if (shape.group == form.group)
          result.push_back(join(form, shape));
    return result;
  }();
  return rows;
}
