//===- Graphs.cpp - work that is kept instead of done ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Graphs.h"
#include "Conditionals.h"
#include "Copies.h"
#include "Memory.h"
#include "Streams.h"

#include <algorithm>
#include <sstream>

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

/// Guarded by the core's lock.
struct Handles {
  /// All graphs, those inside of nodes and executables included.
  std::unordered_set<const CUgraph_st *> graphs;
  /// Those that the program may destroy.
  std::unordered_set<const CUgraph_st *> own;
  std::unordered_set<const CUgraphNode_st *> nodes;
  std::unordered_set<const CUgraphExec_st *> executables;
  std::unordered_set<const CUuserObject_st *> objects;
  unsigned long long lastId = 0;
  /// Memory of nodes, and whether the program has it: from a launch of the node
  /// that makes it until it is freed.
  std::map<uint64_t, bool> memory;
};

Handles &handles() {
  static Handles *all = new Handles;
  return *all;
}

std::map<uint64_t, bool> &graphMemory() { return handles().memory; }

cudaError_t runAll(const std::vector<CUgraphNode_st *> &order);

/// Runs the body that the condition says; one of a loop again and again.
cudaError_t runConditional(const ConditionalWork &work) {
  auto run = [&](size_t index) {
    return index < work.bodies.size() ? runAll(sorted(*work.bodies[index]))
                                      : cudaSuccess;
  };
  if (work.type == CU_GRAPH_COND_TYPE_IF)
    return run(valueOf(work.handle) ? 0 : 1);
  if (work.type == CU_GRAPH_COND_TYPE_SWITCH)
    return run(valueOf(work.handle));
  while (valueOf(work.handle))
    if (cudaError_t error = run(0); error != cudaSuccess)
      return error;
  return cudaSuccess;
}

/// Does the work of a node.
struct Doer {
  cudaError_t operator()(std::monostate) const { return cudaSuccess; }
  cudaError_t operator()(const KernelWork &work) const { return launch(work); }
  cudaError_t operator()(const CUDA_MEMCPY3D &box) const {
    return copyBox(box);
  }
  cudaError_t operator()(const CUDA_MEMSET_NODE_PARAMS &fill) const {
    return fillBox(fill);
  }
  cudaError_t operator()(const CUDA_HOST_NODE_PARAMS &host) const {
    host.fn(host.userData);
    return cudaSuccess;
  }
  cudaError_t operator()(const ChildWork &child) const {
    return runAll(sorted(*child.graph));
  }
  cudaError_t operator()(const EventWork &work) const {
    return isRecord ? recordEvent(work.event) : waitForEvent(work.event);
  }
  cudaError_t operator()(const AllocWork &work) const {
    graphMemory()[work.parameters.dptr] = true;
    return cudaSuccess;
  }
  cudaError_t operator()(const FreeWork &work) const {
    auto it = graphMemory().find(work.address);
    if (it != graphMemory().end())
      it->second = false;
    return cudaSuccess;
  }
  cudaError_t operator()(const ConditionalWork &work) const {
    return runConditional(work);
  }
  cudaError_t operator()(const OtherWork &other) const {
    return other.function();
  }
  bool isRecord;
};

cudaError_t runAll(const std::vector<CUgraphNode_st *> &order) {
  for (CUgraphNode_st *node : order) {
    if (!node->enabled)
      continue;
    Doer doer{node->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD};
    if (cudaError_t error = std::visit(doer, node->work); error != cudaSuccess)
      return error;
  }
  return cudaSuccess;
}

/// What `toDot` calls a node.
const char *nameOf(CUgraphNodeType type) {
  switch (type) {
  case CU_GRAPH_NODE_TYPE_KERNEL:
    return "KERNEL";
  case CU_GRAPH_NODE_TYPE_MEMCPY:
    return "MEMCPY";
  case CU_GRAPH_NODE_TYPE_MEMSET:
    return "MEMSET";
  case CU_GRAPH_NODE_TYPE_HOST:
    return "HOST";
  case CU_GRAPH_NODE_TYPE_GRAPH:
    return "GRAPH";
  case CU_GRAPH_NODE_TYPE_EMPTY:
    return "EMPTY";
  case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    return "WAIT_EVENT";
  case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    return "EVENT_RECORD";
  case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    return "MEM_ALLOC";
  case CU_GRAPH_NODE_TYPE_MEM_FREE:
    return "MEM_FREE";
  case CU_GRAPH_NODE_TYPE_CONDITIONAL:
    return "CONDITIONAL";
  default:
    return "NODE";
  }
}

} // namespace

CUgraph_st::CUgraph_st() : id(++handles().lastId) {
  handles().graphs.insert(this);
}

CUgraph_st::~CUgraph_st() {
  for (const auto &[object, uses] : objects)
    changeUses(object, -static_cast<long long>(uses));
  for (const auto &node : nodes)
    handles().nodes.erase(node.get());
  handles().graphs.erase(this);
}

bool cuda::isGraph(const CUgraph_st *graph) {
  return handles().graphs.count(graph);
}

bool cuda::isNode(const CUgraphNode_st *node) {
  return handles().nodes.count(node);
}

bool cuda::isExecutable(const CUgraphExec_st *executable) {
  return handles().executables.count(executable);
}

CUgraph_st *cuda::createGraph() {
  auto *graph = new CUgraph_st;
  handles().own.insert(graph);
  return graph;
}

cudaError_t cuda::destroyGraph(CUgraph_st *graph) {
  if (isCapturedInto(graph))
    return cudaErrorIllegalState;
  if (!handles().own.erase(graph))
    return cudaErrorInvalidValue;
  delete graph;
  return cudaSuccess;
}

std::unique_ptr<CUgraph_st> cuda::copyOf(const CUgraph_st &graph) {
  auto copy = std::make_unique<CUgraph_st>();
  std::unordered_map<const CUgraphNode_st *, CUgraphNode_st *> twins;
  for (const auto &node : graph.nodes) {
    auto twin = std::make_unique<CUgraphNode_st>(*node);
    twin->graph = copy.get();
    twin->original = node.get();
    if (auto *child = std::get_if<ChildWork>(&twin->work))
      child->graph = copyOf(*child->graph);
    if (auto *conditional = std::get_if<ConditionalWork>(&twin->work)) {
      conditional->list = nullptr;
      for (auto &body : conditional->bodies)
        body = copyOf(*body);
    }
    twins[node.get()] = twin.get();
    handles().nodes.insert(twin.get());
    copy->nodes.push_back(std::move(twin));
  }
  for (const auto &node : copy->nodes)
    for (GraphEdge &edge : node->before)
      edge.from = twins.at(edge.from);
  return copy;
}

static bool hasMemory(const CUgraph_st &graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](auto &node) {
    return std::holds_alternative<AllocWork>(node->work) ||
           std::holds_alternative<FreeWork>(node->work);
  });
}

bool cuda::mayBeCopied(const CUgraph_st &graph) {
  return !hasMemory(graph) &&
         std::all_of(graph.nodes.begin(), graph.nodes.end(), [](auto &node) {
           const auto *child = std::get_if<ChildWork>(&node->work);
           return !std::holds_alternative<ConditionalWork>(node->work) &&
                  (!child || mayBeCopied(*child->graph));
         });
}

CUgraph_st *cuda::cloneGraph(const CUgraph_st &graph) {
  CUgraph_st *clone = copyOf(graph).release();
  handles().own.insert(clone);
  return clone;
}

/// Whether a node of the graph frees the memory.
static bool frees(const CUgraph_st &graph, uint64_t address) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](auto &node) {
    const auto *free = std::get_if<FreeWork>(&node->work);
    return free && free->address == address;
  });
}

cudaError_t cuda::addNode(CUgraph_st *graph, CUgraphNodeType type,
                          NodeWork work, const std::vector<GraphEdge> &before,
                          CUgraphNode_st *&node) {
  if (!isGraph(graph))
    return cudaErrorInvalidValue;
  for (auto it = before.begin(); it != before.end(); ++it) {
    auto isSame = [&](const GraphEdge &edge) { return edge.from == it->from; };
    if (!isNode(it->from) || it->from->graph != graph ||
        std::any_of(before.begin(), it, isSame))
      return cudaErrorInvalidValue;
  }
  if (cudaError_t error = checkWork(work); error != cudaSuccess)
    return error;
  if (const auto *free = std::get_if<FreeWork>(&work);
      free && frees(*graph, free->address))
    return cudaErrorInvalidValue;
  auto owned = std::make_unique<CUgraphNode_st>();
  node = owned.get();
  node->graph = graph;
  node->type = type;
  node->work = std::move(work);
  node->before = before;
  handles().nodes.insert(node);
  graph->nodes.push_back(std::move(owned));
  return cudaSuccess;
}

cudaError_t cuda::destroyNode(CUgraphNode_st *node) {
  if (!isNode(node))
    return cudaErrorInvalidValue;
  if (std::holds_alternative<AllocWork>(node->work) ||
      std::holds_alternative<FreeWork>(node->work))
    return cudaErrorNotSupported;
  CUgraph_st *graph = node->graph;
  for (const auto &other : graph->nodes)
    removeEdge(node, other.get());
  handles().nodes.erase(node);
  auto isIt = [&](const auto &owned) { return owned.get() == node; };
  graph->nodes.erase(
      std::find_if(graph->nodes.begin(), graph->nodes.end(), isIt));
  return cudaSuccess;
}

/// Edges of kernels may begin before the kernel's end, all others are plain.
static bool isLegal(const CUgraphEdgeData &data, const CUgraphNode_st &from) {
  for (unsigned char byte : data.reserved)
    if (byte)
      return false;
  if (data.to_port)
    return false;
  if (data.type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT)
    return data.from_port == CU_GRAPH_KERNEL_NODE_PORT_DEFAULT;
  return data.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC &&
         from.type == CU_GRAPH_NODE_TYPE_KERNEL &&
         (data.from_port == CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC ||
          data.from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER);
}

cudaError_t cuda::addEdge(CUgraphNode_st *from, CUgraphNode_st *to,
                          const CUgraphEdgeData &data) {
  if (!isNode(from) || !isNode(to) || from->graph != to->graph || from == to ||
      !isLegal(data, *from))
    return cudaErrorInvalidValue;
  for (const GraphEdge &edge : to->before)
    if (edge.from == from)
      return cudaErrorInvalidValue;
  to->before.push_back({from, data});
  return cudaSuccess;
}

cudaError_t cuda::removeEdge(CUgraphNode_st *from, CUgraphNode_st *to) {
  if (!isNode(from) || !isNode(to))
    return cudaErrorInvalidValue;
  for (auto it = to->before.begin(); it != to->before.end(); ++it)
    if (it->from == from) {
      to->before.erase(it);
      return cudaSuccess;
    }
  return cudaErrorInvalidValue;
}

std::vector<CUgraphNode_st *> cuda::sorted(const CUgraph_st &graph) {
  std::vector<CUgraphNode_st *> order;
  std::unordered_set<const CUgraphNode_st *> done;
  auto isDone = [&](const GraphEdge &edge) { return done.count(edge.from); };
  // Each round takes what has become ready, in the order of addition.
  for (size_t before = SIZE_MAX; before != order.size();) {
    before = order.size();
    for (const auto &node : graph.nodes)
      if (!done.count(node.get()) &&
          std::all_of(node->before.begin(), node->before.end(), isDone)) {
        done.insert(node.get());
        order.push_back(node.get());
      }
  }
  return order;
}

bool cuda::isAfter(const CUgraphNode_st *late, const CUgraphNode_st *early) {
  std::vector<const CUgraphNode_st *> open{late};
  std::unordered_set<const CUgraphNode_st *> seen;
  while (!open.empty()) {
    const CUgraphNode_st *node = open.back();
    open.pop_back();
    if (node == early)
      return true;
    if (seen.insert(node).second)
      for (const GraphEdge &edge : node->before)
        open.push_back(edge.from);
  }
  return false;
}

cudaError_t cuda::allocateFor(AllocWork &work) {
  if (work.parameters.poolProps.allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
    return cudaErrorInvalidValue;
  const CUmemLocation &place = work.parameters.poolProps.location;
  if (place.type != CU_MEM_LOCATION_TYPE_DEVICE || place.id != 0)
    return cudaErrorInvalidValue;
  uint64_t address = 0;
  cudaError_t error =
      allocate(MemoryKind::Device, work.parameters.bytesize, address);
  work.parameters.dptr = address;
  if (error == cudaSuccess)
    graphMemory()[address] = false;
  return error;
}

void cuda::forgetGraphMemory() {
  auto &all = graphMemory();
  for (auto it = all.begin(); it != all.end();)
    it = Core::get().memory.find(it->first) ? std::next(it) : all.erase(it);
}

std::optional<cudaError_t> cuda::releaseGraphMemory(uint64_t address) {
  auto it = graphMemory().find(address);
  if (it == graphMemory().end())
    return std::nullopt;
  bool isLive = std::exchange(it->second, false);
  return isLive ? Core::get().sticky : cudaErrorInvalidValue;
}

cudaError_t cuda::checkWork(const NodeWork &work) {
  if (const auto *kernel = std::get_if<KernelWork>(&work))
    return kernel->entry ? checkLaunch(*kernel)
                         : cudaErrorInvalidResourceHandle;
  if (const auto *host = std::get_if<CUDA_HOST_NODE_PARAMS>(&work))
    return host->fn ? cudaSuccess : cudaErrorInvalidValue;
  if (const auto *event = std::get_if<EventWork>(&work))
    return isEvent(event->event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  if (const auto *fill = std::get_if<CUDA_MEMSET_NODE_PARAMS>(&work)) {
    bool good = fill->elementSize == 1 || fill->elementSize == 2 ||
                fill->elementSize == 4;
    good = good && fill->width && fill->height &&
           fill->dst % fill->elementSize == 0 &&
           Core::get().memory.find(fill->dst);
    return good ? cudaSuccess : cudaErrorInvalidValue;
  }
  if (const auto *copy = std::get_if<CUDA_MEMCPY3D>(&work)) {
    bool good = copy->WidthInBytes && copy->Height && copy->Depth &&
                copy->srcMemoryType <= CU_MEMORYTYPE_UNIFIED &&
                copy->dstMemoryType <= CU_MEMORYTYPE_UNIFIED;
    return good ? cudaSuccess : cudaErrorInvalidValue;
  }
  if (const auto *free = std::get_if<FreeWork>(&work)) {
    const Allocation *one = Core::get().memory.find(free->address);
    return one && one->address == free->address ? cudaSuccess
                                                : cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

//===----------------------------------------------------------------------===//
// Executables
//===----------------------------------------------------------------------===//

static bool isInstantiated(const CUgraph_st &graph) {
  const auto &all = handles().executables;
  return std::any_of(all.begin(), all.end(), [&](const auto *executable) {
    return executable->source == graph.id;
  });
}

/// Whether a launch may make the memory of a node: it is still there after a
/// reset of the device, and nobody has it or it is freed by the launch.
static bool mayTake(uint64_t address, bool isFreed) {
  auto it = graphMemory().find(address);
  return it != graphMemory().end() && (!it->second || isFreed);
}

/// Before a launch: memory that an earlier one left to the program and that is
/// not free again is an error, unless it is freed here.
static cudaError_t prepareMemory(const CUgraphExec_st &executable) {
  bool isFreed =
      executable.flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
  for (const CUgraphNode_st *node : executable.order)
    if (const auto *work = std::get_if<AllocWork>(&node->work);
        work && !mayTake(work->parameters.dptr, isFreed))
      return cudaErrorInvalidValue;
  return cudaSuccess;
}

cudaError_t cuda::instantiate(CUgraph_st *graph, unsigned long long flags,
                              CUgraphExec_st *&executable,
                              CUgraphNode_st **errorNode) {
  constexpr unsigned long long kKnown =
      CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
      CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
      CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH |
      CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  if (!isGraph(graph) || flags & ~kKnown || hasUnusedCondition(*graph))
    return cudaErrorInvalidValue;
  if (cudaError_t error = spoilCaptureInto(graph); error != cudaSuccess)
    return error;
  // Its memory is in one place.
  if (hasMemory(*graph) && isInstantiated(*graph))
    return cudaErrorNotSupported;
  if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) {
    sayOnce("graphs that a kernel launches are not supported");
    return cudaErrorNotSupported;
  }
  std::unique_ptr<CUgraph_st> copy = copyOf(*graph);
  std::vector<CUgraphNode_st *> order = sorted(*copy);
  if (order.size() != graph->nodes.size()) {
    // A cycle: the first node that is on it or after it.
    std::unordered_set<const CUgraphNode_st *> done(order.begin(), order.end());
    for (const auto &node : copy->nodes)
      if (errorNode && !done.count(node.get())) {
        *errorNode = node->original;
        break;
      }
    return cudaErrorInvalidValue;
  }
  executable =
      new CUgraphExec_st{std::move(copy), std::move(order), flags, graph->id};
  handles().executables.insert(executable);
  return cudaSuccess;
}

cudaError_t cuda::launchGraph(CUgraphExec_st *executable, CUstream_st *stream) {
  if (!isExecutable(executable))
    return cudaErrorInvalidValue;
  if (cudaError_t error = checkStream(stream); error != cudaSuccess)
    return error;
  if (!captureOf(stream)) {
    if (cudaError_t error = prepareMemory(*executable); error != cudaSuccess)
      return error;
    assignDefaults(*executable->graph);
    return runAll(executable->order);
  }
  // A copy: the executable may be gone when a graph of its own is launched.
  return keep(stream, CU_GRAPH_NODE_TYPE_GRAPH,
              ChildWork{copyOf(*executable->graph)});
}

cudaError_t cuda::destroyExecutable(CUgraphExec_st *executable) {
  if (!handles().executables.erase(executable))
    return cudaErrorInvalidValue;
  delete executable;
  return cudaSuccess;
}

cudaError_t cuda::updateExecutable(CUgraphExec_st *executable,
                                   CUgraph_st *graph,
                                   CUgraphExecUpdateResultInfo &info) {
  if (!isExecutable(executable) || !isGraph(graph))
    return cudaErrorInvalidValue;
  info = {CU_GRAPH_EXEC_UPDATE_ERROR, nullptr, nullptr};
  const auto &old = executable->graph->nodes;
  auto differ = [&](CUgraphExecUpdateResult result, CUgraphNode_st *node) {
    info = {result, node, nullptr};
    return cudaErrorGraphExecUpdateFailure;
  };
  if (old.size() != graph->nodes.size())
    return differ(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, nullptr);
  std::unique_ptr<CUgraph_st> copy = copyOf(*graph);
  auto place = [](const auto &nodes, const CUgraphNode_st *node) {
    auto isIt = [&](const auto &owned) { return owned.get() == node; };
    return std::find_if(nodes.begin(), nodes.end(), isIt) - nodes.begin();
  };
  for (size_t i = 0; i != old.size(); ++i) {
    const CUgraphNode_st &now = *copy->nodes[i];
    if (old[i]->type != now.type)
      return differ(CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, now.original);
    bool same = old[i]->before.size() == now.before.size();
    for (size_t j = 0; same && j != now.before.size(); ++j)
      same = place(old, old[i]->before[j].from) ==
             place(copy->nodes, now.before[j].from);
    if (!same)
      return differ(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, now.original);
  }
  // Nodes that the program asks for by those of the first graph stay known.
  for (size_t i = 0; i != old.size(); ++i)
    old[i]->work = std::move(copy->nodes[i]->work);
  info = {CU_GRAPH_EXEC_UPDATE_SUCCESS, nullptr, nullptr};
  return cudaSuccess;
}

CUgraphNode_st *cuda::nodeIn(CUgraphExec_st *executable,
                             const CUgraphNode_st *node) {
  if (!isExecutable(executable))
    return nullptr;
  for (const auto &one : executable->graph->nodes)
    if (one->original == node)
      return one.get();
  return nullptr;
}

std::string cuda::toDot(const CUgraph_st &graph) {
  std::ostringstream text;
  text << "digraph dot {\n";
  std::unordered_map<const CUgraphNode_st *, size_t> numbers;
  for (const auto &node : graph.nodes) {
    size_t number = numbers.size();
    numbers[node.get()] = number;
    text << "  n" << number << " [label=\"" << number << " "
         << nameOf(node->type);
    if (const auto *kernel = std::get_if<KernelWork>(&node->work))
      text << "\\n" << readableName(kernel->entry->name);
    text << "\"];\n";
  }
  for (const auto &node : graph.nodes)
    for (const GraphEdge &edge : node->before)
      text << "  n" << numbers[edge.from] << " -> n" << numbers[node.get()]
           << ";\n";
  text << "}\n";
  return text.str();
}

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

bool cuda::isObject(const CUuserObject_st *object) {
  return handles().objects.count(object);
}

CUuserObject_st *cuda::createObject(CUhostFn destroy, void *data,
                                    unsigned uses) {
  auto *object = new CUuserObject_st{destroy, data, uses};
  handles().objects.insert(object);
  return object;
}

cudaError_t cuda::changeUses(CUuserObject_st *object, long long change) {
  if (!isObject(object) || !change ||
      (change < 0 && object->uses < static_cast<unsigned long long>(-change)))
    return cudaErrorInvalidValue;
  object->uses += static_cast<unsigned long long>(change);
  if (object->uses == 0) {
    handles().objects.erase(object);
    object->destroy(object->data);
    delete object;
  }
  return cudaSuccess;
}
