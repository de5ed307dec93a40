/* RUN: %cc %s -o %t %link && %t

   Kernels for AWS's chips: Python and the host's plan in place of PTX. */

#include "blockscale-c/Compiler.h"
#include "check.h"

static const char kProduct[] =
    "!w = !blockscale.tensor<512x512xf8E4M3FN, \"e8m0_t32\">\n"
    "!x = !blockscale.tensor<128x512xf8E4M3FN, \"e8m0_t32\">\n"
    "func.func @product(%x: !x, %w: !w) -> tensor<128x512xf32> {\n"
    "  %y = blockscale.matmul %x, %w : !x, !w -> tensor<128x512xf32>\n"
    "  return %y : tensor<128x512xf32>\n"
    "}\n";

static BlockscaleSlice output(BlockscaleCompilation compilation,
                              BlockscaleOutput which) {
  BlockscaleSlice result = {NULL, 0};
  CHECK_OK(blockscaleCompilationGetOutput(compilation, 0, which, &result));
  return result;
}

int main(void) {
  BlockscaleSession session;
  CHECK_OK(blockscaleSessionCreate(&session));
  BlockscaleModule module;
  CHECK_OK(blockscaleModuleParse(session, slice(kProduct), slice("in.mlir"),
                                 &module));
  BlockscaleCompileOptions options;
  CHECK_OK(blockscaleCompileOptionsInit(&options, sizeof options));
  options.target = "trn3";
  BlockscaleCompilation compilation;
  CHECK_OK(blockscaleCompile(module, &options, &compilation));
  size_t chips = 0;
  CHECK_OK(blockscaleCompilationGetChipCount(compilation, &chips));
  CHECK(chips == 1);
  CHECK(contains(output(compilation, BLOCKSCALE_OUTPUT_TARGET), "trn3"));
  CHECK(contains(output(compilation, BLOCKSCALE_OUTPUT_NKI), "nc_matmul_mx"));
  CHECK(contains(output(compilation, BLOCKSCALE_OUTPUT_NKI), "def product("));
  CHECK(contains(output(compilation, BLOCKSCALE_OUTPUT_PLAN), "\"product\""));
  CHECK(output(compilation, BLOCKSCALE_OUTPUT_PTX).size == 0);
  CHECK_OK(blockscaleCompilationDestroy(compilation));

  /* Other chips have no Python. */
  options.target = "sm_100a";
  BlockscaleModule tiled;
  CHECK_OK(blockscaleModuleParse(
      session,
      slice("!x = !blockscale.tensor<128x512xf8E4M3FN, \"e8m0_t32\", layout = "
            "tiled_128x4>\n"
            "func.func @p(%x: !x) -> tensor<128x128xf32> {\n"
            "  %y = blockscale.matmul %x, %x : !x, !x -> tensor<128x128xf32>\n"
            "  return %y : tensor<128x128xf32>\n"
            "}\n"),
      slice("tiled.mlir"), &tiled));
  CHECK_OK(blockscaleCompile(tiled, &options, &compilation));
  CHECK(output(compilation, BLOCKSCALE_OUTPUT_NKI).size == 0);
  CHECK_OK(blockscaleCompilationDestroy(compilation));

  /* What there is not is refused in words. */
  options.target = "trn9";
  CHECK_FAILS(BLOCKSCALE_REFUSED, "trn9",
              blockscaleCompile(module, &options, &compilation));
  options.target = "trn3";
  options.withCubin = true;
  CHECK_FAILS(BLOCKSCALE_REFUSED, "option 'withCubin' is not for target 'trn3'",
              blockscaleCompile(module, &options, &compilation));
  options.withCubin = false;
  options.hostDuties = true;
  CHECK_FAILS(BLOCKSCALE_REFUSED, "option 'hostDuties' is not for target",
              blockscaleCompile(module, &options, &compilation));
  options.hostDuties = false;
  options.target = "trn2";
  CHECK_FAILS(BLOCKSCALE_REFUSED, "nc_matmul_mx",
              blockscaleCompile(module, &options, &compilation));
  options.target = "trn3";
  /* Layouts of scales are those of another vendor. */
  CHECK_FAILS(BLOCKSCALE_REFUSED, "layout 'tiled_128x4'",
              blockscaleCompile(tiled, &options, &compilation));
  CHECK_OK(blockscaleModuleDestroy(tiled));
  CHECK_FAILS(BLOCKSCALE_REFUSED, "stage is not one of target 'trn3'",
              blockscaleModuleLower(module, BLOCKSCALE_STAGE_LLVM, &options));

  CHECK_OK(blockscaleModuleLower(module, BLOCKSCALE_STAGE_KERNEL, &options));
  BlockscaleBytes text;
  BlockscaleSlice printed;
  CHECK_OK(blockscaleModulePrint(module, &text));
  CHECK_OK(blockscaleBytesGet(text, &printed));
  CHECK(contains(printed, "blockscale_nki."));
  CHECK_OK(blockscaleBytesDestroy(text));
  CHECK_OK(blockscaleModuleDestroy(module));
  CHECK_OK(blockscaleSessionDestroy(session));
  return 0;
}
