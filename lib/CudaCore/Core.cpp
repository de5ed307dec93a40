//===- Core.cpp - messages and host accesses
//-------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Core.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>
#include <unistd.h>

using namespace blockscale;
using namespace blockscale::cuda;

Core &Core::get() {
  static Core *core = new Core;
  return *core;
}

std::lock_guard<std::recursive_mutex> cuda::locked() {
  return std::lock_guard<std::recursive_mutex>(Core::get().lock);
}

void cuda::say(const std::string &message) {
  // What the program printed so far comes first.
  std::fflush(stdout);
  std::fprintf(stderr, "blockscale: %s\n", message.c_str());
}

void cuda::sayOnce(const std::string &message) {
  static auto *said = new std::set<std::string>;
  auto guard = locked();
  if (said->insert(message).second)
    say(message);
}

//===----------------------------------------------------------------------===//
// Host code that accesses device memory
//===----------------------------------------------------------------------===//

namespace {

struct sigaction previous;

/// The access may have interrupted anything, so no allocation here.
void printHostAccess(uint64_t address, bool isWrite) {
  Core &core = Core::get();
  char text[512];
  int length = std::snprintf(
      text, sizeof text, "blockscale: host code %s device memory at 0x%llx",
      isWrite ? "writes to" : "reads", (unsigned long long)address);
  const Allocation *one = core.memory.nearest(address);
  if (one && one->kind == MemoryKind::Device)
    length += std::snprintf(text + length, sizeof text - size_t(length),
                            ", byte %llu of an allocation of %llu bytes",
                            (unsigned long long)(address - one->address),
                            (unsigned long long)one->size);
  length += std::snprintf(
      text + length, sizeof text - size_t(length),
      ": only kernels may access it; use cudaMemcpy, or allocate with "
      "cudaMallocManaged or cudaMallocHost\n");
  if (write(STDERR_FILENO, text, size_t(length)) < 0)
    _exit(kHostAccessStatus);
}

void handleSegmentationFault(int signal, siginfo_t *info, void *context) {
  auto address = reinterpret_cast<uint64_t>(info->si_addr);
  if (Core::get().memory.isReserved(address)) {
    bool isWrite = false;
#ifdef __x86_64__
    constexpr long kWriteBit = 2; // of the page fault's error code
    auto *state = static_cast<ucontext_t *>(context);
    isWrite = state->uc_mcontext.gregs[REG_ERR] & kWriteBit;
#endif
    printHostAccess(address, isWrite);
    _exit(kHostAccessStatus);
  }
  // Not ours: the fault comes again, to whoever was there before.
  sigaction(signal, &previous, nullptr);
}

} // namespace

void cuda::watchHostAccesses() {
  struct sigaction action{};
  action.sa_sigaction = handleSegmentationFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &previous);
}
