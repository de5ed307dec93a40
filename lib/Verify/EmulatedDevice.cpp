//===- EmulatedDevice.cpp - launches from host memory, emulated -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Verify/EmulatedDevice.h"

#include <algorithm>

using namespace blockscale;
using namespace blockscale::verify;

Parsed<const EmulatedDevice::Loaded *>
EmulatedDevice::load(const BlockscaleKernels &kernels) {
  using Result = Parsed<const Loaded *>;
  std::unique_ptr<Loaded> &entry = loaded[kernels.image];
  if (entry)
    return Result::success(entry.get());
  Parsed<plan::Plan> plan =
      plan::parsePlan({kernels.plan, size_t(kernels.planBytes)});
  if (!plan)
    return Result::failure(plan.error);
  auto made = std::make_unique<Loaded>();
  made->plan = std::move(*plan.value);
  made->ptx = emulator::parsePtx(
      {static_cast<const char *>(kernels.image), size_t(kernels.imageBytes)});
  if (!made->ptx)
    return Result::failure("the emulator cannot read the PTX: " +
                           made->ptx.errors.front().format());
  entry = std::move(made);
  return Result::success(entry.get());
}

std::string EmulatedDevice::launch(BlockscaleKernels &kernels,
                                   const std::string &name,
                                   const BlockscaleOperand *operands,
                                   int64_t count) {
  Parsed<const Loaded *> module = load(kernels);
  if (!module)
    return module.error;
  const plan::Kernel *kernel = nullptr;
  for (const plan::Kernel &each : (*module)->plan.kernels)
    if (each.name == name)
      kernel = &each;
  if (!kernel)
    return "the launch plan has no kernel '" + name + "'";
  Parsed<runtime::HostOperands> host = runtime::readOperands(operands, count);
  if (!host)
    return "kernel '" + name + "': " + host.error;
  if (std::string why = runtime::whyNotOperands(*kernel, *host); !why.empty())
    return why;
  plan::Environment given = runtime::sizesOf(*kernel, *host);
  if (given["M"] == 0 || given["N"] == 0 || given["batch"] == 0)
    return "";
  Parsed<Residency> residency = residencyOn((*module)->plan, *kernel);
  if (!residency)
    return residency.error;
  Parsed<plan::Environment> sizes = bindSizes(*kernel, given, *residency);
  if (!sizes)
    return sizes.error;
  Parsed<runtime::DeviceData> packed =
      runtime::packOperands(*kernel, *sizes, *host);
  if (!packed)
    return packed.error;
  HostData data;
  data.memory = std::move(packed.value->memory);
  data.scalars = std::move(packed.value->scalars);
  // What is not written shows: all bits set are a NaN.
  std::vector<uint8_t> &d = data.memory.at("d");
  std::fill(d.begin(), d.end(), uint8_t(0xff));
  Parsed<emulator::Launch> launch = buildLaunch(*kernel, *sizes, data);
  if (!launch)
    return launch.error;
  emulator::Options run;
  run.threads = threads;
  run.seed = seed;
  run.completion = completion;
  run.residentClusters = unsigned(sizes->at("max_clusters"));
  if (beforeRun)
    beforeRun(*launch.value, run);
  emulator::RunResult result =
      emulator::run(*(*module)->ptx.module, *launch, run);
  ++launches;
  findings.insert(findings.end(), result.findings.begin(),
                  result.findings.end());
  openPoints.add(result.openPoints);
  runtime::storeResult(d, host->at("d"));
  return "";
}
