/* RUN: %cc %s -o %t %link && %t

   Sessions of their own in many threads; many threads in one session, which are
   told so; and a session that is destroyed under them. */

#define _POSIX_C_SOURCE 200809L
#include "blockscale-c/Compiler.h"
#include "check.h"
#include "product.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

enum { kThreads = 4, kRounds = 3 };

static void *compileAlone(void *expected) {
  BlockscaleSession session;
  BlockscaleModule module;
  CHECK_OK(blockscaleSessionCreate(&session));
  CHECK_OK(blockscaleModuleParse(session, slice(kProduct), slice(""), &module));
  BlockscaleCompileOptions options;
  CHECK_OK(blockscaleCompileOptionsInit(&options, sizeof options));
  options.withCubin = true;
  for (int round = 0; round < kRounds; ++round) {
    BlockscaleCompilation compilation;
    BlockscaleSlice ptx, cubin;
    CHECK_OK(blockscaleCompile(module, &options, &compilation));
    CHECK_OK(blockscaleCompilationGetOutput(compilation, 0,
                                            BLOCKSCALE_OUTPUT_CUBIN, &cubin));
    CHECK(cubin.size > 4 && !memcmp(cubin.data, "\177ELF", 4));
    CHECK_OK(blockscaleCompilationGetOutput(compilation, 0,
                                            BLOCKSCALE_OUTPUT_PTX, &ptx));
    const BlockscaleSlice *other = expected;
    CHECK(!other || (ptx.size == other->size &&
                     !memcmp(ptx.data, other->data, ptx.size)));
    CHECK_OK(blockscaleCompilationDestroy(compilation));
  }
  CHECK_OK(blockscaleSessionDestroy(session));
  return NULL;
}

static BlockscaleSession shared;
static BlockscaleModule sharedModule;
static int busy, done, gone;

static void *compileTogether(void *unused) {
  (void)unused;
  for (int round = 0; round < kRounds; ++round) {
    BlockscaleCompilation compilation;
    switch (blockscaleCompile(sharedModule, NULL, &compilation)) {
    case BLOCKSCALE_OK:
      __atomic_add_fetch(&done, 1, __ATOMIC_RELAXED);
      CHECK_OK(blockscaleCompilationDestroy(compilation));
      break;
    case BLOCKSCALE_BUSY:
      CHECK(strstr(blockscaleLastError(), "another thread"));
      __atomic_add_fetch(&busy, 1, __ATOMIC_RELAXED);
      sched_yield();
      break;
    case BLOCKSCALE_INVALID_HANDLE:
      __atomic_add_fetch(&gone, 1, __ATOMIC_RELAXED);
      break;
    default:
      CHECK(false);
    }
  }
  return NULL;
}

static void runThreads(void *(*body)(void *), void *argument, bool destroy) {
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i)
    CHECK(pthread_create(&threads[i], NULL, body, argument) == 0);
  while (destroy && blockscaleSessionDestroy(shared) == BLOCKSCALE_BUSY)
    sched_yield();
  for (int i = 0; i < kThreads; ++i)
    CHECK(pthread_join(threads[i], NULL) == 0);
}

int main(void) {
  CHECK_OK(blockscaleSessionCreate(&shared));
  CHECK_OK(
      blockscaleModuleParse(shared, slice(kProduct), slice(""), &sharedModule));
  BlockscaleCompilation compilation;
  BlockscaleSlice ptx;
  CHECK_OK(blockscaleCompile(sharedModule, NULL, &compilation));
  CHECK_OK(blockscaleCompilationGetOutput(compilation, 0, BLOCKSCALE_OUTPUT_PTX,
                                          &ptx));
  /* Waiting for the assembler does not take the program's alarm away. */
  alarm(1000);
  runThreads(compileAlone, &ptx, false);
  CHECK(alarm(0) > 500);
  runThreads(compileTogether, NULL, false);
  CHECK(done > 0 && done + busy == kThreads * kRounds && gone == 0);
  runThreads(compileTogether, NULL, true);
  CHECK(done + busy + gone == 2 * kThreads * kRounds);
  CHECK_FAILS(BLOCKSCALE_INVALID_HANDLE, "destroyed",
              blockscaleSessionDestroy(shared));
  return 0;
}
