// Programs whose device code cannot be had: each says why, and the launch's
// error is the program's to see.

// RUN: %nvcc -arch=sm_100a %s -o %t
// RUN: blockscale emulate --cuda %t 2>&1 | FileCheck %s --check-prefix=GOOD
// GOOD: cudaSuccess
// GOOD: 42

// The header claims more bytes than the program has.
// RUN: %python %S/Inputs/corrupt.py %t %t.size 8 8 0x7fffffffffffffff
// RUN: %python %S/Inputs/status.py 3 blockscale emulate --cuda %t.size 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: blockscale: the program's fat binary is corrupt: its header claims 9223372036854775807 bytes, more than there are
// SIZE: cudaErrorInvalidKernelImage
// The first entry's payload is too long.
// RUN: %python %S/Inputs/corrupt.py %t %t.payload 0x18 8 0x100000000
// RUN: %python %S/Inputs/status.py 3 blockscale emulate --cuda %t.payload 2>&1 | FileCheck %s --check-prefix=PAYLOAD
// PAYLOAD: corrupt: the entry at offset 16 has a payload of 4294967296 bytes, more than there are
// Its compressed data is damaged.
// RUN: %python %S/Inputs/corrupt.py %t %t.zstd 0x80 4 0
// RUN: %python %S/Inputs/status.py 3 blockscale emulate --cuda %t.zstd 2>&1 | FileCheck %s --check-prefix=ZSTD
// ZSTD: corrupt: the entry at offset 16: its zstd data cannot be decompressed

// Machine code only.
// RUN: %nvcc -gencode arch=compute_100a,code=sm_100a %s -o %t.cubin
// RUN: %python %S/Inputs/status.py 3 blockscale emulate --cuda %t.cubin 2>&1 | FileCheck %s --check-prefix=CUBIN
// CUBIN: blockscale: the program's fat binary has no code for B200: it holds machine code for sm_100 only, and the emulator runs PTX; compile with -arch=sm_100a
// CUBIN: cudaErrorNoKernelImageForDevice

// Another chip's code.
// RUN: %nvcc -gencode arch=compute_103a,code=compute_103a %s -o %t.other
// RUN: blockscale emulate --device=B300 --cuda %t.other 2>&1 | FileCheck %s --check-prefix=GOOD
// RUN: %python %S/Inputs/status.py 3 blockscale emulate --cuda %t.other 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: has no code for B200: it holds PTX for sm_103a, which sm_100a does not run; compile with -arch=sm_100a
// OTHER: cudaErrorNoKernelImageForDevice

// The runtime is inside the program, where ours takes its place by its symbols.
// RUN: %nvcc_plain -cudart static -arch=sm_100a %s -o %t.static
// RUN: blockscale emulate --cuda %t.static 2>&1 | FileCheck %s --check-prefix=GOOD
// RUN: %nvcc_plain -cudart static -arch=sm_100a -Xlinker -s %s -o %t.stripped
// RUN: env CUDA_HOME=%cuda_root blockscale emulate --cuda %t.stripped 2>&1 | FileCheck %s --check-prefix=GOOD
// Another library is not mistaken for it: here a few bytes of code differ.
// RUN: %python %S/Inputs/change_library.py %cuda_root %t.other.a
// RUN: env BLOCKSCALE_CUDART_STATIC=%t.other.a not blockscale emulate --cuda %t.stripped 2>&1 | FileCheck %s --check-prefix=CHANGED
// CHANGED: it was not linked with {{.*}}images.cu.tmp.other.a
// Its symbols are gone, and the library that would name its functions is not there.
// RUN: env BLOCKSCALE_CUDART_STATIC=%t.none %python %S/Inputs/status.py 1 blockscale emulate --cuda %t.stripped 2>&1 | FileCheck %s --check-prefix=STRIPPED
// STRIPPED: blockscale: error: '{{.*}}images.cu.tmp.stripped' holds device code, but neither loads the CUDA runtime or driver nor shows the symbols of a static runtime, and it was not linked with {{.*}}images.cu.tmp.none: set BLOCKSCALE_CUDART_STATIC to the libcudart_static.a of its CUDA, link it with 'nvcc -cudart shared', or do not strip it

//===- images.cu - a kernel in whatever form ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <cstdio>

__global__ void answer(int *out) { *out = 42; }

int main() {
  int *device, value = 0;
  cudaMalloc(&device, sizeof(int));
  answer<<<1, 1>>>(device);
  cudaError_t error = cudaGetLastError();
  std::printf("%s\n", cudaGetErrorName(error));
  if (error != cudaSuccess)
    return 3;
  cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost);
  std::printf("%d\n", value);
}
