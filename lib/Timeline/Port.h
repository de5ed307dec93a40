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

/// A unit that serves requests in the order of their times, however late they
/// are told: loads that several CTAs of a cluster send to the same one come CTA
/// by CTA. What was answered to a request stays when one is told after it that
/// lies before it; those that follow see both.
class Queue {
public:
  struct Request {
    double cycles, end;
    size_t slice; ///< that draws it
  };

  /// Returns when the `cycles` of a request start that waits from `at` on.
  double reserve(double at, double cycles, size_t slice) {
    auto own =
        requests.insert(requests.upper_bound(at), {at, {cycles, 0, slice}});
    double free = own == requests.begin() ? at : std::prev(own)->second.end;
    double start = std::max(at, free);
    double end = own->second.end = start + cycles;
    for (auto next = std::next(own); next != requests.end(); ++next) {
      double moved = std::max(next->first, end) + next->second.cycles;
      if (moved == next->second.end)
        break;
      end = next->second.end = moved;
    }
    used += cycles;
    return start;
  }

  bool isUsed() const { return !requests.empty(); }
  double served() const { return used; }
  /// When the first request starts and the last one ends; it must be used.
  double first() const { return requests.begin()->first; }
  double last() const { return requests.rbegin()->second.end; }
  double span() const { return isUsed() ? last() - first() : 0; }

  /// By when they wait.
  const std::multimap<double, Request> &all() const { return requests; }

private:
  std::multimap<double, Request> requests;
  double used = 0;
};

} // namespace blockscale::timeline

#endif // BLOCKSCALE_LIB_TIMELINE_PORT_H
