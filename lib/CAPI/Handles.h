//===- Handles.h - objects behind numbers -----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A handle is the number under which an object stands in one table. Numbers are
// never given out twice, so that what was destroyed is found out. Inside, what
// is wrong is an exception; guarded() turns it into a status.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CAPI_HANDLES_H
#define BLOCKSCALE_LIB_CAPI_HANDLES_H

#include "blockscale-c/Support.h"

#include <atomic>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

namespace blockscale::capi {

/// Why a call fails.
struct Failure {
  BlockscaleStatus status;
  std::string message;
};

[[noreturn]] inline void fail(BlockscaleStatus status, std::string message) {
  throw Failure{status, std::move(message)};
}

/// What blockscaleLastError() says from now on. Never fails: without memory it
/// says so.
BlockscaleStatus setLastError(BlockscaleStatus status,
                              std::string_view message) noexcept;

/// Runs the body of an entry point.
template <typename Body> BlockscaleStatus guarded(Body body) noexcept {
  try {
    setLastError(BLOCKSCALE_OK, "");
    body();
    return BLOCKSCALE_OK;
  } catch (const Failure &failure) {
    return setLastError(failure.status, failure.message);
  } catch (const std::bad_alloc &) {
    return setLastError(BLOCKSCALE_OUT_OF_MEMORY, "out of memory");
  } catch (const std::length_error &) {
    return setLastError(BLOCKSCALE_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception &error) {
    return setLastError(BLOCKSCALE_INTERNAL, error.what());
  } catch (...) {
    return setLastError(BLOCKSCALE_INTERNAL, "an exception of unknown type");
  }
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

inline void requirePointer(const void *pointer, const char *what) {
  if (!pointer)
    fail(BLOCKSCALE_INVALID_ARGUMENT, std::string("'") + what + "' is null");
}

inline void requireSize(uint64_t found, uint64_t expected, const char *what) {
  if (found != expected)
    fail(BLOCKSCALE_INVALID_ARGUMENT,
         std::string("'") + what + "' has " + std::to_string(found) +
             " bytes, expected " + std::to_string(expected));
}

/// The text of a slice; null is legal for no bytes.
std::string_view textOf(BlockscaleSlice slice, const char *what);

/// The text behind a pointer, which may be null.
inline std::string textOf(const char *text) { return text ? text : ""; }

/// `value` as one of the first `count` enumerators.
template <typename Enum, typename CEnum>
Enum enumeratorOf(CEnum value, unsigned count, const char *what) {
  if (static_cast<unsigned>(value) >= count)
    fail(BLOCKSCALE_INVALID_ARGUMENT,
         std::to_string(static_cast<unsigned>(value)) + " is no value of '" +
             what + "', which ends at " + std::to_string(count - 1));
  return static_cast<Enum>(value);
}

/// Refuses sizes that no version of the structure can have: half a pointer is
/// none.
template <typename Options> void requireStructSize(size_t structSize) {
  if (structSize < sizeof(size_t) || structSize > sizeof(Options) ||
      structSize % alignof(Options))
    fail(BLOCKSCALE_INVALID_ARGUMENT,
         "'structSize' is " + std::to_string(structSize) +
             ", this library knows multiples of " +
             std::to_string(alignof(Options)) + " up to " +
             std::to_string(sizeof(Options)) +
             "; was the structure initialised?");
}

/// The options that a program gives, those that it does not know as in
/// `defaults`; null stands for them all.
template <typename Options>
Options optionsOf(const Options *given, const Options &defaults) {
  Options options = defaults;
  if (!given)
    return options;
  requireStructSize<Options>(given->structSize);
  std::memcpy(&options, given, given->structSize);
  return options;
}

/// Fills what a program knows of `options` with `defaults`.
template <typename Options>
void initOptions(Options *options, size_t structSize, Options defaults) {
  requirePointer(options, "options");
  requireStructSize<Options>(structSize);
  defaults.structSize = structSize;
  std::memcpy(options, &defaults, structSize);
}

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

struct Object {
  virtual ~Object() = default;
};

uint64_t addObject(std::shared_ptr<Object> object);
/// Null if there is none.
std::shared_ptr<Object> findObject(uint64_t id);
/// False if there was none.
bool removeObject(uint64_t id);

[[noreturn]] void failHandle(uint64_t id, const char *kind);

/// The object behind a handle; `T::kKind` is what it is called.
template <typename T> std::shared_ptr<T> get(uint64_t id) {
  auto object = std::dynamic_pointer_cast<T>(findObject(id));
  if (!object)
    failHandle(id, T::kKind);
  return object;
}

template <typename T> void destroy(uint64_t id) {
  // The object dies behind the table's lock, with the last call that uses it.
  std::shared_ptr<T> object = get<T>(id);
  if (!removeObject(id))
    failHandle(id, T::kKind);
}

/// What one call at a time may use.
class Exclusive {
public:
  bool enter() { return !used.exchange(true, std::memory_order_acquire); }
  void leave() { used.store(false, std::memory_order_release); }

private:
  std::atomic<bool> used{false};
};

/// Uses an object, which has a member `exclusive`, while it exists.
template <typename T> class Use {
public:
  explicit Use(std::shared_ptr<T> of) : object(std::move(of)) {
    if (!object->exclusive.enter())
      fail(BLOCKSCALE_BUSY,
           std::string("the ") + T::kKind +
               " is in use: by a call of another thread, or by the one that "
               "called back");
  }
  ~Use() { object->exclusive.leave(); }
  Use(const Use &) = delete;
  Use &operator=(const Use &) = delete;

  T *operator->() const { return object.get(); }
  T &operator*() const { return *object; }

private:
  std::shared_ptr<T> object;
};

struct Stop : Object {
  static constexpr const char *kKind = "stop";
  std::atomic<bool> isAsked{false};
};

struct Bytes : Object {
  static constexpr const char *kKind = "object of bytes";
  explicit Bytes(std::string text) : text(std::move(text)) {}
  std::string text;
};

/// A handle for `text`.
inline BlockscaleBytes makeBytes(std::string text) {
  return {addObject(std::make_shared<Bytes>(std::move(text)))};
}

inline BlockscaleSlice sliceOf(std::string_view text) {
  return {text.data(), text.size()};
}

} // namespace blockscale::capi

#endif // BLOCKSCALE_LIB_CAPI_HANDLES_H
