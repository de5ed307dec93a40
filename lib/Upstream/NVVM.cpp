//===- NVVM.cpp - the NVVM dialect as we use it ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Upstream/NVVM.h"
#include "NVVMParts.h"
#include "blockscale/HW/Memory.h"

using namespace mlir;
using namespace blockscale;
using namespace blockscale::nvvm;

//===----------------------------------------------------------------------===//
// Names. One function per enumeration, each for all that HW knows: a kind or
// format that is added there does not compile here until it has a name.
//===----------------------------------------------------------------------===//

static constexpr bool isSame(AddressSpace ours, NVVM::NVVMMemorySpace theirs) {
  return static_cast<unsigned>(ours) == static_cast<unsigned>(theirs);
}
static_assert(isSame(AddressSpace::Global, NVVM::NVVMMemorySpace::Global) &&
              isSame(AddressSpace::Shared, NVVM::NVVMMemorySpace::Shared) &&
              isSame(AddressSpace::Tensor, NVVM::NVVMMemorySpace::Tensor) &&
              isSame(AddressSpace::SharedCluster,
                     NVVM::NVVMMemorySpace::SharedCluster));

static NVVM::MemScopeKind scopeOf(Scope scope) {
  return scope == Scope::Cluster ? NVVM::MemScopeKind::CLUSTER
                                 : NVVM::MemScopeKind::CTA;
}

static NVVM::CTAGroupKind groupOf(bool isPair) {
  return isPair ? NVVM::CTAGroupKind::CTA_2 : NVVM::CTAGroupKind::CTA_1;
}

NVVM::MMABlockScaleKind nvvm::scaledKind(hw::MmaKind kind) {
  switch (kind) {
  case hw::MmaKind::MXF8F6F4:
    return NVVM::MMABlockScaleKind::MXF8F6F4;
  case hw::MmaKind::MXF4:
    return NVVM::MMABlockScaleKind::MXF4;
  case hw::MmaKind::MXF4NVF4:
    return NVVM::MMABlockScaleKind::MXF4NVF4;
  case hw::MmaKind::F8F6F4:
  case hw::MmaKind::F16:
  case hw::MmaKind::TF32:
  case hw::MmaKind::I8:
    break;
  }
  llvm_unreachable("a kind without scales");
}

/// The kind of tcgen05.mma without scales.
static NVVM::Tcgen05MMAKind plainKind(hw::MmaKind kind) {
  switch (kind) {
  case hw::MmaKind::F8F6F4:
    return NVVM::Tcgen05MMAKind::F8F6F4;
  case hw::MmaKind::F16:
    return NVVM::Tcgen05MMAKind::F16;
  case hw::MmaKind::TF32:
    return NVVM::Tcgen05MMAKind::TF32;
  case hw::MmaKind::I8:
    return NVVM::Tcgen05MMAKind::I8;
  case hw::MmaKind::MXF8F6F4:
  case hw::MmaKind::MXF4:
  case hw::MmaKind::MXF4NVF4:
    break;
  }
  llvm_unreachable("a kind with scales");
}

/// The elements of mma.sync with scales, which has those of 4, 6 and 8 bits.
//===----------------------------------------------------------------------===//
// Instructions that LLVM does not know, as text
//===----------------------------------------------------------------------===//

LLVM::InlineAsmOp nvvm::assemble(ImplicitLocOpBuilder &b, Type result,
                                 const AssemblyText &assembly,
                                 bool hasEffects) {
  StringRef constraints = assembly.constraints;
  constraints.consume_front(",");
  // Operands in braces end with one as well.
  bool isBlock = StringRef(assembly.text).starts_with("{");
  return LLVM::InlineAsmOp::create(
      b, result ? TypeRange(result) : TypeRange(), assembly.inputs,
      assembly.text + (isBlock ? "" : ";"), constraints, hasEffects,
      /*is_align_stack=*/false, LLVM::TailCallKind::None,
      /*asm_dialect=*/LLVM::AsmDialectAttr(), /*operand_attrs=*/ArrayAttr());
}

static Value constantWord(ImplicitLocOpBuilder &b, int64_t value) {
  return LLVM::ConstantOp::create(b, b.getI32Type(), value);
}

/// The word that an address of tensor memory is.
static Value tensorWord(ImplicitLocOpBuilder &b, Value address) {
  return LLVM::PtrToIntOp::create(b, b.getI32Type(), address);
}

//===----------------------------------------------------------------------===//
// The dialect, and attributes
//===----------------------------------------------------------------------===//

void nvvm::registerDialect(DialectRegistry &registry) {
  registry.insert<NVVM::NVVMDialect>();
}

void nvvm::makeKernel(Operation *function, int32_t threads, int32_t cluster,
                      int32_t ctasPerSm) {
  Builder b(function->getContext());
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                    b.getUnitAttr());
  function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                    b.getI32IntegerAttr(ctasPerSm));
  function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                    b.getDenseI32ArrayAttr({threads}));
  if (cluster > 1)
    function->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(),
                      b.getDenseI32ArrayAttr({cluster, 1, 1}));
}

StringRef nvvm::gridConstantName() {
  return NVVM::NVVMDialect::getGridConstantAttrName();
}

Attribute nvvm::objectTarget(MLIRContext *context, int optLevel,
                             StringRef triple, StringRef chip) {
  return NVVM::NVVMTargetAttr::get(context, optLevel, triple, chip);
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// The special register of an axis.
template <typename X, typename Y, typename Z>
static Value readAxis(ImplicitLocOpBuilder &b, unsigned axis) {
  Type type = b.getI32Type();
  switch (axis) {
  case 0:
    return X::create(b, type);
  case 1:
    return Y::create(b, type);
  default:
    return Z::create(b, type);
  }
}

Value nvvm::threadId(ImplicitLocOpBuilder &b, unsigned axis) {
  return readAxis<NVVM::ThreadIdXOp, NVVM::ThreadIdYOp, NVVM::ThreadIdZOp>(
      b, axis);
}

Value nvvm::blockId(ImplicitLocOpBuilder &b, unsigned axis) {
  return readAxis<NVVM::BlockIdXOp, NVVM::BlockIdYOp, NVVM::BlockIdZOp>(b,
                                                                        axis);
}

Value nvvm::gridDim(ImplicitLocOpBuilder &b, unsigned axis) {
  return readAxis<NVVM::GridDimXOp, NVVM::GridDimYOp, NVVM::GridDimZOp>(b,
                                                                        axis);
}

Value nvvm::laneId(ImplicitLocOpBuilder &b) {
  return NVVM::LaneIdOp::create(b, b.getI32Type());
}

Value nvvm::largestOfLanes(ImplicitLocOpBuilder &b, Value number, Value lanes) {
  return NVVM::ReduxOp::create(b, b.getI32Type(), number, NVVM::ReduxKind::UMAX,
                               lanes);
}

Value nvvm::sumOfLanes(ImplicitLocOpBuilder &b, Value number, Value lanes) {
  return NVVM::ReduxOp::create(b, b.getI32Type(), number, NVVM::ReduxKind::ADD,
                               lanes);
}

/// What a lane of the warp has that `lane` names, in the way of `kind`.
static Value shuffle(ImplicitLocOpBuilder &b, Value value, Value lane,
                     NVVM::ShflKind kind) {
  // The last lane of those that exchange: all of the warp.
  constexpr int64_t kAll = -1, kLast = 31;
  return NVVM::ShflOp::create(b, value.getType(), constantWord(b, kAll), value,
                              lane, constantWord(b, kLast), kind,
                              /*return_value_and_is_valid=*/UnitAttr());
}

Value nvvm::exchangeLanes(ImplicitLocOpBuilder &b, Value value, Value mask) {
  return shuffle(b, value, mask, NVVM::ShflKind::bfly);
}

Value nvvm::valueOfLane(ImplicitLocOpBuilder &b, Value value, Value lane) {
  return shuffle(b, value, lane, NVVM::ShflKind::idx);
}

Value nvvm::clusterRank(ImplicitLocOpBuilder &b) {
  return NVVM::ClusterId::create(b, b.getI32Type());
}

void nvvm::syncThreads(ImplicitLocOpBuilder &b) { NVVM::Barrier0Op::create(b); }

void nvvm::syncThreads(ImplicitLocOpBuilder &b, int64_t barrier,
                       int64_t threads) {
  NVVM::BarrierOp::create(b, TypeRange(), constantWord(b, barrier),
                          constantWord(b, threads),
                          NVVM::BarrierReductionAttr(),
                          /*reductionPredicate=*/Value());
}

Value nvvm::syncThreadsAny(ImplicitLocOpBuilder &b, int64_t barrier,
                           int64_t threads, Value condition) {
  // NVVM's op reduces with barrier 0 alone.
  return LLVM::CallIntrinsicOp::create(
             b, b.getI1Type(),
             b.getStringAttr("llvm.nvvm.barrier.cta.red.or.aligned.count"),
             ValueRange{constantWord(b, barrier), constantWord(b, threads),
                        condition})
      .getResult(0);
}

// As text, because LLVM 22 loses the order of atomics that wrap around: it
// prints a relaxed one.
Value nvvm::countUpTo(ImplicitLocOpBuilder &b, Value address, Value largest) {
  AssemblyText assembly(/*results=*/1);
  assembly.text = "atom.acq_rel.gpu.global.inc.u32 $0, [";
  assembly.constraints = ",=r";
  assembly.add(address, "l");
  assembly.text += "], ";
  assembly.add(largest, "r");
  assembly.constraints += ",~{memory}";
  return assemble(b, b.getI32Type(), assembly).getResult(0);
}

Value nvvm::loadAcquired(ImplicitLocOpBuilder &b, Value address) {
  AssemblyText assembly(/*results=*/1);
  assembly.text = "ld.acquire.gpu.global.u32 $0, [";
  assembly.constraints = ",=r";
  assembly.add(address, "l");
  assembly.text += "]";
  assembly.constraints += ",~{memory}";
  return assemble(b, b.getI32Type(), assembly).getResult(0);
}

void nvvm::raiseWord(ImplicitLocOpBuilder &b, Value address, Value number) {
  AssemblyText assembly(/*results=*/0);
  assembly.text = "red.relaxed.gpu.global.max.u32 [";
  assembly.add(address, "l");
  assembly.text += "], ";
  assembly.add(number, "r");
  assembly.constraints += ",~{memory}";
  assemble(b, Type(), assembly);
}

void nvvm::syncWarp(ImplicitLocOpBuilder &b, Value lanes) {
  NVVM::SyncWarpOp::create(b, lanes);
}

void nvvm::setMaxRegisters(ImplicitLocOpBuilder &b, uint32_t count,
                           bool increase) {
  NVVM::SetMaxRegisterOp::create(b, count,
                                 increase
                                     ? NVVM::SetMaxRegisterAction::increase
                                     : NVVM::SetMaxRegisterAction::decrease);
}

Value nvvm::electOne(ImplicitLocOpBuilder &b) {
  return NVVM::ElectSyncOp::create(b, b.getI1Type(), /*membermask=*/Value());
}

void nvvm::clusterBarrier(ImplicitLocOpBuilder &b) {
  clusterArrive(b);
  clusterWait(b);
}

void nvvm::clusterArrive(ImplicitLocOpBuilder &b) {
  NVVM::ClusterArriveOp::create(b, /*aligned=*/b.getUnitAttr());
}

void nvvm::clusterWait(ImplicitLocOpBuilder &b) {
  NVVM::ClusterWaitOp::create(b, /*aligned=*/b.getUnitAttr());
}

Value nvvm::mapToRank(ImplicitLocOpBuilder &b, Type window, Value pointer,
                      Value rank) {
  return NVVM::MapaOp::create(b, window, pointer, rank);
}

//===----------------------------------------------------------------------===//
// Dependent launches, cluster launch control
//===----------------------------------------------------------------------===//

void nvvm::awaitDependencies(ImplicitLocOpBuilder &b) {
  NVVM::GriddepcontrolOp::create(b, NVVM::GridDepActionKind::wait);
}

void nvvm::launchDependents(ImplicitLocOpBuilder &b) {
  NVVM::GriddepcontrolOp::create(b, NVVM::GridDepActionKind::launch_dependents);
}

void nvvm::tryCancel(ImplicitLocOpBuilder &b, bool multicast, Value response,
                     Value barrier) {
  NVVM::ClusterLaunchControlTryCancelOp::create(b, multicast, response,
                                                barrier);
}

using CancelQuery = NVVM::ClusterLaunchControlQueryType;

Value nvvm::isCanceled(ImplicitLocOpBuilder &b, Value response) {
  return NVVM::ClusterLaunchControlQueryCancelOp::create(
      b, b.getI1Type(), CancelQuery::IS_CANCELED, response);
}

Value nvvm::firstCta(ImplicitLocOpBuilder &b, Value response) {
  return NVVM::ClusterLaunchControlQueryCancelOp::create(
      b, b.getI32Type(), CancelQuery::GET_FIRST_CTA_ID_X, response);
}

//===----------------------------------------------------------------------===//
// mbarriers and copies to shared memory
//===----------------------------------------------------------------------===//

void nvvm::initBarrier(ImplicitLocOpBuilder &b, Value barrier, Value arrivals) {
  NVVM::MBarrierInitOp::create(b, barrier, arrivals, /*predicate=*/Value());
}

void nvvm::fenceBarrierInit(ImplicitLocOpBuilder &b) {
  NVVM::FenceMbarrierInitOp::create(b);
}

Value nvvm::tryWait(ImplicitLocOpBuilder &b, Value barrier, Value parity,
                    Scope scope) {
  return NVVM::MBarrierTryWaitOp::create(b, b.getI1Type(), barrier, parity,
                                         /*ticks=*/Value(), scopeOf(scope));
}

void nvvm::arrive(ImplicitLocOpBuilder &b, Value barrier, Scope scope) {
  NVVM::MBarrierArriveOp::create(b, TypeRange(), barrier, /*count=*/Value(),
                                 scopeOf(scope));
}

void nvvm::arriveExpect(ImplicitLocOpBuilder &b, Value barrier, Value bytes,
                        Scope scope) {
  NVVM::MBarrierArriveExpectTxOp::create(b, TypeRange(), barrier, bytes,
                                         scopeOf(scope), /*relaxed=*/false,
                                         /*predicate=*/Value());
}

void nvvm::fenceAsyncProxy(ImplicitLocOpBuilder &b, Scope scope) {
  auto space = scope == Scope::Cluster ? NVVM::SharedSpace::shared_cluster
                                       : NVVM::SharedSpace::shared_cta;
  NVVM::FenceProxyOp::create(b, NVVM::ProxyKind::async_shared,
                             NVVM::SharedSpaceAttr::get(b.getContext(), space));
}

void nvvm::loadTile(ImplicitLocOpBuilder &b, const TileLoad &load) {
  auto group = load.isPair
                   ? NVVM::CTAGroupKindAttr::get(b.getContext(), groupOf(true))
                   : NVVM::CTAGroupKindAttr();
  NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
      b, load.target, load.map, load.coordinates, load.barrier,
      /*im2colOffsets=*/ValueRange(), load.multicastMask,
      /*l2CacheHint=*/Value(),
      load.isGather ? NVVM::TMALoadMode::TILE_GATHER4 : NVVM::TMALoadMode::TILE,
      load.ctaOnly, group,
      /*predicate=*/Value());
}

void nvvm::prefetchTile(ImplicitLocOpBuilder &b, Value map,
                        ValueRange coordinates) {
  NVVM::CpAsyncBulkTensorPrefetchOp::create(
      b, map, coordinates, /*im2colOffsets=*/ValueRange(),
      NVVM::TMALoadMode::TILE, /*l2CacheHint=*/Value());
}

void nvvm::storeTile(ImplicitLocOpBuilder &b, Value map, Value source,
                     ValueRange coordinates) {
  NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
      b, map, source, coordinates, /*l2CacheHint=*/Value(),
      NVVM::TMAStoreMode::TILE, /*predicate=*/Value());
  NVVM::CpAsyncBulkCommitGroupOp::create(b);
}

void nvvm::storeAsync(ImplicitLocOpBuilder &b, Value address, ValueRange words,
                      Value barrier) {
  auto word = [&](Value pointer) -> Value {
    return LLVM::PtrToIntOp::create(b, b.getI32Type(), pointer);
  };
  bool isFloat = words.front().getType().isF32();
  AssemblyText assembly(/*results=*/0);
  assembly.text =
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4";
  assembly.text += isFloat ? ".f32 [" : ".u32 [";
  assembly.add(word(address), "r");
  assembly.text += "], ";
  assembly.add(words, isFloat ? "f" : "r");
  assembly.text += ", [";
  assembly.add(word(barrier), "r");
  assembly.text += "]";
  assembly.constraints += ",~{memory}";
  assemble(b, Type(), assembly);
}

void nvvm::awaitStoreReads(ImplicitLocOpBuilder &b, int64_t pending) {
  NVVM::CpAsyncBulkWaitGroupOp::create(b, b.getI32IntegerAttr(pending),
                                       /*read=*/b.getUnitAttr());
}

//===----------------------------------------------------------------------===//
// Tensor memory
//===----------------------------------------------------------------------===//

/// ".cta_group::1" or of a pair.
static std::string groupName(bool isPair) {
  return isPair ? ".cta_group::2" : ".cta_group::1";
}

/// Whether so many columns take `.exclusive`, of PTX 9.4.
static bool isExclusive(int64_t columns) { return columns > hw::kTmemColumns; }

static Value numberOf(ImplicitLocOpBuilder &b, int64_t columns) {
  return LLVM::ConstantOp::create(b, b.getI32Type(), columns);
}

void nvvm::allocateTensor(ImplicitLocOpBuilder &b, Value slot, int64_t columns,
                          bool isPair) {
  if (isExclusive(columns)) {
    AssemblyText assembly(/*results=*/0);
    assembly.text = "tcgen05.alloc.exclusive" + groupName(isPair) +
                    ".sync.aligned.shared::cta.b32 [";
    Value address = LLVM::PtrToIntOp::create(b, b.getI64Type(), slot);
    assembly.add(address, "l");
    assembly.text += "], " + std::to_string(columns);
    assembly.constraints += ",~{memory}";
    assemble(b, Type(), assembly);
  } else {
    NVVM::Tcgen05AllocOp::create(b, slot, numberOf(b, columns),
                                 groupOf(isPair));
  }
  NVVM::Tcgen05RelinquishAllocPermitOp::create(b, groupOf(isPair));
}

void nvvm::deallocateTensor(ImplicitLocOpBuilder &b, Value address,
                            int64_t columns, bool isPair) {
  if (!isExclusive(columns)) {
    NVVM::Tcgen05DeallocOp::create(b, address, numberOf(b, columns),
                                   groupOf(isPair));
    return;
  }
  AssemblyText assembly(/*results=*/0);
  assembly.text =
      "tcgen05.dealloc.exclusive" + groupName(isPair) + ".sync.aligned.b32 ";
  assembly.add(tensorWord(b, address), "r");
  assembly.text += ", " + std::to_string(columns);
  assemble(b, Type(), assembly);
}

void nvvm::commitTensor(ImplicitLocOpBuilder &b, Value barrier,
                        Value multicastMask, bool isPair) {
  NVVM::Tcgen05CommitOp::create(b, barrier, multicastMask, groupOf(isPair));
}

void nvvm::fenceTensor(ImplicitLocOpBuilder &b, bool isBefore) {
  NVVM::Tcgen05FenceOp::create(
      b, isBefore ? NVVM::Tcgen05FenceKind::BEFORE_THREAD_SYNC
                  : NVVM::Tcgen05FenceKind::AFTER_THREAD_SYNC);
}

void nvvm::copyScales(ImplicitLocOpBuilder &b, Value target, Value descriptor,
                      bool isPair) {
  NVVM::Tcgen05CpOp::create(b, NVVM::Tcgen05CpShape::SHAPE_32x128b,
                            groupOf(isPair), NVVM::Tcgen05CpMulticast::WARPX4,
                            NVVM::Tcgen05CpSrcFormatAttr(), target, descriptor);
}

void nvvm::copyMetadata(ImplicitLocOpBuilder &b, Value target, Value descriptor,
                        bool isPair) {
  NVVM::Tcgen05CpOp::create(b, NVVM::Tcgen05CpShape::SHAPE_128x128b,
                            groupOf(isPair), NVVM::Tcgen05CpMulticast::NONE,
                            NVVM::Tcgen05CpSrcFormatAttr(), target, descriptor);
}

Value nvvm::loadTensor(ImplicitLocOpBuilder &b, Type type, Value address) {
  return NVVM::Tcgen05LdOp::create(b, type, /*pack=*/false,
                                   NVVM::Tcgen05LdStShape::SHAPE_32X32B,
                                   address, /*offset=*/Value());
}

void nvvm::waitForLoads(ImplicitLocOpBuilder &b) {
  NVVM::Tcgen05WaitOp::create(b, NVVM::Tcgen05WaitKind::LOAD);
}

static constexpr auto kCollector = NVVM::Tcgen05MMACollectorOp::DISCARD;

static void multiplyScaled(ImplicitLocOpBuilder &b, const TensorMma &mma) {
  constexpr int64_t kSmallBlock = 16;
  auto block = mma.block == kSmallBlock ? NVVM::Tcgen05MMABlockScale::BLOCK16
                                        : NVVM::Tcgen05MMABlockScale::BLOCK32;
  NVVM::MMABlockScaleKind kind = scaledKind(mma.kind);
  NVVM::CTAGroupKind group = groupOf(mma.isPair);
  if (mma.metadata)
    NVVM::Tcgen05MMASparseBlockScaleOp::create(
        b, kind, group, block, kCollector, mma.accumulator, mma.a, mma.b,
        mma.instruction, mma.accumulate, mma.metadata, mma.sfa, mma.sfb);
  else
    NVVM::Tcgen05MMABlockScaleOp::create(
        b, kind, group, block, kCollector, mma.accumulator, mma.a, mma.b,
        mma.instruction, mma.accumulate, mma.sfa, mma.sfb);
}

static void multiplyPlain(ImplicitLocOpBuilder &b, const TensorMma &mma) {
  NVVM::Tcgen05MMAKind kind = plainKind(mma.kind);
  NVVM::CTAGroupKind group = groupOf(mma.isPair);
  if (mma.metadata)
    NVVM::Tcgen05MMASparseOp::create(
        b, kind, group, kCollector, /*aShift=*/false, mma.accumulator, mma.a,
        mma.b, mma.instruction, mma.accumulate, mma.metadata,
        /*scaleInputD=*/Value(), /*disableOutputLane=*/Value());
  else
    NVVM::Tcgen05MMAOp::create(b, kind, group, kCollector, /*aShift=*/false,
                               mma.accumulator, mma.a, mma.b, mma.instruction,
                               mma.accumulate, /*scaleInputD=*/Value(),
                               /*disableOutputLane=*/Value());
}

static StringRef collectorName(Collector use) {
  switch (use) {
  case Collector::Discard:
    return "";
  case Collector::Fill:
    return ".collector::b::fill";
  case Collector::LastUse:
    return ".collector::b::lastuse";
  }
  llvm_unreachable("covered switch");
}

/// An MMA that names the collector of B, of PTX 9.4.
static void textualMultiply(ImplicitLocOpBuilder &b, const TensorMma &mma) {
  assert(!mma.metadata && "a sparse A does not share B");
  AssemblyText assembly(/*results=*/0);
  assembly.text = mma.spelling + collectorName(mma.collector).str() + " [";
  assembly.add(tensorWord(b, mma.accumulator), "r");
  assembly.text += "], ";
  assembly.add(mma.a, "l");
  assembly.text += ", ";
  assembly.add(mma.b, "l");
  assembly.text += ", ";
  assembly.add(mma.instruction, "r");
  if (mma.sfa) {
    assembly.text += ", [";
    assembly.add(tensorWord(b, mma.sfa), "r");
    assembly.text += "], [";
    assembly.add(tensorWord(b, mma.sfb), "r");
    assembly.text += "]";
  }
  assembly.text += ", ";
  assembly.add(mma.accumulate, "b");
  assembly.constraints += ",~{memory}";
  assemble(b, Type(), assembly);
}

void nvvm::multiply(ImplicitLocOpBuilder &b, const TensorMma &mma) {
  if (mma.collector != Collector::Discard)
    textualMultiply(b, mma);
  else if (mma.sfa)
    multiplyScaled(b, mma);
  else
    multiplyPlain(b, mma);
}
