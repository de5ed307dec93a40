// RUN: %cxx %s -o %t %link && %t
//
// A callback of a program in C++ may throw: the call fails and changes nothing,
// and the session goes on.

#include "blockscale-c/Compiler.h"
#include "blockscale-c/Emulator.h"
#include "check.h"
#include <stdexcept>

static unsigned calls = 0;

static void throwing(const BlockscaleDiagnostic *, void *) {
  ++calls;
  throw std::runtime_error("from the callback");
}

static const char kNothing[] =
    ".version 8.8\n.target sm_100a\n.address_size 64\n"
    ".visible .entry nothing() { ret; }\n";

static void throwingProgress(uint64_t, uint64_t, void *) {
  ++calls;
  throw std::runtime_error("from the callback");
}

/// The run goes to its end, and the callback is not called again.
static void checkProgress() {
  BlockscaleLaunch launch;
  BlockscaleRunOptions options;
  BlockscaleRun run = {77};
  CHECK_OK(blockscaleLaunchCreate(slice(kNothing), slice("nothing"), &launch));
  CHECK_OK(blockscaleLaunchSetGrid(launch, 4, 1, 1));
  CHECK_OK(blockscaleRunOptionsInit(&options, sizeof options));
  options.progress = throwingProgress;
  calls = 0;
  CHECK_FAILS(BLOCKSCALE_CALLBACK_FAILED, "threw",
              blockscaleLaunchRun(launch, &options, &run));
  CHECK(calls == 1 && run.id == 77);
  CHECK_OK(blockscaleLaunchDestroy(launch));
}

struct Odd {};

static void throwingOdd(const BlockscaleDiagnostic *, void *) { throw Odd(); }

int main() {
  BlockscaleSession session;
  BlockscaleModule module = {77};
  CHECK_OK(blockscaleSessionCreate(&session));
  CHECK_OK(blockscaleSessionSetDiagnosticCallback(session, throwing, nullptr));
  CHECK_FAILS(
      BLOCKSCALE_CALLBACK_FAILED, "threw an exception",
      blockscaleModuleParse(session,
                            slice("func.func private @f()\nfunc.func private "
                                  "@f()\nfunc.func private @f()"),
                            slice(""), &module));
  CHECK(calls == 1 && module.id == 77);
  CHECK_OK(
      blockscaleSessionSetDiagnosticCallback(session, throwingOdd, nullptr));
  CHECK_FAILS(
      BLOCKSCALE_CALLBACK_FAILED, "threw an exception",
      blockscaleModuleParse(session, slice("nonsense"), slice(""), &module));
  CHECK_OK(blockscaleModuleParse(session, slice(""), slice(""), &module));
  CHECK_OK(blockscaleSessionDestroy(session));
  checkProgress();
}
