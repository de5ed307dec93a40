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
    {"scale-column-alignment",
     "scale addresses may be at any even column, and at odd ones too "
     "where A has a row to a lane; copies at multiples of 4",
     "CUTLASS and DeepGEMM addresses, compiled kernels for sm_107; one "
     "public report of a fault at odd ones; the text of PTX 9.4 aligns "
     "the byte in the word only"},
    {"cta-pair-m128-scales",
     "pairs with M=128 read A scales as rows 0..63 of each CTA and B "
     "scales split in two halves of N over the lanes",
     "a public hardware probe, a public two-CTA attention kernel, the "
     "lowering of Triton and an attention kernel for sm_107"},
    {"sparse-pair-m128-accumulator",
     "pairs with M=128 and sparsity use half of the lanes, as M=64 does",
     "PTX data-path layout C, figure only"},
    {"fp4-tensor-memory-container",
     "fp4 in an 8-bit tensor-memory container is in bits 5..2",
     "the rule that mma.sync documents; tcgen05.cp writes it so"},
    {"accumulation-order",
     "products are added to the f32 accumulator in order of K, each rounded to "
     "nearest even",
     "unspecified beyond f32 precision; exact data do not depend on it"},
    {"nan-scale", "a NaN scale makes every product of its block NaN",
     "not in the ISA text; follows from the value of the scale"},
    {"base-offset-pattern",
     "a non-zero base offset shifts the swizzle pattern by that many rows of "
     "128 bytes",
     "PTX formula of the field; public kernels keep it at 0; wgmma on an H100 "
     "reads so"},
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
     "PTX 9.4: 31 rows of 256 bits from a lane that is a multiple of 32; "
     "that all four slices move rests on a public readback on B200 for an "
     "address in lane 0"},
    {"transposed-byte-matrix",
     "ldmatrix m16n16.trans puts rows 4(l%4)..+3 of column l/4 into the first "
     "register and of column l/4+8 into the second",
     "PTX text; the layout algebra of CUTLASS reads differently"},
    {"out-of-bounds-nan",
     "the NaN fill is 0x7FF7 in each 16 bits, whatever the type",
     "measured on an H100; nobody has looked on other chips"},
    {"expect-tx-completes",
     "an expect_tx that brings tx to 0 with no arrival pending ends the phase",
     "the text names the completion test only for arrivals and complete_tx"},
    {"stochastic-alignment",
     "random bits are aligned to the top of the discarded mantissa bits; "
     "for e2m1x4 a and b take the upper bytes of the high and low half, e "
     "and f the lower bytes",
     "PTX 9.4 says so for f16x2 (13 bits) and for the bytes of e2m1x4; "
     "the alignment for FP8 and FP6 is in a figure only"},
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
     "the skip span of a zero-column mask counts the columns of zeros and "
     "the use span those of B, and the mask is over the columns of D",
     "the ISA's table says the reverse, its examples this; so do the "
     "builder of masks in CUTLASS and tests of the TVM project, which "
     "says that B200 agrees"},
    {"zero-metadata",
     "metadata that names no legal pair of positions is taken where both "
     "values are zero",
     "the compressor of CUTLASS writes 0 for a chunk without values"},
    {"k128-cta-group-1",
     "K=128 of FP4 is executed for cta_group 1 with M=128 too",
     "the shape table of PTX 9.4 names it for pairs only, its sections on "
     "descriptors and scales for both; compiled by the vendor's DSL, "
     "tested by value on hardware by ThunderKittens"},
    {"mxf8f6f4-k64-scales",
     "K=64 of mxf8f6f4 takes two scales per row, with ids 0 and 2",
     "blocks of 32, compiled kernels and public libraries; a table of PTX "
     "9.4 says one scale at every K"},
    {"k96-block32-ids", "K=96 and sparse K=192 in blocks of 32 take ids 0 to 3",
     "figures of PTX 9.4 and the kernels of CUTLASS, CuTe and "
     "cuDNN-frontend; the descriptor table says 0 or 2"},
    {"sparse-wide-scales",
     "sparse K=128 of mxf8f6f4 takes two scales per row, sparse K=192 of "
     "FP4 as many as dense K=96; kind f8f6f4 with sparse K=128 is refused",
     "inferred from the dense forms; no public kernel, and the text has "
     "no descriptor code for the last"},
    {"block32-ue4m3-ue5m3",
     "ue4m3 and ue5m3 scales in blocks of 32 are executed on sm_107",
     "type table of PTX 9.4 and compiled kernels; the assembler carries "
     "messages against it, and nobody published a value test"},
    {"row-scales-pair-m128",
     "pairs with M=128 take the scales of A, a row to a lane, from lanes "
     "0 to 63 of each CTA",
     "a guess: the figures of the layout are not public"},
    {"wide-tensor-memory-container",
     "A in tensor memory at the wide K is packed as in shared memory; "
     "4-bit elements of mxf8f6f4 are refused there",
     "PTX 9.4 names a 6-bit container for K=64 and none for packed fp4; "
     "public kernels keep A in shared memory"},
    {"absolute-leading-sm107",
     "bit 52 of a shared-memory descriptor means on sm_107a what it means "
     "on sm_103a",
     "K=96 needs it there; the text names sm_103a only"},
    {"shared-address-19-bits",
     "shared-memory descriptors of sm_107 name addresses of 19 bits",
     "PTX 9.4 gives the fields 15 bits; its formula of encoding still masks "
     "18 bits of the address, on which two libraries stumbled"},
    {"collector-b-m64", "'.collector::b' with 64 rows per CTA is refused",
     "cuDNN-frontend reports an illegal instruction; the text says nothing"},
    {"read-commit",
     "a commit with .sync_restrict::shared::read::mma::a arrives when the "
     "mmas are complete",
     "the latest moment that the text allows: it says nothing of their "
     "end; strict mode takes it as the end of the reads of A alone"},
    {"exclusive-elsewhere",
     "exclusive allocation exists on all targets with tcgen05, up to 576 "
     "columns on sm_107 and 512 elsewhere; more is refused",
     "the instruction says sm_100f and sm_110f up, the table of features "
     "sm_107f only; the assembler takes all of them, and 608 and 1024 "
     "columns"},
    {"ue5m3-sign", "cvt to ue5m3 drops the sign of the source before it rounds",
     "the vendor's host code, and its device path hands signed values to "
     "cvt; the text does not say"},
    {"plus-zero-of-rounding",
     "'.pzo' makes +0 of every result -0, be it of -0 or of a small number",
     "the text names the result, not its cause"},
    {"ti16-majors", "operands of kind ti16 must be K-major",
     "the table of descriptors says that they are not transposed, the one of "
     "majors that they may be"},
    {"compressed-equals",
     "of equal numbers 'tcgen05.ld.spcompress' keeps those of the lower "
     "columns, of more than two NaN likewise; -0 is less than 0",
     "the text leaves it to the implementation"},
    {"lut-b-tables",
     "the table of the columns 8g to 8g+7 of the B of '.decompress::lut::b' "
     "lies in lane g, values 0 to 3 in the column of the address and 4 to 7 "
     "in the next, from the lowest byte on; in a pair each CTA has those of "
     "its half of N; the address names lane 0, and copies in other quarters "
     "of the lanes are not read",
     "PTX 9.4 has the layout in figures only; its text gives tables of 8 "
     "bytes for 8 columns, an address of two columns, and in global memory 4 "
     "blocks of 128 bytes with 8 rows and 2 columns, which one copy "
     "32x128b puts so; the simulator of the TVM project reads it in the same "
     "way"},
    {"lut-b-indices",
     "the 128 indices of a row of B lie in its 48 bytes in order of K, 3 "
     "bits each from the lowest bit of the first byte on; of the 24 bytes "
     "that an instruction does not use only the place is checked",
     "PTX 9.4 gives the 48 and the 24 bytes and bit 53, the order in figures "
     "only; the simulator of the TVM project reads it in the same way"},
    {"report-sample",
     "a copy with a report per 16 bytes inspects the first element of each "
     "aligned 16 bytes of global memory, where it copies that element",
     "PTX 9.4 says 'a sampled element from the aligned 16 byte chunk'; the "
     "simulator of the TVM project takes the first as well"},
    {"report-elements",
     "'per_element::ff' looks for bytes of ones, and in tensor maps of 4-bit "
     "elements for four ones",
     "PTX 9.4 lists the patterns NaN and 0xF for elements of 8 and of 4 "
     "bits, and bytes as what is written; how a copy tells the two apart it "
     "does not say"},
}};

const std::array<OpenPointInfo, size_t(OpenPoint::Count)> &openPoints() {
  return kPoints;
}

} // namespace blockscale::emulator
