//===- Support.cpp - errors, long calls, memory ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support.h"

#include <condition_variable>
#include <mutex>
#include <nanobind/stl/string.h>
#include <thread>

using namespace blockscale::python;

nb::object blockscale::python::words(const std::string &text) {
  PyObject *decoded = PyUnicode_DecodeUTF8(text.data(), Py_ssize_t(text.size()),
                                           "backslashreplace");
  if (!decoded)
    throw nb::python_error();
  return nb::steal(decoded);
}

void blockscale::python::raise(BlockscaleStatus status, const std::string &why,
                               const nb::list &diagnostics) {
  nb::module_::import_("blockscale._errors")
      .attr("raise_error")(int(status), words(why), diagnostics);
  throw nb::value_error("unreachable: raise_error returned");
}

void blockscale::python::raise(BlockscaleStatus status,
                               const std::string &why) {
  raise(status, why, nb::list());
}

void blockscale::python::check(BlockscaleStatus status) {
  if (status != BLOCKSCALE_OK)
    raise(status, blockscaleLastError());
}

std::string blockscale::python::take(BlockscaleBytes bytes) {
  BlockscaleSlice content;
  check(blockscaleBytesGet(bytes, &content));
  std::string result = text(content);
  check(blockscaleBytesDestroy(bytes));
  return result;
}

//===----------------------------------------------------------------------===//
// Long calls
//===----------------------------------------------------------------------===//

namespace {
/// How often the thread that waits looks around.
constexpr std::chrono::milliseconds kGlance(40);

/// How far a call is: in which of its steps, counted from 1 (0 is a call
/// without steps), and there.
struct Place {
  uint64_t number = 0;
  std::string step, unit;
  uint64_t done = 0, total = 0;
};

/// What both threads of a long call know.
struct LongCall {
  LongCall() { check(blockscaleStopCreate(&stop)); }
  ~LongCall() {
    if (worker.joinable())
      worker.join();
    blockscaleStopDestroy(stop);
  }

  static void note(uint64_t done, uint64_t total, void *self) {
    auto &call = *static_cast<LongCall *>(self);
    std::lock_guard<std::mutex> lock(call.mutex);
    call.place.done = done;
    call.place.total = total;
  }

  static void noteStep(BlockscaleSlice step, BlockscaleSlice unit, void *self) {
    auto &call = *static_cast<LongCall *>(self);
    std::lock_guard<std::mutex> lock(call.mutex);
    call.place = {call.place.number + 1, text(step), text(unit), 0, 0};
  }

  void start(const std::function<BlockscaleStatus(const Watch &)> &work) {
    worker = std::thread([this, &work] {
      Outcome found =
          outcomeOf([&] { return work({stop, note, this, noteStep}); });
      std::lock_guard<std::mutex> lock(mutex);
      outcome = std::move(found);
      hasEnded = true;
      ended.notify_one();
    });
  }

  /// False if there is more to do.
  bool waitAWhile() {
    std::unique_lock<std::mutex> lock(mutex);
    return ended.wait_for(lock, kGlance, [&] { return hasEnded; });
  }

  Place placeNow() {
    std::lock_guard<std::mutex> lock(mutex);
    return place;
  }

  BlockscaleStop stop = {0};
  Outcome outcome;
  bool hasEnded = false;
  Place place;
  std::mutex mutex;
  std::condition_variable ended;
  std::thread worker;
};

/// Lets Python see signals, and tells it how far the call is. `told` is the
/// step that it was told of.
void lookAround(LongCall &call, const nb::object &progress, uint64_t &told) {
  if (PyErr_CheckSignals() != 0)
    throw nb::python_error();
  if (progress.is_none())
    return;
  Place place = call.placeNow();
  if (place.number != told && nb::hasattr(progress, "begin"))
    progress.attr("begin")(place.step, place.unit);
  told = place.number;
  progress(place.done, place.total);
}
} // namespace

void blockscale::python::watched(
    const nb::object &progress,
    const std::function<BlockscaleStatus(const Watch &)> &work) {
  LongCall call;
  call.start(work);
  uint64_t told = 0;
  try {
    for (bool hasEnded = false; !hasEnded;) {
      {
        nb::gil_scoped_release release;
        hasEnded = call.waitAWhile();
      }
      if (!hasEnded)
        lookAround(call, progress, told);
    }
  } catch (...) {
    blockscaleStopAsk(call.stop);
    nb::gil_scoped_release release;
    call.worker.join();
    throw;
  }
  if (call.outcome.status != BLOCKSCALE_OK)
    raise(call.outcome.status, call.outcome.words);
}

std::tuple<bool, std::string, std::string>
blockscale::python::takeVerification(BlockscaleVerification verification) {
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
