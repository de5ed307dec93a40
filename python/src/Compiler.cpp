//===- Compiler.cpp - from MLIR to kernels, an extension of its own -------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale-c/Compiler.h"
#include "Support.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <optional>
#include <vector>

using namespace blockscale::python;

namespace {

/// A diagnostic that outlives the call that made it.
struct Diagnostic {
  int severity = 0;
  std::string message, file;
  uint32_t line = 0, column = 0;
  std::vector<Diagnostic> notes;
};

Diagnostic copyOf(const BlockscaleDiagnostic &from) {
  Diagnostic result{int(from.severity), text(from.message), text(from.file),
                    from.line,          from.column,        {}};
  for (size_t i = 0; i < from.noteCount; ++i)
    result.notes.push_back(copyOf(from.notes[i]));
  return result;
}

nb::object asPython(const Diagnostic &diagnostic) {
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
  std::string ptxas;
};

BlockscaleCompileOptions asC(const CompileOptions &options) {
  BlockscaleCompileOptions result;
  check(blockscaleCompileOptionsInit(&result, sizeof result));
  result.target = options.target.c_str();
  if (options.expectedRows)
    result.expectedRows = *options.expectedRows;
  result.denseFallback = options.denseFallback;
  result.hostDuties = options.hostDuties;
  result.withCubin = options.withCubin;
  result.ptxas = options.ptxas.c_str();
  return result;
}

/// A session with one module, for one call.
class Source {
public:
  /// Of text or bytecode.
  Source(const nb::bytes &mlir, const std::string &name) {
    check(blockscaleSessionCreate(&session));
    check(blockscaleSessionSetDiagnosticCallback(session, collect, this));
    BlockscaleSlice source{mlir.c_str(), mlir.size()};
    run([&] {
      return blockscaleModuleParse(session, source, slice(name), &module);
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
      nb::list found;
      for (const Diagnostic &one : diagnostics)
        found.append(asPython(one));
      blockscaleSessionDestroy(session);
      raise(status, words, found);
    }
  }

  BlockscaleModule module = {0};
  std::vector<Diagnostic> diagnostics;

private:
  static void collect(const BlockscaleDiagnostic *diagnostic, void *self) {
    static_cast<Source *>(self)->diagnostics.push_back(copyOf(*diagnostic));
  }

  BlockscaleSession session = {0};
};

/// What was compiled for one chip, and the warnings of all.
nb::object compile(const nb::bytes &mlir, const std::string &name,
                   const CompileOptions &options) {
  Source source(mlir, name);
  BlockscaleCompileOptions c = asC(options);
  BlockscaleCompilation compilation;
  source.run(
      [&] { return blockscaleCompile(source.module, &c, &compilation); });
  size_t count;
  check(blockscaleCompilationGetChipCount(compilation, &count));
  nb::list chips;
  for (size_t chip = 0; chip < count; ++chip) {
    auto output = [&](BlockscaleOutput kind) {
      BlockscaleSlice content;
      check(blockscaleCompilationGetOutput(compilation, chip, kind, &content));
      return content;
    };
    chips.append(nb::make_tuple(text(output(BLOCKSCALE_OUTPUT_TARGET)),
                                text(output(BLOCKSCALE_OUTPUT_PTX)),
                                bytesOf(output(BLOCKSCALE_OUTPUT_CUBIN)),
                                text(output(BLOCKSCALE_OUTPUT_PLAN)),
                                text(output(BLOCKSCALE_OUTPUT_REPORT)),
                                text(output(BLOCKSCALE_OUTPUT_REPORT_TEXT)),
                                text(output(BLOCKSCALE_OUTPUT_LAUNCHER)),
                                text(output(BLOCKSCALE_OUTPUT_NKI))));
  }
  check(blockscaleCompilationDestroy(compilation));
  nb::list warnings;
  for (const Diagnostic &one : source.diagnostics)
    warnings.append(asPython(one));
  return nb::make_tuple(chips, warnings);
}

std::string lower(const nb::bytes &mlir, const std::string &name, int stage,
                  const CompileOptions &options) {
  Source source(mlir, name);
  BlockscaleCompileOptions c = asC(options);
  source.run([&] {
    return blockscaleModuleLower(source.module, BlockscaleStage(stage), &c);
  });
  BlockscaleBytes printed;
  check(blockscaleModulePrint(source.module, &printed));
  return take(printed);
}

} // namespace

NB_MODULE(_compiler, m) {
  m.doc() = "The compiler of the C library, call by call.";
  nb::class_<CompileOptions>(m, "CompileOptions")
      .def(nb::init<>())
      .def_rw("target", &CompileOptions::target)
      .def_rw("expected_rows", &CompileOptions::expectedRows)
      .def_rw("dense_fallback", &CompileOptions::denseFallback)
      .def_rw("host_duties", &CompileOptions::hostDuties)
      .def_rw("with_cubin", &CompileOptions::withCubin)
      .def_rw("ptxas", &CompileOptions::ptxas);
  m.def("compile", &compile, nb::arg("mlir"), nb::arg("name"),
        nb::arg("options"));
  m.def("lower", &lower, nb::arg("mlir"), nb::arg("name"), nb::arg("stage"),
        nb::arg("options"));
}
