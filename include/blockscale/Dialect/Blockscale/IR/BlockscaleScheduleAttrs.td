//===- BlockscaleScheduleAttrs.td - target, schedule and instruction -*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALESCHEDULEATTRS_TD
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALESCHEDULEATTRS_TD

include "blockscale/Dialect/Blockscale/IR/BlockscaleAttrs.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleDialect.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleFields.td"
include "blockscale/Dialect/Blockscale/IR/BlockscaleInterfaces.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

//===----------------------------------------------------------------------===//
// The target
//===----------------------------------------------------------------------===//

def Blockscale_TargetAttr : AttrDef<Blockscale_Dialect, "Target"> {
  let mnemonic = "target";
  let summary = "the chip that an op and all in it are compiled for";
  let description = [{
    Sits as `blockscale.target` on a module, a `gpu.module`, a function or a
    single op; the innermost one counts. What has none is compiled for sm_100a.
    Kernels of one chip share a `gpu.module`.

    ```mlir
    module attributes {blockscale.target = #blockscale.target<sm_103a>} {...}
    ```
  }];
  let parameters = (ins "::blockscale::hw::Target":$value);
  let assemblyFormat = "`<` $value `>`";
}

//===----------------------------------------------------------------------===//
// Choices of the schedule
//===----------------------------------------------------------------------===//

def Blockscale_Scheduler : I32EnumAttr<"Scheduler",
    "how a CTA finds its next output tile", [
      I32EnumAttrCase<"Static", 0, "static">,
      I32EnumAttrCase<"Dynamic", 1, "dynamic">]> {
  let cppNamespace = "::blockscale";
  let genSpecializedAttr = 0;
}

def Blockscale_Stores : I32EnumAttr<"Stores",
    "how D gets from registers to global memory", [
      I32EnumAttrCase<"Direct", 0, "direct">,
      I32EnumAttrCase<"Tma", 1, "tma">]> {
  let cppNamespace = "::blockscale";
  let genSpecializedAttr = 0;
}

def Blockscale_Loads : I32EnumAttr<"Loads",
    "how C gets from global memory to registers", [
      I32EnumAttrCase<"Direct", 0, "direct">,
      I32EnumAttrCase<"Tma", 1, "tma">]> {
  let cppNamespace = "::blockscale";
  let genSpecializedAttr = 0;
}

defvar Blockscale_ScheduleFields = [
  Blockscale_CountField<"tile_m", "tileM">,
  Blockscale_CountField<"tile_n", "tileN">,
  Blockscale_CountField<"tile_k", "tileK">,
  Blockscale_CountField<"stages", "stages">,
  Blockscale_CountField<"scale_stages", "scaleStages">,
  Blockscale_CountField<"accumulators", "accumulators">,
  Blockscale_Field<"swap_operands", "swapOperands",
                   OptionalParameter<"::mlir::BoolAttr">>,
  Blockscale_CountField<"group_m", "groupM">,
  Blockscale_CountField<"cta_group", "ctaGroup">,
  Blockscale_CountField<"cluster_m", "clusterM">,
  Blockscale_CountField<"cluster_n", "clusterN">,
  Blockscale_CountField<"mma_k", "mmaK">,
  Blockscale_CountField<"split_k", "splitK">,
  Blockscale_CountField<"cluster_k", "clusterK">,
  Blockscale_CountField<"stream_k", "streamK">,
  Blockscale_Field<"scheduler", "scheduler",
                   DefaultValuedParameter<"::blockscale::Scheduler",
                                          "::blockscale::Scheduler::Static">,
                   "::blockscale::Scheduler::Static">,
  Blockscale_Field<"dependent_launch", "dependentLaunch",
                   OptionalParameter<"::mlir::BoolAttr">>,
  Blockscale_Field<"stores", "stores",
      OptionalParameter<"::std::optional<::blockscale::Stores>">>,
  Blockscale_Field<"c_loads", "cLoads",
      OptionalParameter<"::std::optional<::blockscale::Loads>">>,
  Blockscale_CountField<"epilogue_warps", "epilogueWarps">,
  Blockscale_CountField<"consumer_groups", "consumerGroups">];

def Blockscale_ScheduleAttr
    : Blockscale_CheckedFieldsAttr<"Schedule", Blockscale_ScheduleFields> {
  let mnemonic = "schedule";
  let summary = "how a matmul is cut into tiles and pipelined on one chip";
  let description = [{
    Every field may be left out (zero or empty): `blockscale-select-schedule`
    fills in what is missing and leaves alone what the user wrote. After that
    pass all fields are set but for `scale_stages`, which it leaves out where scales
    share the ring of `a` and `b`, `split_k` and `cluster_k`, which it leaves out
    where K is not split, or not over a cluster, `stream_k`, which it leaves out where
    no tiles are shared out, `stores` and `c_loads`, which it leaves out where they are
    direct, `epilogue_warps`, which it leaves out where four store, and
    `consumer_groups`, which it leaves out where all consumers share a tile. Later passes
    read a missing `cta_group`, `cluster_m`, `cluster_n`, `split_k`, `cluster_k`,
    `stream_k` or `consumer_groups` as 1, a missing `mma_k` as the ordinary K of the
    instruction and missing `epilogue_warps` as 4.

    | field | meaning | legal |
    |---|---|---|
    | `tile_m` | rows of the output tile of a CTA, or of a pair of CTAs; one per tensor-memory lane of each | 128; 256 with `cta_group` 2, on sm_107 also 512 with `cta_group` 2: two instructions that share B |
    | `tile_n` | columns of the output tile; above 256 two instructions beside each other share A | 8 to 256 in steps of 8; multiples of 64 where several tiles cover the extent. 320, 384 and 448 with `cta_group` 2, scales of blocks, a dense `a`, K-major rows on the side of B, and rows that are not gathered; of them 384 alone with `mma_k` 96, or twice the ordinary one with blocks of 16 |
    | `tile_k` | elements along K in one stage | one 128-byte row of shared memory: 256 packed 4-bit elements, 128 of 8 bits, 64 of 16 or 32 of 32; with a sparse `a` at least a tile of its metadata, four scales, and 128 stored elements of the padded types |
    | `stages` | stages of the shared-memory ring | 1 to 16, within shared memory |
    | `scale_stages` | stages of a ring of their own for the scales of blocks, which are released when they are copied to tensor memory; with as many as `stages` there is one ring for all | 1 to `stages`; fewer only with scales that tensor memory holds |
    | `accumulators` | accumulators in tensor memory | 1 or 2, up to 4 with scales that are applied in registers; two that do not fit overlap, but not with `tile_m` 512, and of 448 columns there is one. 3 are of half a tile each: two instructions beside each other have `tile_n` 256, and while the epilogue has the left half the right one is still multiplied. With `cta_group` 2, scales of blocks, a dense `a`, K-major rows on the side of B, the ordinary `mma_k`, two `stages`, direct stores and loads of C, and without `split_k`, rows that are gathered and groups along K |
    | `swap_operands` | compute D transposed: B supplies the 128 rows | false, true |
    | `group_m` | row tiles that are walked before the next column tile | >= 1 |
    | `cta_group` | CTAs that execute one instruction together | 1, 2 |
    | `cluster_m` | CTAs of a cluster along the rows of D, both of a pair counted | 1 to 16, a multiple of `cta_group` |
    | `cluster_n` | CTAs of a cluster along the columns of D | 1 to 16; at most 16 CTAs in all, more than 8 are not portable |
    | `mma_k` | elements along K of one instruction | the kind's ordinary K; 96 on sm_103a, with at least 2 stages; twice the ordinary one on sm_107 |
    | `split_k` | CTAs, pairs or clusters that compute an output tile together, each a part of K, which are added up in the order of K | 1 to 64, at most the stages that a static K fills (groups of three stages with `mma_k` 96); with a K that only the host knows `a` is dense and `mma_k` not 96 |
    | `cluster_k` | parts of K that one cluster computes: its CTAs exchange their sums in shared memory, and each adds up and stores a slice of the tile's columns. With 1 the parts meet in a workspace, where the last CTA to be done adds them up | 1 or `split_k`; above 1 the cluster has `cluster_m` x `cluster_n` CTAs for each part, at most 16 in all |
    | `stream_k` | shares, one for each CTA, pair or cluster that runs at once, of the stages of all tiles that are no whole rounds of as many tiles: a share begins and ends inside of tiles, whose parts meet in a workspace, where the last CTA to be done adds them up in the order of K. The other tiles follow, whole | 1 to 1024; above 1 with static sizes (of groups of rows only K) and the static scheduler, without `split_k` and groups along K, where tiles are left over and no share is empty |
    | `scheduler` | `static`: tiles in the order of their numbers; `dynamic`: cluster launch control hands them out | |
    | `dependent_launch` | overlap the start of the kernel with the end of the one before it: the kernel waits for that one itself, and asks the L2 cache for the first stages of the weights meanwhile | false, true; chosen: true |
    | `stores` | `direct`: threads store rows of D; `tma`: they write boxes to a ring in shared memory, which TMA stores while the epilogue goes on | `tma` without `swap_operands`, `split_k` and groups, with rows of D of a static multiple of 16 bytes; with scales that are applied in registers where D is made of the sums alone, of which a thread has 32 at most |
    | `c_loads` | `direct`: threads load rows of C, if they can in advance; `tma`: TMA brings boxes of it to a ring in shared memory while the sums are made | `tma` where there is a C, as `stores` of `tma`, with rows of C of a static multiple of 16 bytes, and without scales that are applied in registers |
    | `epilogue_warps` | warps that read accumulators and store D. A warp reaches a quarter of the lanes; of 8 two share one and take its chunks of columns in turns | 4; 8 with `tile_n` of a multiple of 64, without `split_k`, `stream_k` and scales that are applied in registers |
    | `consumer_groups` | groups of the warps that multiply and store in registers. One has all eight, which share a tile; two have four each and take tiles in turns: while one stores, the other multiplies, and a barrier lets one at a time into its main loop, so that both read one ring | 1; 2 on chips without tensor memory, without `split_k`; `tile_n` at most 64 where a result is quantised or f32, and half of what it may be else where scales are applied in registers |

    On chips without tensor memory `tile_m` is 128, `tile_n` 16, 32, 64 or 128,
    `accumulators`, `cta_group`, `cluster_k`, `stream_k` and the cluster are 1, scales have no ring
    of their own, stores and loads of C are direct, and `epilogue_warps` are left out.

    Example:

    ```mlir
    #blockscale.schedule<tile_n = 192, stages = 5>
    ```
  }];
  let assemblyFormat = "(`<` struct(params)^ `>`)?";
  let moreDeclarations = [{
    /// Whether nothing is left to choose.
    bool isComplete() const {
      return getTileM() && getTileN() && getTileK() && getStages() &&
             getAccumulators() && getSwapOperands() && getGroupM();
    }
    /// Stages of scales: those of all if they have no ring of their own.
    int64_t scaleStages() const {
      return getScaleStages() ? getScaleStages() : getStages();
    }
    /// Whether the scales have a ring of their own.
    bool hasScaleRing() const { return scaleStages() != getStages(); }
    /// CTAs that execute one instruction together, 1 if not chosen.
    int64_t ctaGroup() const { return std::max<int64_t>(1, getCtaGroup()); }
    /// CTAs of a cluster along rows and columns of D, 1 if not chosen.
    int64_t clusterM() const {
      return std::max(ctaGroup(), getClusterM());
    }
    int64_t clusterN() const { return std::max<int64_t>(1, getClusterN()); }
    /// Parts of K that a cluster computes, 1 if not chosen.
    int64_t clusterK() const { return std::max<int64_t>(1, getClusterK()); }
    /// CTAs of a cluster.
    int64_t clusterSize() const {
      return clusterM() * clusterN() * clusterK();
    }
    /// Whether the kernel waits for the grid before it, false if not chosen.
    bool isDependent() const {
      return getDependentLaunch() && getDependentLaunch().getValue();
    }
    /// Parts that K is split into, 1 if not chosen.
    int64_t splits() const { return std::max<int64_t>(1, getSplitK()); }
    /// Shares of the stages of tiles that are shared out, 1 if there are none.
    int64_t shares() const { return std::max<int64_t>(1, getStreamK()); }
    /// Whether parts of K of one tile meet in a workspace.
    bool hasWorkspace() const { return splits() > clusterK() || shares() > 1; }
    /// Groups of warps that multiply and store tiles in turns, 1 if not chosen.
    int64_t consumerGroups() const {
      return std::max<int64_t>(1, getConsumerGroups());
    }
    /// Warps of the epilogue on each quarter of the lanes of tensor memory, 1 if
    /// not chosen.
    int64_t warpsOfQuarter() const {
      constexpr int64_t kQuarters =
          ::blockscale::hw::kTmemLanes / ::blockscale::hw::kWarpSize;
      return std::max<int64_t>(1, getEpilogueWarps() / kQuarters);
    }
    static ::llvm::LogicalResult
    verifyFields(::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError,
                 const Fields &fields);
  }];
}

//===----------------------------------------------------------------------===//
// The instruction
//===----------------------------------------------------------------------===//

defvar Blockscale_MmaFields = [
  Blockscale_RequiredField<"kind", "kind", "::blockscale::hw::MmaKind">,
  Blockscale_RequiredField<"a", "a", "::blockscale::hw::OperandType">,
  Blockscale_RequiredField<"b", "b", "::blockscale::hw::OperandType">,
  Blockscale_Field<"scale", "scale",
      OptionalParameter<"::std::optional<::blockscale::ElementFormat>">>,
  Blockscale_CountField<"block", "block">,
  Blockscale_CountField<"m", "m">,
  Blockscale_CountField<"n", "n">,
  Blockscale_CountField<"k", "k">,
  Blockscale_Field<"a_mn_major", "aMnMajor",
                   OptionalParameter<"::mlir::BoolAttr">>,
  Blockscale_Field<"b_mn_major", "bMnMajor",
                   OptionalParameter<"::mlir::BoolAttr">>,
  Blockscale_CountField<"cta_group", "ctaGroup", "1">,
  Blockscale_FlagField<"sparse", "sparse">];

def Blockscale_MmaAttr
    : Blockscale_FieldsAttr<"Mma", Blockscale_MmaFields> {
  let mnemonic = "mma";
  let summary = "one tensor-core instruction";
  let description = [{
    Kind, element types, scale type, scale block along K and the shape
    (M, N, K) of one instruction. The kinds f8f6f4, f16, tf32 and i8 have
    neither scales nor a block. With `cta_group` 2 a pair of CTAs executes
    it, and M and N count both. A `sparse` instruction reads an A that is
    compressed by half and its metadata; K counts the elements before
    compression. Before a schedule is chosen the shape is not
    known and left out (zero). The legality table of the HW library decides
    what is accepted.

    Example:

    ```mlir
    #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3,
                    block = 16, m = 128, n = 256, k = 64>
    #blockscale.mma<kind = f16, a = bf16, b = bf16, m = 128, n = 256, k = 32,
                    sparse = true>
    ```
  }];
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let moreDeclarations = [{
    /// Elements along K, before compression, that share a scale; 0 without
    /// scales.
    int64_t getScaleSpan() const {
      return ::blockscale::hw::scaleSpan(getBlock(), getSparse());
    }
    /// Elements of A in memory for `k` elements before compression.
    int64_t getStoredK(int64_t k) const {
      return getSparse() ? k / ::blockscale::hw::kSparseCompression : k;
    }
    /// Bits that an element of `type`, A's or B's, takes in shared memory.
    int64_t getContainerBits(::blockscale::hw::OperandType type) const {
      return ::blockscale::hw::storedBits(getKind(), getK(), getSparse(),
                                          type.bits());
    }
    /// The instruction of the transposed product: the operands change sides.
    MmaAttr getTransposed() const;
    /// Elements along K of one stage: a 128-byte row of B (of packed elements
    /// beside wider ones a part of it), or as many as the four scales of a word
    /// or a tile of a sparse A's metadata cover.
    int64_t getTileK() const;
  }];
}

def Blockscale_TensorCoreAttr : AttrDef<Blockscale_Dialect, "TensorCore",
    [DeclareAttrInterfaceMethods<Blockscale_LoweringAttr>]> {
  let mnemonic = "tensor_core";
  let summary = "how NVIDIA's tensor cores compute a product";
  let description = [{
    The lowering of `blockscale.matmul` for these chips, which the op prints as
    the clauses `mma(<...>)` and `schedule(#blockscale.schedule<...>)`. Either may
    be missing: passes fill it in.
  }];
  let parameters = (ins
    OptionalParameter<"::blockscale::MmaAttr">:$mma,
    OptionalParameter<"::blockscale::ScheduleAttr">:$schedule);
  let assemblyFormat = "(`<` struct(params)^ `>`)?";
}

def Blockscale_VariantAttr : AttrDef<Blockscale_Dialect, "Variant"> {
  let mnemonic = "variant";
  let summary = "another kernel of a product, for few rows of A";
  let description = [{
    An array of them stands on a `blockscale.matmul` with an unknown number of
    rows as `blockscale.variants`, the fewest rows first: which kernels there are
    beside the one for any number. A launch takes the first whose `most_rows` are
    enough, and otherwise the one of the op itself. Instruction and schedule are
    complete.
  }];
  let parameters = (ins "int64_t":$most_rows, "::blockscale::MmaAttr":$mma,
                    "::blockscale::ScheduleAttr":$schedule);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// Of the array.
    static constexpr ::llvm::StringLiteral arrayName = "blockscale.variants";
  }];
  let genVerifyDecl = 1;
}

def Blockscale_StepAttr : AttrDef<Blockscale_Dialect, "Step"> {
  let mnemonic = "step";
  let summary = "the operands of one tensor-core instruction inside a K tile";
  let description = [{
    `a` and `b` are the byte offsets of the instruction's first element inside
    the stage that it starts in; `sfa_column`, `sfb_column` the column offsets inside the scale
    regions of tensor memory; `sfa_id`, `sfb_id` the byte of the 32-bit word at
    which the instruction's scales start; kinds without scales have none of the
    four. `metadata_column` is the column offset of a sparse instruction's
    metadata inside their region, `selector` the column behind it that kinds f16
    and tf32 read.
  }];
  let parameters = (ins "int64_t":$a, "int64_t":$b,
    OptionalParameter<"std::optional<int64_t>">:$sfa_column,
    OptionalParameter<"std::optional<int64_t>">:$sfa_id,
    OptionalParameter<"std::optional<int64_t>">:$sfb_column,
    OptionalParameter<"std::optional<int64_t>">:$sfb_id,
    DefaultValuedParameter<"int64_t", "0">:$metadata_column,
    DefaultValuedParameter<"int64_t", "0">:$selector);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Blockscale_KRangeAttr : AttrDef<Blockscale_Dialect, "KRange"> {
  let mnemonic = "k_range";
  let summary = "a part of the K that a group of stages holds";
  let description = [{
    Instructions of K = 96 do not fit a stage of 256 elements: three consecutive
    stages are a group, the K tile of eight of them. The stage is number `part`
    of its group; the range is the elements from `begin` to before `end`, counted
    from the start of the group. `begin` is a multiple of the instruction's K;
    where `end` is not, the last instruction reads on over elements and scales
    of zero.

    Example: `#blockscale.k_range<part = 1, begin = 288, end = 480>`
  }];
  let parameters = (ins "int64_t":$part, "int64_t":$begin, "int64_t":$end);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Blockscale_StepArrayAttr
    : TypedArrayAttrBase<Blockscale_StepAttr, "the instructions of a K tile">;

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALESCHEDULEATTRS_TD
