// RUN: %cxx %s -o %t %link && %t
//
// A callback of a program in C++ may throw: the call fails and changes nothing,
// and the session goes on.

#include "blockscale-c/Compiler.h"
#include "check.h"
#include <stdexcept>

static unsigned calls = 0;

static void throwing(const BlockscaleDiagnostic *, void *) {
  ++calls;
  throw std::runtime_error("from the callback");
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
}
