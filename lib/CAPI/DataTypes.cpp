//===- DataTypes.cpp - data types by name ---------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"
#include "blockscale-c/Packing.h"
#include "blockscale/Formats/ScaleSpec.h"

using namespace blockscale;
using namespace blockscale::capi;

/// As plans call numbers of that spec, which `text` is.
static std::string_view plannedName(const NumberSpec &spec,
                                    std::string_view text) {
  constexpr unsigned kFloat32Bits = 32;
  if (std::optional<ElementFormat> format = elementFormat(spec))
    return formatName(*format);
  return spec.kind == NumberKind::Float && spec.bits() == kFloat32Bits ? "f32"
                                                                       : text;
}

static std::string_view plannedScale(const NumberSpec &spec) {
  if (std::optional<ElementFormat> format = scaleFormat(spec))
    return formatName(*format);
  return plannedName(spec, "");
}

BlockscaleStatus blockscaleFindDataType(BlockscaleSlice name,
                                        BlockscaleDataType *type) {
  return guarded([&] {
    requirePointer(type, "type");
    std::string_view text = textOf(name, "name");
    const NamedDataType *named = findDataType(text);
    if (!named)
      fail(BLOCKSCALE_INVALID_ARGUMENT, "no data type '" + std::string(text) +
                                            "', such as 'mxfp4' or 'nvf4'");
    NumberSpec element = *parseNumberSpec(named->number);
    *type = {sliceOf(plannedName(element, named->number)), {}, {}, 0, 1, 1};
    if (named->scale.empty())
      return;
    ScaleSpec spec = *parseScaleSpec(named->scale);
    type->scale = sliceOf(plannedScale(*spec.scale));
    if (spec.zero)
      type->zero = sliceOf(plannedName(*spec.zero, ""));
    if (spec.columns) {
      type->block = spec.columns->size;
      type->subtile = spec.columns->hasSubtile() ? spec.columns->subtile : 1;
    }
    type->rows = spec.rows ? spec.rows->size : spec.columns ? 1 : 0;
  });
}
