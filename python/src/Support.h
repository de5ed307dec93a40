//===- Support.h - what both extensions use ---------------------*- C++ -*-===//
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

#ifndef BLOCKSCALE_PYTHON_SUPPORT_H
#define BLOCKSCALE_PYTHON_SUPPORT_H

#include "blockscale-c/Emulator.h"
#include "blockscale-c/Support.h"

#include <functional>
#include <nanobind/nanobind.h>
#include <string>
#include <tuple>

namespace nb = nanobind;

namespace blockscale::python {

inline std::string text(BlockscaleSlice slice) {
  return {slice.data, slice.size};
}

inline BlockscaleSlice slice(const std::string &text) {
  return {text.data(), text.size()};
}

/// Words as Python has them; a message may quote a part of a character.
nb::object words(const std::string &text);

/// Raises what Python's side makes of a status. `diagnostics` is a list of
/// tuples as _errors.py takes them.
[[noreturn]] void raise(BlockscaleStatus status, const std::string &why,
                        const nb::list &diagnostics);
[[noreturn]] void raise(BlockscaleStatus status, const std::string &why);

/// Raises unless it is fine.
void check(BlockscaleStatus status);

/// A status with its words, which are another thread's.
struct Outcome {
  BlockscaleStatus status = BLOCKSCALE_OK;
  std::string words;
};

/// `work()` and what it says was wrong.
template <typename Work> Outcome outcomeOf(Work work) {
  Outcome outcome;
  outcome.status = work();
  if (outcome.status != BLOCKSCALE_OK)
    outcome.words = blockscaleLastError();
  return outcome;
}

/// `work()` without the interpreter's lock; its status is checked behind it.
template <typename Work> void unlocked(Work work) {
  Outcome outcome;
  {
    nb::gil_scoped_release release;
    outcome = outcomeOf(work);
  }
  if (outcome.status != BLOCKSCALE_OK)
    raise(outcome.status, outcome.words);
}

/// What a long call gets: how to end it early and whom to tell how far it is.
struct Watch {
  BlockscaleStop stop;
  BlockscaleProgressCallback progress;
  void *progressData;
  /// For calls of several steps; its data are those of `progress`.
  BlockscaleStepCallback step;
};

/// Runs `work` on a thread of its own, while this one looks for signals, so
/// that an interrupt ends it, and tells `progress`, which may be None, how far
/// it is; before a step that it sees, its method `begin(step, unit)`, if it has
/// one. What these raise ends the work, too.
void watched(const nb::object &progress,
             const std::function<BlockscaleStatus(const Watch &)> &work);

/// Contiguous memory of a Python object, which stays alive with it.
class Buffer {
public:
  Buffer(nb::handle object, bool isWritable) {
    int flags = PyBUF_ANY_CONTIGUOUS | (isWritable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object.ptr(), &view, flags) != 0)
      throw nb::python_error();
  }
  ~Buffer() { PyBuffer_Release(&view); }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  void *data() const { return view.buf; }
  size_t size() const { return size_t(view.len); }

private:
  Py_buffer view;
};

inline nb::bytes bytesOf(const std::string &data) {
  return nb::bytes(data.data(), data.size());
}

inline nb::bytes bytesOf(BlockscaleSlice data) {
  return nb::bytes(data.data, data.size);
}

/// Text that a call made.
std::string take(BlockscaleBytes bytes);

void defineCheckpoint(nb::module_ &m);
void defineDlpack(nb::module_ &m);
void defineEmulator(nb::module_ &m);
void defineLayout(nb::module_ &m);
void definePacking(nb::module_ &m);
void defineQuestions(nb::module_ &m);

/// Whether a verification passed, its words and its report in JSON; frees it.
std::tuple<bool, std::string, std::string>
takeVerification(BlockscaleVerification verification);

} // namespace blockscale::python

#endif // BLOCKSCALE_PYTHON_SUPPORT_H
