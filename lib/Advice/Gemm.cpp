//===- Gemm.cpp - formats of a product by predicted time ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Advice/Gemm.h"
#include "blockscale/HW/Metadata.h"

#include <algorithm>

using namespace blockscale;
using namespace blockscale::advice;

/// A part whose chip runs K = 96.
static constexpr unsigned kLongK = 96;

const std::vector<GemmFormat> &advice::gemmFormats() {
  using F = ElementFormat;
  static const std::vector<GemmFormat> formats{
      {"bf16", F::BF16, F::BF16, {}},
      {"fp8", F::E4M3, F::E4M3, {}},
      {"mxfp8", F::E4M3, F::E4M3, F::UE8M0, 32},
      {"mxfp8 x mxfp4", F::E4M3, F::E2M1, F::UE8M0, 32},
      {"mxfp4", F::E2M1, F::E2M1, F::UE8M0, 32},
      {"nvfp4", F::E2M1, F::E2M1, F::UE4M3, 16},
      {"nvfp4, K = 96", F::E2M1, F::E2M1, F::UE4M3, 16, false, kLongK},
      {"bf16, 2:4", F::BF16, F::BF16, {}, 0, true},
      {"fp8, 2:4", F::E4M3, F::E4M3, {}, 0, true},
      {"mxfp8, 2:4", F::E4M3, F::E4M3, F::UE8M0, 32, true},
      {"mxfp4, 4:8", F::E2M1, F::E2M1, F::UE8M0, 32, true},
      {"nvfp4, 4:8", F::E2M1, F::E2M1, F::UE4M3, 16, true},
  };
  return formats;
}

const GemmFormat *advice::findGemmFormat(std::string_view name) {
  for (const GemmFormat &format : gemmFormats())
    if (format.name == name)
      return &format;
  return nullptr;
}

/// Logical elements along K that share a scale: stored ones of sparse weights
/// stand for twice as many.
static unsigned spanOf(const GemmFormat &format) {
  return format.sparse ? 2 * format.block : format.block;
}

/// What sparse weights of a format keep.
static hw::SparsePattern patternOf(const GemmFormat &format) {
  return format.weights == ElementFormat::E2M1
             ? hw::SparsePattern::PairsFourOfEight
             : hw::SparsePattern::TwoOfFour;
}

std::optional<hw::MmaKind> advice::kindOn(const GemmFormat &format,
                                          const hw::Part &part) {
  hw::Target target{part.chip};
  std::vector<const hw::MmaRow *> rows = hw::rowsFor(target);
  if (format.instructionK == kLongK &&
      std::none_of(rows.begin(), rows.end(),
                   [](const hw::MmaRow *row) { return row->k == kLongK; }))
    return std::nullopt;
  // A is the sparse operand.
  std::vector<hw::Scheme> schemes =
      hw::findSchemes(format.weights, format.activations, format.scale,
                      spanOf(format), format.sparse, target);
  // Another kind may have the types and scales, and skip something else.
  schemes.erase(std::remove_if(schemes.begin(), schemes.end(),
                               [&](const hw::Scheme &scheme) {
                                 return format.sparse &&
                                        hw::sparsePattern(scheme.kind) !=
                                            patternOf(format);
                               }),
                schemes.end());
  if (schemes.empty())
    return std::nullopt;
  hw::MmaKind kind = schemes.front().kind;
  bool isWarpLevel = !hw::hasTensorMemory(target);
  if (isWarpLevel && (format.sparse || hw::warpMmaFlopsPerCycle(kind) == 0))
    return std::nullopt;
  return kind;
}

/// K of the instruction that is the fastest for the format on the part: the
/// wide one where there is one.
static unsigned instructionKOn(const GemmFormat &format, hw::MmaKind kind,
                               const hw::Part &part) {
  unsigned narrow = hw::instructionK(kind, format.sparse);
  if (format.instructionK)
    return format.instructionK;
  for (const hw::MmaRow *row : hw::rowsFor({part.chip}))
    if (row->kind == kind && row->sparse == format.sparse &&
        row->k == 2 * narrow && row->a.contains(format.weights) &&
        row->b.contains(format.activations))
      return row->k;
  return narrow;
}

/// Bits of metadata for each element that the weights stand for.
static double metadataBits(const GemmFormat &format) {
  if (!format.sparse)
    return 0;
  return 8.0 / hw::elementsPerMetadataByte(patternOf(format));
}

static double bytesOf(ElementFormat format) {
  return formatInfo(format).storageBits / 8.0;
}

GemmBytes advice::gemmBytes(const GemmFormat &format,
                            const hw::GemmSize &size) {
  auto m = double(size.m * size.batch), n = double(size.n * size.batch);
  auto k = double(size.k);
  double kept = format.sparse ? 0.5 : 1;
  GemmBytes bytes;
  bytes.activations = m * k * bytesOf(format.activations);
  bytes.weights = n * k * kept * bytesOf(format.weights);
  if (unsigned span = spanOf(format)) {
    uint64_t perRow = hw::ceilDiv(uint64_t(size.k), span);
    bytes.scales = (m + n) * double(perRow);
  }
  bytes.metadata = n * k * metadataBits(format) / 8;
  bytes.result = m * double(size.n) * 2;
  return bytes;
}

static hw::GemmPrediction predict(const GemmFormat &format, hw::MmaKind kind,
                                  const hw::GemmSize &size,
                                  const hw::Part &part) {
  if (!hw::hasTensorMemory({part.chip})) {
    // Nobody published the clock under load of most parts.
    double boost = part.boostMhz / 1e3;
    return hw::predictWarpMmaGemm(kind, size, part, boost, boost);
  }
  hw::GemmKernel kernel;
  kernel.kind = kind;
  kernel.sparse = format.sparse;
  kernel.instructionK = instructionKOn(format, kind, part);
  kernel.bitsA = formatInfo(format.activations).bits;
  kernel.bitsB = formatInfo(format.weights).bits;
  unsigned span = spanOf(format);
  kernel.bytesA = hw::bytesPerElement(format.activations, span);
  kernel.bytesB = hw::bytesPerElement(format.weights, span);
  hw::GemmSize oriented = size;
  if (format.sparse) {
    // Weights are A, and D is transposed.
    std::swap(oriented.m, oriented.n);
    kernel.bytesB = kernel.bytesA;
    kernel.bytesA = bytesOf(format.weights) / 2 + metadataBits(format) / 8 +
                    (span ? 1.0 / span : 0);
  }
  hw::GemmConditions conditions;
  conditions.part = part;
  return hw::bestGemm(kernel, oriented, conditions).prediction;
}

std::string advice::whyNot(const hw::GemmSize &size) {
  constexpr int64_t kMax = int64_t(1) << 31;
  for (auto [name, extent] :
       {std::pair("M", size.m), std::pair("N", size.n), std::pair("K", size.k),
        std::pair("the batch", size.batch)})
    if (extent < 1 || extent > kMax)
      return std::string(name) + " is " + std::to_string(extent) +
             "; legal is 1 to " + std::to_string(kMax);
  return "";
}

std::vector<GemmAdvice> advice::adviseGemm(const hw::GemmSize &size,
                                           const hw::Part &part) {
  std::vector<GemmAdvice> rows;
  double reference = 0;
  for (const GemmFormat &format : gemmFormats()) {
    std::optional<hw::MmaKind> kind = kindOn(format, part);
    if (!kind)
      continue;
    GemmAdvice row;
    row.format = &format;
    row.prediction = predict(format, *kind, size, part);
    row.bytes = gemmBytes(format, size);
    if (&format == &gemmFormats().front())
      reference = row.prediction.total;
    row.speedup = reference > 0 ? reference / row.prediction.total : 0;
    rows.push_back(row);
  }
  return rows;
}
