//===- Variants.cpp - which kernel a number of rows takes -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Plan/Variants.h"

#include <algorithm>

using namespace blockscale;
using namespace blockscale::plan;

/// The size M of `kernel`, which every kernel of a plan has.
static const Size *rowsOf(const Kernel &kernel) {
  for (const Size &size : kernel.sizes)
    if (size.name == "M")
      return &size;
  return nullptr;
}

int64_t blockscale::plan::mostRows(const Kernel &kernel) {
  const Size *rows = rowsOf(kernel);
  return rows ? rows->maximum : 0;
}

const Kernel *blockscale::plan::findKernel(const Plan &plan,
                                           std::string_view name) {
  for (const Kernel &kernel : plan.kernels)
    if (kernel.name == name)
      return &kernel;
  return nullptr;
}

std::vector<const Kernel *>
blockscale::plan::variantsOf(const Plan &plan, std::string_view kernel) {
  std::vector<const Kernel *> variants;
  for (const Kernel &each : plan.kernels)
    if (each.variantOf == kernel)
      variants.push_back(&each);
  std::sort(variants.begin(), variants.end(),
            [](const Kernel *x, const Kernel *y) {
              return mostRows(*x) < mostRows(*y);
            });
  return variants;
}

const Kernel *blockscale::plan::kernelForRows(const Plan &plan,
                                              const Kernel *kernel,
                                              uint64_t rows) {
  for (const Kernel *variant : variantsOf(plan, kernel->name))
    if (rows <= uint64_t(mostRows(*variant)))
      return variant;
  return kernel;
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

template <typename T, typename Same>
static bool areAlike(const std::vector<T> &first, const std::vector<T> &second,
                     Same same) {
  return std::equal(first.begin(), first.end(), second.begin(), second.end(),
                    same);
}

static bool areAlike(const std::optional<ZeroPoints> &first,
                     const std::optional<ZeroPoints> &second) {
  if (!first || !second)
    return first.has_value() == second.has_value();
  return first->bits == second->bits && first->rows == second->rows &&
         first->block == second->block;
}

/// Whether a host packs the operands of both alike.
static bool packAlike(const Kernel &first, const Kernel &second) {
  auto sameSource = [](const DataPacking &x, const DataPacking &y) {
    if (!x.source || !y.source)
      return x.source.has_value() == y.source.has_value();
    return x.source->format == y.source->format &&
           x.source->codes == y.source->codes &&
           areAlike(x.source->zeros, y.source->zeros);
  };
  auto sameData = [&](const DataPacking &x, const DataPacking &y) {
    return x.operand == y.operand && x.format == y.format &&
           x.order == y.order && x.bits == y.bits && x.lines == y.lines &&
           x.elements == y.elements && x.linePitch == y.linePitch &&
           x.batchPitch == y.batchPitch && x.alignment == y.alignment &&
           sameSource(x, y);
  };
  auto sameScales = [](const ScalePacking &x, const ScalePacking &y) {
    return x.operand == y.operand && x.format == y.format &&
           x.block == y.block && x.rows == y.rows && x.offset == y.offset &&
           x.bytes == y.bytes;
  };
  auto sameMetadata = [](const MetadataPacking &x, const MetadataPacking &y) {
    return x.offset == y.offset && x.bytes == y.bytes;
  };
  auto sameTerms = [](const ZeroTerms &x, const ZeroTerms &y) {
    return x.operand == y.operand && x.format == y.format && x.rows == y.rows &&
           x.block == y.block && x.first == y.first && x.count == y.count;
  };
  return areAlike(first.data, second.data, sameData) &&
         areAlike(first.scales, second.scales, sameScales) &&
         areAlike(first.metadata, second.metadata, sameMetadata) &&
         areAlike(first.zeroTerms, second.zeroTerms, sameTerms);
}

/// Whether they take the same arguments, but for a workspace.
static bool takeAlike(const Kernel &first, const Kernel &second) {
  auto roles = [](const Kernel &kernel) {
    std::vector<std::string> list;
    for (const Parameter &parameter : kernel.parameters)
      if (parameter.role != kWorkspaceRole)
        list.push_back(parameter.role + " " + parameter.type);
    return list;
  };
  return roles(first) == roles(second);
}

std::optional<Reason> blockscale::plan::whyNotVariants(const Plan &plan) {
  for (const Kernel &kernel : plan.kernels) {
    if (!kernel.variantOf)
      continue;
    const Kernel *whole = findKernel(plan, *kernel.variantOf);
    std::string problem;
    if (!whole || whole->variantOf)
      problem = "is no kernel for all numbers of rows";
    else if (rowsOf(kernel)->value || rowsOf(*whole)->value)
      problem = "and it have a fixed M, so that nothing is to choose";
    else if (mostRows(kernel) >= mostRows(*whole))
      problem = "takes no more rows than it";
    else if (!takeAlike(kernel, *whole) || !packAlike(kernel, *whole))
      problem = "takes other operands, or packs them otherwise";
    if (!problem.empty())
      return Reason("launch plan: kernel '" + kernel.name + "': '" +
                    *kernel.variantOf + "', of which it is a variant, " +
                    problem);
  }
  return std::nullopt;
}
