//===- Launch.cpp - checks a launch, places its memory --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launch.h"
#include "../Async/MapBytes.h"

#include <algorithm>

namespace blockscale::emulator::machine {

void refuse(Findings &findings, std::string message, Hazard hazard) {
  findings.push_back({FindingKind::Launch, std::move(message)});
  findings.back().hazard = unsigned(hazard);
}

namespace {

std::string text(const Dim3 &d) {
  return std::to_string(d.x) + "x" + std::to_string(d.y) + "x" +
         std::to_string(d.z);
}
Dim3 dims(const std::array<uint32_t, 3> &a) {
  return {std::max(a[0], 1u), std::max(a[1], 1u), std::max(a[2], 1u)};
}
bool same(const Dim3 &a, const Dim3 &b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

} // namespace

bool checkShape(const Function &kernel, const Launch &launch, Findings &out) {
  const Dim3 &grid = launch.grid, &cluster = launch.cluster,
             &block = launch.block;
  if (!grid.count() || !cluster.count() || !block.count())
    refuse(out, "grid, cluster and block need at least one element each");
  else if (block.x > 1024 || block.y > 1024 || block.z > 64 ||
           block.count() > 1024)
    refuse(out, "block " + text(block) + " has more than 1024 threads");
  else if (cluster.x > 16 || cluster.y > 16 || cluster.z > 16 ||
           cluster.count() > 16)
    refuse(out, "cluster " + text(cluster) + " has more than 16 CTAs");
  else if (grid.x % cluster.x || grid.y % cluster.y || grid.z % cluster.z)
    refuse(out, "grid " + text(grid) + " is not a multiple of cluster " +
                    text(cluster));
  else if (grid.y > 65535 || grid.z > 65535 || grid.x > 0x7FFFFFFF)
    refuse(out, "grid " + text(grid) + " is too large");
  if (!out.empty())
    return false;
  const LaunchBounds &bounds = kernel.launch;
  if (bounds.reqntid[0] && !same(dims(bounds.reqntid), block))
    refuse(out,
           "block is " + text(block) + ", .reqntid says " +
               text(dims(bounds.reqntid)),
           Hazard::LaunchDirectives);
  if (bounds.maxntid[0] && block.count() > dims(bounds.maxntid).count())
    refuse(out,
           "block " + text(block) + " is larger than .maxntid " +
               text(dims(bounds.maxntid)),
           Hazard::LaunchDirectives);
  if (bounds.reqnctapercluster[0] &&
      !same(dims(bounds.reqnctapercluster), cluster))
    refuse(out,
           "cluster is " + text(cluster) + ", .reqnctapercluster says " +
               text(dims(bounds.reqnctapercluster)),
           Hazard::LaunchDirectives);
  if (bounds.maxclusterrank && cluster.count() > bounds.maxclusterrank)
    refuse(out,
           "cluster " + text(cluster) + " is larger than .maxclusterrank " +
               std::to_string(bounds.maxclusterrank),
           Hazard::LaunchDirectives);
  for (Finding &finding : out)
    finding.line = kernel.position.line;
  return out.empty();
}

void placeBuffers(const Launch &launch, const Program &program, Memory &memory,
                  std::vector<uint64_t> &bases, Findings &out) {
  constexpr uint64_t kStep = 1 << 20, kAddressEnd = uint64_t(1) << 47;
  uint64_t at = kBufferBase;
  auto add = [&](const Buffer &buffer) {
    uint64_t base = buffer.address ? buffer.address : at;
    if (!buffer.address)
      at += (buffer.size / kStep + 2) * kStep;
    memory.regions.push_back({base, buffer.size, buffer.data, buffer.writable,
                              buffer.fromPreviousGrid});
    return base;
  };
  uint64_t globalBytes = program.globalBytes.size();
  if (program.globalBase == kBufferBase)
    add({memory.globals, globalBytes});
  else
    add({memory.globals, globalBytes, true, program.globalBase});
  for (const Buffer &buffer : launch.buffers)
    bases.push_back(add(buffer));
  std::vector<Region> &regions = memory.regions;
  std::sort(regions.begin(), regions.end(),
            [](const Region &a, const Region &b) { return a.base < b.base; });
  auto overlaps = [](uint64_t base, uint64_t size, uint64_t other,
                     uint64_t otherSize) {
    return base < other + otherSize && other < base + size;
  };
  for (size_t i = 0; i != regions.size(); ++i) {
    const Region &one = regions[i];
    if (one.base > kAddressEnd || one.size > kAddressEnd - one.base ||
        overlaps(one.base, one.size, kSharedWindow,
                 kFunctionWindow + kWindowSize - kSharedWindow) ||
        (i && overlaps(one.base, one.size, regions[i - 1].base,
                       regions[i - 1].size)))
      refuse(out, "a buffer of " + std::to_string(one.size) + " bytes at " +
                      hex(one.base) +
                      " overlaps another one or a window of the machine");
  }
}

void placeVariables(const Launch &launch, const Program &program,
                    Memory &memory) {
  memory.globals = launch.globals;
  memory.constants = launch.constants;
  if (!memory.globals) {
    memory.ownGlobals = program.globalBytes;
    memory.globals = memory.ownGlobals.data();
  }
  if (!memory.constants) {
    memory.ownConstants = program.constBytes;
    memory.constants = memory.ownConstants.data();
  }
}

namespace {

struct ArgumentBytes {
  const Launch &launch;
  const std::vector<uint64_t> &bases;
  Findings &findings;
  size_t index;

  uint64_t address(const BufferArgument &argument) {
    if (argument.buffer >= bases.size() ||
        argument.offset > launch.buffers[argument.buffer].size) {
      refuse(findings, "argument " + std::to_string(index) + " names buffer " +
                           std::to_string(argument.buffer) + " at offset " +
                           std::to_string(argument.offset) +
                           ", which is not there");
      return 0;
    }
    return bases[argument.buffer] + argument.offset;
  }
  std::vector<uint8_t> operator()(const std::vector<uint8_t> &bytes) {
    return bytes;
  }
  std::vector<uint8_t> operator()(const BufferArgument &argument) {
    uint64_t value = address(argument);
    std::vector<uint8_t> bytes(8);
    std::memcpy(bytes.data(), &value, 8);
    return bytes;
  }
  std::vector<uint8_t> operator()(const TensorMapArgument &argument) {
    TensorMap map = argument.map;
    map.globalAddress = address({argument.buffer, argument.offset});
    if (auto reason = whyNot(map))
      refuse(findings,
             "argument " + std::to_string(index) + ": tensor map: " + *reason,
             Hazard::IllegalTensorMap);
    std::vector<uint8_t> bytes(kMapBytes);
    writeMap(map, bytes.data());
    return bytes;
  }
  std::vector<uint8_t> operator()(const StructArgument &argument) {
    std::vector<uint8_t> bytes = argument.bytes;
    auto patch = [&](uint64_t offset, const std::vector<uint8_t> &part) {
      if (offset > bytes.size() || part.size() > bytes.size() - offset)
        refuse(findings, "argument " + std::to_string(index) +
                             ": a patch lies outside the structure");
      else
        std::copy(part.begin(), part.end(), bytes.begin() + long(offset));
    };
    for (const auto &[offset, pointer] : argument.pointers)
      patch(offset, (*this)(pointer));
    for (const auto &[offset, map] : argument.maps)
      patch(offset, (*this)(map));
    return bytes;
  }
};

} // namespace

bool fillParameters(const Function &kernel, const Launch &launch,
                    const std::vector<uint64_t> &bases, Memory &memory,
                    Findings &out) {
  if (launch.arguments.size() != kernel.parameters.size()) {
    refuse(out, "kernel '" + kernel.name + "' takes " +
                    std::to_string(kernel.parameters.size()) +
                    " arguments, found " +
                    std::to_string(launch.arguments.size()));
    return false;
  }
  memory.params.assign(kernel.parameterBytes, 0);
  for (size_t i = 0; i != launch.arguments.size(); ++i) {
    const Parameter &parameter = kernel.parameters[i];
    auto bytes =
        std::visit(ArgumentBytes{launch, bases, out, i}, launch.arguments[i]);
    if (bytes.size() != parameter.size ||
        parameter.offset + parameter.size > memory.params.size()) {
      refuse(out, "argument " + std::to_string(i) + " has " +
                      std::to_string(bytes.size()) + " bytes, '" +
                      parameter.name + "' has " +
                      std::to_string(parameter.size));
      return false;
    }
    std::copy(bytes.begin(), bytes.end(),
              memory.params.begin() + long(parameter.offset));
  }
  return out.empty();
}

namespace {

/// Clusters of one run.
constexpr uint64_t kMaxClusters = 1 << 24;

} // namespace

bool chooseClusters(const Launch &launch, const Options &options,
                    std::vector<uint64_t> &order, Findings &out) {
  uint64_t count = launch.grid.count() / launch.cluster.count();
  if (options.clusters.empty() && count > kMaxClusters) {
    refuse(out, "the grid has " + std::to_string(count) +
                    " clusters, a run takes at most " +
                    std::to_string(kMaxClusters));
    return false;
  }
  if (options.clusters.empty()) {
    for (uint64_t id = 0; id != count; ++id)
      order.push_back(id);
    return true;
  }
  for (uint64_t id : options.clusters) {
    if (id >= count) {
      refuse(out, "cluster " + std::to_string(id) + " of a grid of " +
                      std::to_string(count) + " clusters");
      return false;
    }
    order.push_back(id);
  }
  return true;
}

} // namespace blockscale::emulator::machine
