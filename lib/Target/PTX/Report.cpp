//===- Report.cpp - what a compiled kernel uses ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Target/PTX/Report.h"
#include "blockscale/HW/Mma.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace blockscale;
using llvm::StringRef;

void blockscale::addResources(Report &report,
                              const std::vector<PtxasFunctionInfo> &functions) {
  for (KernelReport &kernel : report.kernels)
    for (const PtxasFunctionInfo &function : functions)
      if (function.name == kernel.name)
        kernel.resources = function;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static void printRegions(llvm::json::OStream &json, StringRef key,
                         const std::vector<MemoryRegion> &regions) {
  json.attributeArray(key, [&] {
    for (const MemoryRegion &region : regions)
      json.object([&] {
        json.attribute("name", region.name);
        json.attribute("offset", region.offset);
        json.attribute("size", region.size);
        json.attribute("copies", region.copies);
        json.attribute("stride", region.stride);
      });
  });
}

static void printResources(llvm::json::OStream &json,
                           const std::optional<PtxasFunctionInfo> &resources) {
  auto attribute = [&](StringRef key, auto member) {
    if (resources)
      json.attribute(key, (*resources).*member);
    else
      json.attribute(key, nullptr);
  };
  attribute("registers", &PtxasFunctionInfo::registers);
  attribute("barriers", &PtxasFunctionInfo::barriers);
  attribute("stack_bytes", &PtxasFunctionInfo::stackBytes);
  attribute("spill_store_bytes", &PtxasFunctionInfo::spillStoreBytes);
  attribute("spill_load_bytes", &PtxasFunctionInfo::spillLoadBytes);
  attribute("static_shared_bytes", &PtxasFunctionInfo::sharedBytes);
}

static void printTail(llvm::json::OStream &json,
                      const std::optional<KTail> &tail) {
  if (!tail) {
    json.attribute("k_tail", nullptr);
    return;
  }
  json.attributeObject("k_tail", [&] {
    json.attribute("at_launch", tail->atLaunch);
    json.attribute("long_mmas", tail->longMmas);
    json.attribute("short_mmas", tail->shortMmas);
    json.attribute("zero_fill", tail->zeroFill);
  });
}

/// Whether the threads of the kernel work each for itself.
/// What a kernel without a main loop does, and to what.
static std::optional<std::pair<StringRef, StringRef>>
elementwiseWork(const KernelReport &kernel) {
  for (auto [kind, verb, what] :
       {std::tuple(kQuantizeKind, "quantises", "a block"),
        std::tuple(kDequantizeKind, "dequantises", "blocks"),
        std::tuple(kRelayoutKind, "moves", "parts"),
        std::tuple(kPruneKind, "prunes", "groups"),
        std::tuple(kCompressKind, "compresses", "groups"),
        std::tuple(kDensifyKind, "densifies", "groups"),
        std::tuple(kTileSumsKind, "adds up", "pieces")})
    if (kernel.kind == kind)
      return std::pair<StringRef, StringRef>(verb, what);
  return std::nullopt;
}

static bool isElementwise(const KernelReport &kernel) {
  return elementwiseWork(kernel).has_value();
}

/// What the main loop waits for, by the prediction.
static StringRef predictedBound(const KernelReport &kernel) {
  if (isElementwise(kernel))
    return "memory";
  return kernel.mmaCyclesPerKTile >= kernel.loadCyclesPerKTile
             ? "tensor core"
             : "operand fetch";
}

static void printKernel(llvm::json::OStream &json, const KernelReport &kernel) {
  json.attribute("name", kernel.name);
  json.attribute("kind", kernel.kind);
  json.attribute("tile_m", kernel.tileM);
  json.attribute("tile_n", kernel.tileN);
  json.attribute("tile_k", kernel.tileK);
  json.attribute("mma_k", kernel.mmaK);
  printTail(json, kernel.kTail);
  json.attribute("cta_group", kernel.ctaGroup);
  json.attribute("block", kernel.block);
  json.attribute("sparse", kernel.sparse);
  json.attribute("mmas_per_k_tile", kernel.mmasPerKTile);
  json.attribute("copies_per_k_tile", kernel.copiesPerKTile);
  json.attribute("stages", kernel.stages);
  json.attribute("accumulators", kernel.accumulators);
  json.attribute("shared_memory_bytes", kernel.sharedMemoryBytes);
  json.attribute("shared_memory_limit_bytes", kernel.sharedMemoryLimitBytes);
  printRegions(json, "shared_memory", kernel.sharedMemory);
  json.attribute("tensor_memory_columns", kernel.tensorMemoryColumns);
  printRegions(json, "tensor_memory", kernel.tensorMemory);
  json.attribute("flops_per_byte", kernel.flopsPerByte);
  json.attribute("mma_cycles_per_k_tile", kernel.mmaCyclesPerKTile);
  json.attribute("load_cycles_per_k_tile", kernel.loadCyclesPerKTile);
  json.attribute("predicted_bound", predictedBound(kernel));
  printResources(json, kernel.resources);
}

std::string blockscale::printReportJSON(const Report &report) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("version", 1);
    json.attribute("target", report.target);
    json.attributeArray("kernels", [&] {
      for (const KernelReport &kernel : report.kernels)
        json.object([&] { printKernel(json, kernel); });
    });
  });
  stream << '\n';
  return text;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Prints the regions with their ends, which readers look for.
static void printRegions(llvm::raw_ostream &stream,
                         const std::vector<MemoryRegion> &regions) {
  for (const MemoryRegion &region : regions)
    stream << llvm::format("    [%6llu, %6llu) ",
                           (unsigned long long)region.offset,
                           (unsigned long long)(region.offset + region.size))
           << region.name << '\n';
}

static void printTail(llvm::raw_ostream &stream, const KTail &tail) {
  stream << "  end of K            ";
  if (tail.atLaunch) {
    stream << "MMAs of K = 96, then shorter ones, as K at launch needs\n";
    return;
  }
  if (tail.longMmas)
    stream << tail.longMmas << " MMAs of K = 96, ";
  if (tail.shortMmas)
    stream << tail.shortMmas << " of K = 64, ";
  stream << tail.zeroFill << " elements of zero fill\n";
}

static void printResources(llvm::raw_ostream &stream,
                           const KernelReport &kernel) {
  if (!kernel.resources) {
    stream << "  not assembled: no registers and spills to report\n";
    return;
  }
  stream << "  registers           " << kernel.resources->registers << '\n'
         << "  spills              " << kernel.resources->spillStoreBytes
         << " bytes stored, " << kernel.resources->spillLoadBytes
         << " bytes loaded\n"
         << "  stack               " << kernel.resources->stackBytes
         << " bytes\n";
}

/// "6", or "6, 5 of scales" where those have a ring of their own, or several.
static std::string stagesText(const KernelReport &kernel) {
  std::string text = std::to_string(kernel.stages);
  for (const MemoryRegion &region : kernel.sharedMemory)
    if (region.name == "scales of B" && region.copies != kernel.stages)
      return text + ", " + std::to_string(region.copies) + " of scales";
  return text;
}

static void printKernel(llvm::raw_ostream &stream, const KernelReport &kernel) {
  if (auto work = elementwiseWork(kernel)) {
    constexpr unsigned kColumn = 20;
    stream << "  " << llvm::left_justify(work->first, kColumn);
    if (!kernel.moved.empty())
      stream << kernel.moved << '\n';
    else
      stream << work->second << " of " << kernel.block << " elements"
             << (kernel.kind == kQuantizeKind ? " to a thread\n" : "\n");
    stream << "  predicted bound     " << predictedBound(kernel) << '\n';
    printResources(stream, kernel);
    return;
  }
  stream << "  tile                " << kernel.tileM << " x " << kernel.tileN
         << " x " << kernel.tileK << ", " << kernel.kind << '\n'
         << "  per K tile          " << kernel.mmasPerKTile << " MMAs";
  std::optional<hw::MmaKind> kind = hw::parseKind(kernel.kind);
  bool isScaled = !kind || hw::isBlockScaled(*kind);
  if (isScaled || kernel.copiesPerKTile)
    stream << ", " << kernel.copiesPerKTile
           << (isScaled ? " scale copies" : " metadata copies");
  stream << '\n';
  if (kernel.kTail)
    printTail(stream, *kernel.kTail);
  stream << "  stages              " << stagesText(kernel) << '\n'
         << "  accumulators        " << kernel.accumulators << '\n'
         << "  intensity           "
         << llvm::format("%.1f", kernel.flopsPerByte) << " FLOP per byte\n"
         << "  predicted bound     " << predictedBound(kernel)
         << llvm::format(" (estimate per K tile: %.0f cycles of MMA, %.0f of "
                         "loads)\n",
                         kernel.mmaCyclesPerKTile, kernel.loadCyclesPerKTile)
         << "  shared memory       " << kernel.sharedMemoryBytes << " of "
         << kernel.sharedMemoryLimitBytes << " bytes";
  if (kernel.sharedMemoryLimitBytes)
    stream << llvm::format(" (%.0f %%)", 100.0 * kernel.sharedMemoryBytes /
                                             kernel.sharedMemoryLimitBytes);
  stream << '\n';
  printRegions(stream, kernel.sharedMemory);
  stream << "  tensor memory       " << kernel.tensorMemoryColumns
         << " columns\n";
  printRegions(stream, kernel.tensorMemory);
  printResources(stream, kernel);
}

std::string blockscale::printReportText(const Report &report) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const KernelReport &kernel : report.kernels) {
    stream << kernel.name << " for " << report.target << '\n';
    printKernel(stream, kernel);
  }
  return text;
}
