/* What the C tests share. Part of the blockscale project, under the Apache
   License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

#ifndef BLOCKSCALE_TEST_CAPI_CHECK_H
#define BLOCKSCALE_TEST_CAPI_CHECK_H

#include "blockscale-c/Support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the test unless `condition` holds. */
#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: %s does not hold; last error: %s\n", __FILE__,   \
              __LINE__, #condition, blockscaleLastError());                    \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

#define CHECK_OK(call) CHECK((call) == BLOCKSCALE_OK)

/* That a call fails with a status and a sentence. */
#define CHECK_FAILS(status, words, call)                                       \
  do {                                                                         \
    CHECK((call) == (status));                                                 \
    CHECK(strstr(blockscaleLastError(), words) != NULL);                       \
  } while (0)

static inline BlockscaleSlice slice(const char *text) {
  BlockscaleSlice result = {text, strlen(text)};
  return result;
}

static inline bool contains(BlockscaleSlice text, const char *words) {
  size_t length = strlen(words);
  for (size_t i = 0; i + length <= text.size; ++i)
    if (memcmp(text.data + i, words, length) == 0)
      return true;
  return false;
}

#endif /* BLOCKSCALE_TEST_CAPI_CHECK_H */
