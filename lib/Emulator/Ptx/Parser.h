//===- Parser.h - PTX text to module ---------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One pass, one token of look-ahead beyond the current one. Blocks are kept on
// an explicit stack; only constant expressions and initialisers recurse, to a
// fixed depth. Private to the front end.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_PTX_PARSER_H
#define BLOCKSCALE_LIB_EMULATOR_PTX_PARSER_H

#include "Lexer.h"
#include "Symbols.h"
#include <algorithm>
#include <map>
#include <unordered_map>

namespace blockscale::emulator::ptx {

inline constexpr unsigned kMaxDepth = 64;
inline constexpr unsigned kMaxErrors = 20;
inline constexpr uint32_t kMaxRegisters = 1u << 20;
inline constexpr uint64_t kMaxModuleRegisters = 1u << 23;
inline constexpr uint64_t kMaxVariableBytes = uint64_t(1) << 32;
inline constexpr uint64_t kMaxInitBytes = uint64_t(1) << 28;
inline constexpr uint64_t kMaxTextBytes = uint64_t(1) << 31;

/// A mnemonic with its words looked up; `a.b.c` is looked up once per module.
struct Mnemonic {
  Opcode opcode = Opcode::Unknown;
  ShortList<Modifier, 14> modifiers;
  ShortList<Type, 6> types;
  bool tooLong = false;
};

/// Looks up the words of `text` (separated by dots).
Mnemonic decodeMnemonic(std::string_view text);

/// The modifier of that spelling, or Modifier::Unknown.
Modifier findModifier(std::string_view spelling);

/// The type of that spelling, or Type::None.
Type findType(std::string_view spelling);

/// The special register of that spelling (with `%`), or None.
SpecialRegister findSpecial(std::string_view spelling);

/// Legal operand counts of a known opcode, all its forms together.
struct Arity {
  uint8_t least, most;
};
Arity arityOf(Opcode opcode);

class Parser {
public:
  explicit Parser(std::string_view text);
  ParseResult run();

private:
  // Tokens.
  void advance();
  std::string_view textOf(const Token &t) const {
    return std::string_view(*source).substr(t.offset, t.length);
  }
  std::string_view text() const { return textOf(token); }
  bool isPunct(char c) const {
    return token.kind == TokenKind::Punct && token.punct == uint16_t(c);
  }
  bool isWord(std::string_view word) const {
    return token.kind == TokenKind::DotWord && text() == word;
  }
  bool accept(char c);
  bool acceptWord(std::string_view word);
  bool expect(char c, const char *where);
  /// Records an error; always false.
  bool error(const Token &at, std::string message);
  bool error(std::string message) { return error(token, std::move(message)); }
  std::string describe(const Token &t) const;
  bool parseName(const char *what, Token &name);
  bool parseUnsigned(const char *what, uint64_t limit, uint64_t &value);
  bool skipPast(char close);
  bool skipBraces();

  // Module level (ParseModule.cpp).
  bool parseTopLevel();
  bool parseVersion();
  bool parseTarget();
  bool parseFile();
  bool parseDebugStrings();
  bool parseFunction(bool isEntry, bool isExtern);
  bool parseFunctionDirectives(Function &function);
  bool parseTriple(std::array<uint32_t, 3> &triple);
  bool parseParameters(std::vector<Parameter> &list, BindingKind kind,
                       Function &function);
  bool parseParameter(Parameter &parameter, BindingKind kind,
                      Function &function, uint32_t index);
  uint32_t declareFunction(const Token &name);

  // Variables (ParseVariable.cpp).
  bool parseVariables(Space space, bool isExtern);
  bool parseVariable(Variable variable, unsigned lanes);
  bool parseDimensions(Variable &variable, std::vector<uint64_t> &dims);
  bool parseInitializer(Variable &variable, const std::vector<uint64_t> &dims,
                        unsigned level, uint64_t base, uint64_t stride,
                        uint64_t &used);
  bool parseInitElement(Variable &variable, uint64_t offset);
  bool parseInitSymbol(Variable &variable, uint64_t offset, unsigned size,
                       std::optional<uint64_t> mask);
  bool storeInit(Variable &variable, uint64_t offset, uint64_t bits,
                 unsigned size);
  bool addVariable(Variable variable, const Token &name);

  // Bodies (ParseBody.cpp).
  bool parseBody();
  bool parseStatement();
  bool parseBodyDirective();
  bool parseRegisters();
  bool parseRegister(Type type, unsigned lanes);
  bool parseLoc();
  bool parseLocTriple(std::array<uint32_t, 3> &triple);
  uint32_t locationAt(const std::array<uint32_t, 3> &place);
  bool parseInstruction();
  bool parseMnemonic(Instruction &inst);
  bool parseLabelled(const Token &name);
  bool parseBranchTargets(const Token &name);
  void openScope();
  void closeScope();

  // Operands (ParseOperand.cpp).
  bool parseOperands(Instruction &inst);
  bool parseCallOperands(Instruction &inst);
  bool parseArguments(Operand &operand);
  bool parseOperand(Operand &operand);
  bool parseScalar(Operand &operand);
  bool parseNamed(Operand &operand);
  bool parseVector(Operand &operand);
  bool parseAddress(Operand &operand);
  bool parseOffset(int64_t &offset);
  bool parseRegisterName(uint32_t &reg);
  /// What stands behind a name: a component of a vector, or a part of a
  /// register, and where.
  static constexpr unsigned kNoComponent = 4;
  struct Component {
    unsigned number = kNoComponent;
    uint8_t part = kWholeVector;
    Token at;
    bool isNone() const {
      return number == kNoComponent && part == kWholeVector;
    }
  };
  static unsigned componentOf(std::string_view word);
  bool parseComponent(Component &component);
  bool noComponent(const Token &name, const Component &component);
  bool takePart(const Token &name, const Component &component,
                Operand &operand);
  bool resolveSpecial(const Token &name, const Component &component,
                      Operand &operand);
  bool resolveVector(const Token &name, const Component &component,
                     const Binding &binding, Operand &operand);
  bool resolve(const Token &name, Operand &operand);

  // Constant expressions (ParseConstant.cpp).
  struct Constant {
    uint64_t bits = 0;
    bool isUnsigned = false;
  };
  bool parseConstant(Constant &value, unsigned depth = 0);
  bool parseTernary(Constant &value, unsigned depth);
  bool parseBinary(Constant &value, unsigned least, unsigned depth);
  bool parseUnary(Constant &value, unsigned depth);
  bool parsePrimary(Constant &value, unsigned depth);
  bool apply(const Token &op, Constant &left, const Constant &right);
  bool parseImmediate(Operand &operand);

  struct LabelDefinition {
    uint32_t name, value;
    uint8_t kind;
    Token at;
  };
  /// A use of a label whose block is not closed yet: an operand of an
  /// instruction, or an entry of a branch table.
  struct LabelUse {
    uint32_t name;
    uint32_t instruction; ///< kNone for a branch table entry.
    uint32_t operand;     ///< Operand, or index of the table.
    uint32_t entry;
    Token at;
  };
  struct Scope {
    std::vector<LabelDefinition> labels;
    std::vector<LabelUse> uses;
    uint32_t serial;
  };

  std::shared_ptr<const std::string> source;
  Module module;
  std::vector<Diagnostic> errors;
  SymbolTable symbols;
  Lexer lexer;
  Token token, ahead;
  uint32_t lastEnd = 0; ///< Offset after the token before `token`.
  std::unordered_map<std::string_view, Mnemonic> mnemonics;
  std::unordered_map<std::string, Mnemonic> spacedMnemonics;

  Function *current = nullptr; ///< The function whose body is parsed.
  std::vector<Scope> scopes;
  uint32_t nextSerial = 0;
  uint32_t currentLocation = kNone;
  /// The last location of the body with that file, line and column.
  std::map<std::array<uint32_t, 3>, uint32_t> lastLocations;
  uint64_t initBytes = 0;     ///< Of all variables so far.
  uint64_t registerCount = 0; ///< Of all functions so far.
};

} // namespace blockscale::emulator::ptx

#endif // BLOCKSCALE_LIB_EMULATOR_PTX_PARSER_H
