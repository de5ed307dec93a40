//===- Ptx.h - a PTX module as data ----------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The front end of the emulator: PTX text in, a module out whose names are
// resolved. Registers are dense indices, labels are instruction indices, scopes
// are flattened. Nothing here executes. Source: PTX ISA 9.1.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_EMULATOR_PTX_H
#define BLOCKSCALE_EMULATOR_PTX_H

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace blockscale::emulator {

/// What an instruction does. Mnemonics of several words (`mbarrier.try_wait`,
/// `cp.async.bulk.tensor`) are one opcode.
enum class Opcode : uint16_t {
  Unknown,
#define PTX_OPCODE(Id, Spelling) Id,
#include "blockscale/Emulator/PtxNames.def"
};

/// A word after the opcode that is not a type.
enum class Modifier : uint16_t {
  Unknown,
#define PTX_MODIFIER(Id, Spelling) Id,
#include "blockscale/Emulator/PtxNames.def"
};

/// The types of PTX, those of packed narrow floats included.
enum class Type : uint8_t {
  None,
#define PTX_TYPE(Id, Spelling, Bits) Id,
#include "blockscale/Emulator/PtxNames.def"
};

enum class SpecialRegister : uint8_t {
  None,
#define PTX_SPECIAL(Id, Spelling) Id,
#include "blockscale/Emulator/PtxNames.def"
};

std::string_view spelling(Opcode opcode);
std::string_view spelling(Modifier modifier);
std::string_view spelling(Type type);
/// With the percent sign, without a component.
std::string_view spelling(SpecialRegister special);

/// Bits of one value of `type` in a register: 1 for pred, 0 for None.
unsigned bitWidth(Type type);

/// Marks an absent register, symbol or instruction index.
inline constexpr uint32_t kNone = 0xFFFFFFFFu;

/// A place in the PTX text, both from 1.
struct SourcePosition {
  uint32_t line = 0;
  uint32_t column = 0;
};

/// An error or a refusal. `message` is lower case, without full stop.
struct Diagnostic {
  SourcePosition position;
  std::string message;

  /// `LINE:COLUMN: MESSAGE`.
  std::string format() const;
};

enum class OperandKind : uint8_t {
  /// `reg`; a predicate may have `negated` set.
  Register,
  /// `value`: 64 bits of an integer, sign extended.
  Integer,
  /// `value`: 32 bits (`0f...`).
  Float32,
  /// `value`: 64 bits (`0d...`, or a decimal literal rounded to f64).
  Float64,
  /// Address of a variable or parameter: `symbol` + `value`.
  Symbol,
  /// A function by name: `index` into Module::functions.
  Function,
  /// `special`, `component` (0..3 = x..w, kWholeVector = all of them).
  Special,
  /// `[base + value]`, `[base + value, {elements}]`. The base is `reg`, or
  /// `symbol`, or neither (absolute). `elements` are tensor coordinates. What
  /// stands between the two replaces fields of a tensor map: `overrides`.
  Address,
  /// `{a, b}`: `elements` (registers, integers, floats, sinks).
  Vector,
  /// `p|q`: `elements` has two, either may be a sink.
  Pair,
  /// `_`.
  Sink,
  /// `index` into Function::instructions; one past the end is legal.
  Label,
  /// `index` into Function::branchTables.
  BranchTable,
  /// `(a, b)` of a call: `elements` (registers, immediates, symbols).
  Arguments,
};

inline constexpr uint8_t kWholeVector = 0xFF;

/// Where the variable of a symbol lives.
enum class SymbolScope : uint8_t {
  None,
  /// Index into Module::variables.
  Module,
  /// Index into Function::variables.
  Function,
  /// Index into Function::parameters.
  Parameter,
  /// Index into Function::returns.
  Return,
};

struct SymbolRef {
  SymbolScope scope = SymbolScope::None;
  uint32_t index = kNone;
  explicit operator bool() const { return scope != SymbolScope::None; }
};

struct Operand {
  OperandKind kind = OperandKind::Sink;
  /// `!p`.
  bool negated = false;
  SpecialRegister special = SpecialRegister::None;
  uint8_t component = kWholeVector;
  /// Register index into Function::registers, or kNone.
  uint32_t reg = kNone;
  SymbolRef symbol;
  /// Function, label or branch table index, by `kind`.
  uint32_t index = kNone;
  /// Immediate bits, or the byte offset of Symbol and Address.
  int64_t value = 0;
  std::vector<Operand> elements;
  std::vector<Operand> overrides;

  uint64_t bits() const { return static_cast<uint64_t>(value); }
  int64_t offset() const { return value; }
  bool isImmediate() const {
    return kind == OperandKind::Integer || kind == OperandKind::Float32 ||
           kind == OperandKind::Float64;
  }
};

/// A fixed-capacity list that keeps the order of the text.
template <typename T, unsigned Capacity> struct ShortList {
  std::array<T, Capacity> items{};
  uint8_t count = 0;

  bool push(T item) {
    if (count == Capacity)
      return false;
    items[count++] = item;
    return true;
  }
  bool has(T item) const {
    for (unsigned i = 0; i != count; ++i)
      if (items[i] == item)
        return true;
    return false;
  }
  unsigned size() const { return count; }
  bool empty() const { return count == 0; }
  T operator[](unsigned i) const { return items[i]; }
  const T *begin() const { return items.data(); }
  const T *end() const { return items.data() + count; }
};

/// `.loc`: a line of the source the PTX was compiled from.
struct DebugLocation {
  uint32_t file = 0; ///< Number of the `.file` directive.
  uint32_t line = 0; ///< 0 for what no line of the source says.
  uint32_t column = 0;
  /// Where the function that holds the line was inlined: index into
  /// Function::locations, or kNone.
  uint32_t inlinedAt = kNone;
  /// That function's name: a label of `.section .debug_str`, and the bytes
  /// behind it at which the name begins.
  std::string functionLabel;
  uint64_t functionOffset = 0;
};

/// `.section .debug_str`: its bytes, and where its labels stand.
struct DebugStrings {
  std::string bytes;
  std::unordered_map<std::string, uint64_t> labels;

  /// The string at `offset` bytes behind the label; empty if there is none.
  std::string find(const std::string &label, uint64_t offset) const;
};

struct Instruction {
  Opcode opcode = Opcode::Unknown;
  /// `@p` or `@!p`: register index or kNone.
  bool guardNegated = false;
  uint32_t guard = kNone;
  /// Modifiers in the order of the text; Modifier::Unknown stands for a word
  /// that is not in the list (checkSupported names it).
  ShortList<Modifier, 14> modifiers;
  /// Types in the order of the text.
  ShortList<Type, 6> types;
  /// In the order of the text. A call has always three: results (Arguments),
  /// callee (Function, or Register when indirect), arguments (Arguments).
  std::vector<Operand> operands;
  SourcePosition position;
  /// Index into Function::locations, or kNone.
  uint32_t location = kNone;
  /// The statement in the module text, guard included, without the `;`.
  uint32_t textOffset = 0, textLength = 0;
  /// The mnemonic with its modifiers inside the module text.
  uint32_t mnemonicOffset = 0;
  uint16_t mnemonicLength = 0;

  bool has(Modifier modifier) const { return modifiers.has(modifier); }
  /// The i-th type, or Type::None.
  Type type(unsigned i = 0) const {
    return i < types.size() ? types[i] : Type::None;
  }
};

enum class Space : uint8_t { Global, Const, Shared, Local, Param };

/// A symbol's address inside an initialiser.
struct Relocation {
  uint64_t offset = 0;  ///< Byte offset inside the variable.
  uint8_t size = 8;     ///< Bytes written there: 1, 2, 4 or 8.
  uint8_t shift = 0;    ///< Right shift of the address (LLVM's `0xFF00(sym)`).
  bool generic = false; ///< `generic(sym)`: a generic address.
  /// A module variable, or a function (then `variable` is kNone).
  uint32_t variable = kNone, function = kNone;
  int64_t addend = 0;
};

struct Variable {
  std::string name;
  Space space = Space::Global;
  Type type = Type::None;
  uint32_t align = 1; ///< Bytes, a power of two.
  /// Bytes; 0 for `.extern .shared name[]` (dynamic shared memory).
  uint64_t size = 0;
  bool isExtern = false;
  /// `.attribute(.managed)`: the host may access it too.
  bool isManaged = false;
  /// `name[]` without initialiser.
  bool unsized = false;
  /// Leading bytes of the initial value; the rest is zero.
  std::vector<uint8_t> init;
  std::vector<Relocation> relocations;
  SourcePosition position;
};

/// A parameter of an entry or function. `offset` is its place in the parameter
/// block, each at its own alignment, in order.
struct Parameter {
  std::string name;
  Type type = Type::None; ///< Element type for arrays.
  bool isArray = false;
  bool isPointer = false;        ///< `.ptr`.
  Space pointee = Space::Global; ///< With `.ptr`; Global when none is said.
  uint32_t align = 1;
  uint64_t size = 0;
  uint64_t offset = 0;
  /// A `.reg` parameter of a `.func`: its register; else kNone.
  uint32_t reg = kNone;
};

struct Register {
  Type type = Type::None;
  /// Name without the number of a range, inside the module text.
  uint32_t nameOffset = 0;
  uint16_t nameLength = 0;
  /// Component of a vector register (0..3), or kWholeVector.
  uint8_t component = kWholeVector;
  /// Number inside a range `%r<N>`, or kNone.
  uint32_t number = kNone;

  /// 1 (pred), 8, 16, 32, 64 or 128.
  unsigned width() const { return bitWidth(type); }
};

/// Launch directives; 0 where one is absent.
struct LaunchBounds {
  std::array<uint32_t, 3> reqntid{}, maxntid{}, reqnctapercluster{};
  uint32_t minnctapersm = 0, maxnctapersm = 0, maxnreg = 0, maxclusterrank = 0;
  bool explicitcluster = false, blocksareclusters = false, noreturn = false;
};

struct Function {
  std::string name;
  bool isEntry = false;
  bool isExtern = false; ///< `.extern .func`, no body in this module.
  bool hasBody = false;
  std::vector<Parameter> parameters, returns;
  /// Size of the parameter block in bytes.
  uint64_t parameterBytes = 0;
  LaunchBounds launch;
  std::vector<Register> registers;
  /// `.shared`, `.local` and `.param` variables declared in the body.
  std::vector<Variable> variables;
  std::vector<Instruction> instructions;
  /// Each entry an index into `instructions`.
  std::vector<std::vector<uint32_t>> branchTables;
  std::vector<DebugLocation> locations;
  SourcePosition position;
  /// The text of the module; shared with it.
  std::shared_ptr<const std::string> source;

  std::string_view text(const Instruction &instruction) const;
  std::string_view mnemonic(const Instruction &instruction) const;
  std::string registerName(uint32_t index) const;
};

struct Module {
  unsigned versionMajor = 0, versionMinor = 0;
  std::string target; ///< The first word of `.target`: `sm_100a`.
  unsigned addressSize = 64;
  std::vector<Function> functions;
  std::vector<Variable> variables;
  std::vector<std::pair<uint32_t, std::string>> files; ///< `.file`.
  DebugStrings debugStrings;
  std::shared_ptr<const std::string> source;

  const Function *findFunction(std::string_view name) const;
  const Variable *findVariable(std::string_view name) const;
};

/// Either a module, or at least one error.
struct ParseResult {
  std::optional<Module> module;
  std::vector<Diagnostic> errors;
  explicit operator bool() const { return module.has_value(); }
};

/// Parses PTX. Errors: bad syntax; names that are undefined or defined twice;
/// a wrong number of operands for a known opcode; address size 32; the
/// directives that no kernel here needs (textures, surfaces, aliases). Never
/// crashes on any input; nesting, sizes and counts are limited (64 blocks
/// deep, 2^20 registers per function, 2^31 bytes of text).
/// An opcode or modifier that is not known is not an error here.
ParseResult parsePtx(std::string_view text);

/// What of `function` the emulator cannot run: unknown opcodes, modifiers that
/// an opcode does not take, types or operands that do not fit. Empty when every
/// instruction is in the table of forms.
std::vector<Diagnostic> checkSupported(const Module &module,
                                       const Function &function);

/// The instructions of `function` that Module::target does not have, each with
/// the targets that do.
std::vector<Diagnostic> checkTarget(const Module &module,
                                    const Function &function);

/// The instruction in one line, rebuilt from its parts (not a copy of the
/// text): `@!%p1 add.s32 %r1, %r2, 4`.
std::string print(const Module &module, const Function &function,
                  const Instruction &instruction);

} // namespace blockscale::emulator

#endif // BLOCKSCALE_EMULATOR_PTX_H
