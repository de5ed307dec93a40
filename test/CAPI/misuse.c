/* RUN: %cc %s -o %t %link && %t

   What a program does wrong is an error with a sentence, never a crash. */

#include "blockscale-c/Compiler.h"
#include "blockscale-c/Emulator.h"
#include "blockscale-c/Explain.h"
#include "blockscale-c/Packing.h"
#include "check.h"
#include "product.h"

static const BlockscaleSession kNoSession = {0};
static const BlockscaleModule kNoModule = {0};

static void checkHandles(void) {
  BlockscaleSession session;
  BlockscaleModule module;
  CHECK_OK(blockscaleSessionCreate(&session));
  CHECK_OK(blockscaleModuleParse(session, slice(kProduct), slice(""), &module));

  CHECK_FAILS(BLOCKSCALE_INVALID_HANDLE, "null",
              blockscaleSessionDestroy(kNoSession));
  CHECK_FAILS(BLOCKSCALE_INVALID_HANDLE, "null",
              blockscaleModuleDestroy(kNoModule));
  BlockscaleSession neverMade = {UINT64_MAX};
  CHECK_FAILS(BLOCKSCALE_INVALID_HANDLE, "never made",
              blockscaleSessionDestroy(neverMade));
  BlockscaleSession aModule = {module.id};
  CHECK_FAILS(BLOCKSCALE_INVALID_HANDLE, "another kind",
              blockscaleSessionDestroy(aModule));
  BlockscaleLaunch aSession = {session.id};
  CHECK_FAILS(BLOCKSCALE_INVALID_HANDLE, "another kind",
              blockscaleLaunchRun(aSession, NULL, &(BlockscaleRun){0}));

  /* After it was destroyed, alone or with its session. */
  BlockscaleModule clone;
  CHECK_OK(blockscaleModuleClone(module, &clone));
  CHECK_OK(blockscaleModuleDestroy(clone));
  BlockscaleCompilation compilation = {77};
  CHECK_FAILS(BLOCKSCALE_INVALID_HANDLE, "destroyed",
              blockscaleCompile(clone, NULL, &compilation));
  CHECK(compilation.id == 77);
  CHECK_OK(blockscaleSessionDestroy(session));
  CHECK_FAILS(BLOCKSCALE_INVALID_HANDLE, "destroyed",
              blockscaleSessionDestroy(session));
  BlockscaleBytes bytes;
  CHECK_FAILS(BLOCKSCALE_INVALID_HANDLE, "destroyed",
              blockscaleModulePrint(module, &bytes));
}

static void checkArguments(BlockscaleSession session, BlockscaleModule module) {
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "'session' is null",
              blockscaleSessionCreate(NULL));
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "'module' is null",
              blockscaleModuleParse(session, slice(""), slice(""), NULL));
  BlockscaleModule parsed;
  BlockscaleSlice nothing = {NULL, 5};
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "'source' is null",
              blockscaleModuleParse(session, nothing, slice(""), &parsed));
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "'stage'",
              blockscaleModuleLower(module, (BlockscaleStage)99, NULL));
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "'stage'",
              blockscaleModuleLower(module, (BlockscaleStage)-1, NULL));

  BlockscaleCompilation compilation;
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "'compilation' is null",
              blockscaleCompile(module, NULL, NULL));
  BlockscaleCompileOptions options;
  memset(&options, 0xff, sizeof options);
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "structSize",
              blockscaleCompile(module, &options, &compilation));
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "structSize",
              blockscaleCompileOptionsInit(&options, sizeof options + 1));
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "multiples of 8",
              blockscaleCompileOptionsInit(&options, sizeof options - 1));
  CHECK_OK(blockscaleCompileOptionsInit(&options, sizeof options));
  options.expectedRows = 0;
  CHECK_FAILS(BLOCKSCALE_REFUSED, "at least 1",
              blockscaleCompile(module, &options, &compilation));
  options.expectedRows = 1;
  options.target = "sm_90a";
  CHECK_FAILS(BLOCKSCALE_REFUSED, "unknown target 'sm_90a'",
              blockscaleCompile(module, &options, &compilation));
  options.target = "sm_100a";
  options.withCubin = true;
  options.ptxas = "/there/is/none";
  CHECK_FAILS(BLOCKSCALE_REFUSED, "/there/is/none",
              blockscaleCompile(module, &options, &compilation));
  options.ptxas = "/bin/false";
  CHECK_FAILS(BLOCKSCALE_REFUSED, "ptxas",
              blockscaleCompile(module, &options, &compilation));
  /* A program that knows less of the options. */
  CHECK_OK(blockscaleCompileOptionsInit(&options, 2 * sizeof(void *)));
  CHECK_OK(blockscaleCompile(module, &options, &compilation));
  BlockscaleSlice text;
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "chip 1 of 1",
              blockscaleCompilationGetOutput(compilation, 1,
                                             BLOCKSCALE_OUTPUT_PTX, &text));
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "'output'",
              blockscaleCompilationGetOutput(
                  compilation, 0,
                  (BlockscaleOutput)(BLOCKSCALE_OUTPUT_JOINED_LAUNCHER + 1),
                  &text));
  CHECK_OK(blockscaleCompilationDestroy(compilation));
  CHECK(strcmp(blockscaleLastError(), "") == 0);
  CHECK(strcmp(blockscaleStatusName((BlockscaleStatus)42), "unknown status") ==
        0);
}

/* Sources that are none. */
static void checkSources(BlockscaleSession session) {
  BlockscaleModule module;
  CHECK_FAILS(BLOCKSCALE_REFUSED, "bad.mlir:1:1: custom op 'nonsense'",
              blockscaleModuleParse(session, slice("nonsense"),
                                    slice("bad.mlir"), &module));
  CHECK_FAILS(
      BLOCKSCALE_REFUSED, "illegal scale spec 'e8m0_q32'",
      blockscaleModuleParse(
          session,
          slice("func.func private @f(!blockscale.tensor<64x256xf8E4M3FN, "
                "\"e8m0_q32\">)"),
          slice(""), &module));
  CHECK_FAILS(
      BLOCKSCALE_REFUSED, "",
      blockscaleModuleParse(session, slice("ML\xefR"), slice(""), &module));
  /* Nesting that would take the stack. */
  size_t depth = 100000;
  char *deep = malloc(depth);
  CHECK(deep);
  static const char openers[] = "([{<-";
  for (const char *opener = openers; *opener; ++opener) {
    memset(deep, *opener, depth);
    CHECK_FAILS(BLOCKSCALE_REFUSED, "256 deep",
                blockscaleModuleParse(session, (BlockscaleSlice){deep, depth},
                                      slice(""), &module));
  }
  free(deep);

  /* Nothing to compile. */
  BlockscaleCompilation compilation;
  CHECK_OK(blockscaleModuleParse(session, slice(""), slice(""), &module));
  CHECK_FAILS(BLOCKSCALE_REFUSED, "holds no 'blockscale.matmul'",
              blockscaleCompile(module, NULL, &compilation));
  CHECK_FAILS(BLOCKSCALE_REFUSED, "holds no 'blockscale.matmul'",
              blockscaleModuleLower(module, BLOCKSCALE_STAGE_LLVM, NULL));
  /* Which is no reason to give the module up. */
  CHECK_OK(blockscaleModuleDestroy(module));
}

/* A program that loses count of its emulator, packing and questions. */
static void checkOthers(void) {
  BlockscaleLaunch launch;
  CHECK_FAILS(BLOCKSCALE_REFUSED, "cannot read the PTX",
              blockscaleLaunchCreate(slice("nonsense"), slice("f"), &launch));
  BlockscaleElements elements = {5, false, 1, 8, 8, 0, 0};
  uint64_t size;
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "elements of 5 bits",
              blockscaleElementsGetSize(&elements, &size));
  elements.bits = 8;
  elements.rows = elements.k = UINT64_MAX;
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "63 bits",
              blockscaleElementsGetSize(&elements, &size));
  BlockscaleScales scales = {BLOCKSCALE_SCALES_TILED_128X4, 1, UINT64_MAX, 4};
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "62 bits",
              blockscaleScalesGetSize(&scales, &size));
  scales.rows = 0;
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "empty",
              blockscaleScalesGetSize(&scales, &size));
  scales.layout = (BlockscaleScaleLayout)3;
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "'layout'",
              blockscaleScalesGetSize(&scales, &size));
  float value = 1;
  char codes[4];
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "no format 'e9m9'",
              blockscaleEncode(slice("e9m9"), &value, 1, codes, 1));
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "4 bytes, expected 2",
              blockscaleEncode(slice("bf16"), &value, 1, codes, 4));
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "cannot be that many",
              blockscaleEncode(slice("bf16"), &value, SIZE_MAX, codes, 4));
  bool isLegal;
  BlockscaleBytes text;
  BlockscaleField field = {slice("target"), slice("sm_9")};
  CHECK_FAILS(BLOCKSCALE_REFUSED, "unknown target 'sm_9'",
              blockscaleExplainLegality(&field, 1, &isLegal, &text));
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "'fields' is null",
              blockscaleExplainLegality(NULL, 1, &isLegal, &text));
}

int main(void) {
  checkHandles();
  BlockscaleSession session;
  BlockscaleModule module;
  CHECK_OK(blockscaleSessionCreate(&session));
  CHECK_OK(blockscaleModuleParse(session, slice(kProduct), slice(""), &module));
  checkArguments(session, module);
  checkSources(session);
  checkOthers();
  CHECK_OK(blockscaleSessionDestroy(session));
  return 0;
}
