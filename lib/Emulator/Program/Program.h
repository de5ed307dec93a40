//===- Program.h - a decoded kernel -----------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A register is 32 lanes in a row ("slot"), at a byte offset into one of two
// banks: the warp's own registers, or constants shared by all warps. A
// predicate is one 32-bit mask; bit 0 of its slot says that it is negated.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_PROGRAM_PROGRAM_H
#define BLOCKSCALE_LIB_EMULATOR_PROGRAM_PROGRAM_H

#include "blockscale/Emulator/Ptx.h"

#include <array>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace blockscale::emulator::machine {

struct Exec;
struct Record;

/// What a handler did with the program counter of its group.
enum class Step : uint8_t {
  Next,  ///< go to the next instruction
  Jump,  ///< the handler has set the program counters
  Block, ///< nothing happened; try again when something changed
  Yield, ///< as Next, and let others run first
  Fault, ///< a finding that ends the run
};

using Handler = Step (*)(Exec &, const Record &);

using Slot = uint32_t;
inline constexpr Slot kConstantBank = 1u << 31;
inline constexpr Slot kNoSlot = 0xFFFFFFFFu;

/// Generic address windows, where no host has its stack, heap or libraries:
/// buffers may keep the addresses that they have on the host. Parameters lie
/// inside the global window.
inline constexpr uint64_t kBufferBase = 0x0000'0010'0000'0000;
inline constexpr uint64_t kSharedWindow = 0x0000'1010'0000'0000;
inline constexpr uint64_t kLocalWindow = 0x0000'1020'0000'0000;
inline constexpr uint64_t kParamWindow = 0x0000'1030'0000'0000;
inline constexpr uint64_t kConstWindow = 0x0000'1040'0000'0000;
inline constexpr uint64_t kFunctionWindow = 0x0000'1050'0000'0000;
inline constexpr uint64_t kWindowSize = 0x0000'0001'0000'0000;
/// The runtime keeps the first KiB of shared memory.
inline constexpr uint32_t kSharedBase = 1024;
inline constexpr unsigned kRankShift = 24;

/// Registers that an instruction reads and writes, for undefined-value
/// tracking.
struct Flow {
  std::vector<Slot> sources, destinations;
  /// What stores write to memory, undefined or not.
  std::vector<Slot> data;
  /// An undefined source is an error here, not something to pass on.
  bool sink = false;
  /// How definedness flows. Compilers fill a pair of which they need one half
  /// with what was never written, and select between a value and one that was
  /// never written where they need the first alone.
  enum class Path : uint8_t {
    Together,     ///< from all sources to all destinations
    Pack,         ///< parts: what becomes the low and the high half
    Unpack,       ///< parts: where the halves of the source go
    EachToItsOwn, ///< halves stay halves
    ByHandler,    ///< the handler says what of the destinations is defined
    Choose, ///< parts: what is taken where the chooser holds, and where not
  };
  Path path = Path::Together;
  std::array<Slot, 2> parts{kNoSlot, kNoSlot};
  /// With Choose: a predicate, or a number that chooses the first part where it
  /// is not negative.
  Slot chooser = kNoSlot;
};

/// A list that belongs to the program.
template <typename T> struct List {
  const T *first = nullptr;
  uint32_t count = 0;

  const T *begin() const { return first; }
  const T *end() const { return first + count; }
  uint32_t size() const { return count; }
  bool empty() const { return count == 0; }
  const T &operator[](size_t i) const { return first[i]; }
};
using Slots = List<Slot>;

/// An address operand.
struct AddressOperand {
  int64_t imm = 0;
  Slot base = kNoSlot;
  bool wide = true; ///< the base has 64 bits

  /// Addresses wrap around.
  void add(uint64_t distance) { imm = int64_t(uint64_t(imm) + distance); }
};

/// One instruction, decoded: what all have, and the record of its family, a
/// plain structure that the family's decoder fills in (Decoder::record) and its
/// handlers read (as), by its own type, not by a base. Small ones lie in place.
struct Record {
  Handler fn = nullptr;
  Slot guard = kNoSlot;
  uint32_t line = 0;
  const Instruction *instruction = nullptr;

  template <typename T> const T &as() const {
    if constexpr (fits<T>())
      return *reinterpret_cast<const T *>(own);
    else
      return **reinterpret_cast<const T *const *>(own);
  }

private:
  friend class Decoder;
  /// A record then takes a line of the cache.
  static constexpr size_t kOwnBytes = 40;
  template <typename T> static constexpr bool fits() {
    static_assert(std::is_trivially_copyable_v<T>);
    return sizeof(T) <= kOwnBytes;
  }
  alignas(8) unsigned char own[kOwnBytes] = {};
};

/// A register that holds the address of a local variable in the frame of the
/// running call.
struct FrameAddress {
  Slot slot;
  uint64_t offset; ///< in the frame
  unsigned bits;
};

/// A function of the program: where its code begins and its lanes return to.
struct FunctionCode {
  const Function *source = nullptr;
  uint32_t entry = 0;
  Slot returnPc = kNoSlot, plan = kNoSlot; ///< plan: index of its CallPlan
  /// A framed function keeps a frame on the stack: one that may be called while
  /// it runs, which has a count of running calls, and one with alloca.
  bool framed = false, recursive = false;
  Slot depth = kNoSlot;
  uint64_t frameBytes = 0;
  /// What a call puts aside: registers with their bits, parameters by offset
  /// and size.
  std::vector<std::pair<Slot, unsigned>> kept;
  std::vector<std::pair<uint64_t, uint64_t>> memory;
  std::vector<FrameAddress> addresses;
};

/// An argument or a result of a call: from a register or an offset of local
/// memory to another.
struct PassedValue {
  bool fromRegister, toRegister;
  uint32_t from, to;
  uint32_t bytes; ///< of a lane
};

/// What a call of a function passes.
struct CallPlan {
  uint32_t function = 0; ///< index into Program::functions
  std::vector<PassedValue> arguments, results;
};

/// A kernel ready to run; shared by all workers.
struct Program {
  const Module *module = nullptr;
  const Function *kernel = nullptr;
  std::vector<Record> code;
  std::vector<Flow> flows;
  /// Lists and records that `code` and `flows` point to.
  std::vector<std::unique_ptr<unsigned char[]>> parts;
  std::vector<FunctionCode> functions;
  std::vector<CallPlan> calls;
  std::vector<uint8_t> constants; ///< the constant bank
  uint32_t registerBytes = 0;     ///< the register bank of a warp
  uint32_t entry = 0;
  uint32_t staticShared = 0;  ///< bytes from kSharedBase
  uint32_t dynamicShared = 0; ///< first dynamic byte, from kSharedBase
  uint64_t localBytes = 0;    ///< per lane, parameters of calls included
  /// The stack, if there is one, inside local memory; 64 bits per lane with
  /// its top.
  uint64_t stackBase = 0, stackEnd = 0;
  Slot stackTop = kNoSlot;
  /// Initial bytes of the module's .const and .global variables, and where
  /// kernels see the latter.
  std::vector<uint8_t> constBytes, globalBytes;
  uint64_t globalBase = kBufferBase;
  std::vector<uint64_t> variableAddress; ///< of Module::variables, own space
  /// Registers that instructions read and none writes.
  std::vector<Slot> neverWritten;
  /// Slots of special registers, by (special << 3 | wide << 2 | component).
  std::vector<std::pair<uint32_t, Slot>> specials;
};

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_PROGRAM_PROGRAM_H
