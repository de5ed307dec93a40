/* RUN: %cc %s -o %t %link && %t

   Calls that are asked to stop, and that tell how far they are. */

#define _POSIX_C_SOURCE 200809L

#include "blockscale-c/Emulator.h"
#include "check.h"

#include <pthread.h>
#include <time.h>

/* Each CTA counts to `n`; 2^32 of them take minutes. */
static const char kCount[] =
    ".version 8.8\n.target sm_100a\n.address_size 64\n"
    ".visible .entry count(.param .u64 out, .param .u32 n)\n"
    "{\n"
    "  .reg .b32 %i, %n;\n"
    "  .reg .pred %more;\n"
    "  ld.param.u32 %n, [n];\n"
    "  mov.u32 %i, 0;\n"
    "again:\n"
    "  add.u32 %i, %i, 1;\n"
    "  setp.ne.u32 %more, %i, %n;\n"
    "  @%more bra again;\n"
    "  ret;\n"
    "}\n";

static BlockscaleLaunch countTo(uint32_t n, uint32_t ctas) {
  static uint32_t out;
  BlockscaleLaunch launch;
  CHECK_OK(blockscaleLaunchCreate(slice(kCount), slice("count"), &launch));
  CHECK_OK(blockscaleLaunchSetGrid(launch, ctas, 1, 1));
  CHECK_OK(blockscaleLaunchAddMemory(launch, &out, sizeof out, true));
  CHECK_OK(blockscaleLaunchAddScalar(launch, &n, sizeof n));
  return launch;
}

static void *askLater(void *stop) {
  struct timespec pause = {0, 200000000};
  nanosleep(&pause, NULL);
  CHECK_OK(blockscaleStopAsk(*(BlockscaleStop *)stop));
  return NULL;
}

static void checkStops(void) {
  BlockscaleLaunch launch = countTo(0, 3);
  BlockscaleRunOptions options;
  BlockscaleRun run;
  CHECK_OK(blockscaleRunOptionsInit(&options, sizeof options));
  CHECK_OK(blockscaleStopCreate(&options.stop));
  pthread_t thread;
  CHECK(!pthread_create(&thread, NULL, askLater, &options.stop));
  CHECK_FAILS(BLOCKSCALE_STOPPED, "asked to stop",
              blockscaleLaunchRun(launch, &options, &run));
  CHECK(!pthread_join(thread, NULL));
  /* What was asked for stays so. */
  CHECK_FAILS(BLOCKSCALE_STOPPED, "asked to stop",
              blockscaleLaunchRun(launch, &options, &run));
  CHECK_OK(blockscaleStopDestroy(options.stop));
  CHECK_FAILS(BLOCKSCALE_INVALID_HANDLE, "no stop has this handle",
              blockscaleLaunchRun(launch, &options, &run));
  CHECK_FAILS(BLOCKSCALE_INVALID_HANDLE, "no stop has this handle",
              blockscaleStopAsk(options.stop));
  CHECK_OK(blockscaleLaunchDestroy(launch));
  CHECK(!strcmp(blockscaleStatusName(BLOCKSCALE_STOPPED), "stopped"));
}

typedef struct Seen {
  uint64_t calls, done, total;
} Seen;

static void note(uint64_t done, uint64_t total, void *seen) {
  Seen *s = seen;
  CHECK(done == s->done + 1);
  ++s->calls;
  s->done = done;
  s->total = total;
}

static void checkProgress(void) {
  BlockscaleLaunch launch = countTo(7, 5);
  BlockscaleRunOptions options;
  BlockscaleRun run;
  Seen seen = {0};
  CHECK_OK(blockscaleRunOptionsInit(&options, sizeof options));
  CHECK(!options.stop.id && !options.progress);
  options.progress = note;
  options.progressData = &seen;
  CHECK_OK(blockscaleLaunchRun(launch, &options, &run));
  CHECK(seen.calls == 5 && seen.done == 5 && seen.total == 5);
  CHECK_OK(blockscaleRunDestroy(run));
  /* A program that was built before there were these fields. */
  BlockscaleRunOptions older = options;
  older.structSize = offsetof(BlockscaleRunOptions, stop);
  CHECK_OK(blockscaleLaunchRun(launch, &older, &run));
  CHECK(seen.calls == 5);
  CHECK_OK(blockscaleRunDestroy(run));
  BlockscaleBytes json;
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "the launch has no plan",
              blockscaleLaunchDescribe(launch, &json));
  CHECK_OK(blockscaleLaunchDestroy(launch));
}

int main(void) {
  checkStops();
  checkProgress();
  return 0;
}
