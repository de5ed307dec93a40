//===- Machine.h - run a kernel of a PTX module ------------------*- C++
//-*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interpreter: warps of 32 lanes, CTAs, clusters, and the asynchronous
// units. One call runs one grid and returns what went wrong and what was
// counted. The result does not depend on the number of host threads unless the
// kernel itself races on global memory.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_EMULATOR_MACHINE_H
#define BLOCKSCALE_EMULATOR_MACHINE_H

#include "blockscale/Emulator/Events.h"
#include "blockscale/Emulator/Findings.h"
#include "blockscale/Emulator/OpenPoints.h"
#include "blockscale/Emulator/Ptx.h"
#include "blockscale/Emulator/TensorMap.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace blockscale::emulator {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

/// Global memory of the host. Kept alive by the caller while the kernel runs.
struct Buffer {
  uint8_t *data = nullptr;
  uint64_t size = 0; ///< bytes
  bool writable = true;
  /// Where kernels see it, at least a page away from every other buffer and
  /// below 2^47; 0 lets the machine choose.
  uint64_t address = 0;
  /// Written by the grid before, which runs until griddepcontrol.wait returns.
  bool fromPreviousGrid = false;
};

/// A pointer argument: the address of byte `offset` of `Launch::buffers`
/// [`buffer`].
struct BufferArgument {
  uint32_t buffer = 0;
  uint64_t offset = 0;
};

/// A tensor map argument (128 bytes by value). `map.globalAddress` is replaced
/// by the address of byte `offset` of the buffer.
struct TensorMapArgument {
  TensorMap map;
  uint32_t buffer = 0;
  uint64_t offset = 0;
};

/// A by-value structure: its bytes, with pointers and tensor maps patched in.
struct StructArgument {
  std::vector<uint8_t> bytes;
  std::vector<std::pair<uint64_t, BufferArgument>> pointers;
  std::vector<std::pair<uint64_t, TensorMapArgument>> maps;
};

/// The bytes of a scalar, a pointer, a tensor map or a structure.
using Argument = std::variant<std::vector<uint8_t>, BufferArgument,
                              TensorMapArgument, StructArgument>;

/// The bytes of a scalar, little endian.
template <typename T> Argument scalar(T value) {
  const auto *bytes = reinterpret_cast<const uint8_t *>(&value);
  return std::vector<uint8_t>(bytes, bytes + sizeof(T));
}

/// The `.global` and `.const` variables of a module: their initial bytes, and
/// where each of them lies. The same for every kernel of the module.
struct ModuleVariables {
  std::vector<uint8_t> global, constant;
  /// By Module::variables, the offset in `global` or `constant`; 0 for
  /// variables of other spaces.
  std::vector<uint64_t> offsets;
  /// Why they cannot be laid out; empty if they can.
  std::vector<Finding> refusals;
};

/// Lays out the variables of `module`; kernels see byte 0 of `global` at
/// `globalAddress`, which is 0 where the machine chooses.
ModuleVariables initialVariables(const Module &module,
                                 uint64_t globalAddress = 0);

namespace machine {
struct Program;
} // namespace machine
struct Launch;
struct Options;
struct RunResult;

/// A kernel decoded once, to be run many times. Copies share the code.
class Kernel {
public:
  /// Decodes kernel `name` of `module`, which must outlive it.
  Kernel(const Module &module, std::string_view name,
         uint64_t globalAddress = 0);

  /// Why it cannot be run; empty if it can.
  const std::vector<Finding> &refusals() const { return refused; }
  /// Of the module; null if it has no such kernel.
  const Function *function() const { return source; }
  /// Bytes of shared memory that the kernel declares.
  uint32_t staticSharedBytes() const;
  /// Bytes of local memory of one thread.
  uint64_t localBytes() const;

private:
  friend RunResult run(const Kernel &, const Launch &, const Options &);
  const Function *source = nullptr;
  std::shared_ptr<const machine::Program> program;
  std::vector<Finding> refused;
};

/// One grid. Legal: grid a multiple of cluster in each dimension, cluster at
/// most 16 CTAs, block at most 1024 threads; the kernel's own directives hold.
struct Launch {
  std::string kernel;
  Dim3 grid, cluster, block;
  uint32_t dynamicSharedBytes = 0;
  std::vector<Buffer> buffers;
  /// One per kernel parameter, in order, of exactly its size.
  std::vector<Argument> arguments;
  /// The bytes of the module's variables, kept by the caller from one launch to
  /// the next: as large as in ModuleVariables. Null gives the run fresh ones.
  uint8_t *globals = nullptr, *constants = nullptr;
  /// All CTAs run at once, as those of a cooperative launch do; otherwise at
  /// most as many as a chip has SMs wait for others.
  bool cooperative = false;
  /// Shared memory mode "allow oversized" of CUDA 13.4: a CTA may have what
  /// oversizedSharedCapacity says.
  bool oversizedShared = false;
  /// What a cooperative kernel finds in %envreg1 and %envreg2: the address of
  /// 8 bytes of a buffer, zero at the start, for barriers of the whole grid.
  uint64_t gridWorkspace = 0;
};

/// When an asynchronous operation takes effect.
enum class Completion : uint8_t {
  Immediate, ///< at issue
  Random,    ///< after a number of scheduler turns drawn from the seed
  Latest,    ///< only when no thread can run without it
};

struct Options {
  /// Host threads; 0 takes what the host has.
  unsigned threads = 0;
  /// Instructions that one warp may execute.
  uint64_t stepLimit = uint64_t(1) << 32;
  Completion completion = Completion::Immediate;
  uint64_t seed = 1;
  /// Clusters that run at once, for clusterlaunchcontrol; 0 starts them all, so
  /// that no cancel request succeeds.
  unsigned residentClusters = 0;
  /// tcgen05.alloc gives columns from this one on (0 to 480, rounded down to a
  /// multiple of 32) as long as enough are left there: as on an SM where
  /// another CTA holds the first ones, so that a kernel that takes its own to
  /// begin at column 0 reads the wrong ones.
  unsigned firstTensorColumn = 0;
  /// SMs of the device: %nsmid, and CTAs that wait for others at once; 0 takes
  /// those of a card with the module's target.
  unsigned sms = 0;
  /// Shared memory that a CTA may have, in bytes; 0 takes what the chips of the
  /// module's target have.
  uint32_t sharedBytes = 0;
  /// Looks for missing order, fences and waits, at two to three times the cost.
  bool strict = true;
  /// With strict: only in kernels whose name contains this.
  std::string strictKernel;
  /// With strict: also what is formally wrong but works in published kernels.
  bool advice = false;
  /// Findings kept, and pieces of advice; further ones are dropped.
  unsigned maxFindings = 32;
  /// Clusters to run by linear id (x fastest); empty runs all of them.
  std::vector<uint64_t> clusters;
  /// Called with one line per asynchronous or barrier event, `key=value`
  /// separated by blanks. Calls are serialised; with more than one host thread
  /// lines of different clusters interleave.
  std::function<void(std::string_view)> trace;
  /// Called with each event of cluster `eventCluster` (linear id). Needs
  /// Completion::Immediate, so that effects follow their causes.
  std::function<void(const Event &)> event;
  uint64_t eventCluster = 0;
  /// Called whenever a cluster has ended, with how many have and how many there
  /// are to run. Calls are serialised.
  std::function<void(uint64_t ended, uint64_t total)> progress;
  /// Receives what the kernel prints through vprintf.
  std::function<void(std::string_view)> print;
  /// A flag that another thread may set to end the run soon; null for none.
  const std::atomic<bool> *stop = nullptr;
};

/// Sums over all CTAs that ran.
struct Counters {
  uint64_t instructions = 0; ///< warp instructions
  /// tcgen05.mma by MmaKind: f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4.
  std::array<uint64_t, 8> mmas{};
  uint64_t macs = 0;          ///< multiply-adds of those
  uint64_t warpMmas = 0;      ///< mma.sync
  uint64_t tensorCopies = 0;  ///< tcgen05.cp
  uint64_t tmaLoadBytes = 0;  ///< bulk and tensor, shared-memory side
  uint64_t tmaStoreBytes = 0; ///< bulk and tensor stores and reductions
  uint64_t barrierWaits = 0;  ///< mbarrier waits that were satisfied
  uint64_t commits = 0;       ///< tcgen05.commit
  uint64_t clusters = 0;      ///< clusters that ran to their end

  Counters &operator+=(const Counters &other);
};

struct RunResult {
  std::vector<Finding> findings; ///< ordered by cluster
  std::vector<Finding> advice;   ///< same; never makes a run fail
  Counters counters;
  /// Choices of OpenPoints.h that the run depended on.
  OpenPointSet openPoints;
  /// Options::stop ended the run before its end; what there is then is of the
  /// part that ran.
  bool stopped = false;
  bool clean() const { return findings.empty(); }
};

/// Runs `launch` on `module`. Anything that cannot be run is refused before the
/// first instruction, with its line. Never throws on bad input.
RunResult run(const Module &module, const Launch &launch,
              const Options &options = {});
/// The same for a decoded kernel; `launch.kernel` is not read.
RunResult run(const Kernel &kernel, const Launch &launch,
              const Options &options);

/// What a CTA may have of shared memory on `target` ("sm_100a"), in bytes.
uint32_t sharedCapacity(std::string_view target);
/// The same where the launch asks for oversized shared memory; 0 on targets
/// that have none.
uint32_t oversizedSharedCapacity(std::string_view target);

/// SMs of the card of `target` that is sold most.
unsigned smCount(std::string_view target);

} // namespace blockscale::emulator

#endif // BLOCKSCALE_EMULATOR_MACHINE_H
