// RUN: %nvcc -std=c++17 -gencode arch=compute_90a,code=compute_90a %s -o %t
// RUN: blockscale emulate --device=H100 --cuda %t | FileCheck %s
// RUN: blockscale emulate --device=H100 --completion=latest --cuda %t | FileCheck %s
// RUN: blockscale emulate --device=H100 --completion=random --seed=3 --cuda %t | FileCheck %s
// RUN: %nvcc -std=c++17 -gencode arch=compute_90a,code=compute_90a -DWITHOUT_WAIT %s -o %t.wait
// RUN: not blockscale emulate --device=H100 --cuda %t.wait 2>&1 | FileCheck %s --check-prefix=WAIT
// RUN: not blockscale emulate --cuda %t 2>&1 | FileCheck %s --check-prefix=DEVICE
// CHECK: 0 of 65536 wrong
// WAIT: [hazard 98]
// DEVICE: it holds PTX for sm_90a, which sm_100a does not run

//===- hopper-gemm.cu - TMA, mbarriers and wgmma ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// D = A B^T of bfloat16 in the way of Hopper kernels: a warp of a producer
// warpgroup loads tiles with the tensor memory accelerator, B for both CTAs of
// a cluster; two warpgroups multiply. Registers move from the first to them.
//
//===----------------------------------------------------------------------===//

#include "Inputs/Check.h"
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <cudaTypedefs.h>
#include <vector>

constexpr int kM = 256, kN = 256, kK = 256;
constexpr int kTileM = 128, kTileN = 64, kTileK = 64, kStages = 3;
constexpr int kRows = 64; ///< of a warpgroup
constexpr int kSteps = kK / kTileK;
constexpr int kBytes = (kTileM + kTileN) * kTileK * 2;

struct __align__(1024) Stage {
  __nv_bfloat16 a[kTileM * kTileK], b[kTileN * kTileK];
};
struct Memory {
  Stage stages[kStages];
  unsigned long long full[kStages], empty[kStages];
};

__device__ unsigned shared(const void *pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ void init(unsigned long long *barrier, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared(barrier)),
               "r"(count)
               : "memory");
}

__device__ void wait(unsigned long long *barrier, unsigned parity) {
  asm volatile("{\n.reg .pred done;\n"
               "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 "
               "done, [%0], %1;\n"
               "@!done bra again;\n}" ::"r"(shared(barrier)),
               "r"(parity)
               : "memory");
}

__device__ void expect(unsigned long long *barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                   shared(barrier)),
               "r"(bytes)
               : "memory");
}

/// Arrives on the barrier of the CTA with this rank.
__device__ void arrive(unsigned long long *barrier, unsigned rank) {
  asm volatile("{\n.reg .b32 remote;\n"
               "mapa.shared::cluster.u32 remote, %0, %1;\n"
               "mbarrier.arrive.release.cluster.shared::cluster.b64 _, "
               "[remote];\n}" ::"r"(shared(barrier)),
               "r"(rank)
               : "memory");
}

__device__ void load(const CUtensorMap *map, void *to,
                     unsigned long long *barrier, int k, int row) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::"
               "complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
                   shared(to)),
               "l"(map), "r"(k), "r"(row), "r"(shared(barrier))
               : "memory");
}

__device__ void loadBoth(const CUtensorMap *map, void *to,
                         unsigned long long *barrier, int k, int row) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::"
               "complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], "
               "[%4], %5;" ::"r"(shared(to)),
               "l"(map), "r"(k), "r"(row), "r"(shared(barrier)),
               "h"((unsigned short)3)
               : "memory");
}

/// Rows of 128 bytes, swizzled, eight of them 1024 bytes apart.
__device__ unsigned long long descriptor(const void *tile) {
  return (shared(tile) & 0x3FFFF) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

__device__ void multiply(float (&d)[32], unsigned long long a,
                         unsigned long long b, int adds) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, "
      "%30, %31}, %32, %33, p, 1, 1, 0, 0;\n}"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]),
        "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]),
        "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
        "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
        "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]),
        "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]),
        "+f"(d[31])
      : "l"(a), "l"(b), "r"(adds));
}

__device__ void produce(Memory &memory, const CUtensorMap *a,
                        const CUtensorMap *b, unsigned rank) {
  for (int step = 0; step < kSteps; ++step) {
    int stage = step % kStages, round = step / kStages;
    wait(&memory.empty[stage], round & 1 ^ 1);
    expect(&memory.full[stage], kBytes);
    load(a, memory.stages[stage].a, &memory.full[stage], step * kTileK,
         blockIdx.x * kTileM);
    // Each CTA loads half of B for both.
    constexpr int kHalf = kTileN / 2;
    loadBoth(b, memory.stages[stage].b + rank * kHalf * kTileK,
             &memory.full[stage], step * kTileK,
             blockIdx.y * kTileN + rank * kHalf);
  }
}

__device__ void consume(Memory &memory, int group, float *out) {
  float d[32];
  for (int step = 0; step < kSteps; ++step) {
    int stage = step % kStages;
    wait(&memory.full[stage], step / kStages & 1);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int k = 0; k < kTileK; k += 16)
      multiply(d,
               descriptor(memory.stages[stage].a + group * kRows * kTileK + k),
               descriptor(memory.stages[stage].b + k), step || k);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#ifdef WITHOUT_WAIT
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
#else
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#endif
    // The stage of either CTA is loaded by both.
    if (threadIdx.x % 128 < 2)
      arrive(&memory.empty[stage], threadIdx.x % 128);
  }
  int thread = threadIdx.x % 128;
  int row = blockIdx.x * kTileM + group * kRows + thread / 32 * 16 +
            thread % 32 / 4;
  int column = blockIdx.y * kTileN + thread % 4 * 2;
  for (int i = 0; i < 32; ++i)
    out[(row + i % 4 / 2 * 8) * kN + column + i / 4 * 8 + i % 2] = d[i];
}

__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(384, 1)
    gemm(const __grid_constant__ CUtensorMap a,
         const __grid_constant__ CUtensorMap b, float *out) {
  extern __shared__ __align__(1024) unsigned char bytes[];
  Memory &memory = *reinterpret_cast<Memory *>(bytes);
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      init(&memory.full[stage], 1);
      init(&memory.empty[stage], 4); // two warpgroups of two CTAs
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("barrier.cluster.arrive.release.aligned;\n"
               "barrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0)
      produce(memory, &a, &b, rank);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    consume(memory, threadIdx.x / 128 - 1, out);
  }
  asm volatile("barrier.cluster.arrive.release.aligned;\n"
               "barrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}

CUtensorMap mapOf(void *matrix, int rows, int boxRows) {
  void *encode;
  cudaDriverEntryPointQueryResult found;
  CALL(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode,
                                        12000, cudaEnableDefault, &found));
  CUtensorMap map;
  cuuint64_t sizes[] = {kK, cuuint64_t(rows)}, strides[] = {kK * 2};
  cuuint32_t box[] = {kTileK, cuuint32_t(boxRows)}, steps[] = {1, 1};
  EXPECT(reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(encode)(
             &map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, matrix, sizes, strides,
             box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
             CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
  return map;
}

int valueOf(int row, int k, int factor) { return (row * factor + k * 3) % 9 - 4; }

int main() {
  std::vector<__nv_bfloat16> a(kM * kK), b(kN * kK);
  for (int i = 0; i < kM * kK; ++i)
    a[i] = __float2bfloat16(float(valueOf(i / kK, i % kK, 7)));
  for (int i = 0; i < kN * kK; ++i)
    b[i] = __float2bfloat16(float(valueOf(i / kK, i % kK, 5)));
  __nv_bfloat16 *deviceA, *deviceB;
  float *deviceD;
  std::vector<float> d(kM * kN);
  CALL(cudaMalloc(&deviceA, a.size() * 2));
  CALL(cudaMalloc(&deviceB, b.size() * 2));
  CALL(cudaMalloc(&deviceD, d.size() * 4));
  CALL(cudaMemcpy(deviceA, a.data(), a.size() * 2, cudaMemcpyHostToDevice));
  CALL(cudaMemcpy(deviceB, b.data(), b.size() * 2, cudaMemcpyHostToDevice));
  CALL(cudaFuncSetAttribute(
      gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Memory)));
  gemm<<<dim3(kM / kTileM, kN / kTileN), 384, sizeof(Memory)>>>(
      mapOf(deviceA, kM, kTileM), mapOf(deviceB, kN, kTileN / 2), deviceD);
  CALL(cudaDeviceSynchronize());
  CALL(cudaMemcpy(d.data(), deviceD, d.size() * 4, cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int m = 0; m < kM; ++m)
    for (int n = 0; n < kN; ++n) {
      int sum = 0;
      for (int k = 0; k < kK; ++k)
        sum += valueOf(m, k, 7) * valueOf(n, k, 5);
      wrong += d[m * kN + n] != float(sum);
    }
  std::printf("%d of %d wrong\n", wrong, kM * kN);
  return wrong != 0;
}
