//===- OpenPoints.cpp - choices where the ISA text is silent --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/OpenPoints.h"

namespace blockscale::emulator {

/// In the order of the enumeration.
static constexpr std::array<OpenPointInfo, size_t(OpenPoint::Count)> kPoints{{
    {"k96-cta-group-1", "K=96 is executed for cta_group 1 with M=128 too",
     "CUTLASS ships kernels for it; the PTX table lists only M=256 pairs"},
    {"k96-second-word-stride",
     "the second scale word of a row is 4 columns on for up to 128 rows, 8 "
     "beyond",
     "address arithmetic of CUTLASS for every tile it builds"},
    {"scale-column-alignment",
     "scale addresses may be at any even column, copies at multiples of 4",
     "CUTLASS and DeepGEMM addresses; one public report of a fault at odd "
     "ones"},
    {"cta-pair-m128-scales",
     "pairs with M=128 read A scales as rows 0..63 of each CTA and B scales "
     "split in two halves of N over the lanes",
     "a public hardware probe and a public two-CTA attention kernel"},
    {"sparse-pair-m128-accumulator",
     "pairs with M=128 and sparsity use half of the lanes, as M=64 does",
     "PTX data-path layout C, figure only"},
    {"fp4-tensor-memory-container",
     "fp4 in an 8-bit tensor-memory container is in bits 5..2",
     "the rule that mma.sync documents; tcgen05.cp writes it so"},
    {"ue8m0-with-block16",
     "kind mxf4nvf4 with ue8m0 and 16 elements per scale is executed",
     "PTX type table and CUTLASS descriptors; no public kernel"},
    {"accumulation-order",
     "products are added to the f32 accumulator in order of K, each rounded to "
     "nearest even",
     "unspecified beyond f32 precision; exact data do not depend on it"},
    {"nan-scale", "a NaN scale makes every product of its block NaN",
     "not in the ISA text; follows from the value of the scale"},
    {"base-offset-pattern",
     "a non-zero base offset shifts the swizzle pattern by that many rows of "
     "128 bytes",
     "PTX formula of the field; public kernels keep it at 0"},
    {"sparse-selector",
     "kind f16 and tf32 read metadata of 4 bytes per row and instruction from "
     "the column that the selector names",
     "PTX text leaves the position to a figure; CUTLASS passes even columns "
     "and "
     "the lowest bit of the column as the selector"},
    {"copy-4x256b-lanes",
     "tcgen05.cp.4x256b writes its rows to lanes 0, 32, 64 and 96",
     "hardware round-trip tests of the TVM project on B200"},
    {"shift-slice",
     "tcgen05.shift.down gives each lane of its 8 columns the row of the "
     "next lane, in all four slices of 32 lanes; lanes 31, 63, 95 and 127 "
     "keep theirs",
     "a public readback on B200 for an address in lane 0; the text says "
     "that all rows but the last move"},
    {"transposed-byte-matrix",
     "ldmatrix m16n16.trans puts rows 4(l%4)..+3 of column l/4 into the first "
     "register and of column l/4+8 into the second",
     "PTX text; the layout algebra of CUTLASS reads differently"},
    {"out-of-bounds-nan",
     "the NaN fill is 0x7FFF for 16-bit, 0x7FFFFFFF for 32-bit and all ones "
     "but the sign for 64-bit types",
     "the pattern is not documented; the canonical NaN of the type is used"},
    {"expect-tx-completes",
     "an expect_tx that brings tx to 0 with no arrival pending ends the phase",
     "the text names the completion test only for arrivals and complete_tx"},
    {"stochastic-alignment",
     "random bits are aligned to the top of the discarded mantissa bits; for "
     "e2m1x4 a and b take the upper bytes of the high and low half, e and f "
     "the lower bytes",
     "the text names the bits, not their alignment"},
    {"copy-over-scales-in-flight",
     "a copy issued after an mma by the same thread does not overtake it",
     "CUTLASS and Triton rely on issue order; the text does not list it"},
    {"fragment-lane-zero",
     "a tcgen05.ld or st whose address names a lane of 0..31 reaches the "
     "executing warp's own 32 lanes",
     "DeepGEMM gives lane 0 in all four epilogue warps; the text wants the "
     "warp's own lanes"},
    {"shifted-a",
     "mma.ashift multiplies A as it is, then moves its rows as "
     "tcgen05.shift.down does; metadata stays; a sparse pair with M=128 is "
     "refused",
     "the text describes both moves in the same words and leaves the order "
     "open; the tensor-core model of the TVM project"},
    {"weight-stationary-replicas",
     "mma.ws with M=32 or 64 takes A in tensor memory and the sparsity "
     "metadata of each part of N from the lanes of that part of the "
     "accumulator",
     "PTX data-path layouts E and G, figures only; CuTe's layouts of "
     "accumulators, and of an A that is doubled for pairs with M=128"},
    {"zero-column-spans",
     "the skip span of a zero-column mask counts the columns of zeros and the "
     "use span those of B, and the mask is over the columns of D",
     "the ISA's table says the reverse, its examples this; so does the builder "
     "of masks in CUTLASS"},
    {"zero-metadata",
     "metadata that names no legal pair of positions is taken where both "
     "values are zero",
     "the compressor of CUTLASS writes 0 for a chunk without values"},
}};

const std::array<OpenPointInfo, size_t(OpenPoint::Count)> &openPoints() {
  return kPoints;
}

} // namespace blockscale::emulator
