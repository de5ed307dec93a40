/* A libcuda.so.1 that does nothing, to measure what a launch costs besides the
   driver. Part of the blockscale project, under the Apache License v2.0 with
   LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

#include <stdint.h>
#include <string.h>

static int nothing(void) { return 0; }
static int one(int *result) {
  *result = 1;
  return 0;
}
static int zero(int *result) {
  *result = 0;
  return 0;
}
static int device(int *result, int ordinal) {
  *result = ordinal;
  return 0;
}
static int attribute(int *result, int which) {
  /* Compute capability 10.0 and 148 multiprocessors. */
  *result = which == 75 ? 10 : which == 16 ? 148 : 0;
  return 0;
}
static int name(char *result) {
  strcpy(result, "nothing");
  return 0;
}
static int handle(void **result) {
  *result = (void *)0x1000;
  return 0;
}
static int allocate(uint64_t *result, uint64_t size) {
  static uint64_t next = 0x7f0000000000;
  *result = next;
  next += (size + 511) / 512 * 512;
  return 0;
}
static int clusters(int *result) {
  *result = 74;
  return 0;
}

#define VISIBLE __attribute__((visibility("default")))

VISIBLE int cuGetProcAddress_v2(const char *symbol, void **pointer, int version,
                                uint64_t flags, int *status) {
  static const struct {
    const char *name;
    void *function;
  } known[] = {{"cuGetProcAddress", (void *)cuGetProcAddress_v2},
               {"cuDeviceGetCount", (void *)one},
               {"cuDeviceGet", (void *)device},
               {"cuDeviceGetAttribute", (void *)attribute},
               {"cuDeviceGetName", (void *)name},
               {"cuDevicePrimaryCtxRetain", (void *)handle},
               {"cuCtxGetCurrent", (void *)handle},
               {"cuCtxGetDevice", (void *)zero},
               {"cuLibraryLoadData", (void *)handle},
               {"cuLibraryGetKernel", (void *)handle},
               {"cuMemAlloc", (void *)allocate},
               {"cuOccupancyMaxActiveClusters", (void *)clusters}};
  (void)version, (void)flags;
  *pointer = (void *)nothing;
  for (unsigned i = 0; i < sizeof known / sizeof *known; ++i)
    if (!strcmp(symbol, known[i].name))
      *pointer = known[i].function;
  if (status)
    *status = 0;
  return 0;
}

VISIBLE int cuGetProcAddress(const char *symbol, void **pointer, int version,
                             uint64_t flags) {
  return cuGetProcAddress_v2(symbol, pointer, version, flags, 0);
}
VISIBLE int cuInit(unsigned flags) { return (void)flags, 0; }
