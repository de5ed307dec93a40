//===- Passes.td - passes of the dialect -------------------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_TRANSFORMS_PASSES_TD
#define BLOCKSCALE_DIALECT_BLOCKSCALE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def AttachTarget : Pass<"blockscale-attach-target", "::mlir::ModuleOp"> {
  let summary = "Say which chip the module is compiled for";
  let description = [{
    Sets `blockscale.target` of the module, which is the target of all ops for
    which nothing inside the module names another. Refuses a module that names
    another chip itself.

    After:
    ```mlir
    module attributes {blockscale.target = #blockscale.target<sm_103a>} {...}
    ```
  }];
  let options = [Option<"target", "target", "std::string", /*default=*/"",
                        "Chip to compile for, such as sm_100a or sm_103a; "
                        "empty leaves the module as it is">];
  let dependentDialects = ["::blockscale::BlockscaleDialect"];
}

def FuseEpilogues : Pass<"blockscale-fuse-epilogues"> {
  let summary = "Make what follows a product part of its epilogue";
  let description = [{
    Arithmetic behind a `blockscale.matmul`, ops of `arith` and `math` on tensors and
    those of `linalg` that compute each element of one, becomes the region of the
    product, as far as an epilogue can hold it: activations with their gates, sums,
    factors, conversions. Ops are taken in their order and up to the last place at
    which others read one value of f32, bf16 or f16; that becomes the result.

    What else these ops read becomes an input of the product if that has none of the
    kind yet: a tensor of the same shape `c`, one element for each column or row
    `bias`, a number that multiplies the sum itself `alpha`, any other number a bias
    that is the same everywhere. Changes of shape follow the product. A product with
    groups of rows takes a bias that all groups have; one with groups along K takes an
    element for each column of each group.

    The result is what it was before: bf16 and f16 are rounded where they were
    rounded, and flags of `fastmath` are not made use of. Functions (`math.exp`) are
    those of the kernel instead of the host's library; `math.erfc` is 1 - erf, exact
    to an ulp of 1.

    Before:
    ```mlir
    %0 = blockscale.matmul %a, %b : !a, !b -> tensor<128x64xf32>
    %1 = math.tanh %0 : tensor<128x64xf32>
    %2 = arith.mulf %1, %gate : tensor<128x64xf32>
    ```
    After:
    ```mlir
    %0 = blockscale.matmul %a, %b c(%gate) epilogue(%x, %c) {
      %1 = math.tanh %x : f32
      %2 = arith.mulf %1, %c : f32
      blockscale.yield %2
    } : !a, !b, tensor<128x64xf32> -> tensor<128x64xf32>
    ```
  }];
  let dependentDialects = [
    "::blockscale::BlockscaleDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numFused", "fused", "Products with more to do">];
}

def FoldConstants : Pass<"blockscale-fold-constants"> {
  let summary = "Quantize, and what follows it, of constants while compiling";
  let description = [{
    `blockscale.quantize` of a constant becomes a tensor assembled of constants,
    `blockscale.relayout` of such a tensor too, and `blockscale.dequantize` of
    one a constant, unless that has more than `largest-result` elements: it takes
    up to eight times the space. `blockscale.prune` and `blockscale.compress` of
    constants fold as they do while canonicalizing. The bits are those of
    `blockscale-to-linalg`.

    Scales of ue5m3 and the layout of groups stay, and so does what has sizes
    that are not known.
  }];
  let dependentDialects = ["::blockscale::BlockscaleDialect",
                           "::mlir::arith::ArithDialect"];
  let options = [
    Option<"largestResult", "largest-result", "int64_t", "65536",
           "Elements of the largest constant that a dequantize becomes">];
}

def LegalizeScales : Pass<"blockscale-legalize-scales"> {
  let summary = "Choose the tensor-core kind for each matmul's scale specs";
  let description = [{
    Maps the scale specs of each `blockscale.matmul` to an instruction kind and
    writes it as the op's `mma` attribute. What hardware executes directly is
    accepted: tile scales along K of ue8m0 or ue4m3, on sm_107 ue5m3 too, in the
    `tiled_128x4` layout, with or without an f32 tensor scale, which becomes a factor of the
    epilogue. Scales of ue5m3 of both operands in e2m1 are such on sm_107 alone; in
    layout `plain` sums are multiplied by them in registers on all other chips.
    Everything else is refused with the rule that it breaks. Where
    several kinds multiply the operands, the `kind` of an `mma` attribute that
    is already there decides; otherwise the fastest is taken. Operands without
    scales take the kind of their elements: f16 (f16 or bf16, both alike),
    f8f6f4, tf32 or i8 (`i8` and `ui8`), on targets with tensor memory. A product
    whose instruction and schedule are complete keeps them.

    Elements that no instruction multiplies, but of which one has all values under
    the same scales, are stored as that one's, which the launch plan says, so that
    whoever packs translates them without rounding:

    | elements, scales | are stored as |
    | --- | --- |
    | `i4` under `e8m0_t32` and longer tiles (MXINT4: k/4) | e2m3 |
    | `i4` under float scales of rows, of tensors, and of tiles that are multiplied in registers | e4m3 |
    | `f8E4M3FNUZ`, `f8E5M2FNUZ` (a bias of one more, no negative zero), where instructions read scales, beside sparse and transposed operands, and where `mma` names a kind of 8 bits | e4m3, e5m2, with a factor of 1/2 in the epilogue; the codes 0x80 and, of e4m3, 0x7f and 0xff, of e5m2 0x7c to 0x7f and 0xfc to 0xff are refused by whoever packs |
    | the same elsewhere, so that what is quantised to them has its largest number | bf16 |

    | `!blockscale.codebook`, a code being the number of the table above the index | the first of e2m1, e2m3, e3m2, e4m3 and e5m2 that has all values of its tables, divided by a power of two; under tiles of 16, but for e2m1, and where none has them bf16, whose sums are multiplied in registers |
    | `ui2`, `ui3`, `ui4`, `ui8` less integer zero points, under float scales | e4m3 of 4 bits and fewer, else bf16 |
    | the same less zero points of f32, f16 or bf16 in real units | the codes as they are; the zero points' part is subtracted in the epilogue |
    | all of at most 8 bits beside `bf16` and `f16`, and in float tiles of 16 | bf16 or f16 |

    Before:
    ```mlir
    %d = blockscale.matmul %a, %b : ...
    ```
    A structured-sparse operand is executed as it is where its pattern is one that
    the kind skips: 2 of 4 for mxf8f6f4, f8f6f4, f16 and i8, 1 of 2 for tf32, 4 of 8
    in pairs for mxf4 and mxf4nvf4; or one that is stored as these, such as 1 of 4
    (`blockscale.assemble` says which). One scale then covers twice
    as many elements of K, of the other operand too. With `dense-fallback` a sparse
    operand that cannot be executed is first made dense by
    `blockscale.densify`; without it it is refused.

    Zero points in real units of a sparse operand are no terms of the epilogue, as
    what is pruned has none. With `dense-fallback` they become another product in
    front, of ones at the kept places under scales of the zero points with the other
    sign, which is `c` of the product without them:

    ```mlir
    %1 = blockscale.matmul %ones, %b : ...
    %2 = blockscale.matmul %codes, %b c(%1) : ...
    ```

    After:
    ```mlir
    %d = blockscale.matmul %a, %b mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16>) : ...
    ```
  }];
  let options = [
    Option<"denseFallback", "dense-fallback", "bool", /*default=*/"false",
           "Multiply sparse operands that no instruction takes as dense ones">];
  let dependentDialects = ["::blockscale::BlockscaleDialect"];
}

def DispatchRows : Pass<"blockscale-dispatch-rows"> {
  let summary = "Give products with an unknown number of rows several kernels";
  let description = [{
    Needs the `mma` attribute of `blockscale-legalize-scales`. A product whose
    number of rows of A is not known gets `blockscale.variants`: instruction and
    schedule of kernels for few rows, which a launch takes in place of the kernel
    for any number, whose schedule `blockscale-select-schedule` chooses as
    always. What the user's `schedule` fixes is fixed in all of them.

    `rows` says up to how many rows each is for. With `auto` these numbers and how
    many there are, two at most, come from the model of time: rows from 1 to 4096
    must gain 2 % on average for one kernel more. A product that has a schedule or
    variants keeps them.

    After:
    ```mlir
    %d = blockscale.matmul %a, %b mma(<...>)
        {blockscale.variants = [#blockscale.variant<most_rows = 16, mma = <...>, schedule = <...>>]} : ...
    ```
  }];
  let options = [
    Option<"rows", "rows", "std::string", /*default=*/"\"auto\"",
           "Up to how many rows the kernels are for, such as 16,512; auto for "
           "what the model finds">,
    Option<"expectedRows", "expected-rows", "int64_t", /*default=*/"4096",
           "Number of rows that the kernel for any number is chosen for">];
  let dependentDialects = ["::blockscale::BlockscaleDialect"];
}

def SelectSchedule : Pass<"blockscale-select-schedule"> {
  let summary = "Choose tile, stages and accumulators of each matmul";
  let description = [{
    Needs the `mma` attribute of `blockscale-legalize-scales`. Completes the
    `schedule` attribute; what the user wrote stays, unless only a kernel that
    quantises the result, too, can have it and the host quantises, which a remark
    says. Choices are ranked by the
    cycles that the throughput model predicts: waves of tiles over the chip's
    SMs times the cycles of a tile. A row count that is not known is taken as
    `expected-rows`. K is split, or the tiles of the last wave are shared out, where that promises
    less time, with a workspace at least 5 % less; with a size that is not known only as far as all parts run
    at once. Also completes the instruction's shape in `mma`, and exchanges its operand types where the schedule swaps operands. A product
    whose instruction and schedule are complete keeps them.

    Before:
    ```mlir
    %d = blockscale.matmul %a, %b mma(<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32>) : ...
    ```
    After:
    ```mlir
    %d = blockscale.matmul %a, %b
        mma(<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 128, n = 256, k = 64>)
        schedule(#blockscale.schedule<tile_m = 128, tile_n = 256, tile_k = 256, stages = 4, ...>) : ...
    ```
  }];
  let options = [
    Option<"expectedRows", "expected-rows", "int64_t", /*default=*/"4096",
           "Value of a dynamic M or N for the cost model">];
  let dependentDialects = ["::blockscale::BlockscaleDialect"];
}

def RelayoutForKernels : Pass<"blockscale-relayout-for-kernels"> {
  let summary = "Let kernels convert elements that lie along M or N";
  let description = [{
    Kernels quantise, dequantise, compress, densify and add up elements along K. Where
    one of these ops has operand or result in order `mn_major`, a kernel would do it but
    for that, and kernels make what it reads or read what it makes, or it is all of its
    function, it is done on elements along K: a `blockscale.relayout`, of which a kernel
    becomes, too, changes the order in front of it and behind it. The values are the
    same. What the host does anyway stays as it is.

    Before:
    ```mlir
    %0 = blockscale.densify %x : !across to !dense_across
    ```
    After:
    ```mlir
    %0 = blockscale.relayout %x : !across to !along
    %1 = blockscale.densify %0 : !along to !dense_along
    %2 = blockscale.relayout %1 : !dense_along to !dense_across
    ```
  }];
  let dependentDialects = ["::blockscale::BlockscaleDialect"];
}

def FuseQuantization : Pass<"blockscale-fuse-quantization"> {
  let summary = "Let products quantise their results";
  let description = [{
    Puts the unit attribute `blockscale.quantized` on each `blockscale.matmul`
    whose result nothing but one `blockscale.quantize` reads, where a kernel for
    the product's target can quantise in its epilogue: `blockscale-select-schedule`
    then chooses among the schedules that can, and `blockscale-form-kernels` makes
    one kernel and one launch of both ops, with the tensor scale of the
    `blockscale.quantize` as a last input. Where no kernel can, a remark says why.
    With `whole-functions` none does of which a kernel would store a scale for each
    row and block of a tile: functions have one of them.

    Before:
    ```mlir
    %d = blockscale.matmul %a, %b : !a, !b -> tensor<?x256xbf16>
    %q = blockscale.quantize %d : tensor<?x256xbf16> to !q
    ```
    After:
    ```mlir
    %d = blockscale.matmul %a, %b {blockscale.quantized} : !a, !b -> tensor<?x256xbf16>
    %q = blockscale.quantize %d : tensor<?x256xbf16> to !q
    ```
  }];
  let options = [
    Option<"wholeFunctions", "whole-functions", "bool", /*default=*/"false",
           "Leave tiles of several rows or blocks to the host">];
  let dependentDialects = ["::blockscale::BlockscaleDialect"];
}

def FormKernels : Pass<"blockscale-form-kernels", "::mlir::ModuleOp"> {
  let summary = "Turn each matmul into a kernel and its launch";
  let description = [{
    Needs complete `mma` and `schedule` attributes that suit each other and the
    operands, and refuses others. A `c` without `beta` gets a beta of 1. Each `blockscale.matmul`
    becomes a `gpu.func` with one `blockscale.kernel_matmul` in the module
    `@kernels`, or in `@kernels_sm_103a` if that is the target of the op but not
    of the module around it, and a `blockscale.launch` in its place. The
    types of the kernel's tensor maps say how to build them; the argument
    attribute `blockscale.parameter` says what each parameter carries; the
    function attribute `blockscale.kernel` says how to launch, and
    `blockscale.product` what is computed. A `blockscale.quantize` that is all
    that its function does becomes a kernel likewise, with
    `blockscale.quantization`, unless `quantize=false` leaves it to the host;
    with `quantize-operands` one whose result only products read, too, and those
    that products are marked to do themselves. So does a `blockscale.dequantize`,
    `relayout`, `prune`, `compress` or `densify` that is all of its function, with
    `blockscale.conversion`; with `quantize-operands` one that reads what a kernel
    makes, or whose result only kernels read, too.
    Names become identifiers of PTX.
    Refuses sizes beyond what the 32-bit arithmetic of kernels, the grid and
    tensor maps can hold.

    Before:
    ```mlir
    func.func @f(%a: !a, %b: !b) -> tensor<128x2048xbf16> {
      %d = blockscale.matmul %a, %b mma(...) schedule(...) : !a, !b -> tensor<128x2048xbf16>
      return %d : tensor<128x2048xbf16>
    }
    ```
    After:
    ```mlir
    func.func @f(%a: !a, %b: !b) -> tensor<128x2048xbf16> {
      %d = blockscale.launch @kernels::@f(%a, %b) : (!a, !b) -> tensor<128x2048xbf16>
      return %d : tensor<128x2048xbf16>
    }
    gpu.module @kernels {
      gpu.func @f(%a: !blockscale.tensor_map<...> {blockscale.parameter = #blockscale.parameter<a_data>}, ...)
          kernel attributes {blockscale.kernel = ...} {
        blockscale.kernel_matmul ...
        gpu.return
      }
    }
    ```
  }];
  let options = [
    Option<"quantize", "quantize", "bool", /*default=*/"true",
           "Make kernels of functions that only quantise">,
    Option<"quantizeOperands", "quantize-operands", "bool", /*default=*/"false",
           "Make kernels of what quantises operands of products, and of functions "
           "that only quantise, where there are such kernels">];
  let dependentDialects = [
    "::blockscale::BlockscaleDialect", "::mlir::gpu::GPUDialect",
    "::mlir::arith::ArithDialect"];
}

def ExpandKernels : Pass<"blockscale-expand-kernels"> {
  let summary = "Expand whole products into warp roles and tile loops";
  let description = [{
    Expands each `blockscale.kernel_matmul` into a warp-specialised, persistent
    kernel: a TMA producer, an MMA issuer that also copies scales, and four
    epilogue warps, joined by rings of mbarriers. Shared and tensor memory are
    declared but have no addresses yet. On chips without tensor memory eight
    warps multiply a tile out of shared memory, with accumulators and scales in
    registers, and store it; a ninth loads.

    Before:
    ```mlir
    blockscale.kernel_matmul ...
    ```
    After:
    ```mlir
    %a = blockscale.shared_alloc : !blockscale.shared<4x128x256xf4E2M1FN, container = 4, swizzle = "128B">
    %full = blockscale.barrier_alloc arrivals(1) : !blockscale.barrier<4>
    blockscale.warps "producer" 4 to 5 { scf.for ... { blockscale.tma_load ... } }
    blockscale.warps "mma" 5 to 6 { scf.for ... { blockscale.copy_scales ... blockscale.mma ... } }
    blockscale.warps "epilogue" 0 to 4 { scf.for ... { blockscale.load_accumulator ... blockscale.store_row ... } }
    ```
  }];
  let dependentDialects = [
    "::blockscale::BlockscaleDialect", "::mlir::gpu::GPUDialect",
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
    "::mlir::math::MathDialect", "::mlir::vector::VectorDialect"];
}

def AssignMemory : Pass<"blockscale-assign-memory"> {
  let summary = "Give every ring, barrier and tensor-memory region a place";
  let description = [{
    Sets `offset` of all `blockscale.shared_alloc` and
    `blockscale.barrier_alloc`, `columns` and `column` of the tensor-memory
    ops, and `shared_bytes` and `tensor_columns` of the kernel. Fails with a
    table of the budget where a kernel needs more than its target has.

    Before:
    ```mlir
    %full = blockscale.barrier_alloc arrivals(1) : !blockscale.barrier<4>
    ```
    After:
    ```mlir
    %full = blockscale.barrier_alloc arrivals(1) offset(208904) : !blockscale.barrier<4>
    ```
  }];
  let dependentDialects = ["::blockscale::BlockscaleDialect"];
  let statistics = [
    Statistic<"sharedBytes", "shared-bytes", "Bytes of shared memory">,
    Statistic<"tensorColumns", "tensor-columns", "Columns of tensor memory">];
}

def AssignSteps : Pass<"blockscale-assign-steps"> {
  let summary = "List the instructions of each MMA with their scale ids";
  let description = [{
    Sets `steps` of every `blockscale.mma`: one entry per instruction, with the
    byte offsets of its operands in the stage and the column and id of its
    scales. A constant `valid` shortens the list and goes away. An MMA that has
    `steps` keeps them. Likewise sets `sfa_id` and `sfb_id` of every
    `blockscale.warp_mma`, the lanes and bytes that supply its scales.

    Before:
    ```mlir
    blockscale.mma <kind = mxf4, ..., k = 64> %acc[%i], %a, %b stage %stage scales %sfa, %sfb accumulate %more : ...
    ```
    After:
    ```mlir
    blockscale.mma <kind = mxf4, ..., k = 64> %acc[%i], %a, %b stage %stage scales %sfa, %sfb accumulate %more
        steps [#blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 0, sfb_column = 0, sfb_id = 0>,
               #blockscale.step<a = 32, b = 32, sfa_column = 0, sfa_id = 2, sfb_column = 0, sfb_id = 2>, ...] : ...
    ```
  }];
  let dependentDialects = ["::blockscale::BlockscaleDialect"];
  let statistics = [
    Statistic<"numInstructions", "mma-instructions", "MMA instructions">];
}

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_TRANSFORMS_PASSES_TD
