// RUN: %nvcc -std=c++17 -arch=sm_100a %s -o %t
// RUN: blockscale emulate --cuda %t | FileCheck %s
// CHECK: half: 0 of 4096 wrong
// CHECK: half, wide: 0 of 4096 wrong
// CHECK: bfloat16, tall: 0 of 4096 wrong
// CHECK: tf32: 0 of 4096 wrong
// CHECK: bytes: 0 of 4096 wrong
// CHECK: double: 0 of 4096 wrong
// CHECK: 4 bits: 0 of 64 wrong
// CHECK: 1 bit: 0 of 64 wrong

//===- wmma.cu - products through nvcuda::wmma -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs/Check.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>
#include <vector>

using namespace nvcuda;

constexpr int kM = 64, kN = 64, kK = 32;

/// A product of A by rows and B by columns, plus twice itself: each warp has
/// a tile, and B passes through shared memory with padded columns.
template <int m, int n, int k, typename Fragment, typename Element,
          typename Sum>
__global__ void product(const Element *a, const Element *b, Sum *d) {
  constexpr int kPadded = kK + 16;
  extern __shared__ __align__(32) unsigned char memory[];
  auto *columns = reinterpret_cast<Element *>(memory);
  int column = blockIdx.x * n, row = blockIdx.y * m;
  for (int i = threadIdx.x; i < n * kK; i += 32)
    columns[i / kK * kPadded + i % kK] = b[(column + i / kK) * kK + i % kK];
  __syncwarp();
  wmma::fragment<wmma::matrix_a, m, n, k, Fragment, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, m, n, k, Fragment, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, m, n, k, Sum> sum;
  wmma::fill_fragment(sum, Sum(0));
  for (int i = 0; i < kK; i += k) {
    wmma::load_matrix_sync(left, a + row * kK + i, kK);
    wmma::load_matrix_sync(right, columns + i, kPadded);
    wmma::mma_sync(sum, left, right, sum);
  }
  for (int i = 0; i < sum.num_elements; ++i)
    sum.x[i] = sum.x[i] + sum.x[i] + sum.x[i];
  wmma::store_matrix_sync(d + row * kN + column, sum, kN, wmma::mem_row_major);
}

int valueA(int m, int k) { return (m * 7 + k * 3) % 9 - 4; }
int valueB(int k, int n) { return (n * 5 + k) % 7 - 3; }

template <int m, int n, int k, typename Fragment, typename Element,
          typename Sum>
void check(const char *name) {
  std::vector<Element> a(kM * kK), b(kN * kK);
  for (int i = 0; i < kM; ++i)
    for (int j = 0; j < kK; ++j)
      a[i * kK + j] = Element(float(valueA(i, j)));
  for (int i = 0; i < kN; ++i)
    for (int j = 0; j < kK; ++j)
      b[i * kK + j] = Element(float(valueB(j, i)));
  Element *deviceA, *deviceB;
  Sum *deviceD;
  std::vector<Sum> d(kM * kN);
  CALL(cudaMalloc(&deviceA, a.size() * sizeof(Element)));
  CALL(cudaMalloc(&deviceB, b.size() * sizeof(Element)));
  CALL(cudaMalloc(&deviceD, d.size() * sizeof(Sum)));
  CALL(cudaMemcpy(deviceA, a.data(), a.size() * sizeof(Element),
                  cudaMemcpyHostToDevice));
  CALL(cudaMemcpy(deviceB, b.data(), b.size() * sizeof(Element),
                  cudaMemcpyHostToDevice));
  product<m, n, k, Fragment>
      <<<dim3(kN / n, kM / m), 32, n * (kK + 16) * sizeof(Element)>>>(
          deviceA, deviceB, deviceD);
  CALL(cudaMemcpy(d.data(), deviceD, d.size() * sizeof(Sum),
                  cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int i = 0; i < kM; ++i)
    for (int j = 0; j < kN; ++j) {
      int sum = 0;
      for (int l = 0; l < kK; ++l)
        sum += valueA(i, l) * valueB(l, j);
      wrong += double(float(d[i * kN + j])) != 3 * sum;
    }
  std::printf("%s: %d of %zu wrong\n", name, wrong, d.size());
}

/// One product of elements smaller than a byte.
template <int k, typename Element> struct Small {
  wmma::fragment<wmma::matrix_a, 8, 8, k, Element, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 8, 8, k, Element, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 8, 8, k, int> sum;

  __device__ void load(const void *a, const void *b) {
    wmma::fill_fragment(sum, 5);
    wmma::load_matrix_sync(left, a, k);
    wmma::load_matrix_sync(right, b, k);
  }
};

__global__ void nibbles(const void *a, const void *b, int *d) {
  Small<32, wmma::experimental::precision::s4> one;
  one.load(a, b);
  wmma::mma_sync(one.sum, one.left, one.right, one.sum);
  wmma::store_matrix_sync(d, one.sum, 8, wmma::mem_col_major);
}

__global__ void bits(const void *a, const void *b, int *d) {
  Small<128, wmma::experimental::precision::b1> one;
  one.load(a, b);
  wmma::bmma_sync(one.sum, one.left, one.right, one.sum,
                  wmma::experimental::bmmaBitOpXOR);
  wmma::bmma_sync(one.sum, one.left, one.right, one.sum,
                  wmma::experimental::bmmaBitOpAND);
  wmma::store_matrix_sync(d, one.sum, 8, wmma::mem_row_major);
}

template <typename Kernel, typename Expected>
void checkSmall(const char *name, int bytes, Kernel kernel,
                Expected expected) {
  std::vector<unsigned char> a(8 * bytes), b(8 * bytes);
  for (int i = 0; i < 8 * bytes; ++i) {
    a[i] = (unsigned char)(i * 37 + 11);
    b[i] = (unsigned char)(i * 59 + 3);
  }
  void *deviceA, *deviceB;
  int *deviceD, d[64], wrong = 0;
  CALL(cudaMalloc(&deviceA, a.size()));
  CALL(cudaMalloc(&deviceB, b.size()));
  CALL(cudaMalloc(&deviceD, sizeof d));
  CALL(cudaMemcpy(deviceA, a.data(), a.size(), cudaMemcpyHostToDevice));
  CALL(cudaMemcpy(deviceB, b.data(), b.size(), cudaMemcpyHostToDevice));
  kernel<<<1, 32>>>(deviceA, deviceB, deviceD);
  CALL(cudaMemcpy(d, deviceD, sizeof d, cudaMemcpyDeviceToHost));
  for (int m = 0; m < 8; ++m)
    for (int n = 0; n < 8; ++n)
      wrong += !expected(&a[m * bytes], &b[n * bytes], m, n, d);
  std::printf("%s: %d of 64 wrong\n", name, wrong);
}

int nibble(const unsigned char *row, int k) {
  int value = row[k / 2] >> k % 2 * 4 & 15;
  return value < 8 ? value : value - 16;
}

int main() {
  check<16, 16, 16, half, half, float>("half");
  check<8, 16 * 2, 16, half, half, half>("half, wide");
  check<32, 8, 16, __nv_bfloat16, __nv_bfloat16, float>("bfloat16, tall");
  check<16, 16, 8, wmma::precision::tf32, float, float>("tf32");
  check<16, 16, 16, signed char, signed char, int>("bytes");
  check<8, 8, 4, double, double, double>("double");
  checkSmall("4 bits", 16, nibbles,
             [](const unsigned char *a, const unsigned char *b, int m, int n,
                const int *d) {
               int sum = 5;
               for (int k = 0; k < 32; ++k)
                 sum += nibble(a, k) * nibble(b, k);
               return d[n * 8 + m] == sum;
             });
  checkSmall("1 bit", 16, bits,
             [](const unsigned char *a, const unsigned char *b, int m, int n,
                const int *d) {
               int sum = 5;
               for (int k = 0; k < 16; ++k)
                 sum += __builtin_popcount(a[k] ^ b[k]) +
                        __builtin_popcount(a[k] & b[k]);
               return d[m * 8 + n] == sum;
             });
  return 0;
}
