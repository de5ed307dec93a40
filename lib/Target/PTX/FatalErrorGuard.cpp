//===- FatalErrorGuard.cpp - survive LLVM's fatal errors ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM reports what a chip lacks ("cannot select") as a fatal error, which ends
// the process. A compiler library must not do that to its host. A handler for
// fatal errors keeps the message, and a crash recovery context brings control
// back. Both are global in LLVM: they are installed while at least one thread
// is inside, and only then.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Target/PTX/FatalErrorGuard.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include <mutex>

using namespace blockscale;

namespace {

std::mutex usersMutex;
unsigned users = 0;
thread_local std::string fatalMessage;

void handleFatalError(void *, const char *message, bool) {
  fatalMessage = message;
  // Another thread's fatal error is not ours to recover from: returning lets
  // LLVM end the process, as it does without a handler.
  if (auto *context = llvm::CrashRecoveryContext::GetCurrent())
    context->HandleExit(1);
}

struct RecoveryScope {
  RecoveryScope() {
    std::lock_guard<std::mutex> lock(usersMutex);
    if (users++ == 0) {
      llvm::CrashRecoveryContext::Enable();
      llvm::install_fatal_error_handler(handleFatalError);
    }
  }
  ~RecoveryScope() {
    std::lock_guard<std::mutex> lock(usersMutex);
    if (--users == 0) {
      llvm::remove_fatal_error_handler();
      llvm::CrashRecoveryContext::Disable();
    }
  }
};

} // namespace

std::optional<std::string>
blockscale::runCatchingFatalErrors(llvm::function_ref<void()> function) {
  RecoveryScope scope;
  fatalMessage.clear();
  llvm::CrashRecoveryContext context;
  if (context.RunSafely(function))
    return std::nullopt;
  return fatalMessage.empty() ? "LLVM ended abnormally" : fatalMessage;
}
