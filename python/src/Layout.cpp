//===- Layout.cpp - where things lie --------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale-c/Layout.h"
#include "Support.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <vector>

using namespace blockscale::python;

namespace {

/// A handle that goes with its Python object.
class Layout {
public:
  Layout(const std::string &name,
         const std::vector<std::pair<std::string, uint64_t>> &given) {
    std::vector<BlockscaleLayoutParameter> parameters;
    for (const auto &[parameter, value] : given)
      parameters.push_back({slice(parameter), value});
    check(blockscaleLayoutCreate(slice(name), parameters.data(),
                                 parameters.size(), &handle));
    check(blockscaleLayoutGetRanks(handle, &contentRank, &placeRank));
  }
  ~Layout() { blockscaleLayoutDestroy(handle); }
  Layout(const Layout &) = delete;
  Layout &operator=(const Layout &) = delete;

  std::string describe() const {
    BlockscaleBytes words;
    check(blockscaleLayoutDescribe(handle, &words));
    return take(words);
  }
  std::string draw(bool everyLine) const {
    BlockscaleBytes words;
    check(blockscaleLayoutDraw(handle, everyLine, &words));
    return take(words);
  }
  /// `points` and the result are 64-bit numbers, point after point.
  nb::bytes places(nb::handle points) const {
    return find(blockscaleLayoutFindPlaces, points, contentRank, placeRank);
  }
  nb::bytes contents(nb::handle points) const {
    return find(blockscaleLayoutFindContents, points, placeRank, contentRank);
  }

private:
  template <typename Function>
  nb::bytes find(Function function, nb::handle points, size_t from,
                 size_t to) const {
    Buffer given(points, false);
    size_t count = given.size() / sizeof(uint64_t) / from;
    std::string found(count * to * sizeof(uint64_t), '\0');
    unlocked([&] {
      return function(handle, static_cast<const uint64_t *>(given.data()),
                      count, reinterpret_cast<uint64_t *>(found.data()));
    });
    return bytesOf(found);
  }

  BlockscaleLayout handle = {0};
  size_t contentRank = 0, placeRank = 0;
};

std::string layoutList() {
  BlockscaleBytes words;
  check(blockscaleLayoutList(&words));
  return take(words);
}

} // namespace

void blockscale::python::defineLayout(nb::module_ &m) {
  nb::class_<Layout>(m, "Layout")
      .def(nb::init<const std::string &,
                    const std::vector<std::pair<std::string, uint64_t>> &>())
      .def("describe", &Layout::describe)
      .def("draw", &Layout::draw)
      .def("places", &Layout::places)
      .def("contents", &Layout::contents);
  m.def("layout_list", &layoutList);
}
