// RUN: %nvcc -O2 -gencode arch=compute_100a,code=compute_100a %s -o %t
// RUN: blockscale emulate --advice --cuda %t > %t.out 2>&1
// RUN: FileCheck %s < %t.out
// RUN: FileCheck %s --check-prefix=OTHER < %t.out
// RUN: blockscale emulate --completion=latest --cuda %t 2>&1 | FileCheck %s --check-prefix=CLEAN --implicit-check-not=blockscale:
// RUN: blockscale emulate --completion=random --cuda %t 2>&1 | FileCheck %s --check-prefix=CLEAN --implicit-check-not=blockscale:
// What the ISA text asks for and kernels of this style leave out, and no more.
// CHECK-DAG: blockscale: hazard 17,
// CHECK-DAG: blockscale: hazard 50,
// CHECK-DAG: blockscale: hazard 75,
// CHECK-DAG: blockscale: hazard 90,
// CHECK-DAG: blockscale: hazard 91,
// CHECK: 0 of 3072000 elements differ
// OTHER-NOT: hazard {{([1-9]|1[0-689]|[234][0-9]|5[1-9]|6[0-9]|7[0-46-9]|8[0-9])}}]
// CLEAN: 0 of 3072000 elements differ

//===- cluster-gemm.cu - a persistent NVFP4 GEMM for clusters of two pairs ===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// In the style of CUTLASS: warps with roles, two pairs of CTAs that share B and
// its scales by multicast, tiles from cluster launch control, two accumulators,
// an epilogue by TMA through shared memory. As there, shared addresses keep the
// rank of the CTA, whole warps issue stores, remote arrivals have the default
// scope, no tcgen05.fence stands anywhere, the barrier of the deallocation is
// initialised after the fence, loads of tensor memory are waited for by the
// use of their registers, and nobody waits for the last stores.

#include "../Emulator/cuda/Tensor.h"
#include "Inputs/Problem.h"

constexpr int kTileN = 128, kTileK = 256, kStages = 3, kCtas = 4;
constexpr int kChunk = 32; ///< columns of a store
constexpr uint32_t kLeader = 0xFEFFFFFF;

struct Shared {
  alignas(1024) uint8_t a[kStages][128 * 128];
  alignas(1024) uint8_t b[kStages][64 * 128];
  alignas(1024) uint8_t scaleA[kStages][4 * 512], scaleB[kStages][4 * 512];
  alignas(1024) float out[2][128 * kChunk];
  alignas(16) uint8_t answer[16];
  uint64_t full[kStages], empty[kStages], ready[2], taken[2], answered, asked;
  uint64_t over;
  uint32_t slot;
};

struct Work {
  int m, n; ///< tiles of 512 rows and of 128 columns
};

/// The next tile, as every role of every CTA asks for it.
__device__ bool nextWork(Shared &s, Work &work, uint32_t &phase) {
  barrierWait(sharedAddress(&s.answered), phase);
  phase ^= 1;
  uint32_t more, x, y;
  asm volatile(
      "{\n\t.reg .pred P1;\n\t.reg .b128 response;\n\t"
      "ld.shared.b128 response, [%3];\n\t"
      "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 P1, response;\n\t"
      "selp.u32 %0, 1, 0, P1;\n\tmov.u32 %1, 0;\n\tmov.u32 %2, 0;\n\t"
      "@P1 clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 "
      "{%1, %2, _, _}, response;\n\t}"
      : "=r"(more), "=r"(x), "=r"(y)
      : "r"(sharedAddress(s.answer))
      : "memory");
  proxyFence();
  barrierArriveRemote(remoteAddress(sharedAddress(&s.asked), 0));
  work = {int(x) / kCtas, int(y)};
  return more;
}

__device__ void schedule(Shared &s, uint32_t rank) {
  uint32_t phase = 0, askPhase = 1;
  Work work;
  do {
    if (rank == 0)
      barrierWait(sharedAddress(&s.asked), askPhase);
    askPhase ^= 1;
    barrierExpect(sharedAddress(&s.answered), 16);
    if (rank == 0)
      asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta."
                   "mbarrier::complete_tx::bytes.multicast::cluster::all.b128 "
                   "[%0], [%1];" ::"r"(sharedAddress(s.answer)),
                   "r"(sharedAddress(&s.answered))
                   : "memory");
  } while (nextWork(s, work, phase));
  // The peers must not arrive on a barrier of a CTA that has left.
  if (rank == 0)
    barrierWait(sharedAddress(&s.asked), askPhase);
}

#define PAIR_LOAD                                                              \
  "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global."               \
  "mbarrier::complete_tx::bytes"

__device__ __forceinline__ void load(uint32_t to, const CUtensorMap *map, int x,
                                     int y, uint32_t barrier) {
  asm volatile(PAIR_LOAD " [%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(map),
               "r"(x), "r"(y), "r"(barrier & kLeader)
               : "memory");
}

__device__ __forceinline__ void loadTo(uint32_t to, const CUtensorMap *map,
                                       int x, int y, uint32_t barrier,
                                       uint16_t mask) {
  asm volatile(PAIR_LOAD
               ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
               "l"(map), "r"(x), "r"(y), "r"(barrier & kLeader), "h"(mask)
               : "memory");
}

struct Maps {
  CUtensorMap a, b, scaleA, scaleB, out;
};

__device__ void produce(Shared &s, const Maps &maps, Work work, uint32_t rank,
                        int tiles) {
  constexpr uint32_t bytes = 2 * (128 * 128 + 64 * 128 + 4 * 512 + 4 * 512);
  uint32_t phase = 0;
  int stage = 0;
  uint32_t round = 1;
  do {
    for (int t = 0; t < tiles; ++t) {
      uint32_t full = sharedAddress(&s.full[stage]);
      barrierWait(sharedAddress(&s.empty[stage]), round);
      if (rank % 2 == 0)
        barrierExpect(full, bytes);
      load(sharedAddress(s.a[stage]), &maps.a, t * 128,
           work.m * 512 + int(rank) * 128, full);
      load(sharedAddress(s.scaleA[stage]), &maps.scaleA, 0,
           (work.m * 4 + int(rank)) * tiles * 4 + t * 4, full);
      // CTAs of one parity hold the same half of B, each loads half of it.
      int half = int(rank) % 2 * 64, quarter = int(rank) / 2 * 32;
      loadTo(sharedAddress(s.b[stage]) + quarter * 128, &maps.b, t * 128,
             work.n * kTileN + half + quarter, full, rank % 2 ? 10 : 5);
      loadTo(sharedAddress(s.scaleB[stage]) + rank * 512, &maps.scaleB, 0,
             (work.n * tiles + t) * 4 + int(rank), full, 15);
      stage = (stage + 1) % kStages;
      round ^= stage == 0;
    }
  } while (nextWork(s, work, phase));
  // Nor may the tensor cores of the other pair.
  for (int i = 0; i < kStages; ++i) {
    barrierWait(sharedAddress(&s.empty[stage]), round);
    stage = (stage + 1) % kStages;
    round ^= stage == 0;
  }
}

__device__ void multiply(Shared &s, Work work, uint32_t rank, uint32_t memory,
                         int tiles) {
  constexpr uint32_t idesc = 0x10200480; // e2m1, ue4m3, 256 x 128
  const uint16_t pair = uint16_t(3 << (rank & ~1u));
  uint32_t phase = 0, round = 0, takenRound = 1;
  uint32_t sfa = memory + 256, sfb = memory + 272;
  int stage = 0, side = 0;
  do {
    barrierWait(sharedAddress(&s.taken[side]), takenRound);
    for (int t = 0; t < tiles; ++t) {
      barrierWait(sharedAddress(&s.full[stage]), round);
      for (int w = 0; w < 4; ++w) {
        Tensor<2>::copyScales(sfa + 4 * w,
                              rows16(sharedAddress(s.scaleA[stage]) + w * 512));
        Tensor<2>::copyScales(sfb + 4 * w,
                              rows16(sharedAddress(s.scaleB[stage]) + w * 512));
      }
      for (int w = 0; w < 4; ++w)
        Tensor<2>::mmaNvf4(memory + side * kTileN,
                           rows128(sharedAddress(s.a[stage])) + 2 * w,
                           rows128(sharedAddress(s.b[stage])) + 2 * w, idesc,
                           sfa + 4 * w, sfb + 4 * w, t || w);
      Tensor<2>::commitTo(sharedAddress(&s.empty[stage]), 15);
      stage = (stage + 1) % kStages;
      round ^= stage == 0;
    }
    Tensor<2>::commitTo(sharedAddress(&s.ready[side]), pair);
    takenRound ^= side;
    side ^= 1;
  } while (nextWork(s, work, phase));
}

/// 128 rows of the accumulator, 32 columns at a time.
__device__ void store(Shared &s, const Maps &maps, Work work, uint32_t rank,
                      uint32_t memory) {
  uint32_t phase = 0, round = 0;
  int side = 0, buffer = 0, row = int(threadIdx.x) % 128;
  bool more;
  do {
    barrierWait(sharedAddress(&s.ready[side]), round);
    for (int n = 0; n < kTileN; n += kChunk) {
      uint32_t values[32];
      asm volatile("tcgen05.ld.sync.aligned.32x32b.x32.b32 " TEXT32 ", [%32];"
                   : REGISTERS8("=r", 0), REGISTERS8("=r", 8),
                     REGISTERS8("=r", 16), REGISTERS8("=r", 24)
                   : "r"(memory + side * kTileN + n +
                         (threadIdx.x / 32 % 4 << 21)));
      for (int i = 0; i < 32; ++i)
        s.out[buffer][row * 32 + (i ^ row % 8 * 4)] =
            __uint_as_float(values[i]);
      proxyFence();
      asm volatile("bar.sync 1, 128;" ::: "memory");
      if (row / 32 == 0) {
        storeTile(&maps.out, work.n * kTileN + n,
                  work.m * 512 + int(rank) * 128, sharedAddress(s.out[buffer]));
        bulkCommit();
        asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
      }
      asm volatile("bar.sync 1, 128;" ::: "memory");
      buffer ^= 1;
    }
    barrierArriveRemote(sharedAddress(&s.taken[side]) & kLeader);
    round ^= side;
    side ^= 1;
    more = nextWork(s, work, phase);
  } while (more);
  barrierArriveRemote(remoteAddress(sharedAddress(&s.over), rank ^ 1));
  barrierArrive(sharedAddress(&s.over));
}

__global__ void __cluster_dims__(kCtas) __launch_bounds__(256)
    gemm(const __grid_constant__ Maps maps, int tiles) {
  extern __shared__ __align__(1024) uint8_t memory[];
  auto &s = *reinterpret_cast<Shared *>(memory);
  uint32_t rank = clusterRank(), warp = threadIdx.x / 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      barrierInit(sharedAddress(&s.full[i]), 1);
      barrierInit(sharedAddress(&s.empty[i]), 2);
    }
    for (int i = 0; i < 2; ++i) {
      barrierInit(sharedAddress(&s.ready[i]), 1);
      barrierInit(sharedAddress(&s.taken[i]), 2 * 128);
    }
    barrierInit(sharedAddress(&s.answered), 1);
    // Producer, scheduler and 128 threads of each CTA, two leaders.
    barrierInit(sharedAddress(&s.asked), kCtas * 130 + 2);
    barrierInitFence();
    barrierInit(sharedAddress(&s.over), 2 * 128);
  }
  asm volatile("barrier.cluster.arrive.relaxed.aligned;\n\t"
               "barrier.cluster.wait.aligned;" ::
                   : "memory");
  Work work = {int(blockIdx.x) / kCtas, int(blockIdx.y)};
  if (warp == 1) {
    // The warp of the mma allocates; the epilogue learns of it by a barrier.
    Tensor<2>::alloc(sharedAddress(&s.slot), 512);
    asm volatile("bar.arrive 2, 160;" ::: "memory");
    uint32_t columns = s.slot;
    if (rank % 2 == 0 && electOne())
      multiply(s, work, rank, columns, tiles);
    __syncwarp();
    barrierWait(sharedAddress(&s.over), 0);
    Tensor<2>::free(columns, 512);
  } else if (warp == 0) {
    if (electOne())
      produce(s, maps, work, rank, tiles);
  } else if (warp == 2) {
    if (electOne())
      schedule(s, rank);
  } else if (warp >= 4) {
    asm volatile("bar.sync 2, 160;" ::: "memory");
    store(s, maps, work, rank, s.slot);
  }
}

int main() {
  constexpr int m = 1000, n = 3072, k = 512;
  Operand a{m, k, 16, 1}, b{n, k, 16, 2};
  std::vector<uint8_t> scalesA = a.atoms(), scalesB = b.atoms();
  float *out;
  CALL(cudaMalloc(&out, size_t(m) * n * sizeof(float)));
  Maps maps;
  maps.a = byteMap(upload(a.nibbles()), k / 2, m, 128);
  maps.b = byteMap(upload(b.nibbles()), k / 2, n, 32);
  maps.scaleA = atomMap(upload(scalesA), scalesA.size(), 4);
  maps.scaleB = atomMap(upload(scalesB), scalesB.size(), 1);
  maps.out = matrixMap(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, out, n, m, kChunk,
                       128);
  int bytes = sizeof(Shared);
  CALL(cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize,
                            bytes));
  gemm<<<dim3((m + 511) / 512 * kCtas, n / kTileN), 256, bytes>>>(maps,
                                                                 k / kTileK);
  CALL(cudaGetLastError());
  CALL(cudaDeviceSynchronize());
  return check(a, b, out);
}
