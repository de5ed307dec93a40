//===- EmulatedDevice.cpp - launches from host memory, emulated -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Verify/EmulatedDevice.h"
#include "blockscale/Plan/Variants.h"

#include <algorithm>

using namespace blockscale;
using namespace blockscale::verify;

Result<const EmulatedDevice::Loaded *>
EmulatedDevice::load(const BlockscaleKernels &kernels) {
  std::unique_ptr<Loaded> &entry = loaded[kernels.image];
  if (entry)
    return static_cast<const Loaded *>(entry.get());
  Result<plan::Plan> plan =
      plan::parsePlan({kernels.plan, size_t(kernels.planBytes)});
  if (!plan)
    return plan.why();
  auto made = std::make_unique<Loaded>();
  made->plan = *std::move(plan);
  made->ptx = emulator::parsePtx(
      {static_cast<const char *>(kernels.image), size_t(kernels.imageBytes)});
  if (!made->ptx)
    return Reason("the emulator cannot read the PTX: " +
                  made->ptx.errors.front().format());
  entry = std::move(made);
  return static_cast<const Loaded *>(entry.get());
}

std::string EmulatedDevice::launch(BlockscaleKernels &kernels,
                                   const std::string &name,
                                   const BlockscaleOperand *operands,
                                   int64_t count) {
  Result<const Loaded *> module = load(kernels);
  if (!module)
    return module.why().text;
  const plan::Kernel *kernel = plan::findKernel((*module)->plan, name);
  if (!kernel)
    return "the launch plan has no kernel '" + name + "'";
  Result<runtime::HostOperands> host = runtime::readOperands(operands, count);
  if (!host)
    return "kernel '" + name + "': " + host.why().text;
  if (std::string why = runtime::whyNotOperands(*kernel, *host); !why.empty())
    return why;
  plan::Environment given = runtime::sizesOf(*kernel, *host);
  if (given["M"] == 0 || given["N"] == 0 || given["batch"] == 0)
    return "";
  kernel = plan::kernelForRows((*module)->plan, kernel, given["M"]);
  Result<Residency> residency = residencyOn((*module)->plan, *kernel);
  if (!residency)
    return residency.why().text;
  Result<plan::Environment> sizes = bindSizes(*kernel, given, *residency);
  if (!sizes)
    return sizes.why().text;
  Result<runtime::DeviceData> packed =
      runtime::packOperands(*kernel, *sizes, *host);
  if (!packed)
    return packed.why().text;
  HostData data;
  data.memory = std::move(packed->memory);
  data.scalars = std::move(packed->scalars);
  // What is not written shows: all bits set are a NaN.
  for (auto &[role, bytes] : data.memory)
    if (runtime::isResult(*kernel, role))
      std::fill(bytes.begin(), bytes.end(), uint8_t(0xff));
  Result<emulator::Launch> launch = buildLaunch(*kernel, *sizes, data);
  if (!launch)
    return launch.why().text;
  emulator::Options run;
  run.threads = threads;
  run.seed = seed;
  run.completion = completion;
  run.residentClusters = unsigned(sizes->at("max_clusters"));
  if (beforeRun)
    beforeRun(*launch, run);
  emulator::RunResult result =
      emulator::run(*(*module)->ptx.module, *launch, run);
  ++launches;
  findings.insert(findings.end(), result.findings.begin(),
                  result.findings.end());
  openPoints.add(result.openPoints);
  if (afterRun)
    afterRun(*launch, result);
  for (const auto &[role, operand] : *host)
    if (runtime::isResult(*kernel, role))
      runtime::storeResult(*kernel, *sizes, data.memory.at(role), operand);
  return "";
}
