//===- SharedRules.h - demands that instructions have in common -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makers of rules. A field is a pointer to a member of the query; `who` is how
// sentences call it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_NKI_SHAREDRULES_H
#define BLOCKSCALE_LIB_NKI_SHAREDRULES_H

#include "Rules.h"

namespace blockscale::nki {

/// A tile lies in one memory.
template <typename Query>
Rule<Query> memoryRule(std::string_view what, std::string_view source,
                       std::string who, Buffer Query::*field, Buffer legal) {
  return {what,
          source,
          [=](const Query &q) { return q.*field == legal; },
          [=](const Query &q) {
            return who + " in '" + std::string(bufferName(q.*field)) + "'";
          },
          [=](const Query &) { return quotedList({bufferName(legal)}); },
          [=](Query &q) { q.*field = legal; }};
}

/// A tile has elements of one of these types; `nearest` is one of them.
template <typename Query>
Rule<Query> typeRule(std::string_view what, std::string_view source,
                     std::string who, PlainType Query::*field,
                     std::vector<PlainType> legal, PlainType nearest) {
  return {
      what,
      source,
      [=](const Query &q) {
        return std::find(legal.begin(), legal.end(), q.*field) != legal.end();
      },
      [=](const Query &q) {
        return who + " of type '" + std::string(plainTypeName(q.*field)) + "'";
      },
      [=](const Query &) {
        std::vector<std::string_view> names;
        for (PlainType type : legal)
          names.push_back(plainTypeName(type));
        return quotedList(names);
      },
      [=](Query &q) { q.*field = nearest; }};
}

/// Bytes, and their own type where the documents have it.
template <typename Query>
Rule<Query> scaleTypeRule(std::string_view what, std::string_view source,
                          std::string who) {
  auto forRevision = [=](const Query &q) {
    std::vector<PlainType> legal{PlainType::U8};
    if (revisionInfo(q.target.revision).hasE8M0Scales)
      legal.push_back(PlainType::E8M0);
    return typeRule(what, source, who, &Query::scaleType, legal, PlainType::U8);
  };
  return {what,
          source,
          [=](const Query &q) { return forRevision(q).holds(q); },
          [=](const Query &q) { return forRevision(q).value(q); },
          [=](const Query &q) { return forRevision(q).expected(q); },
          [=](Query &q) { forRevision(q).repair(q); }};
}

/// Whole quadrants of partitions.
template <typename Query>
Rule<Query> partitionsRule(std::string_view what, std::string_view source) {
  return {what,
          source,
          [](const Query &q) { return isPartitionCount(q.partitions); },
          [](const Query &q) { return "P = " + number(q.partitions); },
          [](const Query &) {
            return std::string("a multiple of 32 from 32 to 128");
          },
          [](Query &q) { q.partitions = nearestPartitionCount(q.partitions); }};
}

/// A size that the rest of the query determines: 'before' number 'after'.
template <typename Query>
Rule<Query> sizeRule(std::string_view what, std::string_view source,
                     std::string before, std::string after,
                     std::optional<unsigned> Query::*field,
                     unsigned (*expected)(const Query &), std::string why) {
  return {what,
          source,
          [=](const Query &q) {
            return (q.*field).value_or(expected(q)) == expected(q);
          },
          [=](const Query &q) {
            return q.*field ? before + number(*(q.*field)) + after
                            : std::string();
          },
          [=](const Query &q) { return number(expected(q)) + ", " + why; },
          [=](Query &q) { q.*field = expected(q); }};
}

/// Where more than a quadrant is scaled, scales lie in the quadrants of their
/// data.
template <typename Query>
Rule<Query> scalePartitionsRule(std::string_view what, std::string who) {
  return {what,
          kScaleTensor,
          [](const Query &q) {
            return q.scalePartitions >= minScalePartitions(q.partitions);
          },
          [=](const Query &q) {
            return who + " of " + number(q.scalePartitions) + " partitions";
          },
          [](const Query &q) {
            return "at least " + number(minScalePartitions(q.partitions)) +
                   " for P = " + number(q.partitions);
          },
          [](Query &q) { q.scalePartitions = q.partitions; }};
}

template <typename Query>
Rule<Query> scaleOffsetRule(std::string_view what, std::string_view source) {
  return {
      what,
      source,
      [](const Query &q) { return isScaleOffset(q.scaleOffset); },
      [](const Query &q) {
        return "scale offset " + std::to_string(q.scaleOffset);
      },
      [](const Query &) { return std::string("0, 4, 8 or 12 from the data"); },
      [](Query &q) { q.scaleOffset = nearestScaleOffset(q.scaleOffset); }};
}

} // namespace blockscale::nki

#endif // BLOCKSCALE_LIB_NKI_SHAREDRULES_H
