//===- Compiler.cpp - from MLIR to kernels, an extension of its own -------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Source.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

using namespace blockscale::python;

namespace {

/// What was compiled for each chip, the warnings of all, and plan and launcher
/// of all, empty unless several targets were asked for.
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
  nb::object plan = nb::str(""), launcher = nb::str("");
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
    plan = nb::cast(text(output(BLOCKSCALE_OUTPUT_JOINED_PLAN)));
    launcher = nb::cast(text(output(BLOCKSCALE_OUTPUT_JOINED_LAUNCHER)));
  }
  check(blockscaleCompilationDestroy(compilation));
  return nb::make_tuple(chips, source.said(), plan, launcher);
}

std::string lower(const nb::bytes &mlir, const std::string &name, int stage,
                  const CompileOptions &options) {
  Source source(mlir, name);
  BlockscaleCompileOptions c = asC(options);
  source.run([&] {
    return blockscaleModuleLower(source.module, BlockscaleStage(stage), &c);
  });
  return print(source.module);
}

/// Layouts of the scales of two types beside each other.
nb::tuple scaleLayouts(const std::string &a, const std::string &b) {
  BlockscaleSlice ofA, ofB;
  check(blockscaleFindScaleLayouts(slice(a), slice(b), &ofA, &ofB));
  return nb::make_tuple(text(ofA), text(ofB));
}

/// A module of another compiler with its products as ours.
std::string importProducts(const nb::bytes &mlir, const std::string &name,
                           const CompileOptions &options) {
  BlockscaleCompileOptions c = asC(options);
  Source source(mlir, name, &c);
  return print(source.module);
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
      .def_rw("quantize_on_device", &CompileOptions::quantizeOnDevice)
      .def_rw("kernels_only", &CompileOptions::kernelsOnly)
      .def_rw("with_cubin", &CompileOptions::withCubin)
      .def_rw("ptxas", &CompileOptions::ptxas)
      .def_rw("dispatch_rows", &CompileOptions::dispatchRows);
  m.def("compile", &compile, nb::arg("mlir"), nb::arg("name"),
        nb::arg("options"));
  m.def("lower", &lower, nb::arg("mlir"), nb::arg("name"), nb::arg("stage"),
        nb::arg("options"));
  m.def("import_products", &importProducts, nb::arg("mlir"), nb::arg("name"),
        nb::arg("options"));
  m.def("scale_layouts", &scaleLayouts);
  defineFunctions(m);
}
