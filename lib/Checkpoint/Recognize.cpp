//===- Recognize.cpp - which tensors make a quantised one -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recognizer.h"
#include "blockscale/HW/ScaleLayout.h"

using namespace blockscale;
using namespace blockscale::checkpoint;

std::string_view checkpoint::familyName(Family family) {
  switch (family) {
  case Family::None:
    return "none";
  case Family::ModelOpt:
    return "ModelOpt";
  case Family::CompressedTensors:
    return "compressed-tensors";
  case Family::ModelOptOrCompressedTensors:
    return "ModelOpt or compressed-tensors";
  case Family::GptOss:
    return "gpt-oss";
  case Family::GptOssOriginal:
    return "gpt-oss as published by OpenAI";
  case Family::DeepSeek:
    return "DeepSeek";
  case Family::DeepSeekV4:
    return "DeepSeek V4";
  case Family::Torchao:
    return "torchao";
  case Family::ComfyUI:
    return "ComfyUI";
  case Family::Unknown:
    return "unknown origin";
  }
  return "";
}

std::string_view checkpoint::gradeName(Grade grade) {
  switch (grade) {
  case Grade::Note:
    return "note";
  case Grade::Warning:
    return "warning";
  case Grade::Error:
    return "error";
  }
  return "";
}

bool checkpoint::tilesScales(Family family) {
  return family == Family::ComfyUI;
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

uint64_t QuantizedTensor::columns() const {
  return shape.empty() ? 1 : shape.back();
}
uint64_t QuantizedTensor::rows() const {
  return shape.size() < 2 ? 1 : shape[shape.size() - 2];
}
uint64_t QuantizedTensor::batch() const {
  uint64_t count = 1;
  for (size_t i = 0; i + 2 < shape.size(); ++i)
    count *= shape[i];
  return count;
}
uint64_t QuantizedTensor::scaleRows() const {
  return blockRows ? hw::ceilDiv(rows(), blockRows) : 1;
}
uint64_t QuantizedTensor::scaleColumns() const {
  return blockColumns ? hw::ceilDiv(columns(), blockColumns) : 1;
}

//===----------------------------------------------------------------------===//
// Helpers of all conventions
//===----------------------------------------------------------------------===//

std::string checkpoint::named(const Tensor &tensor) {
  return "'" + std::string(lastComponent(tensor)) + "' (" +
         std::string(dtypeName(tensor.dtype)) + " " + printShape(tensor.shape) +
         ")";
}

/// The shape of a matrix, or of a batch of them, with other last extents.
static std::vector<uint64_t> withMatrix(std::vector<uint64_t> shape,
                                        uint64_t rows, uint64_t columns) {
  if (shape.size() >= 2)
    shape[shape.size() - 2] = rows;
  if (!shape.empty())
    shape.back() = columns;
  return shape;
}

Family Recognizer::declaredFamily() const {
  if (declared.method == "modelopt")
    return Family::ModelOpt;
  if (declared.method == "compressed-tensors")
    return Family::CompressedTensors;
  return Family::Unknown;
}

/// MXFP8 has the same names with both.
Family Recognizer::mxFamily() const {
  Family family = declaredFamily();
  return family == Family::Unknown ? Family::ModelOptOrCompressedTensors
                                   : family;
}

void Recognizer::take(Family family, std::string format,
                      std::optional<ElementFormat> element,
                      const Tensor *elements, unsigned packed) {
  result.family = family;
  result.format = std::move(format);
  result.element = element;
  result.elements = elements;
  result.packed = packed;
  result.shape = elements->shape;
  if (result.shape.empty())
    report(Rule::ScaleShape, named(*elements) + " has no rows");
  else if (packed > 1 && elements->dtype != DType::F4)
    result.shape.back() *= packed;
  result.blockRows = result.blockColumns = 0;
}

void Recognizer::takeScales(const Tensor *scales,
                            std::optional<ElementFormat> format, uint64_t rows,
                            uint64_t columns) {
  result.scales = scales;
  result.scaleFormat = format;
  result.blockRows = rows;
  result.blockColumns = columns;
  if (scales)
    placeScales();
}

/// Whether the scales are a matrix of that shape for each of the elements.
bool Recognizer::isMatrix(const Tensor &scales, uint64_t rows,
                          uint64_t columns) const {
  return scales.shape == withMatrix(result.shape, rows, columns);
}

/// Finds out where the scales lie, by their shape.
void Recognizer::placeScales() {
  const Tensor &scales = *result.scales;
  uint64_t rows = result.scaleRows(), columns = result.scaleColumns();
  uint64_t count = scales.elementCount(), matrices = result.batch();
  if (isMatrix(scales, rows, columns)) {
    result.placement = ScalePlacement::Rows;
    return;
  }
  uint64_t paddedRows = hw::ceilDiv(rows, hw::kAtomRows) * hw::kAtomRows;
  uint64_t paddedColumns =
      hw::ceilDiv(columns, hw::kAtomScales) * hw::kAtomScales;
  bool isFlat = scales.shape.size() == 1 ||
                (scales.shape.size() == 2 && scales.shape.back() == 1);
  if (isFlat && count == matrices * rows * columns) {
    result.placement = ScalePlacement::Rows;
    return;
  }
  if (scales.shape.size() > 1 && isMatrix(scales, paddedRows, paddedColumns)) {
    result.placement = ScalePlacement::Padded;
    return;
  }
  // Atoms are of bytes.
  bool isAtoms = result.blockRows == 1 && dtypeBits(scales.dtype) == 8 &&
                 count == matrices * paddedRows * paddedColumns;
  if (isAtoms) {
    result.placement = ScalePlacement::Tiled;
    return;
  }
  result.placement = ScalePlacement::Unknown;
  std::string expected = "expected " +
                         printShape(withMatrix(result.shape, rows, columns)) +
                         " for " + printShape(result.shape) + " elements";
  uint64_t bytes = result.packed > 1 ? result.columns() / result.packed : 0;
  if (bytes && result.blockColumns > 1 &&
      isMatrix(scales, rows, hw::ceilDiv(bytes, result.blockColumns))) {
    report(Rule::HalfScales, named(scales) + " counts bytes in place of the " +
                                 std::to_string(result.packed) +
                                 " elements in each: " + expected);
    return;
  }
  if (result.blockRows > 1 &&
      isMatrix(scales, result.rows() / result.blockRows,
               result.columns() / result.blockColumns)) {
    report(Rule::FloorBlocks,
           named(scales) +
               " has no scale for the last, partial block: " + expected);
    return;
  }
  report(Rule::ScaleShape, named(scales) + ": " + expected);
}

//===----------------------------------------------------------------------===//
// What all have in common
//===----------------------------------------------------------------------===//

/// Scales of the whole tensor and of the input.
void Recognizer::findGlobals() {
  struct Place {
    Role role;
    GlobalUse use;
    bool isInput;
  };
  for (const Place &place :
       {Place{Role::ScaleTwo, GlobalUse::Factor, false},
        Place{Role::TorchaoGlobalScale, GlobalUse::Factor, false},
        Place{Role::GlobalScale, GlobalUse::Divisor, false},
        Place{Role::InputScale, GlobalUse::Factor, true},
        Place{Role::InputGlobalScale, GlobalUse::Divisor, true}}) {
    const Tensor *tensor = group[place.role];
    if (!tensor)
      continue;
    (place.isInput ? result.inputScale : result.globalScale) = tensor;
    (place.isInput ? result.inputUse : result.globalUse) = place.use;
  }
  if (group[Role::ScaleTwo] && group[Role::GlobalScale])
    report(Rule::MixedFamilies,
           "both 'weight_scale_2', a factor, and 'weight_global_scale', a "
           "divisor: only one of them can be meant");
  if (result.format != "NVFP4" || result.globalScale)
    return;
  // One level without a scale of the whole is legal where metadata say so.
  if (result.family == Family::Torchao)
    return;
  const char *name = result.family == Family::CompressedTensors
                         ? "weight_global_scale"
                         : "weight_scale_2";
  report(Rule::MissingGlobalScale,
         "NVFP4 without '" + std::string(name) +
             "': the scale of the whole tensor is lost, and 1 is not it");
}

/// Scales of which nothing is scaled.
void Recognizer::findOrphans() {
  for (const Tensor *part : group.parts)
    if (part && part != result.elements && part != result.scales &&
        part != result.globalScale && part != result.inputScale &&
        part != group[Role::LogicalShape] && part != group[Role::ZeroPoint] &&
        part != group[Role::GroupOrder] && part != group[Role::ComfyMark])
      report(Rule::OrphanScale,
             named(*part) + " belongs to no tensor that it could scale");
}

/// What the configuration says against what is there.
void Recognizer::compareFamily() {
  Family declaredAs = declaredFamily();
  bool isKnown = result.family == Family::ModelOpt ||
                 result.family == Family::CompressedTensors;
  if (declaredAs != Family::Unknown && isKnown && declaredAs != result.family)
    report(Rule::Configuration, "'quant_method' of the configuration is '" +
                                    declared.method +
                                    "', but these are names of " +
                                    std::string(familyName(result.family)));
  bool isMx = result.format == "MXFP4" || result.format == "MXFP8" ||
              result.format == "NVFP4";
  if (isMx && declared.groupSize && *declared.groupSize != 0 &&
      result.placement == ScalePlacement::Rows && result.blockColumns &&
      *declared.groupSize != result.blockColumns && isKnown)
    report(Rule::Configuration, "'group_size' of the configuration is " +
                                    std::to_string(*declared.groupSize) +
                                    ", but there is a scale "
                                    "for " +
                                    std::to_string(result.blockColumns) +
                                    " elements");
}

void Recognizer::recognize() {
  if (const Tensor *blocks = group[Role::Blocks])
    recognizeBlocks(*blocks, group[Role::BlockScales]);
  else if (const Tensor *blocks = group[Role::OriginalBlocks])
    recognizeBlocks(*blocks, group[Role::OriginalScales]);
  else if (group[Role::TorchaoData])
    recognizeTorchao();
  else if (group[Role::Packed])
    recognizePacked();
  else if (group[Role::Weight])
    recognizeWeight();
  if (result.isQuantized())
    findGlobals();
  findOrphans();
  compareFamily();
  const Tensor *scales = result.scales;
  // Whole atoms are what such a family has.
  if (result.placement == ScalePlacement::Padded && tilesScales(result.family))
    result.placement = ScalePlacement::Tiled;
  bool isExponents = result.scaleFormat == ElementFormat::UE8M0;
  if (scales && isExponents && scales->dtype == DType::U8)
    report(Rule::ExponentBytes,
           named(*scales) + " holds exponents: byte s means 2^(s - 127), as in "
                            "F8_E8M0, and not the number s");
  else if (scales && isExponents && scales->dtype != DType::F8E8M0 &&
           scales->dtype != DType::I8)
    report(Rule::ScaleType, named(*scales) +
                                ": expected the exponent bytes of " +
                                result.format + " as U8 or F8_E8M0");
  else if (scales && result.scaleFormat == ElementFormat::UE4M3 &&
           scales->dtype != DType::F8E4M3)
    report(Rule::ScaleType, named(*scales) +
                                ": expected F8_E4M3, the scales of " +
                                result.format);
  bool isTiled = result.placement == ScalePlacement::Tiled;
  if (isTiled && !tilesScales(result.family) &&
      result.family != Family::Torchao)
    report(Rule::TiledScales,
           named(*scales) + " is in 128 x 4 atoms, where " +
               std::string(familyName(result.family)) +
               " stores rows: a loader that tiles them does it twice");
}

std::vector<QuantizedTensor>
checkpoint::recognize(const Checkpoint &checkpoint) {
  std::vector<QuantizedTensor> results;
  for (const auto &[name, group] : groupTensors(checkpoint)) {
    Recognizer recognizer{checkpoint, checkpoint.declaration(), group, {}};
    recognizer.result.name = name;
    recognizer.recognize();
    for (const Tensor *part : group.parts)
      if (part)
        recognizer.result.parts.push_back(part);
    results.push_back(std::move(recognizer.result));
  }
  return results;
}
