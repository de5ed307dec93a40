//===- Locations.cpp - what is released through memory --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Locations.h"

namespace blockscale::emulator::machine {

const Locations::Content *Locations::find(uint64_t address) const {
  auto it = pages.find(address >> kPageShift);
  return it == pages.end()
             ? nullptr
             : (*it->second)[address >> 2 & (it->second->size() - 1)].get();
}

Locations::ContentPtr &Locations::slot(uint64_t address) {
  std::unique_ptr<Page> &page = pages[address >> kPageShift];
  if (!page)
    page = std::make_unique<Page>();
  return (*page)[address >> 2 & (page->size() - 1)];
}

void Locations::write(uint64_t address, const Place &from, Scope scope,
                      const Message *message, bool keep) {
  if (!message) {
    if (!keep && find(address))
      slot(address) = nullptr;
    return;
  }
  ContentPtr &content = slot(address);
  Source source{from.cluster, from.rank, scope};
  bool alone = !content || !keep;
  if (alone && recentAuthor == message->own && recentSource == source) {
    content = recent;
    return;
  }
  if (alone || content.use_count() != 1) {
    content = alone ? std::make_shared<Content>()
                    : std::make_shared<Content>(*content);
    content->row = ++rows;
  }
  content->version = ++versions;
  if (scope == Scope::Gpu) {
    content->wide.join(*message);
    content->wide.happens.name({content->row, versions});
  }
  // Who knows what the author knew then knows its whole message.
  Message &last = content->from.try_emplace(source, *message).first->second;
  if (message->own->covers(*last.own))
    last = *message;
  else
    last.join(*message);
  if (alone) {
    recent = content;
    recentSource = source;
    recentAuthor = message->own;
  }
}

uint64_t Locations::version(uint64_t address) const {
  const Content *content = find(address);
  return content ? content->version : 0;
}

Received Locations::read(uint64_t address, const Place &place, Scope scope,
                         bool apart) const {
  Received result;
  const Content *content = find(address);
  if (!content)
    return result;
  if (scope == Scope::Gpu)
    result[size_t(Scope::Gpu)] = content->wide;
  auto it = content->from.lower_bound({place.cluster, 0, Scope::Cta});
  for (; it != content->from.end(); ++it) {
    auto [cluster, rank, from] = it->first;
    if (cluster != place.cluster)
      break;
    Scope distance = place.distance({cluster, rank});
    if (scope == Scope::Gpu && from == Scope::Gpu && !apart)
      continue;
    if (distance <= from && distance <= scope)
      result[size_t(distance)].join(it->second);
  }
  return result;
}

} // namespace blockscale::emulator::machine
