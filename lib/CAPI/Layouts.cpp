//===- Layouts.cpp - where things lie, by formula and by name -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"
#include "blockscale-c/Layout.h"
#include "blockscale/Explain/NamedLayouts.h"

#include <algorithm>
#include <limits>

using namespace blockscale;
using namespace blockscale::capi;

namespace {
struct LayoutObject : Object {
  static constexpr const char *kKind = "layout";
  explicit LayoutObject(hw::NamedLayout layout) : layout(std::move(layout)) {}
  const hw::NamedLayout layout;
};
} // namespace

BlockscaleStatus blockscaleLayoutList(BlockscaleBytes *json) {
  return guarded([&] {
    requirePointer(json, "json");
    *json = makeBytes(explain::namedLayoutsJson());
  });
}

BlockscaleStatus
blockscaleLayoutCreate(BlockscaleSlice name,
                       const BlockscaleLayoutParameter *parameters,
                       size_t count, BlockscaleLayout *layout) {
  return guarded([&] {
    if (count)
      requirePointer(parameters, "parameters");
    requirePointer(layout, "layout");
    std::map<std::string, uint64_t> values;
    for (size_t i = 0; i < count; ++i) {
      std::string parameter(textOf(parameters[i].name, "name"));
      if (!values.emplace(parameter, parameters[i].value).second)
        fail(BLOCKSCALE_REFUSED,
             "parameter '" + parameter + "' is given twice");
    }
    Result<hw::NamedLayout> made =
        hw::namedLayout(textOf(name, "name"), values);
    if (!made)
      fail(BLOCKSCALE_REFUSED, made.why().text);
    *layout = {addObject(std::make_shared<LayoutObject>(std::move(*made)))};
  });
}

BlockscaleStatus blockscaleLayoutDescribe(BlockscaleLayout layout,
                                          BlockscaleBytes *json) {
  return guarded([&] {
    requirePointer(json, "json");
    auto object = get<LayoutObject>(layout.id);
    *json = makeBytes(explain::namedLayoutJson(object->layout));
  });
}

BlockscaleStatus blockscaleLayoutGetSize(BlockscaleLayout layout,
                                         uint64_t *size) {
  return guarded([&] {
    requirePointer(size, "size");
    *size = get<LayoutObject>(layout.id)->layout.size();
  });
}

BlockscaleStatus blockscaleLayoutGetRanks(BlockscaleLayout layout,
                                          size_t *contentRank,
                                          size_t *placeRank) {
  return guarded([&] {
    requirePointer(contentRank, "contentRank");
    requirePointer(placeRank, "placeRank");
    auto object = get<LayoutObject>(layout.id);
    *contentRank = object->layout.contents.size();
    *placeRank = object->layout.places.size();
  });
}

/// Point `index` of a list of points with `rank` coordinates.
static std::vector<uint64_t> pointOf(const uint64_t *points, size_t index,
                                     size_t rank) {
  return {points + index * rank, points + (index + 1) * rank};
}

BlockscaleStatus blockscaleLayoutFindPlaces(BlockscaleLayout handle,
                                            const uint64_t *contents,
                                            size_t count, uint64_t *places) {
  return guarded([&] {
    auto object = get<LayoutObject>(handle.id);
    const hw::NamedLayout &layout = object->layout;
    if (count) {
      requirePointer(contents, "contents");
      requirePointer(places, "places");
    }
    for (size_t i = 0; i < count; ++i) {
      auto place = layout.placeOf(pointOf(contents, i, layout.contents.size()));
      if (!place)
        fail(BLOCKSCALE_REFUSED, place.why().text);
      std::copy(place->begin(), place->end(),
                places + i * layout.places.size());
    }
  });
}

BlockscaleStatus blockscaleLayoutFindContents(BlockscaleLayout handle,
                                              const uint64_t *places,
                                              size_t count,
                                              uint64_t *contents) {
  return guarded([&] {
    auto object = get<LayoutObject>(handle.id);
    const hw::NamedLayout &layout = object->layout;
    if (count) {
      requirePointer(places, "places");
      requirePointer(contents, "contents");
    }
    size_t rank = layout.contents.size();
    for (size_t i = 0; i < count; ++i) {
      auto content = layout.contentAt(pointOf(places, i, layout.places.size()));
      if (!content)
        fail(BLOCKSCALE_REFUSED, content.why().text);
      if (*content)
        std::copy((*content)->begin(), (*content)->end(), contents + i * rank);
      else
        std::fill_n(contents + i * rank, rank,
                    std::numeric_limits<uint64_t>::max());
    }
  });
}

BlockscaleStatus blockscaleLayoutDraw(BlockscaleLayout layout, bool everyLine,
                                      BlockscaleBytes *svg) {
  return guarded([&] {
    requirePointer(svg, "svg");
    auto object = get<LayoutObject>(layout.id);
    *svg = makeBytes(pictures::drawByteMap(
        explain::namedLayoutMap(object->layout), everyLine));
  });
}

BlockscaleStatus blockscaleLayoutDestroy(BlockscaleLayout layout) {
  return guarded([&] { destroy<LayoutObject>(layout.id); });
}
