//===- LongCall.h - calls that can be watched and ended ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CAPI_LONGCALL_H
#define BLOCKSCALE_LIB_CAPI_LONGCALL_H

#include "Handles.h"
#include <functional>
#include <string_view>

namespace blockscale::capi {

/// What the options of a long call say of its end and of its progress.
class LongCall {
public:
  LongCall(BlockscaleStop stop, BlockscaleProgressCallback callback, void *data)
      : asked(stop.id ? get<Stop>(stop.id) : std::make_shared<Stop>()),
        callback(callback), data(data) {
    requireNotAsked();
  }

  const std::atomic<bool> *stop() const { return &asked->isAsked; }

  /// To be called with what is done, one thread at a time; null if nobody
  /// wants to know.
  std::function<void(uint64_t, uint64_t)> progress() {
    if (!callback)
      return nullptr;
    return [this](uint64_t done, uint64_t total) {
      tell([&] { callback(done, total, data); });
    };
  }

  using StepProgress = std::function<void(std::string_view, std::string_view,
                                          uint64_t, uint64_t)>;
  /// The same for calls of several steps, each of which begins with none done.
  StepProgress progressOfSteps(BlockscaleStepCallback step) {
    if (!callback && !step)
      return nullptr;
    return [this, step](std::string_view name, std::string_view unit,
                        uint64_t done, uint64_t total) {
      tell([&] {
        if (step && done == 0)
          step({name.data(), name.size()}, {unit.data(), unit.size()}, data);
        if (callback)
          callback(done, total, data);
      });
    };
  }

  /// Fails if the call did not come to its end.
  void finish() const {
    if (hasThrown)
      fail(BLOCKSCALE_CALLBACK_FAILED, "the progress callback threw");
    requireNotAsked();
  }

private:
  template <typename Call> void tell(Call call) {
    if (hasThrown)
      return;
    try {
      call();
    } catch (...) {
      hasThrown = true;
    }
  }

  void requireNotAsked() const {
    if (asked->isAsked)
      fail(BLOCKSCALE_STOPPED, "the call was asked to stop");
  }

  std::shared_ptr<Stop> asked;
  BlockscaleProgressCallback callback;
  void *data;
  bool hasThrown = false;
};

} // namespace blockscale::capi

#endif // BLOCKSCALE_LIB_CAPI_LONGCALL_H
