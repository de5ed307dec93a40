//===- Archive.cpp - reports as text and back -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fieldsOf() takes a structure apart by a structured binding, which stops to
// compile when the structure gains a field: none can be forgotten.
//
//===----------------------------------------------------------------------===//

#include "Archive.h"

#include <cstring>
#include <tuple>

using namespace blockscale;

static auto fieldsOf(MemoryRegion &value) {
  auto &[name, offset, size, copies, stride] = value;
  return std::tie(name, offset, size, copies, stride);
}

static auto fieldsOf(KTail &value) {
  auto &[atLaunch, longMmas, shortMmas, zeroFill] = value;
  return std::tie(atLaunch, longMmas, shortMmas, zeroFill);
}

static auto fieldsOf(PtxasFunctionInfo &value) {
  auto &[name, registers, barriers, stack, spillStores, spillLoads, shared] =
      value;
  return std::tie(name, registers, barriers, stack, spillStores, spillLoads,
                  shared);
}

static auto fieldsOf(KernelReport &value) {
  auto &[name, kind, moved, tileM, tileN, tileK, mmaK, ctaGroup, block, sparse,
         kTail, mmas, copies, stages, accumulators, sharedBytes, sharedLimit,
         columnLimit, shared, columns, tensor, intensity, mmaCycles, loadCycles,
         resources] = value;
  return std::tie(name, kind, moved, tileM, tileN, tileK, mmaK, ctaGroup, block,
                  sparse, kTail, mmas, copies, stages, accumulators,
                  sharedBytes, sharedLimit, columnLimit, shared, columns,
                  tensor, intensity, mmaCycles, loadCycles, resources);
}

static auto fieldsOf(Report &value) {
  auto &[target, kernels] = value;
  return std::tie(target, kernels);
}

namespace {
class Writer {
public:
  std::string text;

  void operator()(std::string &value) {
    (*this)(value.size());
    text += value;
  }
  template <typename T>
  std::enable_if_t<std::is_arithmetic_v<std::remove_reference_t<T>>>
  operator()(T &&value) {
    text.append(reinterpret_cast<const char *>(&value), sizeof(value));
  }
  template <typename T> void operator()(std::optional<T> &value) {
    (*this)(value.has_value());
    if (value)
      (*this)(*value);
  }
  template <typename T> void operator()(std::vector<T> &values) {
    (*this)(values.size());
    for (T &value : values)
      (*this)(value);
  }
  template <typename T>
  auto operator()(T &value) -> decltype(fieldsOf(value), void()) {
    std::apply([&](auto &...fields) { ((*this)(fields), ...); },
               fieldsOf(value));
  }
};

class Reader {
public:
  explicit Reader(std::string_view text) : text(text) {}

  /// Whether all was there, and nothing else.
  bool isWhole() const { return !failed && text.empty(); }

  void operator()(std::string &value) {
    size_t size = count();
    value = text.substr(0, size);
    text.remove_prefix(size);
  }
  template <typename T>
  std::enable_if_t<std::is_arithmetic_v<T>> operator()(T &value) {
    if (text.size() < sizeof(value)) {
      failed = true;
      text = {};
      return;
    }
    std::memcpy(&value, text.data(), sizeof(value));
    text.remove_prefix(sizeof(value));
  }
  template <typename T> void operator()(std::optional<T> &value) {
    bool isThere = false;
    (*this)(isThere);
    if (isThere)
      (*this)(value.emplace());
  }
  template <typename T> void operator()(std::vector<T> &values) {
    // Each takes a byte at least, so that no size is larger than the text.
    for (size_t left = count(); left && !failed; --left)
      (*this)(values.emplace_back());
  }
  template <typename T>
  auto operator()(T &value) -> decltype(fieldsOf(value), void()) {
    std::apply([&](auto &...fields) { ((*this)(fields), ...); },
               fieldsOf(value));
  }

private:
  size_t count() {
    size_t size = 0;
    (*this)(size);
    if (size > text.size()) {
      failed = true;
      text = {};
      return 0;
    }
    return size;
  }

  std::string_view text;
  bool failed = false;
};
} // namespace

template <typename T> static std::string store(T value) {
  Writer writer;
  writer(value);
  return std::move(writer.text);
}

template <typename T> static std::optional<T> load(std::string_view text) {
  T value;
  Reader reader(text);
  reader(value);
  if (!reader.isWhole())
    return std::nullopt;
  return value;
}

std::string blockscale::storeReport(const Report &report) {
  return store(report);
}

std::optional<Report> blockscale::loadReport(std::string_view text) {
  return load<Report>(text);
}

std::string
blockscale::storeFunctions(const std::vector<PtxasFunctionInfo> &functions) {
  return store(functions);
}

std::optional<std::vector<PtxasFunctionInfo>>
blockscale::loadFunctions(std::string_view text) {
  return load<std::vector<PtxasFunctionInfo>>(text);
}
