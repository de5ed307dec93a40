/* RUN: rm -rf %t.cache && %cc %s -o %t %link && %t %t.cubin %t.cache
   RUN: find %t.cache -type f | wc -l | FileCheck %s --check-prefix=ENTRIES
   RUN: llvm-readelf -S %t.cubin | FileCheck %s
   CHECK: .text.product
   ENTRIES: {{^ *}}2{{$}}

   Text or bytecode in; PTX, cubin, plan, report and the IR of a stage out. */

#include "blockscale-c/Compiler.h"
#include "check.h"
#include "product.h"

static BlockscaleSlice output(BlockscaleCompilation compilation,
                              BlockscaleOutput which) {
  BlockscaleSlice result = {NULL, 0};
  CHECK_OK(blockscaleCompilationGetOutput(compilation, 0, which, &result));
  return result;
}

static void checkStages(BlockscaleSession session) {
  static const char *const marks[] = {"schedule(", "gpu.module", "steps [",
                                      "nvvm.", "llvm.func"};
  for (int stage = BLOCKSCALE_STAGE_TENSOR; stage <= BLOCKSCALE_STAGE_LLVM;
       ++stage) {
    BlockscaleModule module;
    CHECK_OK(
        blockscaleModuleParse(session, slice(kProduct), slice(""), &module));
    CHECK_OK(blockscaleModuleLower(module, (BlockscaleStage)stage, NULL));
    BlockscaleBytes text;
    BlockscaleSlice printed;
    CHECK_OK(blockscaleModulePrint(module, &text));
    CHECK_OK(blockscaleBytesGet(text, &printed));
    CHECK(contains(printed, marks[stage]));
    CHECK_OK(blockscaleBytesDestroy(text));
    /* It does not go back. */
    if (stage > BLOCKSCALE_STAGE_TENSOR)
      CHECK_FAILS(BLOCKSCALE_REFUSED, "already",
                  blockscaleModuleLower(module, BLOCKSCALE_STAGE_TENSOR, NULL));
    CHECK_OK(blockscaleModuleDestroy(module));
  }
}

/* A function with more than a product becomes code that calls the runtime. */
static void checkHostStages(BlockscaleSession session) {
  static const char kFunction[] =
      "!x = !blockscale.tensor<64x128xf8E4M3FN, \"e8m0_t32\", layout = "
      "tiled_128x4>\n"
      "func.func @f(%x: !x) -> tensor<64x64xf32> {\n"
      "  %y = blockscale.matmul %x, %x : !x, !x -> tensor<64x64xf32>\n"
      "  %z = arith.negf %y : tensor<64x64xf32>\n"
      "  return %z : tensor<64x64xf32>\n"
      "}\n";
  static const char *const marks[] = {"blockscale.launch_into", "gpu.binary",
                                      "llvm.call @blockscaleRuntimeRun"};
  for (int stage = BLOCKSCALE_STAGE_HOST_LINALG;
       stage <= BLOCKSCALE_STAGE_HOST_LLVM; ++stage) {
    BlockscaleModule module;
    CHECK_OK(
        blockscaleModuleParse(session, slice(kFunction), slice(""), &module));
    CHECK_OK(blockscaleModuleLower(module, (BlockscaleStage)stage, NULL));
    BlockscaleBytes text;
    BlockscaleSlice printed;
    CHECK_OK(blockscaleModulePrint(module, &text));
    CHECK_OK(blockscaleBytesGet(text, &printed));
    CHECK(contains(printed, marks[stage - BLOCKSCALE_STAGE_HOST_LINALG]));
    CHECK_OK(blockscaleBytesDestroy(text));
    CHECK_OK(blockscaleModuleDestroy(module));
  }
  BlockscaleModule late;
  CHECK_OK(blockscaleModuleParse(session, slice(kFunction), slice(""), &late));
  CHECK_OK(blockscaleModuleLower(late, BLOCKSCALE_STAGE_NVVM, NULL));
  CHECK_FAILS(BLOCKSCALE_REFUSED, "already",
              blockscaleModuleLower(late, BLOCKSCALE_STAGE_HOST_LLVM, NULL));
  CHECK_OK(blockscaleModuleDestroy(late));
}

static void checkBytecode(BlockscaleSession session, BlockscaleModule module,
                          BlockscaleSlice ptx) {
  BlockscaleBytes bytes;
  BlockscaleSlice bytecode;
  CHECK_OK(blockscaleModuleWriteBytecode(module, &bytes));
  CHECK_OK(blockscaleBytesGet(bytes, &bytecode));
  CHECK(bytecode.size > 4 && memcmp(bytecode.data, "ML\xefR", 4) == 0);
  BlockscaleModule again;
  CHECK_OK(blockscaleModuleParse(session, bytecode, slice(""), &again));
  CHECK_OK(blockscaleBytesDestroy(bytes));
  BlockscaleCompileOptions options;
  CHECK_OK(blockscaleCompileOptionsInit(&options, sizeof options));
  options.target = "sm_103a";
  BlockscaleCompilation compilation;
  CHECK_OK(blockscaleCompile(again, &options, &compilation));
  BlockscaleSlice same = output(compilation, BLOCKSCALE_OUTPUT_PTX);
  CHECK(same.size == ptx.size && !memcmp(same.data, ptx.data, ptx.size));
  CHECK_OK(blockscaleCompilationDestroy(compilation));
}

/* Scales lie as kernels read them beside the other operand's. */
static void checkScaleLayouts(void) {
  static const char kFractions[] =
      "!blockscale.tensor<?x64xf4E2M1FN, \"e4m3fn_t16\">";
  static const char kBytes[] = "!blockscale.tensor<?x64xf8E4M3FN>";
  static const char kPowers[] =
      "!blockscale.tensor<?x64xf8E4M3FN, \"e8m0_t32\">";
  static const char kSparse[] =
      "!blockscale.tensor<?x64xf8E4M3FN, \"float32_t32n2m4\">";
  BlockscaleSlice a, b;
  CHECK_OK(
      blockscaleFindScaleLayouts(slice(kFractions), slice(kFractions), &a, &b));
  CHECK(contains(a, "tiled_128x4") && contains(b, "tiled_128x4"));
  CHECK_OK(
      blockscaleFindScaleLayouts(slice(kFractions), slice(kBytes), &a, &b));
  CHECK(contains(a, "plain") && contains(b, "plain"));
  CHECK_OK(blockscaleFindScaleLayouts(slice(kSparse), slice(kPowers), &a, &b));
  CHECK(contains(a, "tiled_128x4") && contains(b, "tiled_128x4"));
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "'b' is no type of a scaled tensor",
              blockscaleFindScaleLayouts(slice(kBytes), slice("f32"), &a, &b));
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "illegal scale spec 'e9m0'",
              blockscaleFindScaleLayouts(
                  slice("!blockscale.tensor<8x64xf8E4M3FN, \"e9m0\">"),
                  slice(kBytes), &a, &b));
}

/* From a cache comes what was put into it: a kernel and a cubin. */
static void checkCache(BlockscaleModule module, const char *folder,
                       BlockscaleSlice cubin) {
  BlockscaleCompileOptions options;
  CHECK_OK(blockscaleCompileOptionsInit(&options, sizeof options));
  options.target = "sm_103a";
  options.withCubin = true;
  options.cache = folder;
  options.threads = 2;
  for (int round = 0; round < 2; ++round) {
    BlockscaleCompilation compilation;
    CHECK_OK(blockscaleCompile(module, &options, &compilation));
    BlockscaleSlice same = output(compilation, BLOCKSCALE_OUTPUT_CUBIN);
    CHECK(same.size == cubin.size);
    CHECK(contains(output(compilation, BLOCKSCALE_OUTPUT_REPORT),
                   "\"registers\": "));
    CHECK(contains(output(compilation, BLOCKSCALE_OUTPUT_PLAN),
                   "\"functions\": "));
    CHECK_OK(blockscaleCompilationDestroy(compilation));
  }
}

/* Kernels for several targets, and one plan and launcher for all. */
static void checkTargets(BlockscaleModule module) {
  BlockscaleCompileOptions options;
  CHECK_OK(blockscaleCompileOptionsInit(&options, sizeof options));
  options.target = "sm_100f,sm_103a";
  BlockscaleCompilation compilation;
  CHECK_OK(blockscaleCompile(module, &options, &compilation));
  size_t chips = 0;
  CHECK_OK(blockscaleCompilationGetChipCount(compilation, &chips));
  CHECK(chips == 2);
  static const char *const names[] = {"sm_103a", "sm_100f"};
  for (size_t chip = 0; chip < chips; ++chip) {
    BlockscaleSlice text;
    CHECK_OK(blockscaleCompilationGetOutput(compilation, chip,
                                            BLOCKSCALE_OUTPUT_TARGET, &text));
    CHECK(contains(text, names[chip]));
    CHECK_OK(blockscaleCompilationGetOutput(compilation, chip,
                                            BLOCKSCALE_OUTPUT_PTX, &text));
    CHECK(contains(text, names[chip]));
    CHECK_OK(blockscaleCompilationGetOutput(compilation, chip,
                                            BLOCKSCALE_OUTPUT_PLAN, &text));
    CHECK(contains(text, names[chip]));
    CHECK(!contains(text, names[1 - chip]));
    CHECK_OK(blockscaleCompilationGetOutput(
        compilation, chip, BLOCKSCALE_OUTPUT_JOINED_PLAN, &text));
    CHECK(contains(text, names[0]) && contains(text, names[1]));
    CHECK_OK(blockscaleCompilationGetOutput(
        compilation, chip, BLOCKSCALE_OUTPUT_JOINED_LAUNCHER, &text));
    CHECK(contains(text, "pickTarget"));
  }
  CHECK_OK(blockscaleCompilationDestroy(compilation));
  /* One target leaves no choice. */
  options.target = "sm_103a";
  CHECK_OK(blockscaleCompile(module, &options, &compilation));
  CHECK(output(compilation, BLOCKSCALE_OUTPUT_JOINED_PLAN).size == 0);
  CHECK(output(compilation, BLOCKSCALE_OUTPUT_JOINED_LAUNCHER).size == 0);
  CHECK_OK(blockscaleCompilationDestroy(compilation));
  options.target = "sm_100a,sm_100a";
  CHECK_FAILS(BLOCKSCALE_REFUSED, "named twice",
              blockscaleCompile(module, &options, &compilation));
  options.target = "sm_100a,sm_107a";
  CHECK_FAILS(BLOCKSCALE_REFUSED, "a stage is for one target",
              blockscaleModuleLower(module, BLOCKSCALE_STAGE_KERNEL, &options));
}

int main(int argc, char **argv) {
  CHECK(argc == 3);
  BlockscaleSession session;
  CHECK_OK(blockscaleSessionCreate(&session));
  BlockscaleModule module;
  CHECK_OK(blockscaleModuleParse(session, slice(kProduct), slice("in.mlir"),
                                 &module));

  BlockscaleCompileOptions options;
  CHECK_OK(blockscaleCompileOptionsInit(&options, sizeof options));
  CHECK(options.expectedRows == 4096 && !options.withCubin);
  options.target = "sm_103a";
  options.withCubin = true;
  BlockscaleCompilation compilation;
  CHECK_OK(blockscaleCompile(module, &options, &compilation));
  size_t chips = 0;
  CHECK_OK(blockscaleCompilationGetChipCount(compilation, &chips));
  CHECK(chips == 1);
  BlockscaleSlice target = output(compilation, BLOCKSCALE_OUTPUT_TARGET);
  CHECK(target.size == 7 && !memcmp(target.data, "sm_103a", 7));
  BlockscaleSlice ptx = output(compilation, BLOCKSCALE_OUTPUT_PTX);
  CHECK(contains(ptx, ".target sm_103a"));
  CHECK(contains(ptx, ".entry product("));
  CHECK(contains(ptx, "tcgen05.mma"));
  CHECK(contains(output(compilation, BLOCKSCALE_OUTPUT_PLAN),
                 "\"sourceFunction\": \"product\""));
  CHECK(contains(output(compilation, BLOCKSCALE_OUTPUT_REPORT),
                 "\"registers\": "));
  CHECK(
      contains(output(compilation, BLOCKSCALE_OUTPUT_REPORT_TEXT), "product"));
  CHECK(contains(output(compilation, BLOCKSCALE_OUTPUT_LAUNCHER), "cuda.h"));
  BlockscaleSlice cubin = output(compilation, BLOCKSCALE_OUTPUT_CUBIN);
  FILE *file = fopen(argv[1], "wb");
  CHECK(file && fwrite(cubin.data, 1, cubin.size, file) == cubin.size);
  CHECK(fclose(file) == 0);

  checkCache(module, argv[2], cubin);

  /* The module is as it was. */
  BlockscaleBytes text;
  BlockscaleSlice printed;
  CHECK_OK(blockscaleModulePrint(module, &text));
  CHECK_OK(blockscaleBytesGet(text, &printed));
  CHECK(contains(printed, "blockscale.matmul") &&
        !contains(printed, "gpu.module"));

  checkBytecode(session, module, ptx);
  checkStages(session);
  checkHostStages(session);
  checkTargets(module);
  checkScaleLayouts();
  CHECK_OK(blockscaleCompilationDestroy(compilation));
  CHECK_OK(blockscaleSessionDestroy(session));

  uint32_t major = 9, minor = 9;
  blockscaleApiVersion(&major, &minor);
  CHECK(major == BLOCKSCALE_C_API_MAJOR && minor == BLOCKSCALE_C_API_MINOR);
  CHECK(strcmp(blockscaleVersion(), "0.1.0") == 0);
  return 0;
}
