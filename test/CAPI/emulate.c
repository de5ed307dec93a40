/* RUN: %cc %s -o %t %link && %t

   A compiled product on the emulator by its plan, with data that differ in
   every row, column and block; and a kernel of somebody else's. */

#include "blockscale-c/Compiler.h"
#include "blockscale-c/Emulator.h"
#include "blockscale-c/Packing.h"
#include "check.h"
#include "product.h"

enum { kM = 128, kN = 64, kK = 256, kBlocks = kK / 32 };

/* Row r holds 1 + r % 3 in the first element of each block and 0 elsewhere; the
   scale of block j is 2^((r + j) % 4). */
static float element(int r) { return (float)(1 + r % 3); }
static int exponent(int r, int j) { return (r + j) % 4; }

static void fill(BlockscaleLaunch launch, const char *data, const char *scales,
                 int rows) {
  static float values[kM * kK];
  static uint8_t codes[kM * kK], plain[kM * kBlocks];
  for (int r = 0; r < rows; ++r)
    for (int k = 0; k < kK; ++k)
      values[r * kK + k] = k % 32 == 0 ? element(r) : 0;
  size_t count = (size_t)rows * kK;
  CHECK_OK(blockscaleEncode(slice("e4m3"), values, count, codes, count));

  uint64_t size;
  BlockscaleElements elements = {8, false, 1, (uint64_t)rows, kK, 0, 0};
  CHECK_OK(blockscaleLaunchGetMemorySize(launch, slice(data), &size));
  uint64_t packedSize;
  CHECK_OK(blockscaleElementsGetSize(&elements, &packedSize));
  CHECK(size == packedSize);
  void *memory = malloc(size);
  CHECK_OK(blockscalePackElements(&elements, codes, count, memory, size));
  CHECK_OK(blockscaleLaunchSetMemory(launch, slice(data), memory, size));

  for (int r = 0; r < rows; ++r)
    for (int j = 0; j < kBlocks; ++j)
      plain[r * kBlocks + j] = (uint8_t)(127 + exponent(r, j));
  BlockscaleScales layout = {BLOCKSCALE_SCALES_TILED_128X4, 1, (uint64_t)rows,
                             kBlocks};
  CHECK_OK(blockscaleScalesGetSize(&layout, &size));
  memory = malloc(size);
  CHECK_OK(blockscalePackScales(&layout, plain, (size_t)rows * kBlocks, 0,
                                memory, size));
  CHECK_OK(blockscaleLaunchSetMemory(launch, slice(scales), memory, size));
}

static void checkProduct(BlockscaleSlice ptx, BlockscaleSlice plan) {
  BlockscaleLaunch launch;
  CHECK_FAILS(
      BLOCKSCALE_REFUSED, "the plan has no kernel 'other'",
      blockscaleLaunchCreateFromPlan(ptx, plan, slice("other"), &launch));
  CHECK_OK(blockscaleLaunchCreateFromPlan(ptx, plan, slice(""), &launch));
  BlockscaleRun run;
  CHECK_FAILS(BLOCKSCALE_REFUSED, "", blockscaleLaunchRun(launch, NULL, &run));
  fill(launch, "a_data", "a_scales", kM);
  fill(launch, "b_data", "b_scales", kN);
  static float d[kM * kN];
  memset(d, 0xff, sizeof d);
  CHECK_FAILS(BLOCKSCALE_REFUSED, "expected 32768",
              blockscaleLaunchSetMemory(launch, slice("d"), d, sizeof d - 4));
  CHECK_FAILS(BLOCKSCALE_REFUSED, "no memory 'e'",
              blockscaleLaunchSetMemory(launch, slice("e"), d, sizeof d));
  CHECK_OK(blockscaleLaunchSetMemory(launch, slice("d"), d, sizeof d));
  CHECK_FAILS(BLOCKSCALE_REFUSED, "no size 'Q'",
              blockscaleLaunchSetSize(launch, slice("Q"), 1));
  CHECK_FAILS(BLOCKSCALE_REFUSED, "no factor 'd'",
              blockscaleLaunchSetFactor(launch, slice("d"), 1));
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "the launch is its plan's",
              blockscaleLaunchSetGrid(launch, 1, 1, 1));
  BlockscaleBytes json;
  BlockscaleSlice description;
  CHECK_OK(blockscaleLaunchDescribe(launch, &json));
  CHECK_OK(blockscaleBytesGet(json, &description));
  CHECK(contains(description, "\"M\":128") &&
        contains(description, "\"role\":\"a_data\",\"kind\":\"tensorMap\"") &&
        contains(description, "\"bytes\":32768,\"alignment\":16") &&
        contains(description, "\"globalDim\":[256,128,1]"));
  CHECK_OK(blockscaleBytesDestroy(json));
  CHECK_OK(blockscaleLaunchRun(launch, NULL, &run));
  bool isClean = false;
  BlockscaleSlice report;
  CHECK_OK(blockscaleRunIsClean(run, &isClean));
  CHECK_OK(blockscaleRunGetReport(run, &report));
  CHECK(isClean && contains(report, "\"clean\": true") &&
        contains(report, "\"mxf8f6f4\": "));
  for (int m = 0; m < kM; ++m)
    for (int n = 0; n < kN; ++n) {
      float expected = 0;
      for (int j = 0; j < kBlocks; ++j)
        expected += element(m) * element(n) *
                    (float)(1 << (exponent(m, j) + exponent(n, j)));
      CHECK(d[m * kN + n] == expected);
    }
  CHECK_OK(blockscaleRunDestroy(run));
  CHECK_OK(blockscaleLaunchDestroy(launch));
}

/* What is told of a verification: steps, and the last place of each. */
typedef struct Told {
  unsigned steps;
  char names[6][40];
  uint64_t done[6], total[6];
} Told;

static void beginStep(BlockscaleSlice step, BlockscaleSlice unit, void *data) {
  Told *told = data;
  CHECK(told->steps < 6);
  CHECK(step.size + unit.size + 2 < sizeof told->names[0]);
  snprintf(told->names[told->steps++], sizeof told->names[0], "%.*s: %.*s",
           (int)step.size, step.data, (int)unit.size, unit.data);
}

static void tellStep(uint64_t done, uint64_t total, void *data) {
  Told *told = data;
  CHECK(told->steps > 0);
  unsigned last = told->steps - 1;
  CHECK(done <= total && (done == 0 || done > told->done[last]));
  CHECK(done == 0 || total == told->total[last]);
  told->done[last] = done;
  told->total[last] = total;
}

/* One run of kM rows and kN columns, in three steps that come to their end. */
static void checkSteps(BlockscaleSlice ptx, BlockscaleSlice plan) {
  BlockscaleVerifyOptions options;
  BlockscaleVerification verification;
  Told told;
  memset(&told, 0, sizeof told);
  CHECK_OK(blockscaleVerifyOptionsInit(&options, sizeof options));
  CHECK(!options.step);
  options.data = BLOCKSCALE_DATA_EXACT;
  options.progress = tellStep;
  options.progressData = &told;
  options.step = beginStep;
  CHECK_OK(blockscaleVerify(ptx, plan, &options, &verification));
  CHECK_OK(blockscaleVerificationDestroy(verification));
  CHECK(told.steps == 3);
  CHECK(strstr(told.names[0], ", inputs: rows"));
  CHECK(strstr(told.names[1], ": clusters"));
  CHECK(strstr(told.names[2], ", reference: tiles"));
  CHECK(told.total[0] == kM + kN);
  for (int i = 0; i < 3; ++i)
    CHECK(told.total[i] > 0 && told.done[i] == told.total[i]);
  /* A program that was built before there were steps. */
  options.structSize = offsetof(BlockscaleVerifyOptions, step);
  told.steps = 1;
  told.done[0] = 0;
  CHECK_OK(blockscaleVerify(ptx, plan, &options, &verification));
  CHECK_OK(blockscaleVerificationDestroy(verification));
  CHECK(told.steps == 1);
}

static void checkVerdicts(BlockscaleSlice ptx, BlockscaleSlice plan) {
  BlockscaleVerifyOptions options;
  BlockscaleVerification verification;
  bool passed = false;
  BlockscaleSlice text, report;
  CHECK_OK(blockscaleVerifyOptionsInit(&options, sizeof options));
  CHECK_OK(blockscaleVerify(ptx, plan, &options, &verification));
  CHECK_OK(blockscaleVerificationPassed(verification, &passed));
  CHECK_OK(blockscaleVerificationGetText(verification, &text));
  CHECK_OK(blockscaleVerificationGetReport(verification, &report));
  CHECK(passed && contains(text, "pass") &&
        contains(report, "\"compared\": 8192"));
  CHECK_OK(blockscaleVerificationDestroy(verification));

  /* A store less is a verdict; text that is cut off is an error. */
  char *edited = malloc(ptx.size);
  CHECK(edited);
  memcpy(edited, ptx.data, ptx.size);
  static const char store[] = "st.global";
  for (size_t i = 0; i + sizeof store < ptx.size; ++i)
    if (!memcmp(edited + i, store, sizeof store - 1))
      memcpy(edited + i, "//", 2);
  CHECK(contains(ptx, store));
  BlockscaleSlice without = {edited, ptx.size};
  CHECK_OK(blockscaleVerify(without, plan, &options, &verification));
  CHECK_OK(blockscaleVerificationPassed(verification, &passed));
  CHECK(!passed);
  CHECK_OK(blockscaleVerificationDestroy(verification));
  BlockscaleSlice half = {ptx.data, ptx.size / 2};
  CHECK_FAILS(BLOCKSCALE_REFUSED, "cannot read the PTX",
              blockscaleVerify(half, plan, NULL, &verification));
  free(edited);
  int64_t sizes[] = {0};
  options.numSms = -1;
  CHECK_FAILS(BLOCKSCALE_REFUSED, "at least 1 SM",
              blockscaleVerify(ptx, plan, &options, &verification));
  options.numSms = 0;
  options.m = sizes;
  options.mCount = 1;
  options.data = (BlockscaleVerifyData)3;
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "'data'",
              blockscaleVerify(ptx, plan, &options, &verification));
}

static const char kAffine[] =
    ".version 8.8\n.target sm_100a\n.address_size 64\n"
    ".visible .entry affine(.param .u64 in, .param .u64 out, .param .u32 add)\n"
    "{\n"
    "  .reg .b32 %thread, %value, %add;\n"
    "  .reg .b64 %in, %out, %from, %to;\n"
    "  ld.param.u64 %in, [in];\n"
    "  ld.param.u64 %out, [out];\n"
    "  ld.param.u32 %add, [add];\n"
    "  mov.u32 %thread, %tid.x;\n"
    "  mad.wide.u32 %from, %thread, 4, %in;\n"
    "  mad.wide.u32 %to, %thread, 4, %out;\n"
    "  ld.global.b32 %value, [%from];\n"
    "  mad.lo.u32 %value, %value, 3, %add;\n"
    "  st.global.b32 [%to], %value;\n"
    "  ret;\n"
    "}\n";

static void checkAnybodysKernel(void) {
  BlockscaleLaunch launch;
  BlockscaleRun run;
  CHECK_FAILS(BLOCKSCALE_REFUSED, "no kernel 'none'",
              blockscaleLaunchCreate(slice(kAffine), slice("none"), &launch));
  CHECK_OK(blockscaleLaunchCreate(slice(kAffine), slice("affine"), &launch));
  uint32_t in[4] = {0, 1, 10, 100}, out[4] = {0}, add = 7;
  CHECK_OK(blockscaleLaunchSetBlock(launch, 4, 1, 1));
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "an extent is 0",
              blockscaleLaunchSetGrid(launch, 1, 0, 1));
  CHECK_OK(blockscaleLaunchAddMemory(launch, in, sizeof in, false));
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "'data' is null",
              blockscaleLaunchAddMemory(launch, NULL, 4, true));
  CHECK_OK(blockscaleLaunchAddMemory(launch, out, sizeof out, true));
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "found 0",
              blockscaleLaunchAddScalar(launch, &add, 0));

  /* An argument is missing: a finding, not a crash. */
  bool isClean = true;
  CHECK_OK(blockscaleLaunchRun(launch, NULL, &run));
  CHECK_OK(blockscaleRunIsClean(run, &isClean));
  CHECK(!isClean);
  CHECK_OK(blockscaleRunDestroy(run));

  CHECK_OK(blockscaleLaunchAddScalar(launch, &add, sizeof add));
  CHECK_OK(blockscaleLaunchRun(launch, NULL, &run));
  CHECK_OK(blockscaleRunIsClean(run, &isClean));
  CHECK(isClean && out[0] == 7 && out[1] == 10 && out[2] == 37 &&
        out[3] == 307);
  CHECK_OK(blockscaleRunDestroy(run));

  /* Out of bounds, by name. */
  CHECK_OK(blockscaleLaunchSetBlock(launch, 5, 1, 1));
  CHECK_OK(blockscaleLaunchRun(launch, NULL, &run));
  BlockscaleSlice report;
  CHECK_OK(blockscaleRunGetReport(run, &report));
  CHECK(contains(report, "\"kind\": \"out-of-bounds\"") &&
        contains(report, "\"lane\": 4"));
  CHECK_OK(blockscaleRunDestroy(run));

  BlockscaleTensorMap map = {0};
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "found 0",
              blockscaleLaunchAddTensorMap(launch, &map, in, sizeof in, false));
  map.rank = 1;
  map.swizzle = 7;
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "'swizzle'",
              blockscaleLaunchAddTensorMap(launch, &map, in, sizeof in, false));
  map.swizzle = 0;
  CHECK_FAILS(BLOCKSCALE_REFUSED, "",
              blockscaleLaunchAddTensorMap(launch, &map, in, sizeof in, false));
  CHECK_OK(blockscaleLaunchDestroy(launch));
}

int main(void) {
  BlockscaleSession session;
  BlockscaleModule module;
  BlockscaleCompilation compilation;
  BlockscaleSlice ptx, plan;
  CHECK_OK(blockscaleSessionCreate(&session));
  CHECK_OK(blockscaleModuleParse(session, slice(kProduct), slice(""), &module));
  CHECK_OK(blockscaleCompile(module, NULL, &compilation));
  /* What was compiled outlives the session. */
  CHECK_OK(blockscaleSessionDestroy(session));
  CHECK_OK(blockscaleCompilationGetOutput(compilation, 0, BLOCKSCALE_OUTPUT_PTX,
                                          &ptx));
  CHECK_OK(blockscaleCompilationGetOutput(compilation, 0,
                                          BLOCKSCALE_OUTPUT_PLAN, &plan));
  checkProduct(ptx, plan);
  checkVerdicts(ptx, plan);
  checkSteps(ptx, plan);
  checkAnybodysKernel();
  CHECK_OK(blockscaleCompilationDestroy(compilation));
  return 0;
}
