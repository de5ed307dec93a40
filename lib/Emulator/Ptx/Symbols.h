//===- Symbols.h - names and scopes of PTX ---------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every name is interned once; what it means is a stack of bindings, so that
// leaving a block restores what the name meant outside. Private to the front
// end.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_PTX_SYMBOLS_H
#define BLOCKSCALE_LIB_EMULATOR_PTX_SYMBOLS_H

#include "blockscale/Emulator/Ptx.h"

namespace blockscale::emulator::ptx {

enum class BindingKind : uint8_t {
  Register,       ///< Index into Function::registers.
  VectorRegister, ///< First of `count` registers.
  RegisterRange,  ///< `%r<count>`: first of `count` registers.
  ModuleVariable,
  FunctionVariable,
  Parameter,
  Return,
  Function,
};

struct Binding {
  BindingKind kind;
  uint32_t name;
  uint32_t index;
  uint32_t count;
  uint32_t depth;
  uint32_t previous; ///< The binding it hides, or kNone.
};

class SymbolTable {
public:
  SymbolTable();

  /// The id of a name. `name` must outlive the table.
  uint32_t intern(std::string_view name);
  std::string_view text(uint32_t id) const { return names[id].text; }

  /// Blocks: 0 is the module, 1 a function with its parameters.
  void enter() { ++depth; }
  void leave();

  /// False when the name is bound in this very block already.
  bool bind(uint32_t name, BindingKind kind, uint32_t index,
            uint32_t count = 1);

  /// The innermost meaning. For a name inside a register range, the binding
  /// has kind Register and the index of that register.
  std::optional<Binding> lookup(uint32_t name);

  /// Labels live beside the other names, see Parser. `serial` marks the block
  /// in which `value` is valid.
  struct LabelMark {
    uint32_t serial = kNone, value = kNone;
    uint8_t kind = 0;
  };
  LabelMark &label(uint32_t name) { return names[name].label; }

private:
  struct Name {
    std::string_view text;
    uint64_t hash = 0;
    uint32_t top = kNone;      ///< Innermost binding of the name.
    uint32_t rangeTop = kNone; ///< Innermost range of which it is the base.
    uint32_t base = kNone;     ///< Name without the trailing number.
    uint32_t number = kNone;
    bool split = false; ///< `base` and `number` are computed.
    LabelMark label;
  };
  void splitNumber(uint32_t name);
  void grow();

  std::vector<Name> names;
  std::vector<uint32_t> slots; ///< Open addressing, a power of two.
  std::vector<Binding> bindings;
  uint32_t depth = 0;
};

} // namespace blockscale::emulator::ptx

#endif // BLOCKSCALE_LIB_EMULATOR_PTX_SYMBOLS_H
