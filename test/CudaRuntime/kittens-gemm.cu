// RUN: %nvcc -O2 -gencode arch=compute_100a,code=compute_100a %s -o %t
// RUN: blockscale emulate --cuda %t 2>&1 | FileCheck %s --implicit-check-not=blockscale:
// RUN: blockscale emulate --completion=latest --cuda %t 2>&1 | FileCheck %s --implicit-check-not=blockscale:
// RUN: blockscale emulate --completion=random --cuda %t 2>&1 | FileCheck %s --implicit-check-not=blockscale:
// CHECK: right

// Twins that wait for one thing less are found.
// RUN: not blockscale emulate --strict=gemm --cuda %t accumulators 2>&1 | FileCheck %s --check-prefix=ACCUMULATORS
// ACCUMULATORS: blockscale: kernel 'void gemm<(Mistake)1>({{.*}}': line {{[0-9]+}}, {{.*}}: race: tcgen05.mma touches column 0, which tcgen05.ld at line {{[0-9]+}} of warp {{[4-7]}} may still be reading [hazard 62]
// RUN: not blockscale emulate --strict=gemm --cuda %t stores 2>&1 | FileCheck %s --check-prefix=STORES
// STORES: blockscale: kernel 'void gemm<(Mistake)2>({{.*}}': line {{[0-9]+}}, {{.*}}: race: write over what a bulk group of warp 4 of rank {{[01]}} read at line {{[0-9]+}}, without an edge between the two [hazard 29]

//===- kittens-gemm.cu - a persistent GEMM for pairs, checked on the device ===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// D = A B^T in bf16, in the style of ThunderKittens: data come from kernels, and
// so does the reference; pairs of CTAs walk over tiles of 256 by 128; one warp
// loads, one multiplies, four bring the sums through shared memory to memory
// while the next tile goes to the other accumulator.

#include "../Emulator/cuda/Tensor.h"
#include "Inputs/OnDevice.h"
#include "Inputs/Problem.h"

#include <cstring>
#include <cuda_bf16.h>

using Element = __nv_bfloat16;

enum class Mistake {
  None,
  Accumulators, ///< multiplied into while the epilogue may read
  Stores,       ///< shared memory written while a store may read it
};

constexpr int kTileM = 256, kTileN = 128, kTileK = 64, kStages = 4;
constexpr uint32_t kLeader = 0xFEFFFFFF;

struct Shared {
  alignas(1024) Element a[kStages][128 * kTileK];
  alignas(1024) Element b[kStages][64 * kTileK];
  alignas(1024) Element out[128 * 64];
  uint64_t full[kStages], empty[kStages], ready[2], taken[2];
  uint32_t slot;
};

struct Maps {
  CUtensorMap a, b, out;
};

/// The tiles of a pair, first rows and first columns.
struct Walk {
  int tilesN, count, pairs, done = 0;

  __device__ bool next(int &m, int &n) {
    int tile = int(blockIdx.x) / 2 + done++ * pairs;
    m = tile / tilesN * kTileM;
    n = tile % tilesN * kTileN;
    return tile < count;
  }
};

/// A place in a ring of `Size`.
template <int Size> struct Place {
  int index = 0;
  uint32_t round = 0;
  __device__ void advance() {
    index = (index + 1) % Size;
    round ^= index == 0;
  }
};

__device__ __forceinline__ void load(uint32_t to, const CUtensorMap *map, int x,
                                     int y, uint32_t barrier) {
  asm volatile("cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global."
               "mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
                   to),
               "l"(map), "r"(x), "r"(y), "r"(barrier & kLeader)
               : "memory");
}

__device__ void produce(Shared &s, const Maps &maps, Walk walk, uint32_t rank,
                        int depth) {
  constexpr uint32_t bytes = 2 * (sizeof s.a[0] + sizeof s.b[0]);
  Place<kStages> at;
  for (int m, n; walk.next(m, n);)
    for (int k = 0; k < depth; k += kTileK, at.advance()) {
      uint32_t full = sharedAddress(&s.full[at.index]);
      barrierWait(sharedAddress(&s.empty[at.index]), at.round ^ 1);
      if (rank == 0)
        barrierExpect(full, bytes);
      load(sharedAddress(s.a[at.index]), &maps.a, k, m + int(rank) * 128, full);
      load(sharedAddress(s.b[at.index]), &maps.b, k, n + int(rank) * 64, full);
    }
}

template <Mistake M>
__device__ void multiply(Shared &s, Walk walk, uint32_t memory, int depth) {
  constexpr uint32_t idesc = 0x10200490; // bf16, sums in f32, 256 x 128
  Place<kStages> at;
  Place<2> side;
  for (int m, n; walk.next(m, n); side.advance()) {
    if (M != Mistake::Accumulators)
      barrierWait(sharedAddress(&s.taken[side.index]), side.round ^ 1);
    fenceAfter();
    for (int k = 0; k < depth; k += kTileK, at.advance()) {
      barrierWait(sharedAddress(&s.full[at.index]), at.round);
      for (int w = 0; w < kTileK / 16; ++w)
        asm volatile(
            "{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %4, 0;\n\t"
            "tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, p;\n\t}" ::
                "r"(memory + side.index * kTileN),
            "l"(rows128(sharedAddress(s.a[at.index])) + 2 * w),
            "l"(rows128(sharedAddress(s.b[at.index])) + 2 * w), "r"(idesc),
            "r"(uint32_t(k || w))
            : "memory");
      Tensor<2>::commitTo(sharedAddress(&s.empty[at.index]), 3);
    }
    Tensor<2>::commitTo(sharedAddress(&s.ready[side.index]), 3);
  }
}

template <Mistake M>
__device__ void store(Shared &s, const Maps &maps, Walk walk, uint32_t rank,
                      uint32_t memory) {
  int row = int(threadIdx.x) % 128;
  Place<2> side;
  for (int m, n; walk.next(m, n); side.advance()) {
    barrierWait(sharedAddress(&s.ready[side.index]), side.round);
    fenceAfter();
    for (int half = 0; half < kTileN; half += 64) {
      if (M != Mistake::Stores && row == 0)
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
      asm volatile("bar.sync 1, 128;" ::: "memory");
      for (int part = 0; part < 64; part += 32) {
        uint32_t values[32];
        loadTensor32(values, memory + side.index * kTileN + half + part +
                                 (threadIdx.x / 32 % 4 << 21));
        // Pieces of 16 bytes, where the tensor map's swizzle has them.
        for (int i = 0; i < 32; ++i)
          s.out[row * 64 + (((part + i) / 8 ^ row % 8) * 8 + i % 8)] =
              Element(__uint_as_float(values[i]));
      }
      proxyFence();
      asm volatile("bar.sync 1, 128;" ::: "memory");
      if (row == 0) {
        storeTile(&maps.out, n + half, m + int(rank) * 128,
                  sharedAddress(s.out));
        bulkCommit();
      }
    }
    fenceBefore();
    barrierArriveRemote(remoteAddress(sharedAddress(&s.taken[side.index]), 0));
  }
  if (row == 0)
    bulkWait();
}

template <Mistake M>
__global__ void __cluster_dims__(2) __launch_bounds__(256)
    gemm(const __grid_constant__ Maps maps, int tilesM, int tilesN, int depth) {
  extern __shared__ __align__(1024) uint8_t memory[];
  auto &s = *reinterpret_cast<Shared *>(memory);
  uint32_t rank = clusterRank(), warp = threadIdx.x / 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      barrierInit(sharedAddress(&s.full[i]), 1);
      barrierInit(sharedAddress(&s.empty[i]), 1);
    }
    for (int i = 0; i < 2; ++i) {
      barrierInit(sharedAddress(&s.ready[i]), 1);
      barrierInit(sharedAddress(&s.taken[i]), 2 * 128);
    }
    barrierInitFence();
  }
  clusterSync(); // the peer must run before the pair allocates
  if (warp == 1)
    Tensor<2>::alloc(sharedAddress(&s.slot), 256);
  fenceBefore();
  clusterSync();
  fenceAfter();
  uint32_t columns = s.slot;
  Walk walk{tilesN, tilesM * tilesN, int(gridDim.x) / 2};
  if (warp == 0 && electOne())
    produce(s, maps, walk, rank, depth);
  if (warp == 1 && rank == 0 && electOne())
    multiply<M>(s, walk, columns, depth);
  if (warp >= 4)
    store<M>(s, maps, walk, rank, columns);
  fenceBefore();
  clusterSync();
  fenceAfter();
  if (warp == 1)
    Tensor<2>::free(columns, 256);
}

__global__ void reference(const Element *a, const Element *b, float *out,
                          int height, int width, int depth) {
  int n = int(blockIdx.x * blockDim.x + threadIdx.x);
  int m = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (m >= height || n >= width)
    return;
  float sum = 0;
  for (int k = 0; k < depth; ++k)
    sum += float(a[m * depth + k]) * float(b[n * depth + k]);
  out[m * width + n] = sum;
}

template <Mistake M> void run(int m, int n, int k, int pairs) {
  auto *a = randomOnDevice<Element>(size_t(m) * k, 1);
  auto *b = randomOnDevice<Element>(size_t(n) * k, 2);
  Element *got;
  float *expected;
  CALL(cudaMalloc(&got, size_t(m) * n * sizeof(Element)));
  CALL(cudaMalloc(&expected, size_t(m) * n * sizeof(float)));
  auto map = [](const Element *data, int width, int height, unsigned rows) {
    return matrixMap(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, data, uint64_t(width),
                     uint64_t(height), 64, rows);
  };
  Maps maps = {map(a, k, m, 128), map(b, k, n, 64), map(got, n, m, 128)};
  int bytes = sizeof(Shared);
  CALL(cudaFuncSetAttribute(
      gemm<M>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  reference<<<dim3(n / 16, m / 16), dim3(16, 16)>>>(a, b, expected, m, n, k);
  gemm<M><<<2 * pairs, 256, bytes>>>(maps, m / kTileM, n / kTileN, k);
  CALL(cudaGetLastError());
  // Half a step of bf16 below 32, and what sums differ by themselves.
  float difference = largestDifference(got, expected, size_t(m) * n);
  std::printf("%s, difference %g\n", difference < 0.07f ? "right" : "wrong",
              difference);
}

int main(int count, char **words) {
  const char *mistake = count > 1 ? words[1] : "";
  if (!std::strcmp(mistake, "accumulators"))
    run<Mistake::Accumulators>(512, 512, 128, 1);
  else if (!std::strcmp(mistake, "stores"))
    run<Mistake::Stores>(512, 512, 128, 1);
  else
    run<Mistake::None>(512, 256, 192, 2);
}
