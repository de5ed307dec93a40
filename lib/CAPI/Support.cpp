//===- Support.cpp - status codes, handles, bytes -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"

#include <mutex>
#include <unordered_map>

using namespace blockscale;
using namespace blockscale::capi;

//===----------------------------------------------------------------------===//
// The last error
//===----------------------------------------------------------------------===//

namespace {
struct LastError {
  std::string text;
  /// In place of the text, where there is no memory for one.
  const char *fixed = nullptr;
};
} // namespace

static LastError &lastError() {
  thread_local LastError error;
  return error;
}

BlockscaleStatus capi::setLastError(BlockscaleStatus status,
                                    std::string_view message) noexcept {
  LastError &error = lastError();
  error.fixed = nullptr;
  try {
    error.text = message;
    // What follows a zero is lost to a program in C.
    for (char &character : error.text)
      if (character == '\0')
        character = ' ';
  } catch (...) {
    error.fixed = "out of memory";
  }
  return status;
}

const char *blockscaleLastError() {
  const LastError &error = lastError();
  return error.fixed ? error.fixed : error.text.c_str();
}

const char *blockscaleStatusName(BlockscaleStatus status) {
  switch (status) {
  case BLOCKSCALE_OK:
    return "ok";
  case BLOCKSCALE_INVALID_ARGUMENT:
    return "invalid argument";
  case BLOCKSCALE_INVALID_HANDLE:
    return "invalid handle";
  case BLOCKSCALE_BUSY:
    return "busy";
  case BLOCKSCALE_REFUSED:
    return "refused";
  case BLOCKSCALE_CALLBACK_FAILED:
    return "callback failed";
  case BLOCKSCALE_OUT_OF_MEMORY:
    return "out of memory";
  case BLOCKSCALE_INTERNAL:
    return "internal error";
  case BLOCKSCALE_STOPPED:
    return "stopped";
  }
  return "unknown status";
}

const char *blockscaleVersion() { return BLOCKSCALE_VERSION; }

void blockscaleApiVersion(uint32_t *major, uint32_t *minor) {
  if (major)
    *major = BLOCKSCALE_C_API_MAJOR;
  if (minor)
    *minor = BLOCKSCALE_C_API_MINOR;
}

std::string_view capi::textOf(BlockscaleSlice slice, const char *what) {
  if (!slice.data && slice.size)
    fail(BLOCKSCALE_INVALID_ARGUMENT,
         std::string("'") + what + "' is null but has a size");
  if (slice.size > SIZE_MAX / 2)
    fail(BLOCKSCALE_INVALID_ARGUMENT,
         std::string("'") + what + "' cannot be that large");
  return {slice.data, slice.size};
}

//===----------------------------------------------------------------------===//
// The table of objects
//===----------------------------------------------------------------------===//

namespace {
struct Table {
  std::mutex mutex;
  std::unordered_map<uint64_t, std::shared_ptr<Object>> objects;
  uint64_t last = 0;
};
} // namespace

/// Never destroyed: other threads may be in a call when the process ends.
static Table &table() {
  static Table *const instance = new Table;
  return *instance;
}

uint64_t capi::addObject(std::shared_ptr<Object> object) {
  std::lock_guard<std::mutex> lock(table().mutex);
  uint64_t id = table().last + 1;
  table().objects.emplace(id, std::move(object));
  return table().last = id;
}

std::shared_ptr<Object> capi::findObject(uint64_t id) {
  std::lock_guard<std::mutex> lock(table().mutex);
  auto found = table().objects.find(id);
  return found == table().objects.end() ? nullptr : found->second;
}

bool capi::removeObject(uint64_t id) {
  std::lock_guard<std::mutex> lock(table().mutex);
  return table().objects.erase(id) != 0;
}

void capi::failHandle(uint64_t id, const char *kind) {
  std::string what = std::string("no ") + kind + " has this handle";
  if (id == 0)
    what += ", which is null";
  else if (findObject(id))
    what += ", which is of another kind";
  else
    what += ": it was destroyed, or never made";
  fail(BLOCKSCALE_INVALID_HANDLE, std::move(what));
}

//===----------------------------------------------------------------------===//
// Stops
//===----------------------------------------------------------------------===//

BlockscaleStatus blockscaleStopCreate(BlockscaleStop *stop) {
  return guarded([&] {
    requirePointer(stop, "stop");
    *stop = {addObject(std::make_shared<Stop>())};
  });
}

BlockscaleStatus blockscaleStopAsk(BlockscaleStop stop) {
  return guarded([&] { get<Stop>(stop.id)->isAsked = true; });
}

BlockscaleStatus blockscaleStopDestroy(BlockscaleStop stop) {
  return guarded([&] { destroy<Stop>(stop.id); });
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

BlockscaleStatus blockscaleBytesGet(BlockscaleBytes bytes,
                                    BlockscaleSlice *slice) {
  return guarded([&] {
    requirePointer(slice, "slice");
    *slice = sliceOf(get<Bytes>(bytes.id)->text);
  });
}

BlockscaleStatus blockscaleBytesDestroy(BlockscaleBytes bytes) {
  return guarded([&] { destroy<Bytes>(bytes.id); });
}
