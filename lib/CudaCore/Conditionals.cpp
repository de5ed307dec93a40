//===- Conditionals.cpp - nodes of graphs that ask a value ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Conditionals.h"

#include <cstring>

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

struct Condition {
  unsigned long long graph = 0;
  uint32_t defaultValue = 0;
  unsigned flags = 0;
  uint8_t *value = nullptr;
  bool hasNode = false;
};

/// They live as long as the process: executables may outlive their graphs.
std::map<CUgraphConditionalHandle, Condition> &conditions() {
  static auto *all = new std::map<CUgraphConditionalHandle, Condition>;
  return *all;
}

bool isSizeLegal(CUgraphConditionalNodeType type, unsigned size) {
  switch (type) {
  case CU_GRAPH_COND_TYPE_IF:
    return size == 1 || size == 2;
  case CU_GRAPH_COND_TYPE_WHILE:
    return size == 1;
  case CU_GRAPH_COND_TYPE_SWITCH:
    return size >= 1;
  }
  return false;
}

} // namespace

cudaError_t cuda::createCondition(CUgraph_st *graph, unsigned defaultValue,
                                  unsigned flags,
                                  CUgraphConditionalHandle &handle) {
  if (!isGraph(graph) || flags & ~unsigned(CU_GRAPH_COND_ASSIGN_DEFAULT))
    return cudaErrorInvalidValue;
  const Allocation *memory =
      Core::get().memory.allocate(MemoryKind::Device, sizeof(uint32_t));
  if (!memory)
    return cudaErrorMemoryAllocation;
  handle = memory->address;
  conditions()[handle] = {graph->id, defaultValue, flags, memory->data, false};
  return cudaSuccess;
}

cudaError_t cuda::makeConditional(CUgraph_st *graph,
                                  CUDA_CONDITIONAL_NODE_PARAMS &parameters,
                                  NodeWork &work) {
  // Of more bodies than any program has, the memory would go first.
  constexpr unsigned kMostBodies = 1 << 16;
  auto it = conditions().find(parameters.handle);
  if (!isGraph(graph) || it == conditions().end() ||
      (it->second.graph != graph->id && it->second.graph != graph->root) ||
      it->second.hasNode || !isSizeLegal(parameters.type, parameters.size) ||
      parameters.size > kMostBodies)
    return cudaErrorInvalidValue;
  it->second.hasNode = true;
  ConditionalWork conditional;
  conditional.handle = parameters.handle;
  conditional.type = parameters.type;
  conditional.list = std::make_shared<std::vector<CUgraph_st *>>();
  for (unsigned i = 0; i != parameters.size; ++i) {
    conditional.bodies.push_back(std::make_shared<CUgraph_st>());
    conditional.bodies.back()->root = graph->root ? graph->root : graph->id;
    conditional.list->push_back(conditional.bodies.back().get());
  }
  parameters.phGraph_out = conditional.list->data();
  work = std::move(conditional);
  return cudaSuccess;
}

bool cuda::hasUnusedCondition(const CUgraph_st &graph) {
  return std::any_of(
      conditions().begin(), conditions().end(), [&](const auto &entry) {
        return entry.second.graph == graph.id && !entry.second.hasNode;
      });
}

uint32_t cuda::valueOf(CUgraphConditionalHandle handle) {
  uint32_t value = 0;
  std::memcpy(&value, conditions().at(handle).value, sizeof value);
  return value;
}

void cuda::assignDefaults(const CUgraph_st &graph) {
  for (const auto &node : graph.nodes) {
    if (const auto *child = std::get_if<ChildWork>(&node->work))
      assignDefaults(*child->graph);
    const auto *work = std::get_if<ConditionalWork>(&node->work);
    if (!work)
      continue;
    const Condition &condition = conditions().at(work->handle);
    if (condition.flags & CU_GRAPH_COND_ASSIGN_DEFAULT)
      std::memcpy(condition.value, &condition.defaultValue,
                  sizeof condition.defaultValue);
    for (const auto &body : work->bodies)
      assignDefaults(*body);
  }
}
