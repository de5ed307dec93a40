//===- Port.h - a unit that serves one request at a time --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_TIMELINE_PORT_H
#define BLOCKSCALE_LIB_TIMELINE_PORT_H

#include <algorithm>
#include <iterator>
#include <map>

namespace blockscale::timeline {

/// Events of different warps do not come in the order of their times, so that a
/// later request may find room before an earlier one.
class Port {
public:
  /// Takes the first `cycles` that are free from `earliest` on, in one piece;
  /// returns their start.
  double reserve(double earliest, double cycles) {
    double start = earliest;
    auto next = busy.upper_bound(start);
    if (next != busy.begin())
      start = std::max(start, std::prev(next)->second);
    for (; next != busy.end() && next->first < start + cycles; ++next)
      start = std::max(start, next->second);
    insert(start, start + cycles);
    used += cycles;
    return start;
  }

  bool isUsed() const { return !busy.empty(); }
  /// Cycles in which it served, and from the first to the last of them.
  double served() const { return used; }
  double span() const {
    return busy.empty() ? 0 : busy.rbegin()->second - busy.begin()->first;
  }

private:
  /// Adds a piece and joins it with those that it touches.
  void insert(double start, double end) {
    auto next = busy.lower_bound(start);
    if (next != busy.begin() && std::prev(next)->second >= start) {
      --next;
      start = next->first;
      next = busy.erase(next);
    }
    if (next != busy.end() && next->first <= end) {
      end = std::max(end, next->second);
      busy.erase(next);
    }
    busy[start] = end;
  }

  std::map<double, double> busy; ///< start to end, apart from each other
  double used = 0;
};

} // namespace blockscale::timeline

#endif // BLOCKSCALE_LIB_TIMELINE_PORT_H
