// RUN: %nvcc -lineinfo -arch=sm_100a %s -o %t
// RUN: rm -rf %t.timelines %t.xml

// Findings show the lines of the source that nvcc names, through functions that
// were inlined, and the other line of a race.
// RUN: not blockscale emulate --summary --junit=%t.xml --cuda %t outside > %t.out 2>&1
// RUN: FileCheck %s --check-prefix=OUTSIDE < %t.out
// OUTSIDE: blockscale: kernel 'scale(float*)': line {{[0-9]+}}, cta (0,0,0), warp 0, lane 16, address {{.*}}: out-of-bounds: 4 bytes outside every global buffer [hazard 38]
// OUTSIDE-NEXT: {{^}}  {{.*}}source-lines.cu:[[# @LINE + 52]]:{{[0-9]+}}: return x[2 * i] + 1;
// OUTSIDE-NEXT: {{^}}    inlined 'element(float*, int)' at {{.*}}source-lines.cu:[[# @LINE + 55]]:{{[0-9]+}}: return element(x, i) * 3;
// OUTSIDE-NEXT: {{^}}    inlined 'threefold(float*, int)' at {{.*}}source-lines.cu:[[# @LINE + 58]]:{{[0-9]+}}: x[threadIdx.x] = threefold(x, int(threadIdx.x));
// OUTSIDE-NEXT: blockscale: hazard 38
// RUN: not blockscale emulate --cuda %t race 2>&1 | FileCheck %s --check-prefix=RACE
// RACE: blockscale: kernel 'race(int*)': line {{[0-9]+}}, {{.*}}: race: read of what warp {{[0-9]}} wrote at line [[OTHER:[0-9]+]],
// RACE-NEXT: {{^}}  {{.*}}source-lines.cu:[[# @LINE + 60]]:{{[0-9]+}}: x[threadIdx.x] = words[threadIdx.x & 31];
// RACE-NEXT: {{^}}  line [[OTHER]] is {{.*}}source-lines.cu:[[# @LINE + 58]]:{{[0-9]+}}: words[threadIdx.x] = int(threadIdx.x);

// The table has a row for each kernel, in the order of their first launches.
// SUMMARY: {{^}}kernel launches instructions findings advice seconds{{$}}
// SUMMARY-NEXT: {{^}}right(int*) 2 {{[1-9][0-9]*}} 0 0 {{[0-9.]+$}}
// SUMMARY-NEXT: {{^}}scale(float*) 1 {{[1-9][0-9]*}} 1 0 {{[0-9.]+$}}
// SUMMARY-NEXT: {{^}}total 3 {{[1-9][0-9]*}} 1 0 {{[0-9.]+$}}
// RUN: FileCheck %s --check-prefix=SUMMARY < %t.out

// A suite for each kernel, a case for each launch, one for the program.
// RUN: %python %S/Inputs/check_junit.py %t.xml > %t.suites
// RUN: FileCheck %s --check-prefix=JUNIT --match-full-lines --implicit-check-not={{.}} < %t.suites
// JUNIT: suite right(int*)
// JUNIT-NEXT: passed launch 1, grid (1, 1, 1), block (32, 1, 1)
// JUNIT-NEXT: passed launch 2, grid (2, 1, 1), block (32, 1, 1)
// JUNIT-NEXT: suite scale(float*)
// JUNIT-NEXT: failed launch 1, grid (1, 1, 1), block (32, 1, 1): out-of-bounds: line {{.*}}: out-of-bounds: 4 bytes outside every global buffer [hazard 38]
// JUNIT-NEXT: suite {{.*}}source-lines.cu.tmp
// JUNIT-NEXT: passed exit status
// RUN: %python %S/Inputs/status.py 3 blockscale emulate --junit=%t.xml --cuda %t 3
// RUN: %python %S/Inputs/check_junit.py %t.xml | FileCheck %s --check-prefix=STATUS --match-full-lines
// STATUS: failed exit status: exit status: the program's exit status is 3

// An estimate and a trace for each launch.
// RUN: blockscale emulate --report --timeline=%t.timelines --cuda %t 2>&1 | FileCheck %s --check-prefix=REPORT
// REPORT-COUNT-2: estimate from a throughput model, not measured: kernel 'right(int*)' on B200 at
// RUN: ls %t.timelines | FileCheck %s --check-prefix=TRACES --match-full-lines --implicit-check-not={{.}}
// TRACES: 0001-right.json
// TRACES-NEXT: 0002-right.json
// RUN: %python -c "import json, sys; print(len(json.load(open(sys.argv[1]))['traceEvents']) > 0)" %t.timelines/0002-right.json | FileCheck %s --check-prefix=TRACE
// TRACE: True
// RUN: not blockscale emulate --timeline=%t.timelines --cuda %t 2>&1 | FileCheck %s --check-prefix=FULL
// FULL: error: the folder '{{.*}}' for the traces of launches is not empty
// RUN: %python %S/Inputs/status.py 2 blockscale emulate --report --completion=latest --cuda %t 2>&1 | FileCheck %s --check-prefix=LATEST
// LATEST: error: --timeline and --report need --completion=immediate

// A long launch says how far it is.
// RUN: blockscale emulate --progress --threads=1 --cuda %t long 2>&1 | FileCheck %s --check-prefix=PROGRESS
// PROGRESS: {{^}}spin(int*): {{[12]}} of 2 clusters

#include <cstdio>
#include <cstdlib>
#include <cstring>

__device__ inline float element(float *x, int i) {
  return x[2 * i] + 1;
}

__device__ inline float threefold(float *x, int i) {
  return element(x, i) * 3;
}

__global__ void scale(float *x) {
  x[threadIdx.x] = threefold(x, int(threadIdx.x));
}

__global__ void race(int *x) {
  __shared__ int words[64];
  words[threadIdx.x] = int(threadIdx.x);
  x[threadIdx.x] = words[threadIdx.x & 31];
}

__global__ void right(int *x) { x[threadIdx.x] = 1; }

__global__ void spin(int *x) {
  int sum = 0;
  for (int i = 0; i != 120000000; ++i)
    asm volatile("add.s32 %0, %0, 1;" : "+r"(sum));
  *x = sum;
}

int main(int count, char **words) {
  const char *what = count > 1 ? words[1] : "";
  int *x;
  cudaMalloc(&x, 128);
  if (!std::strcmp(what, "long"))
    spin<<<2, 32>>>(x);
  else if (!std::strcmp(what, "race"))
    race<<<1, 64>>>(x);
  else
    for (int blocks = 1; blocks != 3; ++blocks)
      right<<<blocks, 32>>>(x);
  if (!std::strcmp(what, "outside"))
    scale<<<1, 32>>>(reinterpret_cast<float *>(x));
  cudaDeviceSynchronize();
  return std::atoi(what);
}
