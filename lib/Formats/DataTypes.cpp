//===- DataTypes.cpp - the predefined data types --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names in circulation. In the families with letters F is float32, f float16, b
// bfloat16, e e8m0, n e4m3, i int8; a final c is one scale per channel, s a
// square tile. `nv...` are single-level scales, of at most 240 where they are
// made; what quantises here goes to 448, as instructions read it.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Formats/ScaleSpec.h"

using namespace blockscale;

namespace {

constexpr NamedDataType kTypes[] = {
    // OCP MX, and its kin with tiles of 16.
    {"mxfp8e5", "e5m2", "e8m0_t32"},
    {"mxbf8", "e5m2", "e8m0_t32"},
    {"mxfp8e4", "e4m3fn", "e8m0_t32"},
    {"mxfp8", "e4m3fn", "e8m0_t32"},
    {"mxfp6e3", "e3m2fnuz", "e8m0_t32"},
    {"mxbf6", "e3m2fnuz", "e8m0_t32"},
    {"mxfp6e2", "e2m3fnuz", "e8m0_t32"},
    {"mxfp6", "e2m3fnuz", "e8m0_t32"},
    {"mxfp4e2", "e2m1fnuz", "e8m0_t32"},
    {"mxfp4", "e2m1fnuz", "e8m0_t32"},
    {"mxint8", "int8", "e8m0_t32"},
    {"mxint4", "int4", "e8m0_t32"},
    {"mxbf8t16", "e5m2", "e8m0_t16"},
    {"mxfp8t16", "e4m3fn", "e8m0_t16"},
    {"mxbf6t16", "e3m2fnuz", "e8m0_t16"},
    {"mxfp6t16", "e2m3fnuz", "e8m0_t16"},
    {"mxfp4t16", "e2m1fnuz", "e8m0_t16"},
    {"mxint8t16", "int8", "e8m0_t16"},
    {"mxint4t16", "int4", "e8m0_t16"},
    // Square MX.
    {"mxfp8s", "e4m3fn", "e8m0_t32_t32"},
    {"mxbf6s", "e3m2fnuz", "e8m0_t32_t32"},
    {"mxfp6s", "e2m3fnuz", "e8m0_t32_t32"},
    {"mxfp4s", "e2m1fnuz", "e8m0_t32_t32"},
    {"mxfp8s16", "e4m3fn", "e8m0_t16_t16"},
    {"mxbf6s16", "e3m2fnuz", "e8m0_t16_t16"},
    {"mxfp6s16", "e2m3fnuz", "e8m0_t16_t16"},
    {"mxfp4s16", "e2m1fnuz", "e8m0_t16_t16"},
    // Block floats with e4m3 scales.
    {"nvb8", "e5m2", "e4m3_t16"},
    {"nvf8", "e4m3fn", "e4m3_t16"},
    {"nvb6", "e3m2fnuz", "e4m3_t16"},
    {"nvf6", "e2m3fnuz", "e4m3_t16"},
    {"nvf4", "e2m1fnuz", "e4m3_t16"},
    {"nvb8s", "e5m2", "e4m3_t16_t16"},
    {"nvf8s", "e4m3fn", "e4m3_t16_t16"},
    {"nvb6s", "e3m2fnuz", "e4m3_t16_t16"},
    {"nvf6s", "e2m3fnuz", "e4m3_t16_t16"},
    {"nvf4s", "e2m1fnuz", "e4m3_t16_t16"},
    // Block floating point and shared micro-exponents.
    {"bfp16", "int8", "e8m0_t8"},
    {"bfp16t16", "int8", "e8m0_t16"},
    {"mx9", "cb81ie_int9", "e8m0_t16s2"},
    {"mx6", "cb51ie_int7", "e8m0_t16s2"},
    {"mx4", "cb31ie_int5", "e8m0_t16s2"},
    {"mxfp4m", "cb41f01_e2m2fnuz", "e8m0_t32s4"},
    {"mxfp4e", "cb42fe0123_e3m2fnuz", "e8m0_t32s8"},
    {"mxfp4f4", "cb42f1346_e2m3fnuz", "e8m0_t32s8"},
    {"mxfi4", "cb41fi_e2m2fnuz", "e8m0_t32s4"},
    // 8-bit floats with square tiles.
    {"fp8F32s", "e4m3fn", "float32_t32_t32"},
    {"fp8f32s", "e4m3fn", "float16_t32_t32"},
    {"fp8nF32s", "e4m3b8fnuz", "float32_t32_t32"},
    {"fp8nf32s", "e4m3b8fnuz", "float16_t32_t32"},
    // Whose tiles are of 16, whatever their names say.
    {"bf8b32s", "e5m2", "bfloat16_t16_t16"},
    {"bf8nb32s", "e5m2b16fnuz", "bfloat16_t16_t16"},
    // One scale for the tensor: 8-bit integers and floats.
    {"int8_F", "int8", "float32"},
    {"int8_f", "int8", "float16"},
    {"int8_b", "int8", "bfloat16"},
    {"int8_n", "int8", "e4m3"},
    {"int8_e", "int8", "e8m0"},
    {"fp8_F", "e4m3fn", "float32"},
    {"fp8_f", "e4m3fn", "float16"},
    {"fp8_b", "e4m3fn", "bfloat16"},
    {"fp8_n", "e4m3fn", "e4m3"},
    {"fp8_e", "e4m3fn", "e8m0"},
    {"bf8_F", "e5m2", "float32"},
    {"bf8_f", "e5m2", "float16"},
    {"bf8_b", "e5m2", "bfloat16"},
    {"bf8_n", "e5m2", "e4m3"},
    {"bf8_e", "e5m2", "e8m0"},
    {"fp8n_F", "e4m3b8fnuz", "float32"},
    {"fp8n_f", "e4m3b8fnuz", "float16"},
    {"fp8n_b", "e4m3b8fnuz", "bfloat16"},
    {"fp8n_n", "e4m3b8fnuz", "e4m3"},
    {"fp8n_e", "e4m3b8fnuz", "e8m0"},
    {"bf8n_F", "e5m2b16fnuz", "float32"},
    {"bf8n_f", "e5m2b16fnuz", "float16"},
    {"bf8n_b", "e5m2b16fnuz", "bfloat16"},
    {"bf8n_n", "e5m2b16fnuz", "e4m3"},
    {"bf8n_e", "e5m2b16fnuz", "e8m0"},
    // One for each channel.
    {"int8_Fc", "int8", "float32_t0"},
    {"int8_fc", "int8", "float16_t0"},
    {"int8_bc", "int8", "bfloat16_t0"},
    {"int8_nc", "int8", "e4m3_t0"},
    {"int8_ec", "int8", "e8m0_t0"},
    {"int4_Fc", "int4", "float32_t0"},
    {"int4_fc", "int4", "float16_t0"},
    {"int4_bc", "int4", "bfloat16_t0"},
    {"int4_nc", "int4", "e4m3_t0"},
    {"int4_ec", "int4", "e8m0_t0"},
    {"fp8_Fc", "e4m3fn", "float32_t0"},
    {"fp8_fc", "e4m3fn", "float16_t0"},
    {"fp8_bc", "e4m3fn", "bfloat16_t0"},
    {"fp8_nc", "e4m3fn", "e4m3_t0"},
    {"fp8_ec", "e4m3fn", "e8m0_t0"},
    {"fp8n_Fc", "e4m3b8fnuz", "float32_t0"},
    {"fp8n_fc", "e4m3b8fnuz", "float16_t0"},
    {"fp8n_bc", "e4m3b8fnuz", "bfloat16_t0"},
    {"fp8n_nc", "e4m3b8fnuz", "e4m3_t0"},
    {"fp8n_ec", "e4m3b8fnuz", "e8m0_t0"},
    // Unsigned integers with a zero point: for the tensor, for each channel.
    {"uint8_FF", "uint8", "float32_float32"},
    {"uint8_ff", "uint8", "float16_float16"},
    {"uint8_bb", "uint8", "bfloat16_bfloat16"},
    {"uint8_Fi", "uint8", "float32_int8"},
    {"uint8_fi", "uint8", "float16_int8"},
    {"uint8_bi", "uint8", "bfloat16_int8"},
    {"uint8_ni", "uint8", "e4m3_int8"},
    {"uint8_FFc", "uint8", "float32_float32_t0"},
    {"uint8_ffc", "uint8", "float16_float16_t0"},
    {"uint8_bbc", "uint8", "bfloat16_bfloat16_t0"},
    {"uint8_Fic", "uint8", "float32_int8_t0"},
    {"uint8_fic", "uint8", "float16_int8_t0"},
    {"uint8_bic", "uint8", "bfloat16_int8_t0"},
    {"uint8_nic", "uint8", "e4m3_int8_t0"},
    {"uint4_FFc", "uint4", "float32_float32_t0"},
    {"uint4_ffc", "uint4", "float16_float16_t0"},
    {"uint4_bbc", "uint4", "bfloat16_bfloat16_t0"},
    {"uint4_Fic", "uint4", "float32_int8_t0"},
    {"uint4_fic", "uint4", "float16_int8_t0"},
    {"uint4_bic", "uint4", "bfloat16_int8_t0"},
    {"uint4_nic", "uint4", "e4m3_int8_t0"},
    // Unscaled 8-bit floats.
    {"fp8", "e4m3fn", ""},
    {"bf8", "e5m2", ""},
    {"fp8n", "e4m3b8fnuz", ""},
    {"bf8n", "e5m2b16fnuz", ""},
};

} // namespace

const NamedDataType *blockscale::findDataType(std::string_view name) {
  for (const NamedDataType &type : kTypes)
    if (type.name == name)
      return &type;
  return nullptr;
}
