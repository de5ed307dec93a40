//===- calls.cu - function pointers, recursion and alloca -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The .ptx beside this file: nvcc -std=c++17 -ptx -arch=sm_100a.
//
//===----------------------------------------------------------------------===//

#include <alloca.h>

struct Pair {
  int first, second;
};
typedef Pair (*Operation)(Pair, int);

__device__ Pair addBoth(Pair a, int b) { return {a.first + b, a.second + 2 * b}; }
__device__ Pair swapped(Pair a, int b) { return {a.second, a.first - b}; }
__device__ Pair scaled(Pair a, int b) { return {a.first * b, a.second}; }
__device__ Operation operations[3] = {addBoth, swapped, scaled};

/// Each thread applies the operations that its input names, from a table.
extern "C" __global__ void table(const int *in, int *out) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  Pair value = {t, 1000 - t};
  for (int i = 0; i < 4; ++i)
    value = operations[in[4 * t + i]](value, i + 2);
  out[2 * t] = value.first;
  out[2 * t + 1] = value.second;
}

/// Passes the address of a local variable down, and changes it from below.
__device__ __noinline__ int count(int n, int *parent) {
  int own[2] = {n, 1};
  parent[1] += 1;
  if (n < 2) {
    parent[0] += 10 * n;
    return n;
  }
  int left = count(n - 1, own);
  int right = count(n - 2, own);
  return left + 3 * right + own[0] + own[1];
}

/// The threads of a warp go to different depths.
extern "C" __global__ void recursion(const int *in, int *out) {
  int t = threadIdx.x;
  int top[2] = {0, 0};
  out[2 * t] = count(in[t], top);
  out[2 * t + 1] = top[0] * 1000 + top[1];
}

__device__ int isOdd(unsigned n);
__device__ __noinline__ int isEven(unsigned n) {
  return n == 0 ? 1 : 2 * isOdd(n - 1);
}
__device__ __noinline__ int isOdd(unsigned n) {
  return n == 0 ? -1 : isEven(n - 1) + 1;
}
extern "C" __global__ void mutualRecursion(const int *in, int *out) {
  int t = threadIdx.x;
  out[t] = isEven(unsigned(in[t]));
}

struct Shape {
  __device__ virtual int area(int n) const = 0;
  /// Calls another one of its kind: a cycle that no call takes.
  __device__ virtual int twice(int n) const { return 2 * area(n); }
};
struct Square : Shape {
  __device__ int area(int n) const override { return n * n; }
};
struct Strip : Shape {
  int width;
  __device__ explicit Strip(int width) : width(width) {}
  __device__ int area(int n) const override { return width * n; }
  __device__ int twice(int n) const override { return area(n) + area(n) + 1; }
};
extern "C" __global__ void virtuals(const int *in, int *out) {
  int t = threadIdx.x;
  Square square;
  Strip strip(t);
  const Shape *shape = in[t] % 3 == 0 ? static_cast<Shape *>(&square) : &strip;
  out[t] = shape->twice(in[t]);
}

__device__ __noinline__ int sumOf(int n) {
  int *values = static_cast<int *>(alloca(4 * n));
  for (int i = 0; i < n; ++i)
    values[i] = i * i + n;
  int sum = 0;
  for (int i = n; i-- > 0;)
    sum = 2 * sum % 1009 + values[i];
  return sum;
}
/// What a call takes of the stack is free again behind it.
extern "C" __global__ void stack(const int *in, int *out) {
  int t = threadIdx.x, sum = 0;
  for (int i = 0; i < 100; ++i)
    sum += sumOf(in[t] + i % 7);
  out[t] = sum;
}
