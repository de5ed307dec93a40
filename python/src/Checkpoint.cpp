//===- Checkpoint.cpp - quantised models in files -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale-c/Checkpoint.h"
#include "Support.h"

#include <exception>
#include <mutex>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

using namespace blockscale::python;

namespace {

struct PackOptions {
  std::string to, names, rule, scales, prune, shardSize;
  bool compress = false, checksums = false;
  std::vector<std::string> tensors;
  uint32_t threads = 0;
  int64_t shard = -1;
};

/// Options that C reads, while `given` exists.
class COptions {
public:
  explicit COptions(const PackOptions &given) {
    check(blockscalePackOptionsInit(&options, sizeof options));
    options.to = given.to.c_str();
    options.names = given.names.c_str();
    options.rule = given.rule.c_str();
    options.scales = given.scales.c_str();
    options.prune = given.prune.c_str();
    options.shardSize = given.shardSize.c_str();
    options.compress = given.compress;
    options.checksums = given.checksums;
    for (const std::string &pattern : given.tensors)
      patterns.push_back(pattern.c_str());
    options.tensors = patterns.data();
    options.tensorCount = patterns.size();
    options.threads = given.threads;
    options.shard = given.shard;
  }

  BlockscalePackOptions options;

private:
  std::vector<const char *> patterns;
};

/// Calls Python from whatever thread works, and keeps what it raises. Signals
/// are looked for too: the interpreter's own thread is one of those that work.
class Progress {
public:
  explicit Progress(const nb::object &callback) : callback(callback) {}

  void install(BlockscalePackOptions &options) {
    options.progress = [](uint64_t done, uint64_t total, void *self) {
      return static_cast<Progress *>(self)->report(done, total);
    };
    options.userData = this;
  }

  /// Raises what was kept.
  void finish() {
    if (raised)
      std::rethrow_exception(raised);
  }

private:
  bool report(uint64_t done, uint64_t total) {
    nb::gil_scoped_acquire acquire;
    if (raised)
      return false;
    try {
      if (PyErr_CheckSignals() != 0)
        throw nb::python_error();
      if (!callback.is_none())
        callback(done, total);
    } catch (...) {
      raised = std::current_exception();
    }
    return !raised;
  }

  const nb::object &callback;
  std::exception_ptr raised;
};

class Checkpoint {
public:
  explicit Checkpoint(const std::string &path) {
    unlocked([&] { return blockscaleCheckpointOpen(slice(path), &handle); });
  }
  ~Checkpoint() { blockscaleCheckpointDestroy(handle); }
  Checkpoint(const Checkpoint &) = delete;
  Checkpoint &operator=(const Checkpoint &) = delete;

  std::string describe() {
    BlockscaleBytes json;
    unlocked([&] { return blockscaleCheckpointDescribe(handle, &json); });
    return take(json);
  }

  std::tuple<bool, std::string, std::string>
  look(bool readScales, uint64_t first, uint64_t count) {
    BlockscaleCheckOptions options;
    check(blockscaleCheckOptionsInit(&options, sizeof options));
    options.readScales = readScales;
    options.first = first;
    options.count = count;
    bool passed;
    BlockscaleBytes words, json;
    unlocked([&] {
      return blockscaleCheckpointCheck(handle, &options, &passed, &words,
                                       &json);
    });
    std::string text = take(words);
    return {passed, text, take(json)};
  }

  void readValues(const std::string &parameter, uint64_t batch, uint64_t first,
                  uint64_t count, nb::handle values) {
    Buffer to(values, true);
    BlockscaleRows rows{batch, first, count};
    unlocked([&] {
      return blockscaleCheckpointReadValues(handle, slice(parameter), &rows,
                                            static_cast<float *>(to.data()),
                                            to.size() / sizeof(float));
    });
  }

  void readCodes(const std::string &parameter, uint64_t batch, uint64_t first,
                 uint64_t count, nb::handle codes) {
    Buffer to(codes, true);
    BlockscaleRows rows{batch, first, count};
    unlocked([&] {
      return blockscaleCheckpointReadCodes(handle, slice(parameter), &rows,
                                           to.data(), to.size());
    });
  }

  std::string pack(const std::string &path, const PackOptions &given,
                   const nb::object &callback) {
    COptions options(given);
    Progress progress(callback);
    progress.install(options.options);
    BlockscaleBytes json;
    BlockscaleStatus status;
    std::string words;
    {
      nb::gil_scoped_release release;
      status = blockscaleCheckpointPack(handle, slice(path), &options.options,
                                        &json);
      if (status != BLOCKSCALE_OK)
        words = blockscaleLastError();
    }
    progress.finish();
    if (status != BLOCKSCALE_OK)
      raise(status, words);
    return take(json);
  }

  std::string planShards(const std::string &path, const PackOptions &given) {
    COptions options(given);
    BlockscaleBytes json;
    unlocked([&] {
      return blockscaleCheckpointPlanShards(handle, slice(path),
                                            &options.options, &json);
    });
    return take(json);
  }

  void finishShards(const std::string &path, const PackOptions &given) {
    COptions options(given);
    unlocked([&] {
      return blockscaleCheckpointFinishShards(handle, slice(path),
                                              &options.options);
    });
  }

private:
  BlockscaleCheckpoint handle = {0};
};

} // namespace

void blockscale::python::defineCheckpoint(nb::module_ &m) {
  nb::class_<PackOptions>(m, "PackOptions")
      .def(nb::init<>())
      .def_rw("to", &PackOptions::to)
      .def_rw("names", &PackOptions::names)
      .def_rw("rule", &PackOptions::rule)
      .def_rw("scales", &PackOptions::scales)
      .def_rw("prune", &PackOptions::prune)
      .def_rw("shard_size", &PackOptions::shardSize)
      .def_rw("compress", &PackOptions::compress)
      .def_rw("checksums", &PackOptions::checksums)
      .def_rw("tensors", &PackOptions::tensors)
      .def_rw("threads", &PackOptions::threads)
      .def_rw("shard", &PackOptions::shard);
  nb::class_<Checkpoint>(m, "Checkpoint")
      .def(nb::init<const std::string &>(), nb::arg("path"))
      .def("describe", &Checkpoint::describe)
      .def("check", &Checkpoint::look, nb::arg("read_scales"), nb::arg("first"),
           nb::arg("count"))
      .def("read_values", &Checkpoint::readValues, nb::arg("parameter"),
           nb::arg("batch"), nb::arg("first"), nb::arg("count"),
           nb::arg("values"))
      .def("read_codes", &Checkpoint::readCodes, nb::arg("parameter"),
           nb::arg("batch"), nb::arg("first"), nb::arg("count"),
           nb::arg("codes"))
      .def("pack", &Checkpoint::pack, nb::arg("path"), nb::arg("options"),
           nb::arg("progress").none())
      .def("plan_shards", &Checkpoint::planShards, nb::arg("path"),
           nb::arg("options"))
      .def("finish_shards", &Checkpoint::finishShards, nb::arg("path"),
           nb::arg("options"));
}
