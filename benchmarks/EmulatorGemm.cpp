//===- EmulatorGemm.cpp - an emulated NVFP4 GEMM against sgemm ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the whole grid of D = A B^T with NVFP4 operands on the emulator and the
// same product of the dequantised operands through OpenBLAS, in turns, on the
// same number of threads. Prints seconds and their ratio. The data make every
// sum exact, so both results must be equal bit for bit.
//
// emulator-gemm [SIZE [ROUNDS [THREADS]]], SIZE a multiple of 256.
//
//===----------------------------------------------------------------------===//

#include "EmulatorGemmKernel.h"

#include "blockscale/Emulator/Machine.h"

#include <cblas.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>

extern "C" void openblas_set_num_threads(int);

using namespace blockscale::emulator;

namespace {

/// One operand: codes, scales in tiles of 128 rows x 4 blocks, and values.
struct Matrix {
  std::vector<uint8_t> codes, scales;
  std::vector<float> values;

  Matrix(unsigned rows, unsigned k, unsigned seed)
      : codes(size_t(rows) * k / 2), scales(size_t(rows) * k / 16),
        values(size_t(rows) * k) {
    static const float kValues[16] = {0, .5f,  1,  1.5f,  2,  2,  2,  2,
                                      0, -.5f, -1, -1.5f, -2, -2, -2, -2};
    static const uint8_t kCodes[4] = {0x30, 0x38, 0x40, 0x38};
    static const float kScales[4] = {0.5f, 1, 2, 1};
    std::minstd_rand random(seed);
    for (unsigned r = 0; r != rows; ++r)
      for (unsigned block = 0; block != k / 16; ++block) {
        unsigned pick = random() >> 8 & 3;
        size_t tile = size_t(r / 128) * (k / 64) + block / 4;
        scales[tile * 512 + r % 32 * 16 + r % 128 / 32 * 4 + block % 4] =
            kCodes[pick];
        for (unsigned i = 0; i != 16; ++i) {
          unsigned code = random() >> 8 & 15;
          code = (code & 8) | std::min(code & 7, 4u);
          size_t at = size_t(r) * k + block * 16 + i;
          codes[at / 2] |= uint8_t(code << at % 2 * 4);
          values[at] = kValues[code] * kScales[pick];
        }
      }
  }
};

TensorMap mapOf(unsigned rows, unsigned k, unsigned box) {
  TensorMap map;
  map.type = TensorMapType::U8;
  map.rank = 2;
  map.globalDim = {k / 2, rows, 0, 0, 0};
  map.globalStrides = {k / 2, 0, 0, 0};
  map.boxDim = {128, box, 0, 0, 0};
  map.swizzle = Swizzle::B128;
  return map;
}

double seconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double processorSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

struct Time {
  double wall, processor;
};

template <typename F> Time timed(F &&body) {
  Time start{seconds(), processorSeconds()};
  body();
  return {seconds() - start.wall, processorSeconds() - start.processor};
}

template <typename T> Buffer bufferOf(std::vector<T> &data, bool writable) {
  return {reinterpret_cast<uint8_t *>(data.data()), data.size() * sizeof(T),
          writable};
}

} // namespace

int main(int argc, char **argv) {
  unsigned size = argc > 1 ? unsigned(std::atoi(argv[1])) : 4096;
  unsigned rounds = argc > 2 ? unsigned(std::atoi(argv[2])) : 2;
  unsigned threads = argc > 3 ? unsigned(std::atoi(argv[3]))
                              : std::thread::hardware_concurrency();
  if (size == 0 || size % 256 || !threads) {
    std::fprintf(stderr, "expected a size that is a multiple of 256\n");
    return 2;
  }
  openblas_set_num_threads(int(threads));
  Matrix a(size, size, 1), b(size, size, 2);
  std::vector<float> expected(size_t(size) * size), d(expected.size());

  ParseResult parsed = parsePtx(blockscale::benchmarks::gemmKernel());
  for (const Diagnostic &error : parsed.errors)
    std::fprintf(stderr, "%s\n", error.format().c_str());
  if (!parsed)
    return 1;
  Launch launch;
  launch.kernel = "gemm";
  launch.grid = {size / 256, size / 128, 1};
  launch.block.x = 128;
  launch.dynamicSharedBytes = blockscale::benchmarks::kGemmSharedBytes;
  launch.buffers = {bufferOf(a.codes, false), bufferOf(b.codes, false),
                    bufferOf(a.scales, false), bufferOf(b.scales, false),
                    bufferOf(d, true)};
  launch.arguments = {TensorMapArgument{mapOf(size, size, 128), 0, 0},
                      TensorMapArgument{mapOf(size, size, 256), 1, 0},
                      BufferArgument{2, 0},
                      BufferArgument{3, 0},
                      BufferArgument{4, 0},
                      scalar(uint32_t(size))};
  Options options;
  options.threads = threads;

  double bestGemm = 1e30, bestEmulator = 1e30, bestRatio = 1e30;
  for (unsigned round = 0; round != rounds; ++round) {
    Time gemm = timed([&] {
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, int(size), int(size),
                  int(size), 1, a.values.data(), int(size), b.values.data(),
                  int(size), 0, expected.data(), int(size));
    });
    RunResult result;
    options.strict = false;
    Time plain = timed([&] { result = run(*parsed.module, launch, options); });
    std::fill(d.begin(), d.end(), -1.0f);
    options.strict = true;
    Time emulator =
        timed([&] { result = run(*parsed.module, launch, options); });
    for (const Finding &finding : result.findings)
      std::fprintf(stderr, "%s\n", toString(finding).c_str());
    bool equal =
        std::memcmp(d.data(), expected.data(), d.size() * sizeof(float)) == 0;
    double load[1] = {0};
    (void)getloadavg(load, 1);
    std::printf("round %u: sgemm %.3f s (processor %.3f s), emulator %.3f s "
                "(processor %.3f s), ratio %.2f (processor %.2f), "
                "of that strict mode %.2f (processor %.2f), "
                "%llu warp instructions, load %.1f, results %s\n",
                round, gemm.wall, gemm.processor, emulator.wall,
                emulator.processor, emulator.wall / gemm.wall,
                emulator.processor / gemm.processor, emulator.wall / plain.wall,
                emulator.processor / plain.processor,
                (unsigned long long)result.counters.instructions, load[0],
                equal ? "equal" : "DIFFER");
    std::fflush(stdout);
    if (!equal || !result.clean())
      return 1;
    bestGemm = std::min(bestGemm, gemm.wall);
    bestEmulator = std::min(bestEmulator, emulator.wall);
    bestRatio = std::min(bestRatio, emulator.processor / gemm.processor);
  }
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%u^3 on %u threads: best sgemm %.3f s, best emulator %.3f s, "
              "best wall over best wall %.2f, best processor ratio %.2f, "
              "largest resident set %.0f MiB\n",
              size, threads, bestGemm, bestEmulator, bestEmulator / bestGemm,
              bestRatio, double(usage.ru_maxrss) / 1024);
  return 0;
}
