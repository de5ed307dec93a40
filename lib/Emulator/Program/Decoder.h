//===- Decoder.h - from instructions to records -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_PROGRAM_DECODER_H
#define BLOCKSCALE_LIB_EMULATOR_PROGRAM_DECODER_H

#include "CallGraph.h"
#include "Program.h"

#include "blockscale/Emulator/Findings.h"
#include "blockscale/Emulator/Hazards.h"

#include <cstring>
#include <map>
#include <new>
#include <optional>
#include <string>
#include <tuple>

namespace blockscale::emulator::machine {

/// Lays out registers and constants and turns operands into slots. One object
/// decodes all functions that a kernel reaches.
class Decoder {
public:
  explicit Decoder(Program &program);

  /// Decodes the kernel; false with findings in `errors` if it cannot be run.
  bool decode(std::vector<Finding> &errors);
  /// Only lays out and fills the variables of the module.
  bool decodeVariables(std::vector<Finding> &errors);

  // For the families of handlers:

  /// A value read with `bits` bits per lane.
  Slot source(const Operand &operand, unsigned bits);
  /// A register as it is declared; sets `bits` to its width (immediates: 64).
  Slot sourceAny(const Operand &operand, unsigned &bits);
  Slot destination(const Operand &operand, unsigned bits);
  Slot destinationAny(const Operand &operand, unsigned &bits);
  /// A predicate that is read or written.
  Slot predicate(const Operand &operand);
  Slot predicateOut(const Operand &operand);
  /// A slot in which every lane holds `value`.
  Slot constant(uint64_t value, unsigned bits);
  Slot scratch() const { return 0; }
  /// Splits `[base + imm]`; the base is kNoSlot if the address is `imm` alone.
  AddressOperand address(const Operand &operand);
  /// The address of a symbol in its own space.
  uint64_t symbolAddress(const SymbolRef &symbol);
  /// Makes the record of the instruction's family, to be filled in.
  template <typename T> T &record(Record &record) {
    if constexpr (Record::fits<T>())
      return *new (record.own) T();
    void *made = room(sizeof(T));
    std::memcpy(record.own, &made, sizeof made);
    return *new (made) T();
  }
  /// Keeps a list for the life of the program.
  template <typename T> List<T> list(const std::vector<T> &elements) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (elements.empty())
      return {};
    void *made = room(elements.size() * sizeof(T));
    std::memcpy(made, elements.data(), elements.size() * sizeof(T));
    return {static_cast<const T *>(made), uint32_t(elements.size())};
  }
  /// The elements of a vector, or the operand itself, read or written with
  /// `bits` bits each; a sink is `sink`.
  Slots slots(const Operand &operand, unsigned bits, bool write,
              Slot sink = kNoSlot);
  /// Index into Program::code of instruction `index` of this function.
  uint32_t target(uint32_t index) const { return functionBase + index; }
  /// Adds the plan of a call of function `index` of the module.
  uint32_t addCall(uint32_t index, CallPlan plan);
  const CallGraph &callGraph() const { return *graph; }
  /// Index into Program::functions; nothing in a kernel.
  std::optional<uint32_t> currentFunctionCode() const;
  const Function &currentFunction() const { return *current; }
  const Module &module() const { return *program.module; }
  Flow &flow() { return *currentFlow; }
  /// The sources from number `first` on are what a store writes, defined or
  /// not: only the others have to be defined.
  void storesData(size_t first) {
    auto begin = flow().sources.begin() + ptrdiff_t(first);
    flow().data.insert(flow().data.end(), begin, flow().sources.end());
    flow().sources.erase(begin, flow().sources.end());
  }
  /// The destination is `yes` where `chooser` holds, else `no`.
  void chooses(Slot chooser, Slot yes, Slot no) {
    flow().path = Flow::Path::Choose;
    flow().parts = {yes, no};
    flow().chooser = chooser;
  }
  /// The halves of the destination are what two registers hold.
  void packs(Slot low, Slot high) {
    flow().path = Flow::Path::Pack;
    flow().parts = {low, high};
  }
  /// The halves of the source go to two registers, or nowhere.
  void unpacks(Slot low, Slot high) {
    flow().path = Flow::Path::Unpack;
    flow().parts = {low, high};
  }
  /// Refuses the instruction; returns false.
  bool refuse(std::string why, Hazard hazard = Hazard::None);
  /// Where the i-th parameter (or result) of a function lies: a register slot
  /// or an offset into lane-local memory.
  Slot formalPlace(uint32_t function, size_t i, bool result);
  /// The place of a `.param` or `.local` variable of the current function in
  /// lane-local memory; nothing if the operand is none of at least `bytes`.
  std::optional<Slot> localPlace(const Operand &operand, uint64_t bytes);

private:
  /// Memory of the program.
  void *room(size_t bytes) {
    program.parts.emplace_back(new unsigned char[bytes]);
    return program.parts.back().get();
  }
  /// 131,072 registers of 64 bits for each of 32 lanes.
  static constexpr uint64_t kMaxRegisterBytes = 32 << 20;

  struct Layout {
    std::vector<Slot> registers;
    std::vector<uint64_t> variables;  ///< own-space addresses
    std::vector<uint64_t> parameters; ///< of a .func: local offsets
    std::vector<uint64_t> returns;
  };
  /// Takes the next aligned `size` bytes of a space; `at` is where. False with
  /// an error in `layoutErrors` if the limit is passed.
  bool reserve(uint64_t &used, uint64_t size, uint64_t align, uint64_t limit,
               const char *what, const SourcePosition &position, uint64_t &at);
  void layoutModule(const std::vector<uint32_t> &order);
  void layoutFunction(uint32_t function);
  void layoutStack();
  void listKept();
  FunctionCode &codeOf(uint32_t function);
  /// Whether the symbol is a local variable in a frame.
  bool inFrame(const SymbolRef &symbol) const;
  /// A register with the address of a place in the frame of this function.
  Slot frameAddress(uint64_t offset, unsigned bits);
  bool decodeFunction(uint32_t function, std::vector<Finding> &errors);
  bool decodeOne(const Instruction &instruction, Record &record);
  Slot allocate(unsigned bytes);
  Slot special(const Operand &operand, unsigned bits);
  void fillInitialisers();
  void findNeverWritten(const std::vector<uint32_t> &order);

  Program &program;
  std::map<uint32_t, Layout> layouts;
  std::unique_ptr<CallGraph> graph;
  std::map<uint32_t, uint32_t> functionSlot; ///< module index -> functions[]
  std::map<std::pair<uint64_t, unsigned>, Slot> constantSlots;
  std::map<uint32_t, Slot> specialSlots;
  const Function *current = nullptr;
  Layout *layout = nullptr;
  Flow *currentFlow = nullptr;
  uint32_t functionBase = 0;
  std::string refusal;
  Hazard refusalHazard = Hazard::None;
  std::vector<Finding> layoutErrors;
  bool tooManyRegisters = false;
};

// The families. Each returns true if it has decoded the instruction, and false
// if the opcode is not its own or it has refused.
bool decodeInteger(Decoder &, const Instruction &, Record &);
bool decodeBits(Decoder &, const Instruction &, Record &);
bool decodeFloat(Decoder &, const Instruction &, Record &);
bool decodeMove(Decoder &, const Instruction &, Record &);
bool decodeConvert(Decoder &, const Instruction &, Record &);
bool decodeCompare(Decoder &, const Instruction &, Record &);
bool decodeControl(Decoder &, const Instruction &, Record &);
bool decodeCalls(Decoder &, const Instruction &, Record &);
bool decodeMemory(Decoder &, const Instruction &, Record &);
bool decodeFence(Decoder &, const Instruction &, Record &);
bool decodeAtomic(Decoder &, const Instruction &, Record &);
bool decodeWarp(Decoder &, const Instruction &, Record &);
bool decodeBarrier(Decoder &, const Instruction &, Record &);
bool decodeMbarrier(Decoder &, const Instruction &, Record &);
bool decodeCopy(Decoder &, const Instruction &, Record &);
bool decodeTma(Decoder &, const Instruction &, Record &);
bool decodeGroups(Decoder &, const Instruction &, Record &);
bool decodeTensor(Decoder &, const Instruction &, Record &);
bool decodeMatrix(Decoder &, const Instruction &, Record &);
bool decodeWarpgroup(Decoder &, const Instruction &, Record &);
bool decodeVideo(Decoder &, const Instruction &, Record &);

/// Whether a type is read as signed, as a floating-point number.
bool isSigned(Type type);
bool isFloat(Type type);

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_PROGRAM_DECODER_H
