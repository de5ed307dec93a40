//===- Documents.h - what the rules of NKI cite -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Documents of AWS and their sections, as diagnostics name them. Where they are
// is in docs/sources.md.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_NKI_DOCUMENTS_H
#define BLOCKSCALE_NKI_DOCUMENTS_H

#include <string>
#include <string_view>

namespace blockscale::nki {

inline constexpr std::string_view kMatmulGroup =
    "NKI API reference, nki.isa.nc_matmul_mx, introduction";
inline constexpr std::string_view kMatmulCore =
    "NKI API reference, nki.isa.nc_matmul_mx, note";
inline constexpr std::string_view kMatmulTypes =
    "NKI API reference, nki.isa.nc_matmul_mx, Data types";
inline constexpr std::string_view kMatmulMemory =
    "NKI API reference, nki.isa.nc_matmul_mx, Memory types";
inline constexpr std::string_view kMatmulSize =
    "NKI API reference, nki.isa.nc_matmul_mx, Tile size";
inline constexpr std::string_view kMatmulLayout =
    "NKI API reference, nki.isa.nc_matmul_mx, Layout";
inline constexpr std::string_view kMatmulTiling =
    "NKI API reference, nki.isa.nc_matmul_mx, Tiling mode";
inline constexpr std::string_view kMatmulParameters =
    "NKI API reference, nki.isa.nc_matmul_mx, Parameters";
inline constexpr std::string_view kMatmulIndirect =
    "NKI API reference, nki.isa.nc_matmul_mx, indirection";
inline constexpr std::string_view kQuantizeGroup =
    "NKI API reference, nki.isa.quantize_mx, introduction";
inline constexpr std::string_view kQuantizeTypes =
    "NKI API reference, nki.isa.quantize_mx, Data types";
inline constexpr std::string_view kQuantizeMemory =
    "NKI API reference, nki.isa.quantize_mx, Memory types";
inline constexpr std::string_view kQuantizeSize =
    "NKI API reference, nki.isa.quantize_mx, Tile size";
inline constexpr std::string_view kQuantizeLayout =
    "NKI API reference, nki.isa.quantize_mx, Layout";
inline constexpr std::string_view kDmaCopy =
    "NKI API reference, nki.isa.dma_copy";
inline constexpr std::string_view kMemset = "NKI API reference, nki.isa.memset";
inline constexpr std::string_view kTensorCopy =
    "NKI API reference, nki.isa.tensor_copy";
inline constexpr std::string_view kTensorTensor =
    "NKI API reference, nki.isa.tensor_tensor";
inline constexpr std::string_view kTensorScalar =
    "NKI API reference, nki.isa.tensor_scalar";
inline constexpr std::string_view kActivation =
    "NKI API reference, nki.isa.activation";
inline constexpr std::string_view kLanguageTypes =
    "NKI API reference, nki.language, data types";
inline constexpr std::string_view kLanguageGuide = "NKI Language Guide";
inline constexpr std::string_view kAccessPatterns = "NKI Access Patterns";
inline constexpr std::string_view kScaleTensor =
    "MXFP Matrix Multiplication with NKI, Scale Tensor";
inline constexpr std::string_view kQuadrants =
    "Trainium3 Architecture Guide for NKI, scales by SBUF quadrant";
inline constexpr std::string_view kMemories =
    "Trainium3 Architecture Guide for NKI";

/// " (document, section)", for the end of a sentence.
inline std::string cite(std::string_view document) {
  return " (" + std::string(document) + ")";
}

} // namespace blockscale::nki

#endif // BLOCKSCALE_NKI_DOCUMENTS_H
