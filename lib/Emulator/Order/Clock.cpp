//===- Clock.cpp - what a warp knows of the others ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Clock.h"

namespace blockscale::emulator::machine {

/// A warp starts a new time whenever it passes on what it knows, so whoever
/// knows that time of a warp knows all that the warp knew then.
bool Times::covers(const Times &other) const {
  if (other.author.time)
    return at(other.author.component) >= other.author.time;
  for (size_t i = 0; i != other.times.size(); ++i)
    if (other.times[i] > (i < times.size() ? times[i] : 0))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Frontier
//===----------------------------------------------------------------------===//

/// Below child d of a node are the clusters whose number goes on with octal
/// digit d, the lowest first; a node holds the cluster whose digits end there.
struct Frontier::Node {
  std::shared_ptr<const Times> times;
  std::array<NodePtr, 8> below;
};

const Times *Frontier::of(uint64_t cluster) const {
  const Node *node = root.get();
  for (; node && cluster; cluster >>= 3)
    node = node->below[cluster & 7].get();
  return node ? node->times.get() : nullptr;
}

Frontier::NodePtr Frontier::with(const NodePtr &node, uint64_t cluster,
                                 const std::shared_ptr<const Times> &times) {
  auto copy = node ? std::make_shared<Node>(*node) : std::make_shared<Node>();
  if (cluster) {
    NodePtr &below = copy->below[cluster & 7];
    below = with(below, cluster >> 3, times);
  } else if (copy->times && !times->covers(*copy->times)) {
    auto both = std::make_shared<Times>(*copy->times);
    both->join(*times);
    both->sign({});
    copy->times = std::move(both);
  } else {
    copy->times = times;
  }
  return copy;
}

void Frontier::add(uint64_t cluster,
                   const std::shared_ptr<const Times> &times) {
  const Times *old = of(cluster);
  if (old && old->covers(*times))
    return;
  root = with(root, cluster, times);
  include(self);
  self = {};
}

/// Which of the two has all that the other has; makes `both` if neither has.
Frontier::Side Frontier::join(const NodePtr &a, const NodePtr &b,
                              NodePtr &both) {
  if (a == b)
    return Either;
  if (!a || !b)
    return b ? Second : First;
  const Times *mine = a->times.get(), *others = b->times.get();
  unsigned times = mine == others                               ? Either
                   : !others || (mine && mine->covers(*others)) ? First
                   : !mine || others->covers(*mine)             ? Second
                                                                : Neither;
  unsigned sides[8], all = times;
  std::array<NodePtr, 8> made;
  for (size_t i = 0; i != made.size(); ++i)
    all &= sides[i] = join(a->below[i], b->below[i], made[i]);
  if (all)
    return Side(all);
  auto node = std::make_shared<Node>();
  for (size_t i = 0; i != made.size(); ++i)
    node->below[i] = sides[i] == Neither ? std::move(made[i])
                                         : (sides[i] & First ? a : b)->below[i];
  if (times != Neither) {
    node->times = (times & First ? a : b)->times;
  } else {
    auto joined = std::make_shared<Times>(*mine);
    joined->join(*others);
    joined->sign({});
    node->times = std::move(joined);
  }
  both = std::move(node);
  return Neither;
}

bool Frontier::includes(Edition edition) const {
  auto has = [&](Edition one) {
    return one.row == edition.row && one.number >= edition.number;
  };
  return edition.row &&
         (has(self) || std::any_of(parts.begin(), parts.end(), has));
}

/// The last one included comes first, and pushes the first one out.
void Frontier::include(Edition edition) {
  if (!edition.row || edition.row == self.row)
    return;
  auto place = std::find_if(parts.begin(), parts.end() - 1, [&](Edition one) {
    return one.row == edition.row;
  });
  if (place->row == edition.row)
    edition.number = std::max(edition.number, place->number);
  std::move_backward(parts.begin(), place, place + 1);
  parts[0] = edition;
}

void Frontier::name(Edition edition) {
  include(self);
  self = edition;
}

bool Frontier::join(const Frontier &other) {
  if (!other.root || root == other.root || includes(other.self))
    return false;
  NodePtr both;
  Side side =
      !root || other.includes(self) ? Second : join(root, other.root, both);
  if (side & First) {
    include(other.self);
    return false;
  }
  std::array<Edition, 4> mine{self, parts[0], parts[1], parts[2]};
  if (side == Second) {
    *this = other;
    for (auto one = mine.rbegin(); one != mine.rend(); ++one)
      if (!includes(*one))
        include(*one);
    return true;
  }
  root = std::move(both);
  include(std::exchange(self, {}));
  include(other.self);
  return true;
}

//===----------------------------------------------------------------------===//
// Clock
//===----------------------------------------------------------------------===//

void Clock::join(const Message &message, uint64_t self) {
  if (message.afterPrevious)
    raise({kPreviousGrids, 1});
  if (others.join(message.happens))
    if (const Times *own = message.happens.of(self))
      Times::join(*own);
  if (othersReached.join(message.reached))
    if (const Times *own = message.reached.of(self))
      joinView(View::ReachedGlobal, *own);
  if (!message.own)
    return;
  if (message.cluster == self)
    Times::join(*message.own);
  else
    others.add(message.cluster, message.own);
}

Message Clock::message(uint64_t self, Stamp now) const {
  auto times = std::make_shared<Times>(*this);
  times->sign(now);
  return {others, othersReached, std::move(times), self,
          at(kPreviousGrids) != 0};
}

} // namespace blockscale::emulator::machine
