/* RUN: %cc %s -o %t %link && %t

   A module of another compiler becomes ours; its function is called with arrays
   and judged. */

#include "blockscale-c/Functions.h"
#include "check.h"

#define DOT                                                                    \
  "%0 = \"stablehlo.composite\"(%a, %b, %s, %t) <{composite_attributes = "     \
  "{dimension_numbers = [[[1], [1]], [[], []]]}, name = "                      \
  "\"xla.scaled_dot\"}> : (tensor<?x32xf8E4M3FN>, tensor<8x32xf8E4M3FN>, "     \
  "tensor<?x1xf8E8M0FNU>, tensor<8x1xf8E8M0FNU>) -> tensor<?x8xf32>\n"

/* d = a b^T + bias, d * d. */
static const char kForeign[] =
    "func.func @main(%a: tensor<?x32xf8E4M3FN>, %b: tensor<8x32xf8E4M3FN>, %s: "
    "tensor<?x1xf8E8M0FNU>, %t: tensor<8x1xf8E8M0FNU>, %v: tensor<?x8xf32>) -> "
    "(tensor<?x8xf32>, tensor<?x8xf32>) {\n" DOT
    "%1 = arith.addf %0, %v : tensor<?x8xf32>\n"
    "%2 = arith.mulf %1, %1 : tensor<?x8xf32>\n"
    "return %1, %2 : tensor<?x8xf32>, tensor<?x8xf32>\n}\n";

static const char kUnknown[] =
    "func.func @main(%a: tensor<?x32xf8E4M3FN>, %b: tensor<8x32xf8E4M3FN>, %s: "
    "tensor<?x1xf8E8M0FNU>, %t: tensor<8x1xf8E8M0FNU>) -> tensor<?x8xf32> "
    "{\n" DOT "%1 = \"acme.twist\"(%0) : (tensor<?x8xf32>) -> "
    "tensor<?x8xf32>\nreturn %1 : tensor<?x8xf32>\n}\n";

enum { ROWS = 4, COLUMNS = 8, K = 32 };

/* 1 to 8 in e4m3. */
static const unsigned char kCodes[] = {0x38, 0x40, 0x44, 0x48,
                                       0x4a, 0x4c, 0x4e, 0x50};

typedef struct Operands {
  unsigned char a[ROWS * K], b[COLUMNS * K], s[ROWS], t[COLUMNS];
  float v[ROWS * COLUMNS];
} Operands;

/* a[m, m] = m + 1 and b[n, k] = n + 1; the scales of a are 1 and 2 in turn,
   those of b are 1/2. */
static Operands makeOperands(void) {
  Operands made;
  memset(&made, 0, sizeof made);
  for (int m = 0; m < ROWS; ++m) {
    made.a[m * K + m] = kCodes[m];
    made.s[m] = (unsigned char)(127 + m % 2);
  }
  for (int n = 0; n < COLUMNS; ++n) {
    memset(made.b + n * K, kCodes[n], K);
    made.t[n] = 126;
  }
  for (int i = 0; i < ROWS * COLUMNS; ++i)
    made.v[i] = (float)(100 * i);
  return made;
}

typedef struct Progress {
  int steps, calls;
  BlockscaleStop stop;
} Progress;

static void step(BlockscaleSlice name, BlockscaleSlice unit, void *data) {
  CHECK(contains(name, "main") && contains(unit, "clusters"));
  Progress *seen = data;
  ++seen->steps;
  if (seen->stop.id)
    CHECK_OK(blockscaleStopAsk(seen->stop));
}

static void progress(uint64_t done, uint64_t total, void *data) {
  CHECK(done <= total);
  ++((Progress *)data)->calls;
}

static void checkCall(BlockscaleProgram program) {
  Operands operands = makeOperands();
  int64_t shapes[5][2] = {
      {ROWS, K}, {COLUMNS, K}, {ROWS, 1}, {COLUMNS, 1}, {ROWS, COLUMNS}};
  BlockscaleArray arguments[5] = {
      {operands.a, sizeof operands.a, shapes[0], 2},
      {operands.b, sizeof operands.b, shapes[1], 2},
      {operands.s, sizeof operands.s, shapes[2], 2},
      {operands.t, sizeof operands.t, shapes[3], 2},
      {operands.v, sizeof operands.v, shapes[4], 2}};
  Progress seen = {0, 0, {0}};
  BlockscaleCallOptions options;
  CHECK_OK(blockscaleCallOptionsInit(&options, sizeof options));
  options.progress = progress;
  options.step = step;
  options.progressData = &seen;
  BlockscaleCall call;
  CHECK_OK(
      blockscaleProgramCall(program, slice(""), arguments, 5, &options, &call));
  CHECK(seen.steps == 1 && seen.calls >= 1);
  /* A stop that is asked for before the launch ends the call. */
  BlockscaleCall stopped;
  CHECK_OK(blockscaleStopCreate(&seen.stop));
  options.stop = seen.stop;
  CHECK_FAILS(BLOCKSCALE_STOPPED, "asked to stop",
              blockscaleProgramCall(program, slice(""), arguments, 5, &options,
                                    &stopped));
  CHECK_OK(blockscaleStopDestroy(seen.stop));
  size_t count = 0;
  CHECK_OK(blockscaleCallGetResultCount(call, &count));
  CHECK(count == 2);
  BlockscaleArray sum, square;
  CHECK_OK(blockscaleCallGetResult(call, 0, &sum));
  CHECK_OK(blockscaleCallGetResult(call, 1, &square));
  CHECK(sum.rank == 2 && sum.shape[0] == ROWS && sum.shape[1] == COLUMNS &&
        sum.size == ROWS * COLUMNS * sizeof(float));
  for (int m = 0; m < ROWS; ++m)
    for (int n = 0; n < COLUMNS; ++n) {
      int i = m * COLUMNS + n;
      float d = (float)((m + 1) * (n + 1) * (1 + m % 2)) / 2 + 100 * (float)i;
      CHECK(((const float *)sum.data)[i] == d);
      CHECK(((const float *)square.data)[i] == d * d);
    }
  BlockscaleSlice report;
  CHECK_OK(blockscaleCallGetReport(call, &report));
  CHECK(contains(report, "\"clean\": true") &&
        contains(report, "\"kernel\": \"main") &&
        contains(report, "\"clusters\": 1"));
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "result 2 of 2",
              blockscaleCallGetResult(call, 2, &sum));
  CHECK_OK(blockscaleCallDestroy(call));

  /* Sizes that the function needs equal, a wrong size, too few bytes. */
  arguments[4].shape = (int64_t[]){2, COLUMNS};
  arguments[4].size /= 2;
  CHECK_FAILS(
      BLOCKSCALE_REFUSED,
      "size 0 of argument 4 is 2, but size 0 of argument 0 is 4, and the "
      "function needs them equal",
      blockscaleProgramCall(program, slice("main"), arguments, 5, NULL, &call));
  arguments[4].shape = shapes[4];
  CHECK_FAILS(
      BLOCKSCALE_REFUSED, "argument 4 has 64 bytes, expected 128: 4x8 of f32",
      blockscaleProgramCall(program, slice("main"), arguments, 5, NULL, &call));
  arguments[1].rank = 1;
  CHECK_FAILS(
      BLOCKSCALE_REFUSED, "argument 1 is 8, expected 8x32",
      blockscaleProgramCall(program, slice("main"), arguments, 5, NULL, &call));
  CHECK_FAILS(
      BLOCKSCALE_REFUSED, "'main' takes 5 arrays, found 4",
      blockscaleProgramCall(program, slice("main"), arguments, 4, NULL, &call));
  CHECK_FAILS(BLOCKSCALE_REFUSED, "no function 'other'; there are 'main'",
              blockscaleProgramCall(program, slice("other"), arguments, 5, NULL,
                                    &call));
  arguments[0].data = NULL;
  CHECK_FAILS(
      BLOCKSCALE_INVALID_ARGUMENT, "'data' is null",
      blockscaleProgramCall(program, slice("main"), arguments, 5, NULL, &call));
}

static void checkVerdicts(BlockscaleModule module) {
  BlockscaleVerifyOptions options;
  CHECK_OK(blockscaleVerifyOptionsInit(&options, sizeof options));
  int64_t rows = 5;
  options.m = &rows;
  options.mCount = 1;
  options.data = BLOCKSCALE_DATA_EXACT;
  BlockscaleVerification verification;
  CHECK_OK(blockscaleVerifyFunctions(module, NULL, &options, &verification));
  bool passed = false;
  CHECK_OK(blockscaleVerificationPassed(verification, &passed));
  CHECK(passed);
  BlockscaleSlice report;
  CHECK_OK(blockscaleVerificationGetReport(verification, &report));
  CHECK(contains(report, "\"function\": \"main\"") &&
        contains(report, "\"sizes\": \"5\"") &&
        contains(report, "\"compared\": 80") &&
        contains(report, "\"launches\": 1"));
  CHECK_OK(blockscaleVerificationDestroy(verification));
  rows = 0;
  CHECK_FAILS(BLOCKSCALE_REFUSED, "m = 0: expected at least 1",
              blockscaleVerifyFunctions(module, NULL, &options, &verification));
}

int main(void) {
  BlockscaleSession session;
  CHECK_OK(blockscaleSessionCreate(&session));
  BlockscaleModule module;
  /* What is read without import has no foreign ops, before and after one. */
  for (int round = 0; round < 2; ++round) {
    CHECK_FAILS(BLOCKSCALE_REFUSED, "unregistered",
                blockscaleModuleParse(session, slice(kForeign),
                                      slice("in.mlir"), &module));
    CHECK_FAILS(BLOCKSCALE_REFUSED, "'acme.twist' is of no dialect",
                blockscaleModuleImport(session, slice(kUnknown),
                                       slice("in.mlir"), NULL, &module));
  }
  CHECK_OK(blockscaleModuleImport(session, slice(kForeign), slice("in.mlir"),
                                  NULL, &module));
  BlockscaleBytes text;
  BlockscaleSlice printed;
  CHECK_OK(blockscaleModulePrint(module, &text));
  CHECK_OK(blockscaleBytesGet(text, &printed));
  CHECK(contains(printed, "blockscale.matmul") &&
        !contains(printed, "stablehlo"));
  CHECK_OK(blockscaleBytesDestroy(text));

  checkVerdicts(module);
  BlockscaleProgram program;
  CHECK_OK(blockscaleProgramCreate(module, NULL, &program));
  BlockscaleSlice description;
  CHECK_OK(blockscaleProgramDescribe(program, &description));
  CHECK(contains(description, "\"name\": \"main\"") &&
        contains(description, "\"element\": \"f8E8M0FNU\"") &&
        contains(description, "null"));
  /* It needs the session no more. */
  CHECK_OK(blockscaleSessionDestroy(session));
  checkCall(program);
  CHECK_OK(blockscaleProgramDestroy(program));
  CHECK_FAILS(BLOCKSCALE_INVALID_HANDLE, "", blockscaleProgramDestroy(program));

  BlockscaleCompileOptions options;
  CHECK_OK(blockscaleCompileOptionsInit(&options, sizeof options));
  options.target = "sm_42";
  CHECK_OK(blockscaleSessionCreate(&session));
  CHECK_FAILS(BLOCKSCALE_REFUSED, "sm_42",
              blockscaleModuleImport(session, slice(kForeign), slice(""),
                                     &options, &module));
  CHECK_OK(blockscaleSessionDestroy(session));
  return 0;
}
