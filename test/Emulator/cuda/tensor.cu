//===- tensor.cu - block-scaled GEMMs on the tensor core (sm_100a) --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tensor.h"

/// NVFP4, tiles of 256 elements of K in a ring of two stages. Group 2 splits A
/// and B over a pair of CTAs; each CTA loads one half of the columns' scales
/// and multicasts it to both. N = 192 needs two scale atoms.
constexpr int kRingN = 192, kRingTiles = 3;

template <int Group> struct Ring {
  static constexpr int kRowsB = kRingN / Group;
  alignas(1024) uint8_t a[2][128 * 128];
  alignas(1024) uint8_t b[2][kRowsB * 128];
  alignas(1024) uint8_t scaleA[2][4 * 512];
  alignas(1024) uint8_t scaleB[2][2][4 * 512];
  uint64_t full[2], empty[2], done;
  uint32_t slot;
};

template <int Group>
__device__ void produce(Ring<Group> &s, const CUtensorMap &a,
                        const CUtensorMap &b, const CUtensorMap &scaleA,
                        const CUtensorMap &scaleB, uint32_t rank);

/// One CTA: everything counts on its own barrier.
template <>
__device__ void produce<1>(Ring<1> &s, const CUtensorMap &a,
                           const CUtensorMap &b, const CUtensorMap &scaleA,
                           const CUtensorMap &scaleB, uint32_t) {
  for (int t = 0; t < kRingTiles; ++t) {
    int i = t % 2;
    uint32_t full = sharedAddress(&s.full[i]);
    barrierWait(sharedAddress(&s.empty[i]), (t / 2 + 1) % 2);
    barrierExpect(full, 16384 + 192 * 128 + 3 * 2048);
    loadTile(sharedAddress(s.a[i]), &a, t * 128, 0, full);
    loadTile(sharedAddress(s.b[i]), &b, t * 128, 0, full);
    loadTile(sharedAddress(s.scaleA[i]), &scaleA, 0, t * 4, full);
    loadTile(sharedAddress(s.scaleB[i][0]), &scaleB, 0, t * 4, full);
    loadTile(sharedAddress(s.scaleB[i][1]), &scaleB, 0,
             kRingTiles * 4 + t * 4, full);
  }
}

#define PAIR_LOAD                                                              \
  "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global."               \
  "mbarrier::complete_tx::bytes"

__device__ __forceinline__ void loadPair(uint32_t to, const CUtensorMap *map,
                                         int x, int y, uint32_t barrier) {
  asm volatile(PAIR_LOAD " [%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(map),
               "r"(x), "r"(y), "r"(barrier & 0xFEFFFFFF)
               : "memory");
}

__device__ __forceinline__ void loadPairMulticast(uint32_t to,
                                                  const CUtensorMap *map,
                                                  int x, int y,
                                                  uint32_t barrier,
                                                  uint16_t mask) {
  asm volatile(PAIR_LOAD
               ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
               "l"(map), "r"(x), "r"(y), "r"(barrier & 0xFEFFFFFF), "h"(mask)
               : "memory");
}

/// A pair: the bytes of both CTAs count on the barrier of the even one.
template <>
__device__ void produce<2>(Ring<2> &s, const CUtensorMap &a,
                           const CUtensorMap &b, const CUtensorMap &scaleA,
                           const CUtensorMap &scaleB, uint32_t rank) {
  for (int t = 0; t < kRingTiles; ++t) {
    int i = t % 2;
    uint32_t full = sharedAddress(&s.full[i]);
    barrierWait(sharedAddress(&s.empty[i]), (t / 2 + 1) % 2);
    if (rank == 0)
      barrierExpect(full, 2 * (16384 + 96 * 128 + 3 * 2048));
    loadPair(sharedAddress(s.a[i]), &a, t * 128, rank * 128, full);
    loadPair(sharedAddress(s.b[i]), &b, t * 128, rank * 96, full);
    loadPair(sharedAddress(s.scaleA[i]), &scaleA, 0,
             (rank * kRingTiles + t) * 4, full);
    loadPairMulticast(sharedAddress(s.scaleB[i][rank]), &scaleB, 0,
                      (rank * kRingTiles + t) * 4, full, 3);
  }
}

template <int Group>
__device__ void consume(Ring<Group> &s, uint32_t accumulator) {
  const uint32_t idesc = Group == 2 ? 0x10300480u : 0x08300480u;
  uint32_t sfa = accumulator + 192, sfb = accumulator + 208;
  for (int t = 0; t < kRingTiles; ++t) {
    int i = t % 2;
    barrierWait(sharedAddress(&s.full[i]), t / 2 % 2);
    fenceAfter();
    for (int w = 0; w < 4; ++w) {
      Tensor<Group>::copyScales(
          sfa + 4 * w, rows16(sharedAddress(s.scaleA[i]) + w * 512));
      for (int half = 0; half < 2; ++half)
        Tensor<Group>::copyScales(
            sfb + 8 * w + 4 * half,
            rows16(sharedAddress(s.scaleB[i][half]) + w * 512));
    }
    for (int w = 0; w < 4; ++w)
      Tensor<Group>::mmaNvf4(accumulator,
                             rows128(sharedAddress(s.a[i])) + 2 * w,
                             rows128(sharedAddress(s.b[i])) + 2 * w, idesc,
                             sfa + 4 * w, sfb + 8 * w, t || w);
    if (Group == 2)
      Tensor<Group>::commitTo(sharedAddress(&s.empty[i]), 3);
    else
      Tensor<Group>::commit(sharedAddress(&s.empty[i]));
  }
  if (Group == 2)
    Tensor<Group>::commitTo(sharedAddress(&s.done), 3);
  else
    Tensor<Group>::commit(sharedAddress(&s.done));
}

template <int Group>
__device__ void ring(const CUtensorMap &a, const CUtensorMap &b,
                     const CUtensorMap &scaleA, const CUtensorMap &scaleB,
                     float *out) {
  extern __shared__ __align__(1024) uint8_t memory[];
  auto &s = *reinterpret_cast<Ring<Group> *>(memory);
  uint32_t rank = Group == 2 ? clusterRank() : 0;
  uint32_t warp = threadIdx.x / 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i) {
      barrierInit(sharedAddress(&s.full[i]), 1);
      barrierInit(sharedAddress(&s.empty[i]), 1);
    }
    barrierInit(sharedAddress(&s.done), 1);
    barrierInitFence();
  }
  if (Group == 2)
    clusterSync();
  if (warp == 2)
    Tensor<Group>::alloc(sharedAddress(&s.slot), 256);
  __syncthreads();
  if (Group == 2)
    clusterSync();
  uint32_t accumulator = s.slot;
  if (warp == 0) {
    if (electOne())
      produce<Group>(s, a, b, scaleA, scaleB, rank);
  } else if (warp == 1 && rank == 0) {
    if (electOne())
      consume<Group>(s, accumulator);
  } else if (warp >= 4) {
    barrierWait(sharedAddress(&s.done), 0);
    fenceAfter();
    storeRow<kRingN>(out, int(rank * 128 + threadIdx.x % 128), accumulator);
    fenceBefore();
  }
  __syncthreads();
  if (Group == 2)
    clusterSync();
  if (warp == 2)
    Tensor<Group>::free(accumulator, 256);
}

#define MAPS                                                                   \
  const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, \
      const __grid_constant__ CUtensorMap scaleA,                              \
      const __grid_constant__ CUtensorMap scaleB

extern "C" __global__ void __launch_bounds__(256) ringSingle(MAPS, float *out) {
  ring<1>(a, b, scaleA, scaleB, out);
}

extern "C" __global__ void __cluster_dims__(2) __launch_bounds__(256)
    ringPair(MAPS, float *out) {
  ring<2>(a, b, scaleA, scaleB, out);
}

enum class Kind { SparseMxf8, SparseNvf4, DenseMxf8 };

/// One tile: 64 bytes per row of a sparse A, 128 of a dense A and of B, 16 of
/// metadata.
template <int Group, Kind K>
__device__ void tile(const CUtensorMap &a, const CUtensorMap &b,
                       const uint8_t *scaleA, const uint8_t *scaleB,
                       const uint8_t *metadata, float *out) {
  constexpr bool fp4 = K == Kind::SparseNvf4, dense = K == Kind::DenseMxf8;
  constexpr int n = 64 * Group, atoms = fp4 ? 2 : 1, rowA = dense ? 128 : 64;
  struct Stage {
    alignas(1024) uint8_t a[128 * rowA];
    alignas(1024) uint8_t b[64 * 128];
    alignas(1024) uint8_t scaleA[2 * 512], scaleB[2 * 512], metadata[2048];
    uint64_t full, done;
    uint32_t slot;
  };
  __shared__ Stage s;
  uint32_t rank = Group == 2 ? clusterRank() : 0;
  uint32_t full = sharedAddress(&s.full), done = sharedAddress(&s.done);
  if (threadIdx.x == 0) {
    barrierInit(full, 1);
    barrierInit(done, 1);
    barrierInitFence();
  }
  if (Group == 2)
    clusterSync();
  if (threadIdx.x < 32)
    Tensor<Group>::alloc(sharedAddress(&s.slot), 256);
  __syncthreads();
  uint32_t d = s.slot, sfa = d + 128, sfb = d + 136, meta = d + 144;
  if (threadIdx.x == 0) {
    barrierExpect(full,
                  128 * rowA + 8192 + 2 * atoms * 512 + (dense ? 0 : 2048));
    loadTile(sharedAddress(s.a), &a, 0, rank * 128, full);
    loadTile(sharedAddress(s.b), &b, 0, rank * 64, full);
    bulkLoad(sharedAddress(s.scaleA), scaleA + rank * atoms * 512, atoms * 512,
             full);
    bulkLoad(sharedAddress(s.scaleB), scaleB, atoms * 512, full);
    if (!dense)
      bulkLoad(sharedAddress(s.metadata), metadata + rank * 2048, 2048, full);
  }
  barrierWait(full, 0);
  if (Group == 2)
    clusterSync();
  if (threadIdx.x == 0 && rank == 0) {
    fenceAfter();
    for (int w = 0; w < atoms; ++w) {
      Tensor<Group>::copyScales(sfa + 4 * w,
                                rows16(sharedAddress(s.scaleA) + w * 512));
      Tensor<Group>::copyScales(sfb + 4 * w,
                                rows16(sharedAddress(s.scaleB) + w * 512));
    }
    if (!dense)
      Tensor<Group>::copyMetadata(meta, rows16(sharedAddress(s.metadata)));
    uint32_t shape = uint32_t(n / 8) << 17 | uint32_t(Group) << 27 | 4;
    for (int i = 0; dense && i < 4; ++i)
      Tensor<Group>::mmaMxf8(d, rows128(sharedAddress(s.a)) + 2 * i,
                             rows128(sharedAddress(s.b)) + 2 * i,
                             (shape ^ 4) | 0x800000 | i * 0x20000010u, sfa, sfb,
                             i);
    for (int i = 0; !dense && i < 2; ++i) {
      uint64_t da = rows64(sharedAddress(s.a)) + 2 * i;
      uint64_t db = rows128(sharedAddress(s.b)) + 4 * i;
      if (fp4)
        Tensor<Group>::mmaSparseNvf4(d, da, db, meta + 2 * i, shape | 0x480,
                                     sfa + 4 * i, sfb + 4 * i, i);
      else
        Tensor<Group>::mmaSparseMxf8(d, da, db, meta + 2 * i,
                                     shape | 0x800000 | i * 0x20000010u, sfa,
                                     sfb, i);
    }
    if (Group == 2)
      Tensor<Group>::commitTo(done, 3);
    else
      Tensor<Group>::commit(done);
  }
  barrierWait(done, 0);
  __syncwarp();
  fenceAfter();
  storeRow<n>(out, int(rank * 128 + threadIdx.x), d);
  fenceBefore();
  __syncthreads();
  if (Group == 2)
    clusterSync();
  if (threadIdx.x < 32)
    Tensor<Group>::free(d, 256);
}

#define TILE(NAME, CLUSTER, GROUP, KIND)                                       \
  extern "C" __global__ void CLUSTER __launch_bounds__(128)                    \
      NAME(const __grid_constant__ CUtensorMap a,                              \
           const __grid_constant__ CUtensorMap b, const uint8_t *scaleA,       \
           const uint8_t *scaleB, const uint8_t *metadata, float *out) {       \
    tile<GROUP, Kind::KIND>(a, b, scaleA, scaleB, metadata, out);              \
  }
TILE(sparseMxf8Single, , 1, SparseMxf8)
TILE(sparseMxf8Pair, __cluster_dims__(2), 2, SparseMxf8)
TILE(sparseNvf4Single, , 1, SparseNvf4)
TILE(sparseNvf4Pair, __cluster_dims__(2), 2, SparseNvf4)
TILE(denseMxf8Pair, __cluster_dims__(2), 2, DenseMxf8)

/// A of 128 x 128 e4m3 written to tensor memory by its four warps, B of 64
/// columns stored by threads through the generic proxy.
extern "C" __global__ void __launch_bounds__(128)
    fromTensor(const uint32_t *a, const uint32_t *b, const uint8_t *scaleA,
               const uint8_t *scaleB, float *out) {
  __shared__ alignas(1024) uint32_t sb[64 * 32];
  __shared__ alignas(128) uint32_t scales[256];
  __shared__ alignas(8) uint64_t done;
  __shared__ uint32_t slot;
  if (threadIdx.x == 0) {
    barrierInit(sharedAddress(&done), 1);
    barrierInitFence();
  }
  if (threadIdx.x < 32)
    Tensor<1>::alloc(sharedAddress(&slot), 128);
  for (int i = threadIdx.x; i < 64 * 32; i += 128)
    sb[i ^ (i / 32 % 8) * 4] = b[i];
  scales[threadIdx.x] =
      reinterpret_cast<const uint32_t *>(scaleA)[threadIdx.x];
  scales[128 + threadIdx.x] =
      reinterpret_cast<const uint32_t *>(scaleB)[threadIdx.x];
  proxyFence();
  __syncthreads();
  uint32_t d = slot;
  uint32_t values[32];
  for (int i = 0; i < 32; ++i)
    values[i] = a[threadIdx.x * 32 + i];
  storeTensor32(d + 64 + (threadIdx.x / 32 << 21), values);
  fenceBefore();
  __syncthreads();
  if (threadIdx.x == 0) {
    fenceAfter();
    Tensor<1>::copyScales(d + 96, rows16(sharedAddress(scales)));
    Tensor<1>::copyScales(d + 100, rows16(sharedAddress(scales) + 512));
    for (int i = 0; i < 4; ++i)
      mmaMxf8FromTensor(d, d + 64 + 8 * i, rows128(sharedAddress(sb)) + 2 * i,
                        0x08900000u + i * 0x20000010u, d + 96, d + 100, i);
    Tensor<1>::commit(sharedAddress(&done));
  }
  barrierWait(sharedAddress(&done), 0);
  __syncwarp();
  fenceAfter();
  storeRow<64>(out, int(threadIdx.x), d);
  fenceBefore();
  __syncthreads();
  if (threadIdx.x < 32)
    Tensor<1>::free(d, 128);
}
