/* compile-file.c - a file of products to PTX.
   Part of the blockscale project, under the Apache License v2.0 with LLVM
   Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

#include "blockscale-c/Compiler.h"

#include <stdio.h>
#include <stdlib.h>

/* The library says what is wrong, and where. */
static int fail(void) {
  fprintf(stderr, "%s\n", blockscaleLastError());
  return 1;
}

/* The bytes of a file; null if it cannot be read or has a megabyte or more. */
static char *readFile(const char *path, size_t *size) {
  enum { kMost = 1 << 20 };
  FILE *file = fopen(path, "rb");
  char *text = file ? malloc(kMost) : NULL;
  *size = text ? fread(text, 1, kMost, file) : 0;
  if (file)
    fclose(file);
  if (*size == kMost) {
    free(text);
    return NULL;
  }
  return text;
}

int main(int argc, char **argv) {
  BlockscaleSession session;
  BlockscaleModule module;
  BlockscaleCompilation compiled;
  BlockscaleSlice text, ptx, name = {"", 0};
  char *input = argc > 1 ? readFile(argv[1], &text.size) : NULL;
  if (!input) {
    fprintf(stderr, "usage: compile-file FILE.mlir\n");
    return 1;
  }
  text.data = input;
  if (blockscaleSessionCreate(&session) ||
      blockscaleModuleParse(session, text, name, &module) ||
      blockscaleCompile(module, NULL, &compiled) ||
      blockscaleCompilationGetOutput(compiled, 0, BLOCKSCALE_OUTPUT_PTX, &ptx))
    return fail();
  fwrite(ptx.data, 1, ptx.size, stdout);
  blockscaleCompilationDestroy(compiled);
  blockscaleModuleDestroy(module);
  blockscaleSessionDestroy(session);
  free(input);
  return 0;
}
