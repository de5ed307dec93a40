//===- BlockscaleKernelOps.td - ops of kernels -*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEKERNELOPS_TD
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEKERNELOPS_TD

include "blockscale/Dialect/Blockscale/IR/BlockscaleKernelAttrs.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleKernelEffects.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleKernelTypes.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleProductOps.td"
include "mlir/IR/SymbolInterfaces.td"

class Blockscale_KernelOp<string mnemonic, list<Trait> traits = []>
    : Blockscale_Op<mnemonic, traits> {
  // Bytecode of this level is for the same version of blockscale alone.
  let useCustomPropertiesEncoding = 0;
}

//===----------------------------------------------------------------------===//
// The host's side
//===----------------------------------------------------------------------===//

def Blockscale_LaunchOp : Blockscale_KernelOp<"launch",
    [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "run a kernel on tensors";
  let description = [{
    Value semantics: the result is the kernel's `d`, of a quantisation all of its
    parts. A kernel that quantises a matrix and its transpose has both as results.
    The operands are those of
    the op that the kernel was made from, in its order. How each becomes
    kernel parameters stands on the kernel's arguments and in its
    `blockscale.kernel` attribute.

    ```mlir
    %y = blockscale.launch @kernels::@proj(%x, %w) : (!x, !w) -> tensor<?x7168xbf16>
    ```
  }];
  let arguments = (ins SymbolRefAttr:$kernel, Variadic<AnyType>:$inputs);
  let results = (outs
    Variadic<AnyTypeOf<[AnyRankedTensor, Blockscale_ScaledTensor]>>:$results);
  let assemblyFormat =
    "$kernel `(` $inputs `)` attr-dict `:` functional-type($inputs, results)";
}

//===----------------------------------------------------------------------===//
// A whole product
//===----------------------------------------------------------------------===//

def Blockscale_KernelMatmulOp : Blockscale_KernelOp<"kernel_matmul",
    [AttrSizedOperandSegments, Blockscale_HasEpilogue, IsolatedFromAbove]> {
  let summary = "a block-scaled product that one kernel computes";
  let description = [{
    What `blockscale-form-kernels` leaves in a kernel and `blockscale-expand-kernels`
    expands: D = epilogue(alpha * A * B, beta * C, bias), with A, B and
    their scales, where the instruction has any, behind tensor maps. The epilogue
    is that of `blockscale.matmul`. `a` is the
    operand whose rows go to the lanes of tensor memory: with `swap_operands` in
    the schedule that is the source matmul's b, and D is written transposed, so
    that memory holds the same D either way. `m`, `n`, `k` and `batch` are the
    sizes of the source matmul. A sparse instruction reads a compressed `a` and its
    `metadata`. A product of integers is i32, and then nothing but the product.
    A schedule that splits K, or shares out tiles, needs a `workspace` of the
    accumulator's type for the sums of the parts, unless one cluster computes all
    of them. With
    `stores = tma` `d` is a tensor map, too, and with `c_loads = tma` so is `c`.

    With `pairs` an element of D, of n / 2 columns, is made of two sums, those of
    columns 2 * j and 2 * j + 1, as `blockscale.matmul` says.

    With `groups` the rows of D are in groups whose ends `offsets` holds, and each
    has a matrix of the source matmul's b, a bias of columns and their scales;
    `batch` counts them. The source's a, c and D have one matrix. The first
    `shared_scales` of `tensor_scales` are one number for all groups. Row scales are
    of single rows, or of all. With `rows` row r of the product is row
    `row_numbers[r]` of the source's a, which has `tokens` rows behind a tensor map of
    two dimensions and boxes of one row; so are its `row_scales`. Other numbers mean
    rows of zeros.

    With `masked` there is a product of the batch for each of `row_counts`, which says
    how many rows of its matrix of the source's a, from the first, are multiplied; the
    others of D are not written. Each has a bias of columns.

    With `k_groups` K is in groups whose ends `k_offsets` holds: matrix g of D is
    the product of group g of the columns of a and b, which are one matrix each. An end
    between two multiples of what groups end at (`blockscale.matmul`) counts as the one
    before it where that is more than the K of an instruction. Row and column scales of
    blocks of K lie as the elements do; others, and `tensor_scales` behind the
    `shared_scales`, are those of each group, as of each product of a batch.

    Scales that cover all of K are factors of the sum, which is multiplied by
    the product of alpha, the `tensor_scales` and the row's scale, then by the
    column's. Each of `tensor_scales` holds one number per product of the batch.
    `row_scales` hold one for each `row_group` rows of D, `column_scales` one
    for each `column_group` columns, those of one product of the batch after
    those of another. They are of f32, f16, bf16, f8E4M3FN, f8E5M2 or, as i8,
    codes of ue8m0 and, as ui8, those of ue5m3.

    With a `row_block` above 0 there is one of `row_scales` for each `row_group` rows
    and `row_block` elements of K, those of a group of rows after each other;
    `column_block` says the same of `column_scales`. The kernel then takes the sum s
    over each block of K, as long as the shorter of the two, and adds it to x, the
    sum of D's element, in the order of K: x = fma(s, row scale * column scale, x) in
    f32, from 0 on. A scale that covers all of K multiplies x as above.

    Zero points in real units, which no sum of elements has, are `num_terms` products
    of a number of D's row and one of its column that are subtracted from x as it then
    is, in their order: x = fma(-(alpha * row term), column term, x). `row_terms` hold
    the terms of all rows of a product of the batch, one term after another, and
    `column_terms` those of the columns. What they are the host decides. Where operands
    are swapped alpha is multiplied by the column term.

    With a `quantization` the result of the epilogue, rounded to its `x`, is
    quantised as it says: `d` takes the codes, as bytes, `d_scales` the scales as
    the type of its `d` lays them out, padding included. Where that type has a
    tensor scale, or one of a matrix, `d_factor` holds that of each, and
    `d_tensor_scale` the former's magnitude.
  }];
  let arguments = (ins
    Blockscale_MappedSource:$a,
    Blockscale_MappedSource:$b,
    Blockscale_OptionalMappedSource:$sfa,
    Blockscale_OptionalMappedSource:$sfb,
    Blockscale_OptionalMappedSource:$metadata,
    Blockscale_ResultTarget:$d,
    Blockscale_OptionalAddendSource:$c,
    Blockscale_OptionalGlobalSource:$bias,
    Optional<F32>:$alpha, Optional<F32>:$beta,
    Blockscale_Reads<Variadic<Blockscale_GlobalType>,
                     Blockscale_Global>:$tensor_scales,
    Blockscale_OptionalGlobalSource:$row_scales,
    Blockscale_OptionalGlobalSource:$column_scales,
    Blockscale_OptionalGlobalSource:$row_terms,
    Blockscale_OptionalGlobalSource:$column_terms,
    Optional<I32>:$num_terms,
    Blockscale_OptionalGlobalUpdated:$workspace,
    Blockscale_OptionalGlobalSource:$offsets,
    Blockscale_OptionalGlobalSource:$k_offsets,
    Blockscale_OptionalGlobalSource:$row_counts,
    Blockscale_OptionalGlobalSource:$row_numbers,
    Optional<I32>:$tokens,
    Blockscale_OptionalGlobalTarget:$d_scales,
    Blockscale_OptionalGlobalSource:$d_factor,
    Blockscale_OptionalGlobalTarget:$d_tensor_scale,
    I32:$m, I32:$n, I32:$k, I32:$batch,
    Blockscale_MmaAttr:$mma, Blockscale_ScheduleAttr:$schedule,
    DefaultValuedAttr<Blockscale_BiasKindAttr,
                      "::blockscale::BiasKind::Column">:$bias_kind,
    UnitAttr:$pairs,
    DefaultValuedAttr<I64Attr, "1">:$row_group,
    DefaultValuedAttr<I64Attr, "1">:$column_group,
    DefaultValuedAttr<I64Attr, "0">:$shared_scales,
    DefaultValuedAttr<I64Attr, "0">:$row_block,
    DefaultValuedAttr<I64Attr, "0">:$column_block,
    OptionalAttr<Blockscale_QuantizationAttr>:$quantization);
  let regions = (region MaxSizedRegion<1>:$epilogue);
  let assemblyFormat = [{
    `a` `(` $a `)` `b` `(` $b `)` custom<BlockScales>($sfa, $sfb)
    (`metadata` `(` $metadata^ `)`)? `d` `(` $d `)`
    (`c` `(` $c^ `)`)? (`bias` `(` $bias^ `)`)?
    (`alpha` `(` $alpha^ `)`)? (`beta` `(` $beta^ `)`)?
    (`tensor_scales` `(` $tensor_scales^ `)`)?
    (`row_scales` `(` $row_scales^ `)`)?
    (`column_scales` `(` $column_scales^ `)`)?
    (`terms` `(` $row_terms^ `,` $column_terms `of` $num_terms `)`)?
    (`workspace` `(` $workspace^ `)`)? (`groups` `(` $offsets^ `)`)?
    (`k_groups` `(` $k_offsets^ `)`)? (`masked` `(` $row_counts^ `)`)?
    (`rows` `(` $row_numbers^ `of` $tokens `)`)?
    (`d_scales` `(` $d_scales^ `)`)?
    (`d_factor` `(` $d_factor^ (`,` $d_tensor_scale^)? `)`)?
    `sizes` `(` $m `,` $n `,` $k `,` $batch `)`
    custom<Epilogue>($epilogue, $pairs, ref($c), ref($bias))
    (`quantization` `` $quantization^)?
    `mma` $mma `schedule` `` $schedule attr-dict `:`
    type($a) `,` type($b) `,` custom<ResultType>(type($d))
    custom<BlockScaleTypes>(ref($sfa), ref($sfb), type($sfa), type($sfb))
    (`metadata` type($metadata)^)? (`c` type($c)^)? (`bias` type($bias)^)?
    (`tensor_scales` type($tensor_scales)^)?
    (`row_scales` type($row_scales)^)?
    (`column_scales` type($column_scales)^)?
    (`terms` type($row_terms)^ `,` type($column_terms))?
    (`workspace` type($workspace)^)? (`groups` type($offsets)^)?
    (`k_groups` type($k_offsets)^)? (`masked` type($row_counts)^)?
    (`rows` type($row_numbers)^)?
    (`d_scales` type($d_scales)^)?
    (`d_factor` type($d_factor)^ (`,` type($d_tensor_scale)^)?)?
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

def Blockscale_SharedAllocOp : Blockscale_KernelOp<"shared_alloc"> {
  let summary = "a ring of stages in dynamic shared memory";
  let description = [{
    `offset` is the byte offset from the start of dynamic shared memory; it is
    absent until `blockscale-assign-memory` has run.

    ```mlir
    %a = blockscale.shared_alloc offset(1024) : !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset);
  let results = (outs
    Res<Blockscale_SharedType, "", [MemAlloc<Blockscale_Shared>]>:$result);
  let assemblyFormat = "(`offset` `(` $offset^ `)`)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Blockscale_BarrierAllocOp : Blockscale_KernelOp<"barrier_alloc"> {
  let summary = "mbarriers in shared memory, initialised";
  let description = [{
    Each barrier's phase ends after `arrivals` arrivals and all announced
    bytes. One thread of the CTA initialises them; a CTA-wide barrier must
    follow before another thread uses them, a `cluster_barrier` before another
    CTA does.
  }];
  let arguments = (ins I64Attr:$arrivals, OptionalAttr<I64Attr>:$offset);
  let results = (outs
    Res<Blockscale_BarrierType, "", [MemAlloc<Blockscale_Barriers>,
                                     MemWrite<Blockscale_Barriers>]>:$result);
  let assemblyFormat = [{
    `arrivals` `(` $arrivals `)` (`offset` `(` $offset^ `)`)? attr-dict
    `:` type($result)
  }];
  let hasVerifier = 1;
}

def Blockscale_TmemAllocOp : Blockscale_KernelOp<"tmem_alloc",
    [MemoryEffects<[MemAlloc<Blockscale_Tensor>,
                    MemRead<Blockscale_Convergence>]>]> {
  let summary = "allocate tensor memory and give up the right to more";
  let description = [{
    Executed by one whole warp. Writes the address to the first word of
    `slot`; a CTA-wide barrier must follow before `tmem_view` reads it.
    `columns` is a power of two from 32 to 512, on sm_107 also a multiple of 32 up
    to 576, which the CTA then takes exclusively; absent until
    `blockscale-assign-memory` has run. With `pair` one warp of each CTA of the
    pair executes it, after both are known to run.
  }];
  let arguments = (ins Blockscale_SharedTarget:$slot,
                       OptionalAttr<I64Attr>:$columns, UnitAttr:$pair);
  let assemblyFormat = [{
    $slot (`columns` `(` $columns^ `)`)? (`pair` $pair^)? attr-dict
    `:` type($slot)
  }];
  let hasVerifier = 1;
}

def Blockscale_TmemDeallocOp : Blockscale_KernelOp<"tmem_dealloc",
    [MemoryEffects<[MemFree<Blockscale_Tensor>,
                    MemRead<Blockscale_Convergence>]>]> {
  let summary = "free the tensor memory that tmem_alloc took";
  let description = [{
    Executed by one whole warp, after a CTA-wide barrier behind the last use.
    With `pair` one warp of each CTA of the pair executes it, after a barrier
    of both.
  }];
  let arguments = (ins Blockscale_SharedSource:$slot,
                       OptionalAttr<I64Attr>:$columns, UnitAttr:$pair);
  let assemblyFormat = [{
    $slot (`columns` `(` $columns^ `)`)? (`pair` $pair^)? attr-dict
    `:` type($slot)
  }];
  let hasVerifier = 1;
}

def Blockscale_TmemViewOp : Blockscale_KernelOp<"tmem_view"> {
  let summary = "a region of the allocated tensor memory";
  let description = [{
    `column` is the first column relative to the allocation, absent until
    `blockscale-assign-memory` has run. Each view is a region of its own.
  }];
  let arguments = (ins Blockscale_SharedSource:$slot,
                       OptionalAttr<I64Attr>:$column);
  let results = (outs
    Res<Blockscale_TensorMemoryType, "", [MemAlloc<Blockscale_Tensor>]>:$result);
  let assemblyFormat = [{
    $slot (`column` `(` $column^ `)`)? attr-dict
    `:` type($slot) `->` type($result)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Who does what
//===----------------------------------------------------------------------===//

def Blockscale_WarpsOp : Blockscale_KernelOp<"warps",
    [SingleBlock, NoTerminator, RecursiveMemoryEffects]> {
  let summary = "code of some warps of the CTA";
  let description = [{
    ```mlir
    blockscale.warps "producer" 4 to 5 { ... }   // warp 4 only
    ```
  }];
  let arguments = (ins StrAttr:$role, I64Attr:$first, I64Attr:$last);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$role $first `to` $last $body attr-dict";
  let hasVerifier = 1;
}

def Blockscale_ElectOp : Blockscale_KernelOp<"elect", [Blockscale_WholeWarp]> {
  let summary = "true in one lane of the warp, the same at every execution";
  let results = (outs I1:$result);
  let assemblyFormat = "attr-dict";
}

def Blockscale_TileCoordinatesOp : Blockscale_KernelOp<"tile_coordinates",
    [NoMemoryEffect]> {
  let summary = "row, column and batch of the output tile with a number";
  let description = [{
    Tiles are numbered so that neighbours share operands in the L2 cache: in
    groups of `group` row tiles, down the rows first, then along the columns.
  }];
  let arguments = (ins I32:$tile, I32:$row_tiles, I32:$column_tiles,
                       I64Attr:$group);
  let results = (outs I32:$row, I32:$column, I32:$batch);
  let assemblyFormat =
    "$tile `of` `(` $row_tiles `,` $column_tiles `)` `group` $group attr-dict";
}

//===----------------------------------------------------------------------===//
// Moving data
//===----------------------------------------------------------------------===//

def Blockscale_TmaLoadOp : Blockscale_KernelOp<"tma_load",
    [AttrSizedOperandSegments]> {
  let summary = "load a box from global into shared memory";
  let description = [{
    Asynchronous: the bytes count on barrier `signal` of the same stage; a
    remote one is that of the pair's leader. `at` is the stage that they go to
    where it has another number than the barrier. `box` selects the box inside the
    stage where a stage holds several (groups of rows of an MN-major
    operand, 128 bytes of them); `slice` counts on from there. With `multicast` the box goes to the
    same place in every CTA of the cluster whose bit is set, and counts on the
    barrier of each. Coordinates are in elements, innermost first; what lies
    outside the tensor reads as zero.
  }];
  let arguments = (ins
    Blockscale_MappedSource:$map, Variadic<I32>:$coordinates,
    Blockscale_SharedTarget:$shared,
    Blockscale_SignalledBarrier:$signal, I32:$stage,
    Optional<I32>:$slice, Optional<I32>:$multicast, Optional<I32>:$shared_stage,
    DefaultValuedAttr<I64Attr, "0">:$box);
  let assemblyFormat = [{
    $map `[` $coordinates `]` `to` $shared `signal` $signal `stage` $stage
    (`at` $shared_stage^)? (`box` $box^)? (`slice` $slice^)? (`multicast` $multicast^)? attr-dict
    `:` type($map) `to` type($shared) `,` type($signal)
  }];
  let hasVerifier = 1;
}

def Blockscale_TmaPrefetchOp : Blockscale_KernelOp<"tma_prefetch",
    [MemoryEffects<[MemWrite<Blockscale_Grid>]>]> {
  let summary = "ask the L2 cache for a box of global memory";
  let description = [{
    What `tma_load` of the same coordinates would read. All grids see one L2
    cache, so that a grid which still runs may write the box later; nobody waits
    for it.
  }];
  let arguments = (ins
    Blockscale_MappedSource:$map, Variadic<I32>:$coordinates);
  let assemblyFormat = "$map `[` $coordinates `]` attr-dict `:` type($map)";
  let hasVerifier = 1;
}

def Blockscale_TmaGatherOp : Blockscale_KernelOp<"tma_gather"> {
  let summary = "load parts of four rows from global into shared memory";
  let description = [{
    As `tma_load`, but of the four rows of the tensor whose numbers `rows` has, from
    element `column` on, which follow each other in the stage as rows from number
    `place` of the box's width on. The tensor map has two dimensions and a box of one
    row. Numbers that no row has read as zeros.
  }];
  let arguments = (ins
    Blockscale_MappedSource:$map, I32:$column,
    VectorOfLengthAndType<[4], [I32]>:$rows,
    Blockscale_SharedTarget:$shared,
    Blockscale_SignalledBarrier:$signal, I32:$stage, I32:$place,
    Optional<I32>:$multicast);
  let assemblyFormat = [{
    $map `[` $column `]` `rows` $rows `to` $shared `signal` $signal
    `stage` $stage `place` $place (`multicast` $multicast^)? attr-dict
    `:` type($map) `to` type($shared) `,` type($signal) `,` type($rows)
  }];
  let hasVerifier = 1;
}

def Blockscale_MaskScalesOp : Blockscale_KernelOp<"mask_scales",
    [Blockscale_WholeWarp]> {
  let summary = "clear the scales behind the end of K in a stage";
  let description = [{
    Clears scale `valid` and those behind it in every row of the stage, so that
    whatever the padding in memory holds, a NaN included, cannot reach the
    product. Executed by one whole warp; the async proxy sees the result. With
    `rank` the stage is that of another CTA of the cluster.
  }];
  let arguments = (ins Blockscale_SharedTarget:$shared,
                       I32:$stage, I32:$valid,
                       Optional<I32>:$rank);
  let assemblyFormat = [{
    $shared `[` $stage `]` `valid` $valid (`rank` $rank^)? attr-dict
    `:` type($shared)
  }];
  let hasVerifier = 1;
}

def Blockscale_CopyScalesOp : Blockscale_KernelOp<"copy_scales"> {
  let summary = "copy a stage of scales into tensor memory";
  let description = [{
    One `tcgen05.cp` of 512 bytes per 128 rows and 4 scales, replicated to the
    four lane quadrants. Asynchronous, in order before later MMAs of the same
    thread. With `pair` each CTA of the pair copies its own stage. The first
    scales go to word `word` of the target, a word being 4 scales of each row;
    words behind the last one start over at the first. Scales with one row to a
    lane come from tiles of 128 rows by 16 bytes, 2048 bytes to a `tcgen05.cp`.
  }];
  let arguments = (ins Blockscale_SharedSource:$shared,
                       I32:$stage,
                       Blockscale_TensorTarget:$target,
                       UnitAttr:$pair,
                       DefaultValuedAttr<I64Attr, "0">:$word);
  let assemblyFormat = [{
    $shared `[` $stage `]` `to` $target (`word` $word^)? (`pair` $pair^)?
    attr-dict
    `:` type($shared) `to` type($target)
  }];
  let hasVerifier = 1;
}

def Blockscale_CopyMetadataOp : Blockscale_KernelOp<"copy_metadata"> {
  let summary = "copy a stage of sparsity metadata into tensor memory";
  let description = [{
    One `tcgen05.cp` of 2048 bytes per 128 rows x 16 bytes of metadata: row r
    goes to lane r. Asynchronous, in order before later MMAs of the same thread.
    With `pair` each CTA of the pair copies its own stage.
  }];
  let arguments = (ins Blockscale_SharedSource:$shared,
                       I32:$stage,
                       Blockscale_TensorTarget:$target,
                       UnitAttr:$pair);
  let assemblyFormat = [{
    $shared `[` $stage `]` `to` $target (`pair` $pair^)? attr-dict
    `:` type($shared) `to` type($target)
  }];
  let hasVerifier = 1;
}

def Blockscale_CollectorB : I32Enum<"CollectorB",
    "what an instruction does with B in the collector", [
      I32EnumCase<"Fill", 0, "fill">,
      I32EnumCase<"LastUse", 1, "last_use">]> {
  let cppNamespace = "::blockscale";
}

def Blockscale_CollectorBAttr
    : EnumAttr<Blockscale_Dialect, Blockscale_CollectorB, "collector_b">;

def Blockscale_MmaOp : Blockscale_KernelOp<"mma",
    [AttrSizedOperandSegments]> {
  let summary = "multiply one stage into an accumulator";
  let description = [{
    D += A * B over the stage's part of K, or D = A * B where `accumulate` is
    false. `steps` lists the instructions, one entry each; it is absent until
    `blockscale-assign-steps` has run. With `valid` (elements of K in this
    stage, at least 1) instructions behind the end of K are not executed.
    `shift` is added to the column of B's scales: tiles that start in the middle
    of a group of 128 rows read it from there. A sparse instruction reads from
    `metadata` which elements of `a` were kept; a stage of `a` then holds half as
    many elements along K as one of `b`. Kinds that are not block-scaled have no
    scales; kind i8 accumulates in i32, the others in f32. An
    instruction of `cta_group` 2 reads half of the rows of A and half of those of
    B from each CTA, at the same place in both; the scales of A are those of the
    CTA's own rows, those of B of all rows in each.

    `range` says which elements of a group of stages are multiplied, the whole
    stage without it; then `valid` counts from the start of the group too. A
    range of one instruction may start in the stage before, `previous`, and end
    in `stage`. The scales of a group follow each other in their regions, word
    after word, and start over at the first where a region ends.

    With `collector` B is kept from one instruction to the next on the chips that
    can: `fill` leaves it there, `last_use` of the next op, with the same B,
    scales of B and range, takes it. It is a permission, not an order: B must stay
    as it is until both are done. Dense instructions with 128 rows for each CTA,
    one to an op.
  }];
  let arguments = (ins
    Blockscale_TensorAccumulator:$accumulator,
    I32:$copy,
    Blockscale_SharedSource:$a,
    Blockscale_SharedSource:$b, I32:$stage,
    Optional<I32>:$previous,
    Blockscale_OptionalTensorSource:$sfa,
    Blockscale_OptionalTensorSource:$sfb,
    Blockscale_OptionalTensorSource:$metadata,
    I1:$accumulate, Optional<I32>:$valid, Optional<I32>:$shift,
    Blockscale_MmaAttr:$instruction,
    OptionalAttr<Blockscale_KRangeAttr>:$range,
    OptionalAttr<Blockscale_CollectorBAttr>:$collector,
    OptionalAttr<Blockscale_StepArrayAttr>:$steps);
  let assemblyFormat = [{
    $instruction $accumulator `[` $copy `]` `,` $a `,` $b `stage` $stage
    (`previous` $previous^)? (`range` $range^)? (`collector` $collector^)?
    (`scales` $sfa^ `,` $sfb)? (`metadata` $metadata^)? `accumulate` $accumulate
    (`valid` $valid^)? (`shift` $shift^)? (`steps` $steps^)? attr-dict `:` type($accumulator) `,` type($a) `,` type($b)
    (`scales` type($sfa)^ `,` type($sfb))? (`metadata` type($metadata)^)?
  }];
  let hasVerifier = 1;
}

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEKERNELOPS_TD
