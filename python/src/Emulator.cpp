//===- Emulator.cpp - kernels run and judged ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale-c/Emulator.h"
#include "Support.h"

#include <memory>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <optional>
#include <vector>

using namespace blockscale::python;

namespace {

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

  /// What a host needs for the launch, as JSON.
  std::string describe() {
    BlockscaleBytes json;
    check(blockscaleLaunchDescribe(launch, &json));
    return take(json);
  }

  /// The report, as JSON.
  std::string run(uint32_t threads, int completion, uint64_t seed,
                  std::optional<uint64_t> stepLimit, bool strict, bool advice,
                  const nb::object &progress) {
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
    watched(progress, [&](const Watch &watch) {
      options.stop = watch.stop;
      options.progress = watch.progress;
      options.progressData = watch.progressData;
      return blockscaleLaunchRun(launch, &options, &run);
    });
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
                                                  const VerifyOptions &given,
                                                  const nb::object &progress) {
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
  watched(progress, [&](const Watch &watch) {
    options.stop = watch.stop;
    options.progress = watch.progress;
    options.progressData = watch.progressData;
    options.step = watch.step;
    return blockscaleVerify(slice(ptx), slice(plan), &options, &verification);
  });
  return takeVerification(verification);
}

} // namespace

void blockscale::python::defineEmulator(nb::module_ &m) {
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
           nb::arg("advice"), nb::arg("progress").none())
      .def("describe", &Launch::describe);

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
  m.def("verify", &verify, nb::arg("ptx"), nb::arg("plan"), nb::arg("options"),
        nb::arg("progress").none());
}
