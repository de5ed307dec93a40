//===- NVVM.h - the NVVM dialect as we use it -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every op, attribute and enumeration of NVVM that kernels need, one function
// for each instruction. Upstream renames them from release to release; NVVM.cpp
// is the only file that includes their header, which also costs ten seconds in
// each file that does.
//
// Functions insert at the builder's place. Addresses are pointers of the LLVM
// dialect, numbers i32, unless it is said.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_UPSTREAM_NVVM_H
#define BLOCKSCALE_UPSTREAM_NVVM_H

#include "blockscale/HW/Mma.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace blockscale::nvvm {

/// NVPTX's address spaces.
enum class AddressSpace : unsigned {
  Global = 1,
  Shared = 3,
  Tensor = 6,
  SharedCluster = 7
};

/// The threads that wait for each other.
enum class Scope { Cta, Cluster };

//===----------------------------------------------------------------------===//
// The dialect, and attributes
//===----------------------------------------------------------------------===//

inline constexpr llvm::StringLiteral kDialectName = "nvvm";
void registerDialect(mlir::DialectRegistry &registry);

/// Makes `function` a kernel of `threads` threads for each CTA and clusters of
/// `cluster` CTAs, of which an SM has registers for `ctasPerSm` at once.
void makeKernel(mlir::Operation *function, int32_t threads, int32_t cluster,
                int32_t ctasPerSm);

/// The name of the attribute of a parameter that the grid does not write.
llvm::StringRef gridConstantName();

/// What code of `gpu.object` was compiled for.
mlir::Attribute objectTarget(mlir::MLIRContext *context, int optLevel,
                             llvm::StringRef triple, llvm::StringRef chip);

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// Axes x, y and z are 0, 1 and 2.
mlir::Value threadId(mlir::ImplicitLocOpBuilder &b, unsigned axis);
mlir::Value blockId(mlir::ImplicitLocOpBuilder &b, unsigned axis);
mlir::Value gridDim(mlir::ImplicitLocOpBuilder &b, unsigned axis);
mlir::Value laneId(mlir::ImplicitLocOpBuilder &b);
/// Number of the CTA in its cluster.
mlir::Value clusterRank(mlir::ImplicitLocOpBuilder &b);

void syncThreads(mlir::ImplicitLocOpBuilder &b);
/// Of `threads` threads of the CTA, whole warps, with barrier 1 to 15.
void syncThreads(mlir::ImplicitLocOpBuilder &b, int64_t barrier,
                 int64_t threads);
/// The same; whether the i1 `condition` holds in any of them, i1.
mlir::Value syncThreadsAny(mlir::ImplicitLocOpBuilder &b, int64_t barrier,
                           int64_t threads, mlir::Value condition);
/// Adds 1 to the word at a global `address`, or makes it 0 where it is
/// `largest`, and returns what it was: an i32. Releases what is ordered before
/// to the whole device, and acquires.
mlir::Value countUpTo(mlir::ImplicitLocOpBuilder &b, mlir::Value address,
                      mlir::Value largest);
/// The word at a global `address`, i32; acquires what was released to it.
mlir::Value loadAcquired(mlir::ImplicitLocOpBuilder &b, mlir::Value address);
/// Makes the word at a global `address` the larger one of itself and `number`,
/// an i32, without signs. Orders nothing.
void raiseWord(mlir::ImplicitLocOpBuilder &b, mlir::Value address,
               mlir::Value number);
/// `lanes` is the mask of those that come.
void syncWarp(mlir::ImplicitLocOpBuilder &b, mlir::Value lanes);
/// Registers of each thread of the warpgroup from here on.
void setMaxRegisters(mlir::ImplicitLocOpBuilder &b, uint32_t count,
                     bool increase);
/// The largest of the i32 numbers, without signs, of the lanes of a mask, which
/// all of them have.
mlir::Value largestOfLanes(mlir::ImplicitLocOpBuilder &b, mlir::Value number,
                           mlir::Value lanes);
/// Their sum.
mlir::Value sumOfLanes(mlir::ImplicitLocOpBuilder &b, mlir::Value number,
                       mlir::Value lanes);
/// What the lane of the warp has, all of whose lanes come, whose number differs
/// in the bits of `mask`: i32 or f32.
mlir::Value exchangeLanes(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                          mlir::Value mask);
/// What lane number `lane` has of the warp, all of whose lanes come.
mlir::Value valueOfLane(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                        mlir::Value lane);
/// Whether the lane is the one of its warp that was chosen: i1.
mlir::Value electOne(mlir::ImplicitLocOpBuilder &b);
/// Arrives and waits, with whole warps.
void clusterBarrier(mlir::ImplicitLocOpBuilder &b);
/// Its halves: each thread waits before it arrives again.
void clusterArrive(mlir::ImplicitLocOpBuilder &b);
void clusterWait(mlir::ImplicitLocOpBuilder &b);

/// The address, of type `window`, of what lies at `pointer` in the CTA `rank`.
mlir::Value mapToRank(mlir::ImplicitLocOpBuilder &b, mlir::Type window,
                      mlir::Value pointer, mlir::Value rank);

//===----------------------------------------------------------------------===//
// Dependent launches, cluster launch control
//===----------------------------------------------------------------------===//

void awaitDependencies(mlir::ImplicitLocOpBuilder &b);
void launchDependents(mlir::ImplicitLocOpBuilder &b);

void tryCancel(mlir::ImplicitLocOpBuilder &b, bool multicast,
               mlir::Value response, mlir::Value barrier);
/// Of a response, an i128: whether it took a cluster over (i1), and its first
/// CTA.
mlir::Value isCanceled(mlir::ImplicitLocOpBuilder &b, mlir::Value response);
mlir::Value firstCta(mlir::ImplicitLocOpBuilder &b, mlir::Value response);

//===----------------------------------------------------------------------===//
// mbarriers and copies to shared memory
//===----------------------------------------------------------------------===//

void initBarrier(mlir::ImplicitLocOpBuilder &b, mlir::Value barrier,
                 mlir::Value arrivals);
/// Makes barriers known to the async proxy.
void fenceBarrierInit(mlir::ImplicitLocOpBuilder &b);
/// Whether the phase with `parity` is over: i1.
mlir::Value tryWait(mlir::ImplicitLocOpBuilder &b, mlir::Value barrier,
                    mlir::Value parity, Scope scope);
void arrive(mlir::ImplicitLocOpBuilder &b, mlir::Value barrier, Scope scope);
void arriveExpect(mlir::ImplicitLocOpBuilder &b, mlir::Value barrier,
                  mlir::Value bytes, Scope scope);
/// Stores four words at an address of the cluster's window. Their bytes count
/// on `barrier`, of the same CTA.
void storeAsync(mlir::ImplicitLocOpBuilder &b, mlir::Value address,
                mlir::ValueRange words, mlir::Value barrier);
/// Orders what threads wrote to shared memory before what the async proxy
/// reads.
void fenceAsyncProxy(mlir::ImplicitLocOpBuilder &b, Scope scope);

/// A load of a tile by TMA.
struct TileLoad {
  mlir::Value target, map, barrier;
  mlir::ValueRange coordinates;
  /// i16, or null for none.
  mlir::Value multicastMask;
  /// Into the CTA's own shared memory.
  bool ctaOnly = false;
  /// May signal a barrier in the other CTA of a pair.
  bool isPair = false;
  /// Four rows of a tensor: the coordinates are a column and their numbers.
  bool isGather = false;
};
void loadTile(mlir::ImplicitLocOpBuilder &b, const TileLoad &load);
/// Brings a tile to the L2 cache.
void prefetchTile(mlir::ImplicitLocOpBuilder &b, mlir::Value map,
                  mlir::ValueRange coordinates);
/// A store of a tile by TMA as a group of its own.
void storeTile(mlir::ImplicitLocOpBuilder &b, mlir::Value map,
               mlir::Value source, mlir::ValueRange coordinates);
/// Waits until all but the thread's last `pending` groups have read their
/// sources.
void awaitStoreReads(mlir::ImplicitLocOpBuilder &b, int64_t pending);

//===----------------------------------------------------------------------===//
// Tensor memory. `isPair` is the same in all instructions of a kernel.
//===----------------------------------------------------------------------===//

/// Writes the allocation's address to `slot`, and gives up the right to more.
/// More columns than plain allocations have are taken exclusively.
void allocateTensor(mlir::ImplicitLocOpBuilder &b, mlir::Value slot,
                    int64_t columns, bool isPair);
void deallocateTensor(mlir::ImplicitLocOpBuilder &b, mlir::Value address,
                      int64_t columns, bool isPair);
/// `multicastMask` is i16, or null for none.
void commitTensor(mlir::ImplicitLocOpBuilder &b, mlir::Value barrier,
                  mlir::Value multicastMask, bool isPair);
/// In front of a synchronisation, or behind it.
void fenceTensor(mlir::ImplicitLocOpBuilder &b, bool isBefore);
/// 32 rows of 16 bytes to all four quarters of lanes.
void copyScales(mlir::ImplicitLocOpBuilder &b, mlir::Value target,
                mlir::Value descriptor, bool isPair);
/// 128 rows of 16 bytes.
void copyMetadata(mlir::ImplicitLocOpBuilder &b, mlir::Value target,
                  mlir::Value descriptor, bool isPair);
/// 32 lanes of as many columns as `type` has words.
mlir::Value loadTensor(mlir::ImplicitLocOpBuilder &b, mlir::Type type,
                       mlir::Value address);
void waitForLoads(mlir::ImplicitLocOpBuilder &b);

/// What an MMA does with B in the collector, which the next one finds there:
/// nothing, leave it, or use it for the last time.
enum class Collector { Discard, Fill, LastUse };

/// A tcgen05.mma: with scales if `sfa` is given, sparse if `metadata` is.
struct TensorMma {
  hw::MmaKind kind = hw::MmaKind::MXF8F6F4;
  /// Elements along K that share a scale: 16 or 32; 0 without scales.
  int64_t block = 0;
  bool isPair = false;
  Collector collector = Collector::Discard;
  /// As PTX writes it without the collector, for what NVVM has no op for.
  std::string spelling;
  /// i64 descriptors, the i32 instruction descriptor, i1, addresses.
  mlir::Value accumulator, a, b, instruction, accumulate, metadata, sfa, sfb;
};
void multiply(mlir::ImplicitLocOpBuilder &b, const TensorMma &mma);

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// The largest of f32 without their signs, NaN if one of them is.
mlir::Value largestMagnitude(mlir::ImplicitLocOpBuilder &b,
                             mlir::ValueRange values);

/// Two f32 as codes of `format`, to nearest even and saturating, in an i32:
/// that of `low` at bit 0, that of `high` behind it.
mlir::Value encodePair(mlir::ImplicitLocOpBuilder &b, mlir::Value low,
                       mlir::Value high, mlir::Type format);

/// Eight f32 as such codes of f4E2M1FN, the first in the lowest bits of an i32.
mlir::Value encodeWord(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange values);

/// Four f32 as codes of `format`, or eight as such of f4E2M1FN, rounded by the
/// 32 bits of each four, as `blockscale.encode_stochastic` says.
mlir::Value encodeStochastic(mlir::ImplicitLocOpBuilder &b,
                             mlir::ValueRange values, mlir::ValueRange random,
                             mlir::Type format);

/// Two f32 rounded as such codes of f4E2M1FN, as a vector of f16.
mlir::Value roundPair(mlir::ImplicitLocOpBuilder &b, mlir::Value low,
                      mlir::Value high);

/// The f32 `value` so that encodePair() and encodeWord() round it at random, as
/// `blockscale.dither` says; `random` is an i32 below 2^16.
mlir::Value dither(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                   mlir::Value random, mlir::FloatType format);

/// Two codes of `format`, as encodePair() has them, as a vector of f16.
mlir::Value decodePair(mlir::ImplicitLocOpBuilder &b, mlir::Value codes,
                       mlir::Type format);

/// Codes as of encodePair() or encodeWord(), and a vector of f32 of what the
/// codes are less the numbers.
struct RoundingErrors {
  mlir::Value codes, errors;
};
/// Those of two f32, or of eight in f4E2M1FN. `isMixed` says whether the chip
/// adds f16 to f32.
RoundingErrors roundingErrors(mlir::ImplicitLocOpBuilder &b,
                              mlir::ValueRange values, mlir::Type format,
                              bool isMixed);

/// The sum of two f32, or of vectors of two, rounded towards zero. `isPacked`
/// says whether the chip adds two at once.
mlir::Value addTowardsZero(mlir::ImplicitLocOpBuilder &b, mlir::Value lhs,
                           mlir::Value rhs, bool isPacked);
/// The same of the product.
mlir::Value multiplyTowardsZero(mlir::ImplicitLocOpBuilder &b, mlir::Value lhs,
                                mlir::Value rhs, bool isPacked);

/// An i32 with `factor`, at most 255, times half of another added.
mlir::Value addHalf(mlir::ImplicitLocOpBuilder &b, mlir::Value addend,
                    int64_t factor, mlir::Value word, bool isUpper);

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

/// Four matrices of 8 rows of 16 bytes as a structure of four words. Elements
/// of `paddedBits` (4 or 6; 0 for none) become bytes; those of 16 bits may be
/// transposed.
mlir::Value loadMatrices(mlir::ImplicitLocOpBuilder &b, mlir::Value address,
                         unsigned paddedBits, bool isTransposed);

/// An mma.sync, with scales if `sfa` is given, sparse, which goes with scales
/// only, if `metadata` is.
struct WarpMma {
  WarpMma(hw::MmaKind kind, hw::OperandType typeA, hw::OperandType typeB)
      : kind(kind), typeA(typeA), typeB(typeB) {}

  hw::MmaKind kind;
  hw::OperandType typeA, typeB;
  /// As PTX writes it, for what NVVM has no op for.
  std::string spelling;
  ElementFormat scale = ElementFormat::UE8M0;
  int64_t m = 0, n = 0, k = 0;
  /// Scales of a row: 1, 2 or 4.
  unsigned scales = 1;
  mlir::ValueRange a, b, c;
  /// Words of metadata and scales.
  mlir::Value metadata, sfa, sfb;
  /// byte-id (0 to 3) and thread-id (0 or 1) of the scales.
  int64_t byteA = 0, threadA = 0, byteB = 0, threadB = 0;
};
/// A structure of four f32, or i32 of integers, which wrap around.
mlir::Value multiply(mlir::ImplicitLocOpBuilder &b, const WarpMma &mma);

} // namespace blockscale::nvvm

#endif // BLOCKSCALE_UPSTREAM_NVVM_H
