//===- Program.h - whole functions, called with arrays ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of a module as code of this process, which anybody may call
// with arrays: the emulator runs their kernels, the CPU the rest.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_EXECUTE_PROGRAM_H
#define BLOCKSCALE_EXECUTE_PROGRAM_H

#include "blockscale/Compiler/Compiler.h"
#include "blockscale/Emulator/Machine.h"
#include "llvm/ADT/ArrayRef.h"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace blockscale::execute {

/// One array, or one number, that a function takes or gives.
struct Slot {
  /// The argument or result of the function, counted from 0.
  unsigned index = 0;
  /// Of a scaled tensor: "data", "scales", "zeros", "tensor_scale", "metadata".
  std::string part;
  /// As MLIR calls it: "f32", "f8E4M3FN", "index".
  std::string element;
  /// Bytes of an element in memory: at least one, as ml_dtypes has them.
  unsigned elementBytes = 0;
  /// ShapedType::kDynamic for sizes that a call says.
  std::vector<int64_t> sizes;
  bool isNumber = false;
  /// A memref: the function may write it.
  bool isMemory = false;
};

struct Signature {
  std::string name;
  /// Of arguments and results, as MLIR writes them.
  std::vector<std::string> argumentTypes, resultTypes;
  std::vector<Slot> arguments, results;
};

/// A row-major array; no sizes for a number.
struct ArrayValue {
  std::vector<int64_t> sizes;
  std::vector<uint8_t> bytes;
};

/// One launch of a kernel.
struct LaunchRecord {
  std::string kernel;
  /// CTAs of the grid and of a cluster.
  emulator::Dim3 grid, cluster;
  emulator::Counters counters;
  double seconds = 0;
};

struct CallOptions {
  unsigned threads = 0;
  emulator::Completion completion = emulator::Completion::Immediate;
  uint64_t seed = 1;
  bool strict = false;
  /// Called with the kernel, "clusters", and how many of them have run; each
  /// launch begins with none.
  std::function<void(std::string_view, std::string_view, uint64_t, uint64_t)>
      progress;
  /// A flag that ends the emulation soon; what the call gives then is
  /// worthless.
  const std::atomic<bool> *stop = nullptr;
};

/// What came out of one call.
struct CallOutcome {
  /// One for each slot of the results; behind them, what is in arguments that
  /// are memory.
  std::vector<ArrayValue> results;
  std::vector<LaunchRecord> launches;
  std::vector<emulator::Finding> findings;
  emulator::OpenPointSet openPoints;
};

class Program {
public:
  /// Compiles the public functions of `module`, which stays as it is and may go
  /// away; a kernel's PTX is kept for the emulator. Emits an error and fails if
  /// there are none or one has types that no array holds, or as lowerToHost
  /// does.
  static mlir::FailureOr<std::unique_ptr<Program>>
  compile(mlir::ModuleOp module, const CompilerOptions &options);
  ~Program();

  const std::vector<Signature> &functions() const { return signatures; }

  /// Calls function number `index` of functions(): an array for each slot of
  /// its arguments, of the slot's rank and sizes and of as many bytes as these
  /// say. Sizes that a call says must be what the function's arithmetic
  /// expects: what it does with others is not defined. Returns what was wrong
  /// with the arguments or a launch; findings of the emulator are part of the
  /// outcome.
  Result<CallOutcome> call(size_t index, std::vector<ArrayValue> arguments,
                           const CallOptions &options);

private:
  Program();
  struct Code;
  std::unique_ptr<Code> code;
  std::vector<Signature> signatures;
};

} // namespace blockscale::execute

#endif // BLOCKSCALE_EXECUTE_PROGRAM_H
