//===- core.cpp - libBlockscale for Python --------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function for each call of the C library; what is nice to use is written
// in Python above it. Work is done without the interpreter's lock, and memory
// is passed through the buffer protocol, so that nothing here needs numpy.
//
//===----------------------------------------------------------------------===//

#include "Support.h"
#include "blockscale-c/Compiler.h"
#include "blockscale-c/Emulator.h"
#include "blockscale-c/Explain.h"
#include "blockscale-c/Packing.h"
#include "blockscale-c/Session.h"

#include <memory>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

using namespace blockscale::python;

namespace {

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

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
  return nb::make_tuple(diagnostic.severity, diagnostic.message,
                        diagnostic.file, diagnostic.line, diagnostic.column,
                        notes);
}

/// Raises with the diagnostics of a call.
[[noreturn]] void raise(BlockscaleStatus status, const std::string &words,
                        const std::vector<Diagnostic> &diagnostics) {
  nb::list list;
  for (const Diagnostic &one : diagnostics)
    list.append(asPython(one));
  blockscale::python::raise(status, words, list);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

nb::bytes bytesOf(const std::string &data) {
  return nb::bytes(data.data(), data.size());
}

nb::bytes bytesOf(BlockscaleSlice data) {
  return nb::bytes(data.data, data.size);
}

//===----------------------------------------------------------------------===//
// Compiler
//===----------------------------------------------------------------------===//

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
  Source(const std::string &mlir, const std::string &name) {
    check(blockscaleSessionCreate(&session));
    check(blockscaleSessionSetDiagnosticCallback(session, collect, this));
    run([&] {
      return blockscaleModuleParse(session, slice(mlir), slice(name), &module);
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
      std::vector<Diagnostic> found;
      std::swap(found, diagnostics);
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
nb::object compile(const std::string &mlir, const std::string &name,
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
                                text(output(BLOCKSCALE_OUTPUT_LAUNCHER))));
  }
  check(blockscaleCompilationDestroy(compilation));
  nb::list warnings;
  for (const Diagnostic &one : source.diagnostics)
    warnings.append(asPython(one));
  return nb::make_tuple(chips, warnings);
}

std::string lower(const std::string &mlir, const std::string &name, int stage,
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

//===----------------------------------------------------------------------===//
// Emulator
//===----------------------------------------------------------------------===//

/// A launch with the memory that it uses.
class Launch {
public:
  Launch(const std::string &ptx, const std::optional<std::string> &plan,
         const std::string &kernel) {
    check(plan ? blockscaleLaunchCreateFromPlan(slice(ptx), slice(*plan),
                                                slice(kernel), &launch)
               : blockscaleLaunchCreate(slice(ptx), slice(kernel), &launch));
  }
  ~Launch() { blockscaleLaunchDestroy(launch); }
  Launch(const Launch &) = delete;
  Launch &operator=(const Launch &) = delete;

  void setGrid(uint32_t x, uint32_t y, uint32_t z) {
    check(blockscaleLaunchSetGrid(launch, x, y, z));
  }
  void setCluster(uint32_t x, uint32_t y, uint32_t z) {
    check(blockscaleLaunchSetCluster(launch, x, y, z));
  }
  void setBlock(uint32_t x, uint32_t y, uint32_t z) {
    check(blockscaleLaunchSetBlock(launch, x, y, z));
  }
  void setSharedBytes(uint32_t bytes) {
    check(blockscaleLaunchSetSharedBytes(launch, bytes));
  }
  void addScalar(nb::bytes value) {
    check(blockscaleLaunchAddScalar(launch, value.c_str(), value.size()));
  }
  void addMemory(nb::handle object, bool isWritable) {
    Buffer &memory = keep(object, isWritable);
    check(blockscaleLaunchAddMemory(launch, memory.data(), memory.size(),
                                    isWritable));
  }
  void setSize(const std::string &name, int64_t value) {
    check(blockscaleLaunchSetSize(launch, slice(name), value));
  }
  void setFactor(const std::string &name, float value) {
    check(blockscaleLaunchSetFactor(launch, slice(name), value));
  }
  uint64_t memorySize(const std::string &role) {
    uint64_t bytes;
    check(blockscaleLaunchGetMemorySize(launch, slice(role), &bytes));
    return bytes;
  }
  void setMemory(const std::string &role, nb::handle object, bool isWritable) {
    Buffer &memory = keep(object, isWritable);
    check(blockscaleLaunchSetMemory(launch, slice(role), memory.data(),
                                    memory.size()));
  }

  /// The report, as JSON.
  std::string run(uint32_t threads, int completion, uint64_t seed,
                  std::optional<uint64_t> stepLimit, bool strict, bool advice) {
    BlockscaleRunOptions options;
    check(blockscaleRunOptionsInit(&options, sizeof options));
    options.threads = threads;
    options.completion = BlockscaleCompletion(completion);
    options.seed = seed;
    if (stepLimit)
      options.stepLimit = *stepLimit;
    options.strict = strict;
    options.advice = advice;
    BlockscaleRun run;
    unlocked([&] { return blockscaleLaunchRun(launch, &options, &run); });
    BlockscaleSlice json;
    check(blockscaleRunGetReport(run, &json));
    std::string report = text(json);
    check(blockscaleRunDestroy(run));
    return report;
  }

private:
  Buffer &keep(nb::handle object, bool isWritable) {
    kept.push_back(std::make_unique<Buffer>(object, isWritable));
    return *kept.back();
  }

  BlockscaleLaunch launch = {0};
  std::vector<std::unique_ptr<Buffer>> kept;
};

struct VerifyOptions {
  int data = BLOCKSCALE_DATA_BOTH, conditions = BLOCKSCALE_CONDITIONS_BOTH;
  std::vector<int64_t> m, n, k, batch;
  int64_t numSms = 0;
  uint64_t sampleClusters = 0, seed = 1;
  uint32_t threads = 0;
  int completion = BLOCKSCALE_COMPLETION_IMMEDIATE;
};

/// Whether it passed, the verdicts as text and as JSON.
std::tuple<bool, std::string, std::string> verify(const std::string &ptx,
                                                  const std::string &plan,
                                                  const VerifyOptions &given) {
  BlockscaleVerifyOptions options;
  check(blockscaleVerifyOptionsInit(&options, sizeof options));
  options.data = BlockscaleVerifyData(given.data);
  options.conditions = BlockscaleConditions(given.conditions);
  auto set = [](const std::vector<int64_t> &from, const int64_t *&to,
                size_t &count) {
    to = from.data();
    count = from.size();
  };
  set(given.m, options.m, options.mCount);
  set(given.n, options.n, options.nCount);
  set(given.k, options.k, options.kCount);
  set(given.batch, options.batch, options.batchCount);
  options.numSms = given.numSms;
  options.sampleClusters = given.sampleClusters;
  options.seed = given.seed;
  options.threads = given.threads;
  options.completion = BlockscaleCompletion(given.completion);
  BlockscaleVerification verification;
  unlocked([&] {
    return blockscaleVerify(slice(ptx), slice(plan), &options, &verification);
  });
  bool passed;
  BlockscaleSlice words, json;
  check(blockscaleVerificationPassed(verification, &passed));
  check(blockscaleVerificationGetText(verification, &words));
  check(blockscaleVerificationGetReport(verification, &json));
  std::tuple<bool, std::string, std::string> result{passed, text(words),
                                                    text(json)};
  check(blockscaleVerificationDestroy(verification));
  return result;
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

/// `size` bytes that `fill(data)` writes.
template <typename Fill> nb::bytes filled(uint64_t size, Fill fill) {
  std::string result(size, '\0');
  unlocked([&] { return fill(result.data()); });
  return bytesOf(result);
}

BlockscaleElements elementsOf(uint32_t bits, bool mnMajor, uint64_t batch,
                              uint64_t rows, uint64_t k, uint64_t rowPitch) {
  return {bits, mnMajor, batch, rows, k, rowPitch, 0};
}

nb::bytes packElements(nb::handle codes, uint32_t bits, bool mnMajor,
                       uint64_t batch, uint64_t rows, uint64_t k,
                       uint64_t rowPitch) {
  BlockscaleElements elements =
      elementsOf(bits, mnMajor, batch, rows, k, rowPitch);
  uint64_t size;
  check(blockscaleElementsGetSize(&elements, &size));
  Buffer from(codes, false);
  return filled(size, [&](void *to) {
    return blockscalePackElements(&elements, from.data(), from.size(), to,
                                  size);
  });
}

nb::bytes unpackElements(nb::handle memory, uint32_t bits, bool mnMajor,
                         uint64_t batch, uint64_t rows, uint64_t k,
                         uint64_t rowPitch, uint64_t codesSize) {
  BlockscaleElements elements =
      elementsOf(bits, mnMajor, batch, rows, k, rowPitch);
  Buffer from(memory, false);
  return filled(codesSize, [&](void *to) {
    return blockscaleUnpackElements(&elements, from.data(), from.size(), to,
                                    codesSize);
  });
}

nb::bytes packScales(nb::handle plain, int layout, uint64_t batch,
                     uint64_t rows, uint64_t blocks, uint8_t padding) {
  BlockscaleScales scales{BlockscaleScaleLayout(layout), batch, rows, blocks};
  uint64_t size;
  check(blockscaleScalesGetSize(&scales, &size));
  Buffer from(plain, false);
  return filled(size, [&](void *to) {
    return blockscalePackScales(&scales, from.data(), from.size(), padding, to,
                                size);
  });
}

nb::bytes unpackScales(nb::handle memory, int layout, uint64_t batch,
                       uint64_t rows, uint64_t blocks, uint64_t plainSize) {
  BlockscaleScales scales{BlockscaleScaleLayout(layout), batch, rows, blocks};
  Buffer from(memory, false);
  return filled(plainSize, [&](void *to) {
    return blockscaleUnpackScales(&scales, from.data(), from.size(), to,
                                  plainSize);
  });
}

nb::bytes encode(const std::string &format, nb::handle values,
                 uint64_t codesSize) {
  Buffer from(values, false);
  return filled(codesSize, [&](void *to) {
    return blockscaleEncode(slice(format),
                            static_cast<const float *>(from.data()),
                            from.size() / sizeof(float), to, codesSize);
  });
}

nb::bytes decode(const std::string &format, nb::handle codes, uint64_t count) {
  Buffer from(codes, false);
  return filled(count * sizeof(float), [&](void *to) {
    return blockscaleDecode(slice(format), from.data(), from.size(),
                            static_cast<float *>(to), count);
  });
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

std::pair<bool, std::string>
explainLegality(const std::vector<std::pair<std::string, std::string>> &given) {
  std::vector<BlockscaleField> fields;
  for (const auto &[name, value] : given)
    fields.push_back({slice(name), slice(value)});
  bool isLegal;
  BlockscaleBytes words;
  check(blockscaleExplainLegality(fields.data(), fields.size(), &isLegal,
                                  &words));
  return {isLegal, take(words)};
}

std::string explainInstructions(const std::string &target, int format) {
  BlockscaleBytes words;
  check(blockscaleExplainInstructions(slice(target),
                                      BlockscaleTableFormat(format), &words));
  return take(words);
}

std::string explainTable(const std::string &table,
                         const std::string &questions) {
  BlockscaleBytes answers;
  check(blockscaleExplainTable(slice(table), slice(questions), &answers));
  return take(answers);
}

std::string explainHazards() {
  BlockscaleBytes words;
  check(blockscaleExplainHazards(&words));
  return take(words);
}

} // namespace

NB_MODULE(_core, m) {
  m.doc() = "The C library, call by call.";
  m.attr("version") = blockscaleVersion();

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

  nb::class_<Launch>(m, "Launch")
      .def(nb::init<const std::string &, const std::optional<std::string> &,
                    const std::string &>(),
           nb::arg("ptx"), nb::arg("plan").none(), nb::arg("kernel"))
      .def("set_grid", &Launch::setGrid)
      .def("set_cluster", &Launch::setCluster)
      .def("set_block", &Launch::setBlock)
      .def("set_shared_bytes", &Launch::setSharedBytes)
      .def("add_scalar", &Launch::addScalar)
      .def("add_memory", &Launch::addMemory, nb::arg("object"),
           nb::arg("writable"))
      .def("set_size", &Launch::setSize)
      .def("set_factor", &Launch::setFactor)
      .def("memory_size", &Launch::memorySize)
      .def("set_memory", &Launch::setMemory, nb::arg("role"), nb::arg("object"),
           nb::arg("writable"))
      .def("run", &Launch::run, nb::arg("threads"), nb::arg("completion"),
           nb::arg("seed"), nb::arg("step_limit").none(), nb::arg("strict"),
           nb::arg("advice"));

  nb::class_<VerifyOptions>(m, "VerifyOptions")
      .def(nb::init<>())
      .def_rw("data", &VerifyOptions::data)
      .def_rw("conditions", &VerifyOptions::conditions)
      .def_rw("m", &VerifyOptions::m)
      .def_rw("n", &VerifyOptions::n)
      .def_rw("k", &VerifyOptions::k)
      .def_rw("batch", &VerifyOptions::batch)
      .def_rw("num_sms", &VerifyOptions::numSms)
      .def_rw("sample_clusters", &VerifyOptions::sampleClusters)
      .def_rw("seed", &VerifyOptions::seed)
      .def_rw("threads", &VerifyOptions::threads)
      .def_rw("completion", &VerifyOptions::completion);
  m.def("verify", &verify, nb::arg("ptx"), nb::arg("plan"), nb::arg("options"));

  m.def("pack_elements", &packElements);
  m.def("unpack_elements", &unpackElements);
  m.def("pack_scales", &packScales);
  m.def("unpack_scales", &unpackScales);
  m.def("encode", &encode);
  m.def("decode", &decode);

  m.def("explain_legality", &explainLegality);
  m.def("explain_instructions", &explainInstructions);
  m.def("explain_table", &explainTable);
  m.def("explain_hazards", &explainHazards);
  defineCheckpoint(m);
}
