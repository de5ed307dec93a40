//===- Residency.cpp - CTAs that share an SM ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Residency.h"

#include "State.h"

#include <algorithm>

namespace blockscale::emulator::machine {
namespace {

uint64_t linear(const Cta &cta) {
  return cta.cluster->id * cta.cluster->ctas.size() + cta.rank;
}

} // namespace

Residency::Residency(const Launch &launch, uint32_t sms)
    : sms(std::max(sms, 1u)),
      shared(launch.cooperative && launch.grid.count() > this->sms) {}

bool Residency::take(const Cta &cta, uint32_t columns, bool exclusive,
                     uint32_t line) {
  if (!shared)
    return true;
  std::lock_guard<std::mutex> guard(lock);
  uint64_t self = linear(cta);
  std::vector<Held> &here = held[self % sms];
  uint32_t sum = columns;
  bool alone = exclusive;
  for (const Held &one : here) {
    sum += one.columns;
    alone |= one.exclusive;
  }
  if (alone ? !here.empty() : sum > TensorMemory::kPlainColumns) {
    waiting.insert(self);
    return false;
  }
  waiting.erase(self);
  here.push_back(
      {self, columns, exclusive, {cta.id[0], cta.id[1], cta.id[2]}, line});
  return true;
}

void Residency::give(const Cta &cta, uint32_t columns) {
  if (!shared)
    return;
  std::lock_guard<std::mutex> guard(lock);
  uint64_t self = linear(cta);
  std::vector<Held> &here = held[self % sms];
  auto found = std::find_if(here.begin(), here.end(), [&](const Held &one) {
    return one.cta == self && one.columns == columns;
  });
  if (found != here.end())
    here.erase(found);
}

bool Residency::waits(const Cta &cta) {
  std::lock_guard<std::mutex> guard(lock);
  return waiting.count(linear(cta));
}

bool Residency::anyWaits() {
  std::lock_guard<std::mutex> guard(lock);
  return !waiting.empty();
}

std::vector<std::string> Residency::othersOn(const Cta &cta) {
  std::lock_guard<std::mutex> guard(lock);
  std::vector<std::string> texts;
  uint64_t self = linear(cta);
  for (const Held &one : held[self % sms])
    if (one.cta != self)
      texts.push_back(std::to_string(one.columns) + " columns by cta (" +
                      std::to_string(one.id[0]) + "," +
                      std::to_string(one.id[1]) + "," +
                      std::to_string(one.id[2]) +
                      ") on the same SM since the tcgen05.alloc at line " +
                      std::to_string(one.line));
  return texts;
}

} // namespace blockscale::emulator::machine
