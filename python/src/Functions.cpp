//===- Functions.cpp - whole functions, called and judged -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale-c/Functions.h"
#include "Source.h"

#include <memory>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

using namespace blockscale::python;

namespace {

using Shape = std::vector<int64_t>;

/// How calls and verdicts run kernels.
struct RunOptions {
  uint32_t threads = 0;
  int completion = BLOCKSCALE_COMPLETION_IMMEDIATE;
  uint64_t seed = 1;
  bool strict = false;
};

class Program {
public:
  Program(const nb::bytes &mlir, const std::string &name,
          const CompileOptions &options) {
    Source source(mlir, name);
    BlockscaleCompileOptions c = asC(options);
    source.run(
        [&] { return blockscaleProgramCreate(source.module, &c, &program); });
  }
  ~Program() { blockscaleProgramDestroy(program); }
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  /// The functions, as JSON.
  std::string describe() {
    BlockscaleSlice json;
    check(blockscaleProgramDescribe(program, &json));
    return text(json);
  }

  /// The bytes and shapes of the results, and the report, as JSON.
  nb::object call(const std::string &function, const nb::list &arrays,
                  const std::vector<Shape> &shapes, const RunOptions &given,
                  const nb::object &progress) {
    std::vector<std::unique_ptr<Buffer>> kept;
    std::vector<BlockscaleArray> arguments;
    for (size_t i = 0; i < shapes.size(); ++i) {
      kept.push_back(std::make_unique<Buffer>(arrays[i], /*isWritable=*/false));
      arguments.push_back({kept.back()->data(), kept.back()->size(),
                           shapes[i].data(), shapes[i].size()});
    }
    BlockscaleCallOptions options;
    check(blockscaleCallOptionsInit(&options, sizeof options));
    options.threads = given.threads;
    options.completion = BlockscaleCompletion(given.completion);
    options.seed = given.seed;
    options.strict = given.strict;
    BlockscaleCall call;
    watched(progress, [&](const Watch &watch) {
      options.stop = watch.stop;
      options.progress = watch.progress;
      options.progressData = watch.progressData;
      options.step = watch.step;
      return blockscaleProgramCall(program, slice(function), arguments.data(),
                                   arguments.size(), &options, &call);
    });
    nb::list results;
    size_t count;
    check(blockscaleCallGetResultCount(call, &count));
    for (size_t i = 0; i < count; ++i) {
      BlockscaleArray result;
      check(blockscaleCallGetResult(call, i, &result));
      results.append(nb::make_tuple(
          nb::steal(PyByteArray_FromStringAndSize(
              static_cast<const char *>(result.data), Py_ssize_t(result.size))),
          Shape(result.shape, result.shape + result.rank)));
    }
    BlockscaleSlice json;
    check(blockscaleCallGetReport(call, &json));
    std::string report = text(json);
    check(blockscaleCallDestroy(call));
    return nb::make_tuple(results, report);
  }

private:
  BlockscaleProgram program = {0};
};

/// Whether they passed, the verdicts as text and as JSON.
std::tuple<bool, std::string, std::string>
verifyFunctions(const nb::bytes &mlir, const std::string &name,
                const CompileOptions &compileOptions, int data,
                const std::vector<Shape> &sizes, const RunOptions &given,
                const nb::object &progress) {
  Source source(mlir, name);
  BlockscaleCompileOptions c = asC(compileOptions);
  BlockscaleVerifyOptions options;
  check(blockscaleVerifyOptionsInit(&options, sizeof options));
  options.data = BlockscaleVerifyData(data);
  auto set = [&](size_t at, const int64_t *&to, size_t &count) {
    to = sizes.at(at).data();
    count = sizes.at(at).size();
  };
  set(0, options.m, options.mCount);
  set(1, options.n, options.nCount);
  set(2, options.k, options.kCount);
  set(3, options.batch, options.batchCount);
  options.seed = given.seed;
  options.threads = given.threads;
  options.completion = BlockscaleCompletion(given.completion);
  BlockscaleVerification verification;
  watched(progress, [&](const Watch &watch) {
    options.stop = watch.stop;
    options.progress = watch.progress;
    options.progressData = watch.progressData;
    options.step = watch.step;
    return blockscaleVerifyFunctions(source.module, &c, &options,
                                     &verification);
  });
  return takeVerification(verification);
}

} // namespace

void blockscale::python::defineFunctions(nb::module_ &m) {
  nb::class_<RunOptions>(m, "RunOptions")
      .def(nb::init<>())
      .def_rw("threads", &RunOptions::threads)
      .def_rw("completion", &RunOptions::completion)
      .def_rw("seed", &RunOptions::seed)
      .def_rw("strict", &RunOptions::strict);
  nb::class_<Program>(m, "Program")
      .def(nb::init<const nb::bytes &, const std::string &,
                    const CompileOptions &>(),
           nb::arg("mlir"), nb::arg("name"), nb::arg("options"))
      .def("describe", &Program::describe)
      .def("call", &Program::call, nb::arg("function"), nb::arg("arrays"),
           nb::arg("shapes"), nb::arg("options"), nb::arg("progress").none());
  m.def("verify_functions", &verifyFunctions, nb::arg("mlir"), nb::arg("name"),
        nb::arg("compile_options"), nb::arg("data"), nb::arg("sizes"),
        nb::arg("options"), nb::arg("progress").none());
}
