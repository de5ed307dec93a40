//===- TensorLaunches.h - launches of the tcgen05 test kernels --*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_UNITTESTS_EMULATOR_TENSORLAUNCHES_H
#define BLOCKSCALE_UNITTESTS_EMULATOR_TENSORLAUNCHES_H

#include "BlockProblem.h"
#include "MachineHarness.h"

namespace blockscale::emulator::test {

/// A problem and how to launch one of the kernels of tensor.cu or wide.cu on
/// it. Buffers: A, B, scales of both, metadata, output.
struct TensorLaunch {
  BlockProblem p;
  Launch launch;

  void prepare(const std::string &kernel, unsigned group, unsigned threads) {
    p.fill();
    launch.kernel = kernel;
    launch.grid.x = launch.cluster.x = group;
    launch.block.x = threads;
    launch.buffers = {bufferOf(p.a, false),        bufferOf(p.b, false),
                      bufferOf(p.scaleA, false),   bufferOf(p.scaleB, false),
                      bufferOf(p.metadata, false), bufferOf(p.out)};
  }

  /// Forgets the output of the run before.
  void clear() {
    p.out.assign(p.out.size(), -12345);
    launch.buffers[5] = bufferOf(p.out);
  }

  TensorMapArgument mapA(unsigned boxBytes) const {
    return {BlockProblem::rowsMap(p.rowBytesA(), p.m, boxBytes, 128), 0, 0};
  }
  TensorMapArgument mapB(unsigned rows) const {
    return {BlockProblem::rowsMap(p.rowBytesB(), p.n, 128, rows), 1, 0};
  }

  void ring(const std::string &kernel, unsigned group) {
    p.m = 128 * group;
    p.n = 192;
    p.k = 768;
    p.block = 16;
    p.fp4 = true;
    prepare(kernel, group, 256);
    launch.dynamicSharedBytes = group == 1 ? 98304 : 75776;
    launch.arguments = {
        mapA(128), mapB(192 / group),
        TensorMapArgument{BlockProblem::atomsMap(p.scaleA.size()), 2, 0},
        TensorMapArgument{BlockProblem::atomsMap(p.scaleB.size()), 3, 0},
        BufferArgument{5, 0}};
  }

  void sparse(const std::string &kernel, unsigned group, bool fp4) {
    p.m = 128 * group;
    p.n = 64 * group;
    p.k = fp4 ? 256 : 128;
    p.block = fp4 ? 32 : 64;
    p.fp4 = fp4;
    p.sparse = true;
    prepare(kernel, group, 128);
    launch.arguments = {mapA(64),
                        mapB(64),
                        BufferArgument{2, 0},
                        BufferArgument{3, 0},
                        BufferArgument{4, 0},
                        BufferArgument{5, 0}};
  }

  void denseMxf8Pair() {
    p.m = 256;
    p.n = 128;
    prepare("denseMxf8Pair", 2, 128);
    launch.arguments = {mapA(128),
                        mapB(64),
                        BufferArgument{2, 0},
                        BufferArgument{3, 0},
                        BufferArgument{4, 0},
                        BufferArgument{5, 0}};
  }

  void wide(const std::string &kernel, unsigned group) {
    p.m = 128 * group;
    p.n = 128;
    p.k = 768;
    p.block = 16;
    p.fp4 = true;
    prepare(kernel, group, 128);
    launch.dynamicSharedBytes = 115712;
    launch.arguments = {mapA(128), mapB(128 / group), BufferArgument{2, 0},
                        BufferArgument{3, 0}, BufferArgument{5, 0}};
  }

  void fromTensor() {
    prepare("fromTensor", 1, 128);
    launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0},
                        BufferArgument{2, 0}, BufferArgument{3, 0},
                        BufferArgument{5, 0}};
  }
};

} // namespace blockscale::emulator::test

#endif // BLOCKSCALE_UNITTESTS_EMULATOR_TENSORLAUNCHES_H
