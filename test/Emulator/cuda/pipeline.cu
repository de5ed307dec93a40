//===- pipeline.cu - bulk copies, barriers, clusters ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ptx.h"

/// Tiles of 32 rows x 64 floats, two stages: a producer thread loads, 64
/// threads scale and add, and a third role stores the tiles by TMA.
extern "C" __global__ void __launch_bounds__(96)
    stream(const __grid_constant__ CUtensorMap in,
           const __grid_constant__ CUtensorMap out, int tiles, float scale) {
  __shared__ alignas(1024) float stage[2][32 * 32];
  __shared__ alignas(1024) float result[32 * 32];
  __shared__ alignas(8) uint64_t full[2], empty[2];
  if (threadIdx.x == 0) {
    for (int s = 0; s < 2; ++s) {
      barrierInit(sharedAddress(&full[s]), 1);
      barrierInit(sharedAddress(&empty[s]), 64);
    }
    barrierInitFence();
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    if (threadIdx.x == 0)
      for (int t = 0; t < tiles; ++t) {
        int s = t % 2;
        barrierWait(sharedAddress(&empty[s]), (t / 2 + 1) % 2);
        barrierExpect(sharedAddress(&full[s]), 4096);
        loadTile(sharedAddress(stage[s]), &in, blockIdx.x * 32, t * 32,
                 sharedAddress(&full[s]));
      }
    return;
  }
  int worker = threadIdx.x - 32;
  for (int t = 0; t < tiles; ++t) {
    int s = t % 2;
    barrierWait(sharedAddress(&full[s]), t / 2 % 2);
    for (int i = worker; i < 1024; i += 64) {
      // The maps swizzle rows of 128 bytes.
      int row = i / 32, column = i % 32;
      int at = row * 32 + (column ^ (row % 8) * 4);
      result[at] = stage[s][at] * scale + float(t * 1000 + column);
    }
    proxyFence();
    barrierArrive(sharedAddress(&empty[s]));
    asm volatile("bar.sync 1, 64;" ::: "memory");
    if (worker == 0) {
      storeTile(&out, blockIdx.x * 32, t * 32, sharedAddress(result));
      bulkCommit();
      bulkWait();
    }
    asm volatile("bar.sync 1, 64;" ::: "memory");
  }
}

/// Adds the box of the CTA to the output, and its maximum into another.
extern "C" __global__ void accumulate(const __grid_constant__ CUtensorMap out,
                                      const __grid_constant__ CUtensorMap top,
                                      float *line) {
  __shared__ alignas(128) float tile[8 * 16];
  tile[threadIdx.x] = float(threadIdx.x + 1000 * blockIdx.x);
  proxyFence();
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile."
                 "bulk_group [%0, {%1, %2}], [%3];" ::"l"(&out),
                 "r"(4), "r"(-0 + 2), "r"(sharedAddress(tile))
                 : "memory");
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.max.tile."
                 "bulk_group [%0, {%1, %2}], [%3];" ::"l"(&top),
                 "r"(0), "r"(0), "r"(sharedAddress(tile))
                 : "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 "
                 "[%0], [%1], 256;" ::"l"(line),
                 "r"(sharedAddress(tile))
                 : "memory");
    bulkCommit();
    bulkWait();
  }
}

/// Rows picked by index, and put back in another order.
extern "C" __global__ void gather(const __grid_constant__ CUtensorMap in,
                                  const __grid_constant__ CUtensorMap out,
                                  const int *rows) {
  __shared__ alignas(128) float tile[4 * 32];
  __shared__ alignas(8) uint64_t full;
  if (threadIdx.x == 0) {
    uint32_t barrier = sharedAddress(&full);
    barrierInit(barrier, 1);
    barrierInitFence();
    barrierExpect(barrier, 512);
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4."
        "mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5, %6}], [%7];"
        ::"r"(sharedAddress(tile)), "l"(&in), "r"(8), "r"(rows[0]),
        "r"(rows[1]), "r"(rows[2]), "r"(rows[3]), "r"(barrier)
        : "memory");
    barrierWait(barrier, 0);
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4."
                 "bulk_group [%0, {%1, %2, %3, %4, %5}], [%6];" ::"l"(&out),
                 "r"(0), "r"(rows[4]), "r"(rows[5]), "r"(rows[6]),
                 "r"(rows[7]), "r"(sharedAddress(tile))
                 : "memory");
    bulkCommit();
    bulkWait();
  }
}

/// Cluster of 4: each CTA loads a quarter and multicasts it to a subset, then
/// reads a word of each peer's memory and counts on a remote barrier.
extern "C" __global__ void __cluster_dims__(4)
    share(const __grid_constant__ CUtensorMap in, float *out, int *counts) {
  __shared__ alignas(128) float tile[4][8 * 16];
  __shared__ alignas(8) uint64_t full, arrived;
  __shared__ int tickets;
  uint32_t rank = clusterRank();
  if (threadIdx.x == 0) {
    barrierInit(sharedAddress(&full), 1);
    barrierInit(sharedAddress(&arrived), 4);
    tickets = 0;
    barrierInitFence();
  }
  for (int i = threadIdx.x; i < 4 * 128; i += blockDim.x)
    tile[i / 128][i % 128] = -1;
  proxyFence();
  clusterSync();
  if (threadIdx.x == 0) {
    // Odd ranks send to everybody, even ones to themselves and the next.
    uint16_t mask = rank % 2 ? 15 : uint16_t(3 << rank);
    uint32_t bytes = 512 * 3;
    barrierExpect(sharedAddress(&full), bytes);
    loadTileMulticast(sharedAddress(tile[rank]), &in, int(rank) * 16,
                      int(blockIdx.x / 4) * 8, sharedAddress(&full), mask);
    barrierWait(sharedAddress(&full), 0);
    for (uint32_t peer = 0; peer < 4; ++peer)
      barrierArriveRemote(remoteAddress(sharedAddress(&arrived), peer));
    asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;" ::"r"(
                     remoteAddress(sharedAddress(&tickets), (rank + 1) % 4)),
                 "r"(int(rank) + 10)
                 : "memory");
  }
  barrierWait(sharedAddress(&arrived), 0);
  __syncthreads();
  clusterSync();
  for (int i = threadIdx.x; i < 512; i += blockDim.x)
    out[blockIdx.x * 512 + i] = tile[i / 128][i % 128];
  // Every thread reads one word of the next CTA.
  float remote;
  asm volatile("ld.shared::cluster.f32 %0, [%1];"
               : "=f"(remote)
               : "r"(remoteAddress(sharedAddress(&tile[1][threadIdx.x]),
                                   (rank + 1) % 4)));
  counts[blockIdx.x * 129 + 1 + threadIdx.x] = int(remote);
  if (threadIdx.x == 0)
    counts[blockIdx.x * 129] = tickets;
  clusterSync();
}

/// Every CTA takes further tiles while the launch has some left.
extern "C" __global__ void persistent(int *out, int *workers) {
  __shared__ alignas(16) int answer[4];
  __shared__ alignas(8) uint64_t full;
  uint32_t barrier = sharedAddress(&full);
  if (threadIdx.x == 0) {
    barrierInit(barrier, 1);
    barrierInitFence();
  }
  __syncthreads();
  int tile = blockIdx.x;
  for (uint32_t phase = 0;; phase ^= 1) {
    if (threadIdx.x == 0) {
      barrierExpect(barrier, 16);
      asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta."
                   "mbarrier::complete_tx::bytes.b128 [%0], [%1];" ::"r"(
                       sharedAddress(answer)),
                   "r"(barrier)
                   : "memory");
      atomicAdd(&out[tile], tile * 3 + 1);
      atomicAdd(&workers[blockIdx.x], 1);
    }
    barrierWait(barrier, phase);
    uint32_t more, next;
    asm volatile(
        "{\n\t.reg .pred P1;\n\t.reg .b128 response;\n\t"
        "ld.shared.b128 response, [%2];\n\t"
        "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 P1, "
        "response;\n\t"
        "selp.u32 %0, 1, 0, P1;\n\tmov.u32 %1, 0;\n\t"
        "@P1 clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 "
        "{%1, _, _, _}, response;\n\t}"
        : "=r"(more), "=r"(next)
        : "r"(sharedAddress(answer))
        : "memory");
    if (!more)
      break;
    tile = int(next);
    proxyFence();
    __syncthreads();
  }
}
