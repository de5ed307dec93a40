//===- wide.cu - NVFP4 with K=96 instructions (sm_103a) -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One tile of 768 elements of K: three buffers of 128 bytes per row, eight
// instructions; those that cross into the next buffer name its address in the
// field of the leading dimension.
//
//===----------------------------------------------------------------------===//

#include "Tensor.h"

constexpr int kN = 128;

struct Wide {
  alignas(1024) uint8_t a[3][128 * 128];
  alignas(1024) uint8_t b[3][128 * 128];
  alignas(1024) uint8_t scaleA[12 * 512], scaleB[12 * 512];
  uint64_t full, done;
  uint32_t slot;
};

/// `start` begins in buffer i / 3; the next one follows `stride` bytes on.
__device__ __forceinline__ uint64_t step(uint32_t buffers, uint32_t stride,
                                         int i) {
  int from = 48 * i, first = from / 128, last = (from + 47) / 128;
  uint64_t start = (buffers + first * stride + from % 128 & 0x3ffff) >> 4;
  uint64_t next = (buffers + last * stride & 0x3ffff) >> 4;
  return 0x4010404000000000ull | next << 16 | start;
}

template <int Group>
__device__ void wide(const CUtensorMap &a, const CUtensorMap &b,
                     const uint8_t *scaleA, const uint8_t *scaleB, float *out) {
  constexpr int rowsB = kN / Group;
  extern __shared__ __align__(1024) uint8_t memory[];
  Wide &s = *reinterpret_cast<Wide *>(memory);
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
  uint32_t d = s.slot, sfa = d + 128, sfb = d + 176;
  if (threadIdx.x == 0) {
    barrierExpect(full, 3 * (16384 + rowsB * 128) + 2 * 12 * 512);
    for (int i = 0; i < 3; ++i) {
      loadTile(sharedAddress(s.a[i]), &a, i * 128, rank * 128, full);
      loadTile(sharedAddress(s.b[i]), &b, i * 128, rank * rowsB, full);
    }
    bulkLoad(sharedAddress(s.scaleA), scaleA + rank * 12 * 512, 12 * 512, full);
    bulkLoad(sharedAddress(s.scaleB), scaleB, 12 * 512, full);
  }
  barrierWait(full, 0);
  if (Group == 2)
    clusterSync();
  if (threadIdx.x == 0 && rank == 0) {
    fenceAfter();
    for (int w = 0; w < 12; ++w) {
      Tensor<Group>::copyScales(sfa + 4 * w,
                                rows16(sharedAddress(s.scaleA) + w * 512));
      Tensor<Group>::copyScales(sfb + 4 * w,
                                rows16(sharedAddress(s.scaleB) + w * 512));
    }
    for (int i = 0; i < 8; ++i) {
      // Six scales per instruction: word 6i / 4, byte 0 or 2.
      uint32_t word = 6 * i / 4 * 4, id = i % 2 ? 2 : 0;
      Tensor<Group>::mmaNvf4(d, step(sharedAddress(s.a), 16384, i),
                             step(sharedAddress(s.b), 16384, i),
                             (Group == 2 ? 0x90200480u : 0x88200480u) |
                                 id << 29 | id << 4,
                             sfa + word, sfb + word, i);
    }
    if (Group == 2)
      Tensor<Group>::commitTo(done, 3);
    else
      Tensor<Group>::commit(done);
  }
  barrierWait(done, 0);
  __syncwarp();
  fenceAfter();
  storeRow<kN>(out, int(rank * 128 + threadIdx.x), d);
  fenceBefore();
  __syncthreads();
  if (Group == 2)
    clusterSync();
  if (threadIdx.x < 32)
    Tensor<Group>::free(d, 256);
}

#define WIDE(NAME, CLUSTER, GROUP)                                             \
  extern "C" __global__ void CLUSTER __launch_bounds__(128)                    \
      NAME(const __grid_constant__ CUtensorMap a,                              \
           const __grid_constant__ CUtensorMap b, const uint8_t *scaleA,       \
           const uint8_t *scaleB, float *out) {                                \
    wide<GROUP>(a, b, scaleA, scaleB, out);                                    \
  }
WIDE(wideSingle, , 1)
WIDE(widePair, __cluster_dims__(2), 2)
