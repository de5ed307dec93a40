/* A product to compile. Part of the blockscale project, under the Apache
   License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH
   LLVM-exception */

#ifndef BLOCKSCALE_TEST_CAPI_PRODUCT_H
#define BLOCKSCALE_TEST_CAPI_PRODUCT_H

static const char kProduct[] =
    "!a = !blockscale.tensor<128x256xf8E4M3FN, \"e8m0_t32\", "
    "layout = tiled_128x4>\n"
    "!b = !blockscale.tensor<64x256xf8E4M3FN, \"e8m0_t32\", "
    "layout = tiled_128x4>\n"
    "func.func @product(%a: !a, %b: !b) -> tensor<128x64xf32> {\n"
    "  %d = blockscale.matmul %a, %b : !a, !b -> tensor<128x64xf32>\n"
    "  return %d : tensor<128x64xf32>\n"
    "}\n";

#endif /* BLOCKSCALE_TEST_CAPI_PRODUCT_H */
