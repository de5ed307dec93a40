//===- BlockscaleWarpOps.td - ops of warp-level kernels -*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chips without tensor memory multiply with mma.sync: operands, scales and
// accumulators are in registers, spread over the 32 lanes of a warp. A lane's
// part of an operand is a fragment (PTX ISA, "Matrix Fragments for mma.m16n8k32"
// and the like); lane l is the pair g = l / 4, c = l % 4.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEWARPOPS_TD
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEWARPOPS_TD

include "blockscale/Dialect/Blockscale/IR/BlockscaleKernelOps.td"

class Blockscale_Fragment<int size, Type element, string build, string what>
    : Type<FixedVectorOfLengthAndType<[size], [element]>.predicate, what,
           "::mlir::VectorType">,
      BuildableType<"::mlir::VectorType::get({" # size # "}, $_builder."
                    # build # "())">;
def Blockscale_FragmentA : Blockscale_Fragment<4, I32, "getI32Type",
    "a lane's part of 16 rows of A, vector<4xi32>">;
def Blockscale_FragmentB : Blockscale_Fragment<2, I32, "getI32Type",
    "a lane's part of 8 columns of B, vector<2xi32>">;
def Blockscale_FragmentC
    : Type<FixedVectorOfLengthAndType<[4], [F32, I32]>.predicate,
           "a lane's part of a 16 x 8 accumulator, vector<4xf32>, or "
           "vector<4xi32> of integers", "::mlir::VectorType">;

//===----------------------------------------------------------------------===//
// Moving data into registers
//===----------------------------------------------------------------------===//

def Blockscale_LoadAFragmentOp : Blockscale_KernelOp<"load_a_fragment"> {
  let summary = "load 16 rows of A for one instruction";
  let description = [{
    Rows `row + 16 * tile` to `row + 16 * tile + 15` of a stage, and of each row
    the `step`-th 32 bytes, which are all that an instruction reads of A, and of
    B half of what a sparse one does. `row` is a multiple of 8. Elements of 4 and 6 bits
    in containers of 8 leave memory as `mma` takes them: one per byte, 6-bit
    ones in bits 5 to 0, 4-bit ones in bits 5 to 2. Rows of elements of 16 bits may
    lie together, in a ring of stages x row groups x K x rows: they leave memory
    transposed. Executed by a whole warp.

    ```mlir
    %a = blockscale.load_a_fragment %ring[%stage] row %row tile 1 step 0 : !blockscale.shared<2x128x128xf8E4M3FN, container = 8, swizzle = "128B">
    ```
  }];
  let arguments = (ins Blockscale_SharedSource:$ring,
                       I32:$stage, I32:$row,
                       I64Attr:$tile, I64Attr:$step);
  let results = (outs Blockscale_FragmentA:$result);
  let assemblyFormat = [{
    $ring `[` $stage `]` `row` $row `tile` $tile `step` $step attr-dict
    `:` type($ring)
  }];
  let hasVerifier = 1;
}

def Blockscale_LoadBFragmentsOp : Blockscale_KernelOp<"load_b_fragments"> {
  let summary = "load 16 columns of B for two instructions";
  let description = [{
    As `load_a_fragment` does; a row of the stage is a column of B. `low` are
    the first 8 of the 16 columns, `high` the others.
  }];
  let arguments = (ins Blockscale_SharedSource:$ring,
                       I32:$stage, I32:$row,
                       I64Attr:$tile, I64Attr:$step);
  let results = (outs Blockscale_FragmentB:$low, Blockscale_FragmentB:$high);
  let assemblyFormat = [{
    $ring `[` $stage `]` `row` $row `tile` $tile `step` $step attr-dict
    `:` type($ring)
  }];
  let hasVerifier = 1;
}

def Blockscale_LoadWarpScalesOp : Blockscale_KernelOp<"load_warp_scales"> {
  let summary = "load the scales of 32 rows, four per row";
  let description = [{
    The result of lane (g, c) holds scales `4 * word` to `4 * word + 3` of row
    `row + 32 * group + 8 * c + g`, the first one in the lowest byte. Rows
    count modulo 128, the rows of an atom. So one register serves two
    tiles of A or four of B, and as many instructions along K as four
    scales do. With `valid`, scale `valid` of the stage and those behind it
    read as 0, whatever the padding in memory holds.
  }];
  let arguments = (ins Blockscale_SharedSource:$ring,
                       I32:$stage, I32:$row,
                       I64Attr:$group, I64Attr:$word, Optional<I32>:$valid);
  let results = (outs I32:$result);
  let assemblyFormat = [{
    $ring `[` $stage `]` `row` $row `group` $group `word` $word
    (`valid` $valid^)? attr-dict `:` type($ring)
  }];
  let hasVerifier = 1;
}

def Blockscale_LoadWarpMetadataOp : Blockscale_KernelOp<"load_warp_metadata"> {
  let summary = "load the metadata of 16 rows of a sparse A for one instruction";
  let description = [{
    The result of lane (g, c) covers the half `c / 2` of the instruction's K of
    row `row + 16 * tile + g + 8 * (c % 2)`: eight chunks, four bits each.
    `step` numbers the instruction along K. With `valid`, an instruction that is
    not among the first `valid` ones gets chunks that are well formed, 0x4
    each, whatever the padding in memory holds.
  }];
  let arguments = (ins Blockscale_SharedSource:$ring,
                       I32:$stage, I32:$row,
                       I64Attr:$tile, I64Attr:$step, Optional<I32>:$valid);
  let results = (outs I32:$result);
  let assemblyFormat = [{
    $ring `[` $stage `]` `row` $row `tile` $tile `step` $step
    (`valid` $valid^)? attr-dict `:` type($ring)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Multiplying
//===----------------------------------------------------------------------===//

def Blockscale_ScaleSelectorAttr
    : AttrDef<Blockscale_Dialect, "ScaleSelector"> {
  let mnemonic = "scale_selector";
  let summary = "which lanes and bytes supply the scales of an instruction";
  let description = [{
    `thread` selects the lanes c of each quad: of A `2 * thread` for row g and
    `2 * thread + 1` for row g + 8, of B `thread` for column g. `byte` is the
    byte of their registers with the scale of the first block along K.
  }];
  let parameters = (ins "int64_t":$byte, "int64_t":$thread);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Blockscale_WarpMmaOp : Blockscale_KernelOp<"warp_mma",
    [Blockscale_WholeWarp, AttrSizedOperandSegments,
     AllTypesMatch<["c", "result"]>]> {
  let summary = "one mma.sync, block-scaled or without scales";
  let description = [{
    The result is A * B + C. `tile` numbers the instruction's rows, in units of
    16, and columns, in units of 8, within what the warp multiplies; `step`
    numbers it along K within the stage. From them
    `blockscale-assign-steps` derives `sfa_id` and `sfb_id`, which are
    absent before. They, `sfa` and `sfb` belong to kinds that take scales; the
    others go without. Kind `i8` adds up `vector<4xi32>`, the others
    `vector<4xf32>`. A sparse instruction takes the metadata of A, and as `b`
    and `b_high` the columns of B in the first and second half of K. Executed by
    a whole warp.

    ```mlir
    %d = blockscale.warp_mma #mma %a, %b, %c scales %sfa, %sfb tile 1, 3 step 2 ids <byte = 2, thread = 1>, <byte = 2, thread = 3>
    ```
  }];
  let arguments = (ins
    Blockscale_FragmentA:$a, Blockscale_FragmentB:$b, Blockscale_FragmentC:$c,
    Optional<Blockscale_FragmentB>:$b_high, Optional<I32>:$metadata,
    Optional<I32>:$sfa, Optional<I32>:$sfb, Blockscale_MmaAttr:$instruction,
    I64Attr:$row_tile, I64Attr:$column_tile, I64Attr:$step,
    OptionalAttr<Blockscale_ScaleSelectorAttr>:$sfa_id,
    OptionalAttr<Blockscale_ScaleSelectorAttr>:$sfb_id);
  let results = (outs Blockscale_FragmentC:$result);
  let assemblyFormat = [{
    $instruction $a `,` $b `,` $c
    (`sparse` `(` $b_high^ `,` $metadata `)`)? (`scales` $sfa^ `,` $sfb)?
    `tile` $row_tile `,` $column_tile `step` $step
    (`ids` $sfa_id^ `,` $sfb_id)? attr-dict ``
    custom<SumsOfKind>(type($c), ref($instruction))
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------===//

def Blockscale_FinishFragmentsOp
    : Blockscale_KernelOp<"finish_fragments",
                          [Blockscale_WholeWarp, InferTypeOpAdaptor]> {
  let summary = "the accumulators behind the last instruction";
  let description = [{
    Results are the operands. Every `warp_mma` that they come from is executed
    before, by the whole warp, also where the results are used by a part of it
    only.
  }];
  let arguments = (ins Variadic<Blockscale_FragmentC>:$fragments);
  let results = (outs Variadic<Blockscale_FragmentC>:$results);
  let assemblyFormat =
    "$fragments attr-dict `:` type($fragments) `->` type($results)";
}

def Blockscale_FragmentPositionOp
    : Blockscale_KernelOp<"fragment_position", [Pure]> {
  let summary = "where a lane's part of an accumulator lies";
  let description = [{
    Elements 0 and 1 of the lane's fragment are the columns `column` and
    `column + 1` of row `row`, elements 2 and 3 those of row `row + 8`.
  }];
  let results = (outs I32:$row, I32:$column);
  let assemblyFormat = "attr-dict";
}

def Blockscale_SyncWarpOp : Blockscale_KernelOp<"sync_warp",
    [Blockscale_Synchronizes]> {
  let summary = "wait for all lanes of the warp and order their accesses";
  let assemblyFormat = "attr-dict";
}

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEWARPOPS_TD
