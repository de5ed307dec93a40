//===- on_chip.cu - what a card does inside of its SMs --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Warps that hand over registers, sums that CTAs of a cluster send each other,
// and the latency of loads behind prefetches, in cycles:
//   nvcc -O2 -std=c++17 -gencode=arch=compute_90a,code=sm_90a on_chip.cu

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

static void check(cudaError_t error, const char *what) {
  if (error == cudaSuccess)
    return;
  std::printf("%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}
#define CHECK(call) check(call, #call)

__device__ uint32_t sharedAddress(const void *p) {
  return uint32_t(__cvta_generic_to_shared(p));
}

__device__ void meetInCluster() {
  asm volatile("barrier.cluster.arrive.aligned;\n"
               "barrier.cluster.wait.aligned;" ::
                   : "memory");
}

__device__ uint32_t addressAt(uint32_t address, uint32_t rank) {
  uint32_t there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(there)
               : "r"(address), "r"(rank));
  return there;
}

__device__ void initBarrier(uint32_t barrier) {
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier) : "memory");
}

__device__ void expectBytes(uint32_t barrier, uint32_t bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier),
      "r"(bytes)
      : "memory");
}

__device__ void waitInCta(uint32_t barrier, uint32_t phase) {
  asm volatile("{ .reg .pred p;\n"
               "L: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
               "@!p bra L; }" ::"r"(barrier),
               "r"(phase)
               : "memory");
}

__device__ void waitInCluster(uint32_t barrier, uint32_t phase) {
  asm volatile(
      "{ .reg .pred p;\n"
      "L: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], "
      "%1;\n"
      "@!p bra L; }" ::"r"(barrier),
      "r"(phase)
      : "memory");
}

__device__ long long cycles() {
  long long now;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
  return now;
}

/// The cycle when `value` is there.
__device__ long long cyclesWith(float value) {
  long long now;
  asm volatile("{ .reg .pred p; setp.eq.f32 p, %1, 0f12345678; @p trap; "
               "mov.u64 %0, %%clock64; }"
               : "=l"(now)
               : "f"(value)
               : "memory");
  return now;
}

__device__ float loadPlain(const float *p) {
  float value;
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(value) : "l"(p) : "memory");
  return value;
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

constexpr int kHandingThreads = 384, kValues = 200, kRounds = 50;

/// A third of the warps gives registers to the others, which keep 200 values.
__global__ void __launch_bounds__(kHandingThreads, 1)
    handOver(const float *in, float *out) {
  int thread = threadIdx.x;
  float *place = out + thread + blockIdx.x * kHandingThreads;
  if (thread < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    *place = in[thread] * 2;
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
  float values[kValues];
#pragma unroll
  for (int i = 0; i < kValues; ++i)
    values[i] = in[thread + kHandingThreads * i];
  for (int round = 0; round < kRounds; ++round)
#pragma unroll
    for (int i = 0; i < kValues; ++i)
      values[i] = fmaf(values[i], 0.5f, values[(i + 1) % kValues]);
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kValues; ++i)
    sum = fmaf(values[i], float(i + 1), sum);
  *place = sum;
}

static float handedOver(const std::vector<float> &in, int thread) {
  if (thread < 128)
    return in[thread] * 2;
  std::vector<float> values(kValues);
  for (int i = 0; i < kValues; ++i)
    values[i] = in[thread + kHandingThreads * i];
  for (int round = 0; round < kRounds; ++round)
    for (int i = 0; i < kValues; ++i)
      values[i] = __builtin_fmaf(values[i], 0.5f, values[(i + 1) % kValues]);
  float sum = 0;
  for (int i = 0; i < kValues; ++i)
    sum = __builtin_fmaf(values[i], float(i + 1), sum);
  return sum;
}

static void registers() {
  constexpr int kCtas = 264;
  std::vector<float> values(kHandingThreads * kValues),
      found(kHandingThreads * kCtas);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float((uint32_t(i) * 2654435761u >> 12) % 1000) / 1000.f;
  float *in, *out;
  CHECK(cudaMalloc(&in, values.size() * sizeof(float)));
  CHECK(cudaMalloc(&out, found.size() * sizeof(float)));
  CHECK(cudaMemcpy(in, values.data(), values.size() * sizeof(float),
                   cudaMemcpyDefault));
  handOver<<<kCtas, kHandingThreads>>>(in, out);
  CHECK(cudaMemcpy(found.data(), out, found.size() * sizeof(float),
                   cudaMemcpyDefault));
  int wrong = 0;
  for (int thread = 0; thread < kHandingThreads; ++thread) {
    float wanted = handedOver(values, thread);
    for (int cta = 0; cta < kCtas; ++cta)
      wrong += found[thread + kHandingThreads * cta] != wanted;
  }
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, handOver));
  std::printf("registers: %d at entry, %d bytes of local memory, %d of %d "
              "results wrong\n",
              attributes.numRegs, int(attributes.localSizeBytes), wrong,
              int(found.size()));
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

enum class Way { StAsync, BulkCopy, Load };
constexpr int kSendingThreads = 128, kSendRounds = 24, kWarmRounds = 4;
constexpr uint32_t kTileBytes = 65536, kRows = 128;

/// Each CTA of a cluster has a tile of 128 rows of f32, and sends each other
/// CTA its slice of the columns.
__global__ void __launch_bounds__(kSendingThreads, 1)
    exchange(Way way, int width, long long *out) {
  extern __shared__ __align__(128) char tile[];
  __shared__ __align__(8) uint64_t arrived;
  uint32_t ctas, rank;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(ctas));
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  uint32_t columns = uint32_t(width) / ctas, slice = kRows * columns * 4;
  uint32_t own = sharedAddress(tile), barrier = sharedAddress(&arrived);
  if (threadIdx.x == 0)
    initBarrier(barrier);
  for (uint32_t i = threadIdx.x; i < kTileBytes / 4; i += kSendingThreads)
    reinterpret_cast<float *>(tile)[i] = float(i);
  asm volatile("fence.mbarrier_init.release.cluster;\n"
               "fence.proxy.async;" ::
                   : "memory");
  float sum = 0;
  long long total = 0;
  for (int round = 0; round < kSendRounds; ++round) {
    if (threadIdx.x == 0 && way != Way::Load)
      expectBytes(barrier, slice * (ctas - 1));
    meetInCluster();
    long long begin = cycles();
    for (uint32_t other = 1; other < ctas; ++other) {
      uint32_t to = (rank + other) % ctas, place = (other - 1) * slice;
      uint32_t there = addressAt(own + place, to);
      uint32_t itsBarrier = addressAt(barrier, to);
      if (way == Way::BulkCopy && threadIdx.x == 0)
        asm volatile(
            "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::"
            "bytes [%0], [%1], %2, [%3];" ::"r"(there + kTileBytes),
            "r"(own + place), "r"(slice), "r"(itsBarrier)
            : "memory");
      for (uint32_t i = 0; way != Way::BulkCopy && i < columns / 4; ++i) {
        uint32_t address = there + i * kRows * 16 + threadIdx.x * 16;
        float a = 1, b = 2, c = 3, d = 4;
        if (way == Way::StAsync)
          asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::"
                       "bytes.v4.f32 [%0], {%1,%2,%3,%4}, [%5];" ::"r"(address),
                       "f"(a), "f"(b), "f"(c), "f"(d), "r"(itsBarrier)
                       : "memory");
        else
          asm volatile("ld.shared::cluster.v4.f32 {%0,%1,%2,%3}, [%4];"
                       : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
                       : "r"(address)
                       : "memory");
        sum += a + b + c + d;
      }
    }
    if (way != Way::Load)
      waitInCluster(barrier, round & 1);
    if (sum == 12345.25f)
      out[0] = 1;
    __syncthreads();
    if (round >= kWarmRounds)
      total += cycles() - begin;
    meetInCluster();
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = total / (kSendRounds - kWarmRounds);
}

static void exchangeOnce(Way way, int ctas, int clusters, int width) {
  static constexpr const char *kNames[] = {"st.async", "bulk copies",
                                           "ld.shared::cluster"};
  std::vector<long long> found(ctas * clusters);
  long long *out;
  CHECK(cudaMalloc(&out, found.size() * sizeof(long long)));
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {unsigned(ctas), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = ctas * clusters;
  config.blockDim = kSendingThreads;
  config.dynamicSmemBytes = 2 * kTileBytes;
  config.attrs = &attribute;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, exchange, way, width, out));
  CHECK(cudaMemcpy(found.data(), out, found.size() * sizeof(long long),
                   cudaMemcpyDefault));
  CHECK(cudaFree(out));
  double mean = 0;
  for (long long one : found)
    mean += double(one) / double(found.size());
  double bytes = double(kRows) * 4 * width * (ctas - 1) / ctas;
  std::printf(
      "exchange: %s, %d clusters of %d: %.0f bytes in %.0f cycles, %.1f a "
      "cycle\n",
      kNames[int(way)], clusters, ctas, bytes, mean, bytes / mean);
}

static void exchanges() {
  CHECK(cudaFuncSetAttribute(
      exchange, cudaFuncAttributeMaxDynamicSharedMemorySize, 2 * kTileBytes));
  for (int ctas : {2, 4, 8})
    for (int clusters : {1, 128 / ctas})
      for (Way way : {Way::StAsync, Way::BulkCopy, Way::Load})
        for (int width : {32, 64, 128})
          exchangeOnce(way, ctas, clusters, width);
}

//===----------------------------------------------------------------------===//
// Prefetches
//===----------------------------------------------------------------------===//

enum class Before { Nothing, PrefetchL1, PrefetchL2, Load };
enum class Beside { Nothing, Loads, Copies, CopiesInCluster };
constexpr int kSamples = 64, kAskingThreads = 256, kSms = 132;
constexpr uint32_t kLineFloats = 32, kCopyBytes = 8192;
constexpr size_t kNoise = size_t(1) << 30;

__device__ void ask(Before before, const float *p) {
  if (before == Before::PrefetchL1)
    asm volatile("prefetch.global.L1 [%0];" ::"l"(p) : "memory");
  if (before == Before::PrefetchL2)
    asm volatile("prefetch.global.L2 [%0];" ::"l"(p) : "memory");
  if (before == Before::Load)
    cyclesWith(loadPlain(p));
}

/// Bulk copies to shared memory, two in flight, until `done`.
__device__ void copyBeside(const char *from, char *room, uint64_t *barriers,
                           bool inCluster, volatile int *done) {
  size_t place = size_t(blockIdx.x) << 20;
  auto copy = [&](int slot) {
    uint32_t barrier = sharedAddress(barriers + slot);
    expectBytes(barrier, kCopyBytes);
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1], %2, [%3];" ::"r"(sharedAddress(room) + slot * kCopyBytes),
        "l"(from + place % kNoise), "r"(kCopyBytes), "r"(barrier)
        : "memory");
    place += kCopyBytes;
  };
  auto wait = [&](int slot, uint32_t phase) {
    uint32_t barrier = sharedAddress(barriers + slot);
    inCluster ? waitInCluster(barrier, phase) : waitInCta(barrier, phase);
  };
  copy(0);
  copy(1);
  uint32_t phase = 0;
  for (; !*done; phase ^= 1)
    for (int slot = 0; slot < 2; ++slot) {
      wait(slot, phase);
      copy(slot);
    }
  wait(0, phase);
  wait(1, phase);
}

/// Warp 0 asks for a line for each lane, and loads these `delay` cycles later.
__global__ void __launch_bounds__(kAskingThreads, 1)
    askEarly(const float *lines, const char *noise, Before before, int delay,
             Beside beside, long long *out) {
  extern __shared__ __align__(128) char room[];
  __shared__ __align__(8) uint64_t barriers[2];
  __shared__ volatile int done;
  if (threadIdx.x == 0) {
    done = 0;
    initBarrier(sharedAddress(barriers));
    initBarrier(sharedAddress(barriers + 1));
    asm volatile("fence.proxy.async;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    long long total = 0;
    for (int sample = 0; sample < kSamples; ++sample) {
      size_t line = size_t(blockIdx.x * kSamples + sample) * 32 + threadIdx.x;
      const float *p = lines + line * kLineFloats;
      long long begin = cycles();
      ask(before, p);
      while (cycles() - begin < delay) {
      }
      __syncwarp();
      begin = cycles();
      total += cyclesWith(loadPlain(p)) - begin;
    }
    if (threadIdx.x == 0)
      out[blockIdx.x] = total / kSamples;
    __syncwarp();
    done = 1;
  } else if (beside == Beside::Loads) {
    float sum = 0;
    const auto *from = reinterpret_cast<const float4 *>(noise);
    constexpr size_t kCount = kNoise / sizeof(float4);
    for (size_t i = size_t(blockIdx.x) * 524296 + threadIdx.x; !done; i += 8416)
      sum += from[i % kCount].x + from[(i + 4096) % kCount].y;
    if (sum == 12345.5f)
      out[0] = 0;
  } else if (beside != Beside::Nothing && threadIdx.x == 32) {
    copyBeside(noise, room, barriers, beside == Beside::CopiesInCluster, &done);
  }
}

static void prefetches() {
  static constexpr const char *kBefore[] = {"nothing", "prefetch.global.L1",
                                            "prefetch.global.L2", "a load"};
  static constexpr const char *kBeside[] = {"nothing", "loads", "bulk copies",
                                            "bulk copies awaited in a cluster"};
  // L1 has what shared memory leaves of 256 KiB.
  constexpr int kShared = 220 << 10;
  constexpr size_t kFlushed = 256 << 20;
  float *lines;
  char *noise, *flushed;
  long long *out;
  CHECK(cudaMalloc(&lines, size_t(kSms) * kSamples * 32 * kLineFloats * 4));
  CHECK(cudaMalloc(&noise, kNoise));
  CHECK(cudaMalloc(&flushed, kFlushed));
  CHECK(cudaMalloc(&out, kSms * sizeof(long long)));
  CHECK(cudaMemset(lines, 0, size_t(kSms) * kSamples * 32 * kLineFloats * 4));
  CHECK(cudaMemset(noise, 0, kNoise));
  CHECK(cudaFuncSetAttribute(
      askEarly, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
  for (Beside beside : {Beside::Nothing, Beside::Loads, Beside::Copies,
                        Beside::CopiesInCluster})
    for (int delay : {500, 1000, 2000, 4000})
      for (Before before : {Before::Nothing, Before::PrefetchL1,
                            Before::PrefetchL2, Before::Load}) {
        CHECK(cudaMemset(flushed, 1, kFlushed));
        askEarly<<<kSms, kAskingThreads, kShared>>>(lines, noise, before, delay,
                                                    beside, out);
        std::vector<long long> found(kSms);
        CHECK(cudaMemcpy(found.data(), out, kSms * sizeof(long long),
                         cudaMemcpyDefault));
        long long sum = 0;
        for (long long one : found)
          sum += one;
        std::printf("load: %d cycles behind %s, beside %s: %lld cycles\n",
                    delay, kBefore[int(before)], kBeside[int(beside)],
                    sum / kSms);
      }
}

int main() {
  registers();
  exchanges();
  prefetches();
}
