//===- Sparsity.cpp - which elements of a group stay, slowly --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Reference/Sparsity.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace blockscale;

static double squareOf(float value) {
  double square = double(value) * double(value);
  return std::isnan(square) ? std::numeric_limits<double>::infinity() : square;
}

std::vector<bool> reference::staying(const std::vector<float> &group,
                                     unsigned keep, bool pairs) {
  unsigned width = pairs ? 2 : 1;
  std::vector<double> weights(group.size() / width);
  for (size_t i = 0; i < group.size(); ++i)
    weights[i / width] += squareOf(group[i]);
  std::vector<size_t> order(weights.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t x, size_t y) { return weights[x] > weights[y]; });
  std::vector<bool> result(group.size());
  for (size_t i = 0; i < keep / width; ++i)
    for (size_t k = 0; k < width; ++k)
      result[order[i] * width + k] = true;
  return result;
}

unsigned reference::nibbleOfFour(const std::vector<bool> &used) {
  std::vector<unsigned> places;
  for (unsigned i = 0; i < used.size(); ++i)
    if (used[i])
      places.push_back(i);
  if (places.empty())
    places = {0, 1};
  if (places.size() == 1 && places[0] == 3)
    places = {0, 3};
  if (places.size() == 1)
    places.push_back(3);
  return places[0] | places[1] << 2;
}

unsigned reference::nibbleOfTwo(const std::vector<bool> &used) {
  return !used[0] && used[1] ? 0b1110 : 0b0100;
}
