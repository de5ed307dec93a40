/* RUN: %cc %s -o %t %link
   RUN: %t %S/../Compatibility/Inputs/0.1/product.ptx \
   RUN:   %S/../Compatibility/Inputs/0.1/product.plan.json

   A kernel that an earlier version compiled still runs by its plan and is
   right. */

#include "blockscale-c/Emulator.h"
#include "check.h"

static BlockscaleSlice readFile(const char *path) {
  FILE *file = fopen(path, "rb");
  CHECK(file && fseek(file, 0, SEEK_END) == 0);
  long size = ftell(file);
  CHECK(size > 0 && fseek(file, 0, SEEK_SET) == 0);
  char *data = malloc((size_t)size);
  CHECK(data && fread(data, 1, (size_t)size, file) == (size_t)size);
  CHECK(fclose(file) == 0);
  BlockscaleSlice slice = {data, (size_t)size};
  return slice;
}

int main(int argc, char **argv) {
  CHECK(argc == 3);
  BlockscaleVerification verification;
  BlockscaleSlice report;
  bool passed = false;
  CHECK_OK(blockscaleVerify(readFile(argv[1]), readFile(argv[2]), NULL,
                            &verification));
  CHECK_OK(blockscaleVerificationPassed(verification, &passed));
  CHECK_OK(blockscaleVerificationGetReport(verification, &report));
  CHECK(passed && contains(report, "\"compared\": 8192"));
  CHECK_OK(blockscaleVerificationDestroy(verification));
  return 0;
}
