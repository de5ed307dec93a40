// RUN: %nvcc -arch=sm_100a %s -o %t

// Host code must not touch device memory, and is told so.
// RUN: %python %S/Inputs/status.py 98 blockscale emulate --cuda %t read 2>&1 | FileCheck %s --check-prefix=READ
// READ: before
// READ: blockscale: host code reads device memory at 0x{{[0-9a-f]+}}, byte 12 of an allocation of 100 bytes: only kernels may access it; use cudaMemcpy, or allocate with cudaMallocManaged or cudaMallocHost
// RUN: %python %S/Inputs/status.py 98 blockscale emulate --cuda %t write 2>&1 | FileCheck %s --check-prefix=WRITE
// WRITE: blockscale: host code writes to device memory at 0x{{[0-9a-f]+}}, byte 4 of an allocation of 100 bytes

// Any other bad access is the program's own; how it ended is said.
// RUN: %python %S/Inputs/status.py 139 blockscale emulate --cuda %t null 2>&1 | FileCheck %s --check-prefix=NULL
// NULL-NOT: blockscale:
// NULL: blockscale: error: '{{.*}}' was ended by signal 11: Segmentation fault
// NULL-NOT: blockscale:

// A function that the runtime lacks is named when it is called.
// RUN: %python %S/Inputs/status.py 99 blockscale emulate --cuda %t missing 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: before
// MISSING: blockscale: the program needs 'cudaCreateTextureObject', which the emulator's CUDA runtime does not have

// What is found in a kernel is printed; the status stays the program's unless
// it is 0.
// RUN: %python %S/Inputs/status.py 1 blockscale emulate --cuda %t outside 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: %python %S/Inputs/status.py 5 blockscale emulate --cuda %t outside 5 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// OUTSIDE: blockscale: kernel 'store(int*, int)': line {{[0-9]+}}, cta (1,0,0), warp 0, lane 9, address 0x{{[0-9a-f]+}}: out-of-bounds: 4 bytes outside every global buffer
// OUTSIDE: launch: cudaSuccess
// OUTSIDE: synchronise: cudaErrorIllegalAddress
// OUTSIDE: later: cudaErrorIllegalAddress
// OUTSIDE: after reset: cudaSuccess
// RUN: %python %S/Inputs/status.py 1 blockscale emulate --cuda %t long 2>&1 | FileCheck %s --check-prefix=LONG
// LONG: kernel 'void nested<Outer<Outer<{{[^']+}}...': line {{.*}}out-of-bounds
// RUN: %python %S/Inputs/status.py 1 blockscale emulate --step-limit=1000 --cuda %t forever 2>&1 | FileCheck %s --check-prefix=FOREVER
// FOREVER: kernel 'spin(int*)': line {{.*}}step-limit

// A wrong configuration is the launch's own error, and no finding.
// RUN: blockscale emulate --cuda %t configuration 2>&1 | FileCheck %s --check-prefix=CONFIGURATION
// CONFIGURATION: kernel 'store(int*, int)': {{.*}}launch: block 1025x1x1 has more than 1024 threads
// CONFIGURATION: block: cudaErrorInvalidConfiguration
// CONFIGURATION: kernel 'store(int*, int)' is launched with a grid of (0, 1, 1)
// CONFIGURATION: no grid: cudaErrorInvalidConfiguration
// CONFIGURATION: kernel 'store(int*, int)' is launched with 50000 bytes of dynamic shared memory, more than the 49152 that it may have: set cudaFuncAttributeMaxDynamicSharedMemorySize first
// CONFIGURATION: shared: cudaErrorInvalidValue
// CONFIGURATION: kernel 'store(int*, int)' cannot have 300000 bytes of dynamic shared memory: a CTA of B200 has 232448, the kernel declares 0
// CONFIGURATION: attribute: cudaErrorInvalidValue
// CONFIGURATION: copy: source 0x{{[0-9a-f]+}}: 101 bytes from byte 0 of an allocation of 100 bytes
// CONFIGURATION: too much: cudaErrorInvalidValue
// CONFIGURATION: is device memory where the kind of the copy says host memory
// CONFIGURATION: wrong kind: cudaErrorInvalidValue
// CONFIGURATION: not a kernel: cudaErrorInvalidResourceHandle

// Settings and programs that are not understood.
// RUN: %python %S/Inputs/status.py 2 blockscale emulate --device=A100 --cuda %t 2>&1 | FileCheck %s --check-prefix=DEVICE
// DEVICE: error: unknown device 'A100'; known devices: B200, B300, RTX5090, H100, VR200
// RUN: env BLOCKSCALE_SEED=x %python %S/Inputs/status.py 97 blockscale emulate --cuda %t 2>&1 | FileCheck %s --check-prefix=SEED
// SEED: BLOCKSCALE_SEED is 'x', expected a number
// RUN: %python %S/Inputs/status.py 2 blockscale emulate --cuda 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: %python %S/Inputs/status.py 2 blockscale emulate --cuda --seed=3 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: error: expected a program after --cuda, found none
// Options before the program are of 'emulate', with values of their own or not.
// RUN: %python %S/Inputs/status.py 2 blockscale emulate --cuda --device A100 --report %t --device=none 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: %python %S/Inputs/status.py 2 blockscale emulate --kernel=store --cuda %t 2>&1 | FileCheck %s --check-prefix=KERNEL
// KERNEL: error: --cuda takes its kernels and their arguments from the program
// RUN: %python %S/Inputs/status.py 2 blockscale emulate x.ptx --kernel=k --device=B200 2>&1 | FileCheck %s --check-prefix=NOPROGRAM
// NOPROGRAM: error: --device needs --cuda
// RUN: %python %S/Inputs/status.py 127 blockscale emulate --cuda %t.none 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: cannot run '{{.*}}bad.cu.tmp.none': No such file or directory
// RUN: %python %S/Inputs/status.py 1 blockscale emulate --cuda no-such-program-anywhere 2>&1 | FileCheck %s --check-prefix=PATH
// PATH: error: no program 'no-such-program-anywhere' on PATH

//===- bad.cu - mistakes of programs, and what they are told --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void store(int *out, int value) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void spin(int *out) {
  while (*static_cast<volatile int *>(out) == 0)
    out[1] += 1;
}

template <typename T> struct Outer {};
using Three = Outer<Outer<Outer<int>>>;
template <typename... T> __global__ void nested(int *out) { out[1 << 20] = 1; }

static void print(const char *what, cudaError_t error) {
  std::printf("%s: %s (%s)\n", what, cudaGetErrorName(error),
              cudaGetErrorString(error));
}

static void outside(int *device) {
  // 100 bytes hold 25 of the 32 values.
  store<<<2, 16>>>(device, 3);
  // The error belongs to the synchronisation: the launch itself was legal.
  print("launch", cudaGetLastError());
  print("synchronise", cudaDeviceSynchronize());
  void *more;
  print("later", cudaMalloc(&more, 4));
  print("after reset", cudaDeviceReset());
}

static void configuration(int *device) {
  store<<<1, 1025>>>(device, 1);
  print("block", cudaGetLastError());
  store<<<0, 1>>>(device, 1);
  print("no grid", cudaGetLastError());
  store<<<1, 1, 50000>>>(device, 1);
  print("shared", cudaGetLastError());
  print("attribute",
        cudaFuncSetAttribute(
            store, cudaFuncAttributeMaxDynamicSharedMemorySize, 300000));
  char host[200];
  print("too much", cudaMemcpy(host, device, 101, cudaMemcpyDeviceToHost));
  print("wrong kind", cudaMemcpy(device, device, 4, cudaMemcpyHostToDevice));
  cudaFuncAttributes attributes;
  print("not a kernel",
        cudaFuncGetAttributes(&attributes,
                              reinterpret_cast<const void *>(&print)));
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  int *device = nullptr;
  cudaMalloc(&device, 100);
  std::printf("before\n");
  std::fflush(stdout);
  if (!std::strcmp(what, "read"))
    return device[3];
  if (!std::strcmp(what, "write"))
    device[1] = 1;
  if (!std::strcmp(what, "null"))
    *static_cast<volatile int *>(nullptr) = 1;
  if (!std::strcmp(what, "missing")) {
    cudaTextureObject_t texture;
    cudaCreateTextureObject(&texture, nullptr, nullptr, nullptr);
  }
  if (!std::strcmp(what, "outside"))
    outside(device);
  if (!std::strcmp(what, "long"))
    nested<Outer<Outer<Outer<Outer<Three>>>>, Outer<Outer<Three>>,
           Outer<Outer<Three>>, Outer<Outer<Outer<Three>>>, Three><<<1, 1>>>(
        device);
  if (!std::strcmp(what, "forever")) {
    cudaMemset(device, 0, 100);
    spin<<<1, 1>>>(device);
  }
  if (!std::strcmp(what, "configuration"))
    configuration(device);
  return argc > 2 ? std::atoi(argv[2]) : 0;
}
