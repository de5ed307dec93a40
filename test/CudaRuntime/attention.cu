// RUN: %nvcc -O2 -lineinfo -gencode arch=compute_100a,code=compute_100a %s -o %t
// RUN: blockscale emulate --cuda %t 2>&1 | FileCheck %s --implicit-check-not=blockscale:
// RUN: blockscale emulate --completion=latest --cuda %t 2>&1 | FileCheck %s --implicit-check-not=blockscale:
// RUN: blockscale emulate --completion=random --cuda %t 2>&1 | FileCheck %s --implicit-check-not=blockscale:
// CHECK: full: right
// CHECK: causal: right

// Twins that wait for one thing less are found, in the lines of this file.
// RUN: not blockscale emulate --strict=attention --cuda %t output > %t.output 2>&1
// RUN: FileCheck %s --check-prefix=OUTPUT < %t.output
// OUTPUT: blockscale: kernel 'void attention<true, (Mistake)1>({{.*}}': line {{[0-9]+}}, cta ({{[0-9]}},0,0), warp {{[4-7]}}, lane 0, address {{.*}}: race: tcgen05.st takes column 256, which tcgen05.mma at line [[MMA:[0-9]+]] of warp 1 may still be reading [hazard 58]
// OUTPUT: {{^}}    inlined 'storeTensor32({{.*}}' at {{.*}}attention.cu:{{[0-9:]+}} storeTensor32(weights + half * 32, packed);
// OUTPUT: {{^}}  line [[MMA]] is {{.*}}attention.cu:
// OUTPUT: race: tcgen05.ld touches column 320, which tcgen05.mma at line {{[0-9]+}} of warp 1 may still be writing [hazard 58]
// RUN: not blockscale emulate --strict=attention --cuda %t stages > %t.stages 2>&1
// RUN: FileCheck %s --check-prefix=STAGES < %t.stages
// STAGES: blockscale: kernel 'void attention<true, (Mistake)2>({{.*}}': line {{[0-9]+}}, cta ({{[0-9]}},0,0), warp 0, lane 0, address {{.*}}: race: asynchronous write of what an asynchronous copy wrote
// STAGES: {{^}}    inlined 'loadTile({{.*}}' at {{.*}}attention.cu:{{[0-9:]+}} loadTile(sharedAddress(s.k[stage]), &maps.k, 0, j * kKeys, full);

//===- attention.cu - attention with specialised warps --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// O = softmax(Q K^T / 8) V in f16 with sums in f32, as fused kernels for
// Blackwell do it: one warp loads Q, then K and V through a ring, one multiplies,
// four keep the maxima and sums of their rows, bring P back to tensor memory as
// the operand of the second product, and rescale O there when a maximum grows. A
// plain kernel gives the reference.

#include "../Emulator/cuda/Tensor.h"
#include "Inputs/OnDevice.h"
#include "Inputs/Problem.h"

#include <cstring>
#include <cuda_fp16.h>

enum class Mistake {
  None,
  Output, ///< weights and O change while the product before may run
  Stages, ///< K and V are loaded over what may still be read
};

constexpr int kRows = 128, kKeys = 128, kDim = 64, kStages = 2;
constexpr float kScale = 0.125f * 1.4426950408889634f;
// Columns of tensor memory.
constexpr uint32_t kS = 0, kP = 256, kO = 320, kColumns = 512;

struct Shared {
  alignas(1024) __half q[kRows * kDim];
  alignas(1024) __half k[kStages][kKeys * kDim];
  alignas(1024) __half v[kStages][kKeys * kDim];
  uint64_t qFull, full[kStages], empty[kStages], scores[2], weights, output;
  uint32_t slot;
};

struct Maps {
  CUtensorMap q, k, v;
};

/// 128 rows of A and of B, both K-major.
__device__ __forceinline__ void multiply(uint32_t d, uint64_t a, uint64_t b,
                                         bool add) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %4, 0;\n\t"
               "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\n\t}" ::
                   "r"(d),
               "l"(a), "l"(b), "r"(0x08200010), "r"(uint32_t(add))
               : "memory");
}

/// A from tensor memory; B has its 64 columns side by side, one row per key.
__device__ __forceinline__ void multiplyWeights(uint32_t d, uint32_t a,
                                                uint64_t b, bool add) {
  asm volatile(
      "{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %4, 0;\n\t"
      "tcgen05.mma.cta_group::1.kind::f16 [%0], [%1], %2, %3, p;\n\t}" ::"r"(d),
      "r"(a), "l"(b), "r"(0x08110010), "r"(uint32_t(add))
      : "memory");
}

template <Mistake M>
__device__ void produce(Shared &s, const Maps &maps, int tiles) {
  constexpr uint32_t bytes = sizeof s.k[0] + sizeof s.v[0];
  barrierExpect(sharedAddress(&s.qFull), sizeof s.q);
  loadTile(sharedAddress(s.q), &maps.q, 0, int(blockIdx.x) * kRows,
           sharedAddress(&s.qFull));
  for (int j = 0; j < tiles; ++j) {
    int stage = j % kStages;
    uint32_t full = sharedAddress(&s.full[stage]);
    if (M != Mistake::Stages)
      barrierWait(sharedAddress(&s.empty[stage]), j / kStages % 2 ^ 1);
    barrierExpect(full, bytes);
    loadTile(sharedAddress(s.k[stage]), &maps.k, 0, j * kKeys, full);
    loadTile(sharedAddress(s.v[stage]), &maps.v, 0, j * kKeys, full);
  }
}

/// The scores of tile `j`, in turns in two places.
__device__ void multiplyScores(Shared &s, uint32_t memory, int j) {
  int stage = j % kStages;
  barrierWait(sharedAddress(&s.full[stage]), j / kStages % 2);
  for (int w = 0; w < kDim / 16; ++w)
    multiply(memory + kS + j % 2 * kKeys, rows128(sharedAddress(s.q)) + 2 * w,
             rows128(sharedAddress(s.k[stage])) + 2 * w, w);
  Tensor<1>::commit(sharedAddress(&s.scores[j % 2]));
}

__device__ void multiplyAll(Shared &s, uint32_t memory, int tiles) {
  barrierWait(sharedAddress(&s.qFull), 0);
  multiplyScores(s, memory, 0);
  for (int j = 0; j < tiles; ++j) {
    int stage = j % kStages;
    // Ahead of the weights, so that the tensor core has work meanwhile. What
    // was there before was read when its weights came.
    if (j + 1 < tiles)
      multiplyScores(s, memory, j + 1);
    barrierWait(sharedAddress(&s.weights), j % 2);
    fenceAfter();
    for (int w = 0; w < kKeys / 16; ++w)
      multiplyWeights(memory + kO, memory + kP + 8 * w,
                      rows128(sharedAddress(s.v[stage]) + w * 16 * 128), j || w);
    Tensor<1>::commit(sharedAddress(&s.empty[stage]));
    Tensor<1>::commit(sharedAddress(&s.output));
  }
}

/// The maximum of a row of scores and of `maximum`.
template <bool Causal>
__device__ float maximumOf(uint32_t scores, int row, int firstKey,
                           float maximum) {
  for (int n = 0; n < kKeys; n += 32) {
    uint32_t values[32];
    loadTensor32(values, scores + n);
    for (int i = 0; i < 32; ++i)
      if (!Causal || firstKey + n + i <= row)
        maximum = fmaxf(maximum, __uint_as_float(values[i]));
  }
  return maximum;
}

/// Makes weights of a row of scores and returns their sum.
template <bool Causal>
__device__ float weigh(uint32_t scores, uint32_t weights, int row, int firstKey,
                       float maximum) {
  float sum = 0;
  for (int half = 0; half < 2; ++half) {
    uint32_t packed[32];
    for (int part = 0; part < 2; ++part) {
      uint32_t values[32];
      int n = half * 64 + part * 32;
      loadTensor32(values, scores + n);
      for (int i = 0; i < 32; i += 2) {
        float weight[2];
        for (int e = 0; e < 2; ++e) {
          bool isSeen = !Causal || firstKey + n + i + e <= row;
          float score = __uint_as_float(values[i + e]);
          weight[e] = isSeen ? exp2f((score - maximum) * kScale) : 0;
          sum += weight[e];
        }
        __half2 pair = __floats2half2_rn(weight[0], weight[1]);
        memcpy(&packed[part * 16 + i / 2], &pair, sizeof pair);
      }
    }
    storeTensor32(weights + half * 32, packed);
  }
  return sum;
}

template <bool Causal, Mistake M>
__device__ void soften(Shared &s, uint32_t memory, float *out, int tiles) {
  int row = int(blockIdx.x) * kRows + int(threadIdx.x) % 128;
  memory += (threadIdx.x / 32 % 4) << 21;
  float maximum = -INFINITY, total = 0;
  for (int j = 0; j < tiles; ++j) {
    float before = maximum;
    uint32_t scores = memory + kS + j % 2 * kKeys;
    barrierWait(sharedAddress(&s.scores[j % 2]), j / 2 % 2);
    fenceAfter();
    maximum = maximumOf<Causal>(scores, row, j * kKeys, maximum);
    float factor = exp2f((before - maximum) * kScale);
    if (j && M != Mistake::Output) {
      barrierWait(sharedAddress(&s.output), (j - 1) % 2);
      fenceAfter();
    }
    total = total * factor + weigh<Causal>(scores, memory + kP, row, j * kKeys,
                                           maximum);
    if (j) {
      for (int n = 0; n < kDim; n += 32) {
        uint32_t values[32];
        loadTensor32(values, memory + kO + n);
        for (uint32_t &value : values)
          value = __float_as_uint(__uint_as_float(value) * factor);
        storeTensor32(memory + kO + n, values);
      }
    }
    fenceBefore();
    barrierArrive(sharedAddress(&s.weights));
  }
  barrierWait(sharedAddress(&s.output), (tiles - 1) % 2);
  fenceAfter();
  for (int n = 0; n < kDim; n += 32) {
    uint32_t values[32];
    loadTensor32(values, memory + kO + n);
    for (int i = 0; i < 32; ++i)
      out[row * kDim + n + i] = __uint_as_float(values[i]) / total;
  }
  fenceBefore();
}

template <bool Causal, Mistake M>
__global__ void __launch_bounds__(256)
    attention(const __grid_constant__ Maps maps, float *out, int keys) {
  extern __shared__ __align__(1024) uint8_t memory[];
  auto &s = *reinterpret_cast<Shared *>(memory);
  int warp = int(threadIdx.x) / 32, tiles = keys / kKeys;
  if (Causal)
    tiles = min(tiles, (int(blockIdx.x) + 1) * kRows / kKeys);
  if (threadIdx.x == 0) {
    barrierInit(sharedAddress(&s.qFull), 1);
    for (int i = 0; i < kStages; ++i) {
      barrierInit(sharedAddress(&s.full[i]), 1);
      barrierInit(sharedAddress(&s.empty[i]), 1);
    }
    for (uint64_t &scores : s.scores)
      barrierInit(sharedAddress(&scores), 1);
    barrierInit(sharedAddress(&s.weights), 128);
    barrierInit(sharedAddress(&s.output), 1);
    barrierInitFence();
  }
  if (warp == 1)
    Tensor<1>::alloc(sharedAddress(&s.slot), kColumns);
  fenceBefore();
  __syncthreads();
  fenceAfter();
  uint32_t columns = s.slot;
  if (warp == 0 && electOne())
    produce<M>(s, maps, tiles);
  if (warp == 1 && electOne())
    multiplyAll(s, columns, tiles);
  if (warp >= 4)
    soften<Causal, M>(s, columns, out, tiles);
  __syncthreads();
  fenceAfter();
  if (warp == 1)
    Tensor<1>::free(columns, kColumns);
}

/// One row in each block, from plain loops; as many threads as dimensions.
__global__ void reference(const __half *q, const __half *k, const __half *v,
                          float *out, int keys, bool causal) {
  extern __shared__ float weights[];
  int row = int(blockIdx.x), end = causal ? row + 1 : keys;
  float maximum = -INFINITY;
  for (int key = int(threadIdx.x); key < end; key += kDim) {
    float score = 0;
    for (int i = 0; i < kDim; ++i)
      score += float(q[row * kDim + i]) * float(k[key * kDim + i]);
    weights[key] = score / 8;
  }
  __syncthreads();
  for (int key = 0; key < end; ++key)
    maximum = fmaxf(maximum, weights[key]);
  float sum = 0, total = 0;
  for (int key = 0; key < end; ++key) {
    float weight = expf(weights[key] - maximum);
    total += weight;
    sum += weight * float(v[key * kDim + int(threadIdx.x)]);
  }
  out[row * kDim + int(threadIdx.x)] = sum / total;
}

template <bool Causal, Mistake M> void run(int rows, int keys) {
  auto *q = randomOnDevice<__half>(size_t(rows) * kDim, 1);
  auto *k = randomOnDevice<__half>(size_t(keys) * kDim, 2);
  auto *v = randomOnDevice<__half>(size_t(keys) * kDim, 3);
  float *got, *expected;
  CALL(cudaMalloc(&got, size_t(rows) * kDim * sizeof(float)));
  CALL(cudaMalloc(&expected, size_t(rows) * kDim * sizeof(float)));
  auto map = [](const __half *data, int height) {
    return matrixMap(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, data, kDim,
                     uint64_t(height), kDim, 128);
  };
  Maps maps = {map(q, rows), map(k, keys), map(v, keys)};
  int bytes = sizeof(Shared);
  auto *kernel = attention<Causal, M>;
  CALL(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                            bytes));
  kernel<<<rows / kRows, 256, bytes>>>(maps, got, keys);
  CALL(cudaGetLastError());
  reference<<<rows, kDim, keys * sizeof(float)>>>(q, k, v, expected, keys,
                                                  Causal);
  float difference = largestDifference(got, expected, size_t(rows) * kDim);
  std::printf("%s: %s\n", Causal ? "causal" : "full",
              difference < 1e-3f ? "right" : "wrong");
  if (!(difference < 1e-3f))
    std::printf("difference %g\n", difference);
}

int main(int count, char **words) {
  const char *mistake = count > 1 ? words[1] : "";
  if (!std::strcmp(mistake, "output"))
    return run<true, Mistake::Output>(512, 512), 0;
  if (!std::strcmp(mistake, "stages"))
    return run<true, Mistake::Stages>(512, 512), 0;
  run<false, Mistake::None>(256, 512);
  run<true, Mistake::None>(512, 512);
}
