//===- Source.h - a module of a session, for one call -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_PYTHON_SOURCE_H
#define BLOCKSCALE_PYTHON_SOURCE_H

#include "Support.h"
#include "blockscale-c/Compiler.h"

#include <optional>
#include <string>
#include <vector>

namespace blockscale::python {

/// A diagnostic that outlives the call that made it.
struct Diagnostic {
  int severity = 0;
  std::string message, file;
  uint32_t line = 0, column = 0;
  std::vector<Diagnostic> notes;
};

inline Diagnostic copyOf(const BlockscaleDiagnostic &from) {
  Diagnostic result{int(from.severity), text(from.message), text(from.file),
                    from.line,          from.column,        {}};
  for (size_t i = 0; i < from.noteCount; ++i)
    result.notes.push_back(copyOf(from.notes[i]));
  return result;
}

inline nb::object asPython(const Diagnostic &diagnostic) {
  nb::list notes;
  for (const Diagnostic &note : diagnostic.notes)
    notes.append(asPython(note));
  return nb::make_tuple(diagnostic.severity, words(diagnostic.message),
                        words(diagnostic.file), diagnostic.line,
                        diagnostic.column, notes);
}

struct CompileOptions {
  std::string target;
  std::optional<int64_t> expectedRows;
  bool denseFallback = false, hostDuties = false, withCubin = false;
  bool quantizeOnDevice = false, kernelsOnly = false;
  std::string ptxas, dispatchRows;
};

inline BlockscaleCompileOptions asC(const CompileOptions &options) {
  BlockscaleCompileOptions result;
  check(blockscaleCompileOptionsInit(&result, sizeof result));
  result.target = options.target.c_str();
  if (options.expectedRows)
    result.expectedRows = *options.expectedRows;
  result.denseFallback = options.denseFallback;
  result.hostDuties = options.hostDuties;
  result.withCubin = options.withCubin;
  result.quantizeOnDevice = options.quantizeOnDevice;
  result.kernelsOnly = options.kernelsOnly;
  result.ptxas = options.ptxas.c_str();
  result.dispatchRows = options.dispatchRows.c_str();
  return result;
}

/// A session with one module, for one call.
class Source {
public:
  /// Of text or bytecode; with `imports` of another compiler's, whose products
  /// become ours.
  Source(const nb::bytes &mlir, const std::string &name,
         const BlockscaleCompileOptions *imports = nullptr) {
    check(blockscaleSessionCreate(&session));
    check(blockscaleSessionSetDiagnosticCallback(session, collect, this));
    BlockscaleSlice source{mlir.c_str(), mlir.size()};
    run([&] {
      return imports
                 ? blockscaleModuleImport(session, source, slice(name), imports,
                                          &module)
                 : blockscaleModuleParse(session, source, slice(name), &module);
    });
  }
  ~Source() { blockscaleSessionDestroy(session); }

  /// `work()` without the interpreter's lock; raises with the diagnostics.
  template <typename Work> void run(Work work) {
    BlockscaleStatus status;
    std::string words;
    {
      nb::gil_scoped_release release;
      status = work();
      if (status != BLOCKSCALE_OK)
        words = blockscaleLastError();
    }
    if (status != BLOCKSCALE_OK) {
      nb::list found = said();
      blockscaleSessionDestroy(session);
      raise(status, words, found);
    }
  }

  /// What was said so far.
  nb::list said() const {
    nb::list found;
    for (const Diagnostic &one : diagnostics)
      found.append(asPython(one));
    return found;
  }

  BlockscaleModule module = {0};

private:
  static void collect(const BlockscaleDiagnostic *diagnostic, void *self) {
    static_cast<Source *>(self)->diagnostics.push_back(copyOf(*diagnostic));
  }

  BlockscaleSession session = {0};
  std::vector<Diagnostic> diagnostics;
};

/// The module as text.
inline std::string print(BlockscaleModule module) {
  BlockscaleBytes printed;
  check(blockscaleModulePrint(module, &printed));
  return take(printed);
}

void defineFunctions(nb::module_ &m);

} // namespace blockscale::python

#endif // BLOCKSCALE_PYTHON_SOURCE_H
