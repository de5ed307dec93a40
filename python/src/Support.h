//===- Support.h - what all of the extension uses ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_PYTHON_SUPPORT_H
#define BLOCKSCALE_PYTHON_SUPPORT_H

#include "blockscale-c/Support.h"

#include <nanobind/nanobind.h>
#include <string>

namespace nb = nanobind;

namespace blockscale::python {

inline std::string text(BlockscaleSlice slice) {
  return {slice.data, slice.size};
}

inline BlockscaleSlice slice(const std::string &text) {
  return {text.data(), text.size()};
}

/// Raises what Python's side makes of a status. `diagnostics` is a list of
/// tuples as _errors.py takes them.
[[noreturn]] inline void raise(BlockscaleStatus status,
                               const std::string &words,
                               const nb::list &diagnostics) {
  nb::module_::import_("blockscale._errors")
      .attr("raise_error")(int(status), nb::str(words.data(), words.size()),
                           diagnostics);
  throw nb::value_error("unreachable: raise_error returned");
}
[[noreturn]] inline void raise(BlockscaleStatus status,
                               const std::string &words) {
  raise(status, words, nb::list());
}

/// Raises unless it is fine.
inline void check(BlockscaleStatus status) {
  if (status != BLOCKSCALE_OK)
    raise(status, blockscaleLastError());
}

/// `work()` without the interpreter's lock; its status is checked behind it.
template <typename Work> void unlocked(Work work) {
  BlockscaleStatus status;
  std::string words;
  {
    nb::gil_scoped_release release;
    status = work();
    if (status != BLOCKSCALE_OK)
      words = blockscaleLastError();
  }
  if (status != BLOCKSCALE_OK)
    raise(status, words);
}

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

/// Text that a call made.
inline std::string take(BlockscaleBytes bytes) {
  BlockscaleSlice content;
  check(blockscaleBytesGet(bytes, &content));
  std::string result = text(content);
  check(blockscaleBytesDestroy(bytes));
  return result;
}

void defineCheckpoint(nb::module_ &m);

} // namespace blockscale::python

#endif // BLOCKSCALE_PYTHON_SUPPORT_H
