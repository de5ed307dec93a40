//===- basics.cu - plain CUDA C++, no inline PTX --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <cstdint>
#include <cstdio>

struct Affine {
  float scale;
  int count;
  const float *x;
  float *y;
};

/// y = scale * x + y; the parameters are one structure by value.
extern "C" __global__ void saxpy(Affine p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < p.count)
    p.y[i] = p.scale * p.x[i] + p.y[i];
}

/// Shuffles, shared memory, one global atomic per block.
extern "C" __global__ void reduce(const int *in, int *out, int count) {
  __shared__ int partial[32];
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += gridDim.x * blockDim.x)
    sum += in[i];
  for (int distance = 16; distance; distance /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, distance);
  if (threadIdx.x % 32 == 0)
    partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0;
    for (int distance = 16; distance; distance /= 2)
      sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    if (threadIdx.x == 0)
      atomicAdd(out, sum);
  }
}

/// Tiles of 32 x 32 through padded shared memory; ragged edges.
extern "C" __global__ void transpose(const float *in, float *out, int width,
                                     int height) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y0 = blockIdx.y * 32;
  for (int j = threadIdx.y; j < 32; j += blockDim.y)
    if (x < width && y0 + j < height)
      tile[j][threadIdx.x] = in[(y0 + j) * width + x];
  __syncthreads();
  int tx = y0 + threadIdx.x;
  for (int j = threadIdx.y; j < 32; j += blockDim.y)
    if (tx < height && blockIdx.x * 32 + j < width)
      out[(blockIdx.x * 32 + j) * height + tx] = tile[threadIdx.x][j];
}

/// Shared and global atomics of several kinds.
extern "C" __global__ void histogram(const uint8_t *in, unsigned *bins,
                                     unsigned *extremes, int count) {
  __shared__ unsigned local[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += gridDim.x * blockDim.x) {
    atomicAdd(&local[in[i]], 1u);
    atomicMax(&extremes[0], unsigned(in[i]));
    atomicMin(&extremes[1], unsigned(in[i]));
    atomicXor(&extremes[2], unsigned(in[i]) << (i % 24));
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    if (local[i])
      atomicAdd(&bins[i], local[i]);
}

__device__ __noinline__ unsigned step(unsigned value) {
  return value & 1 ? 3 * value + 1 : value / 2;
}

/// Loops of different lengths per lane, with a call and a switch inside.
extern "C" __global__ void diverge(const unsigned *in, unsigned *out) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned value = in[i], steps = 0, mixed = 0;
  while (value != 1) {
    value = step(value);
    ++steps;
    switch (value % 7) {
    case 0: mixed += 3; break;
    case 1: mixed ^= value; break;
    case 2: mixed *= 5; break;
    case 3: mixed -= steps; break;
    case 4: mixed = mixed << 3 | mixed >> 29; break;
    case 5: continue;
    default: mixed += value / (steps + 1); break;
    }
    if (steps > 200)
      break;
  }
  out[i] = steps * 65536u + (mixed & 0xffffu);
}

/// Integer and bit instructions with many corner cases of their own.
extern "C" __global__ void integers(const int64_t *a, const int64_t *b,
                                    int64_t *out) {
  int i = threadIdx.x;
  int64_t x = a[i], y = b[i];
  uint32_t u = uint32_t(x), v = uint32_t(y);
  int64_t *o = out + 12 * i;
  o[0] = y ? x / y : 0;
  o[1] = y ? x % y : 0;
  o[2] = __mul64hi(x, y);
  o[3] = int64_t(uint64_t(x) * uint64_t(y));
  o[4] = __clz(int(u)) | __popc(v) << 8 | __ffs(int(u)) << 16;
  o[5] = __brev(u);
  o[6] = __byte_perm(u, v, 0x5140);
  o[7] = __funnelshift_l(u, v, v & 63);
  o[8] = int64_t(int32_t(u) >> (v & 31)) ^ (u << (v & 31));
  o[9] = __umulhi(u, v) + __sad(int(u), int(v), 7u);
  o[10] = v ? u / v : 1;
  o[11] = __dp4a(int(u), int(v), 11);
}

/// Arithmetic that must be correctly rounded.
extern "C" __global__ void floats(const float *a, const float *b, float *out) {
  int i = threadIdx.x;
  float x = a[i], y = b[i];
  float *o = out + 10 * i;
  o[0] = __fmaf_rn(x, y, -1.0f);
  o[1] = __fdiv_rn(x, y);
  o[2] = __fsqrt_rn(fabsf(x));
  o[3] = __fadd_rz(x, y);
  o[4] = __fmul_rn(x, y);
  o[5] = floorf(x) + rintf(y);
  o[6] = fminf(x, y) - fmaxf(x, 0.5f);
  o[7] = float(int(x)) + float(unsigned(fabsf(y)));
  o[8] = float(double(x) * double(y) + 1.0);
  o[9] = __int_as_float(__float_as_int(x) ^ 0x80000000);
}

/// Votes, matches and a prefix sum over the warp.
extern "C" __global__ void warpwide(const int *in, unsigned *out) {
  int lane = threadIdx.x % 32;
  int value = in[threadIdx.x];
  int sum = value;
  for (int d = 1; d < 32; d *= 2) {
    int other = __shfl_up_sync(0xffffffffu, sum, d);
    if (lane >= d)
      sum += other;
  }
  unsigned odd = __ballot_sync(0xffffffffu, value & 1);
  unsigned same = __match_any_sync(0xffffffffu, value % 4);
  int largest = __reduce_max_sync(0xffffffffu, value);
  unsigned *o = out + 4 * threadIdx.x;
  o[0] = unsigned(sum);
  o[1] = odd;
  o[2] = same;
  o[3] = unsigned(largest) + (__any_sync(0xffffffffu, value == 5) ? 1000 : 0);
}

/// One line per block from vprintf.
extern "C" __global__ void greet(int base) {
  if (threadIdx.x == 0)
    printf("block %d of %u: %5.2f %s %llx\n", int(blockIdx.x) + base,
           gridDim.x, 1.5 * blockIdx.x, "done", 0x123456789abcull);
}

/// Local arrays with dynamic indices and constant memory.
__constant__ int kWeights[8] = {1, -2, 3, -4, 5, -6, 7, -8};
extern "C" __global__ void locals(const int *in, int *out) {
  int ring[8];
  int i = threadIdx.x;
  for (int k = 0; k < 8; ++k)
    ring[(in[i] + k * 3) & 7] = k * i + kWeights[k];
  int sum = 0;
  for (int k = 0; k < 8; ++k)
    sum = sum * 3 + ring[(k + i) & 7] * kWeights[(k + in[i]) & 7];
  out[i] = sum;
}
