//===- Launcher.cpp - C++ source that launches planned kernels ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Target/PTX/Launcher.h"
#include "LauncherVariants.h"
#include "blockscale/HW/Target.h"
#include "blockscale/Plan/Sizes.h"
#include "blockscale/Plan/Variants.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace blockscale;
using namespace blockscale::plan;
using llvm::raw_ostream;
using llvm::StringRef;

/// What every launcher needs. The functions are those of the plan's
/// expressions.
static constexpr StringRef kPreamble = R"(#include <cuda.h>

#include <algorithm>
#include <cstdint>{INCLUDES}

namespace {NAMESPACE} {
namespace detail {
inline int64_t ceildiv(int64_t x, int64_t y) {
  return x / y + (x % y > 0);
}
inline int64_t min(int64_t x, int64_t y) { return std::min(x, y); }
inline int64_t max(int64_t x, int64_t y) { return std::max(x, y); }
} // namespace detail
)";

static bool isSize(const Parameter &parameter) {
  return parameter.role == "batch" ||
         StringRef(parameter.role).starts_with("size_");
}

static StringRef scalarType(const Parameter &parameter) {
  return parameter.type == "f32" ? "float" : "int32_t";
}

/// Declares M, N, K, batch: constants, or from the arguments. Unused ones draw
/// no warning.
static void printSizes(raw_ostream &os, const Kernel &kernel) {
  for (const Size &size : kernel.sizes) {
    os << "  [[maybe_unused]] const int64_t " << size.name << " = ";
    if (size.value) {
      os << *size.value << ";\n";
      continue;
    }
    for (const Parameter &parameter : kernel.parameters)
      if (isSize(parameter) && parameter.operand == size.name)
        os << "arguments." << launcherMember(parameter.role) << ";\n";
  }
  os << "  using detail::ceildiv;\n  using detail::max;\n"
        "  using detail::min;\n";
}

/// What a member is at first: a factor that the source fixes, 1 for alpha, or
/// 0.
static std::string initialValue(const Plan &plan, const Kernel &kernel,
                                const Parameter &parameter) {
  std::optional<double> fixed =
      fixedOperand(plan, kernel.name, parameter.operand);
  if (!fixed)
    return parameter.role == "alpha" ? "1" : "0";
  llvm::SmallString<32> text;
  llvm::APFloat(float(*fixed)).toString(text);
  bool isInteger = text.find_first_of(".E") == StringRef::npos;
  return text.str().str() + (isInteger ? ".0f" : "f");
}

static void printArguments(raw_ostream &os, const Plan &plan,
                           const Kernel &kernel, const std::string &name) {
  os << "\n/// Arguments of '" << kernel.name << "'. Pointers are device "
     << "addresses; how the\n/// memory behind them is laid out stands in the "
        "launch plan.\nstruct "
     << name << "Arguments {\n";
  for (const Parameter &parameter : kernel.parameters) {
    bool isScalar = parameter.kind == ParameterKind::Scalar;
    os << "  " << (isScalar ? scalarType(parameter) : StringRef("CUdeviceptr"))
       << ' ' << launcherMember(parameter.role) << " = "
       << initialValue(plan, kernel, parameter) << ";\n";
  }
  os << "};\n";
}

static void printLoad(raw_ostream &os, const Kernel &kernel,
                      const std::string &name) {
  os << "\n/// Gets the kernel from `module` and asks for its shared memory.\n"
     << "inline CUresult load_" << name
     << "(CUmodule module, CUfunction *function) {\n"
     << "  if (CUresult result = cuModuleGetFunction(function, module, \"";
  os.write_escaped(kernel.name);
  os << "\"))\n    return result;\n";
  // Larger clusters may not find room on every part; the kernel asks for them.
  int64_t cluster = kernel.cluster[0] * kernel.cluster[1] * kernel.cluster[2];
  if (cluster > hw::kMaxPortableCluster)
    os << "  if (CUresult result = cuFuncSetAttribute(\n          *function, "
          "CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1))\n"
          "    return result;\n";
  if (kernel.oversizedSharedMemory)
    os << "  // CU_FUNC_ATTRIBUTE_SHARED_MEMORY_MODE and\n"
          "  // CU_SHARED_MEMORY_MODE_ALLOW_OVERSIZED_SHARED_MEMORY of CUDA "
          "13.4, with which\n  // the size below is not asked for.\n"
          "  return cuFuncSetAttribute(*function, "
          "static_cast<CUfunction_attribute>(17), 3);\n}\n";
  else
    os << "  return cuFuncSetAttribute(\n      *function, "
          "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, "
       << kernel.sharedMemoryBytes << ");\n}\n";
}

template <typename T>
static void printArray(raw_ostream &os, StringRef type, StringRef name,
                       const std::vector<T> &values) {
  os << "  const " << type << ' ' << name << "[] = {";
  llvm::interleaveComma(
      values, os, [&](const T &value) { os << type << "(" << value << ")"; });
  os << "};\n";
}

static void printEncode(raw_ostream &os, const Parameter &parameter,
                        const std::string &name, const Kernel &kernel) {
  const TensorMap &map = *parameter.tensorMap;
  os << "\n/// Builds the tensor map of '" << parameter.role << "'.\n"
     << "inline CUresult encode_" << name << "_" << parameter.role << "(const "
     << name << "Arguments &arguments, CUtensorMap *map) {\n";
  printSizes(os, kernel);
  printArray(os, "cuuint64_t", "globalDim", map.globalDim);
  // A map of one dimension has no strides, but an array needs an element.
  std::vector<Expression> strides = map.globalStrides;
  if (strides.empty())
    strides.push_back("0");
  printArray(os, "cuuint64_t", "globalStrides", strides);
  printArray(os, "cuuint32_t", "boxDim", map.boxDim);
  printArray(os, "cuuint32_t", "elementStrides", map.elementStrides);
  os << "  return cuTensorMapEncodeTiled(\n      map, " << map.dataType.name
     << ", " << map.globalDim.size()
     << ",\n      reinterpret_cast<void *>(arguments."
     << launcherMember(parameter.role)
     << "),\n      globalDim, globalStrides, boxDim, elementStrides,\n      "
     << map.interleave.name << ", " << map.swizzle.name << ",\n      "
     << map.l2Promotion.name << ",\n      " << map.oobFill.name << ");\n}\n";
}

static void printWorkspaceRules(raw_ostream &os, StringRef name) {
  os << "\n/// Bytes of the workspace. The first workspace_zeros_" << name
     << "() of them must\n/// be zero before the first launch that uses it, as "
        "they are after every launch.\n/// Launches that may run at the same "
        "time need different ones.\n";
}

/// How much workspace a launch needs.
static void printWorkspace(raw_ostream &os, const Kernel &kernel,
                           const std::string &name) {
  if (!kernel.workspace)
    return;
  printWorkspaceRules(os, name);
  for (auto [function, bytes] :
       {std::pair("workspace_bytes_", kernel.workspace->bytes),
        std::pair("workspace_zeros_", kernel.workspace->zeroBytes)}) {
    os << "inline int64_t " << function << name << "([[maybe_unused]] const "
       << name << "Arguments &arguments) {\n";
    printSizes(os, kernel);
    os << "  return " << bytes << ";\n}\n";
  }
}

static constexpr StringRef kAxes[] = {"X", "Y", "Z"};

/// Asks the driver how many clusters run at once where the grid depends on it.
static void printMaxClusters(raw_ostream &os, const Kernel &kernel) {
  if (llvm::none_of(kernel.grid, [](const Expression &extent) {
        return StringRef(extent).contains("max_clusters");
      }))
    return;
  // The question wants a grid that is a multiple of the cluster.
  for (auto [axis, extent] : llvm::zip_equal(kAxes, kernel.cluster))
    os << "  config.gridDim" << axis << " = " << extent << ";\n";
  os << "  int max_clusters = 0;\n"
        "  if (CUresult result = cuOccupancyMaxActiveClusters(&max_clusters, "
        "function, &config))\n    return result;\n"
        "  if (max_clusters == 0)\n"
        "    return CUDA_ERROR_INVALID_CLUSTER_SIZE;\n";
}

static void printConfiguration(raw_ostream &os, const Kernel &kernel) {
  int count = 1 + kernel.dependentLaunch + kernel.cooperative;
  os << "  CUlaunchConfig config = {};\n";
  for (auto [axis, extent] : llvm::zip_equal(kAxes, kernel.block))
    os << "  config.blockDim" << axis << " = " << extent << ";\n";
  os << "  config.sharedMemBytes = " << kernel.sharedMemoryBytes << ";\n"
     << "  config.hStream = stream;\n"
     << "  CUlaunchAttribute attributes[" << count << "] = {};\n"
     << "  attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;\n"
     << "  attributes[0].value.clusterDim.x = " << kernel.cluster[0] << ";\n"
     << "  attributes[0].value.clusterDim.y = " << kernel.cluster[1] << ";\n"
     << "  attributes[0].value.clusterDim.z = " << kernel.cluster[2] << ";\n";
  if (kernel.dependentLaunch)
    os << "  attributes[1].id = "
          "CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;\n"
       << "  attributes[1].value.programmaticStreamSerializationAllowed = 1;\n";
  if (kernel.cooperative)
    os << "  attributes[" << count - 1
       << "].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;\n"
       << "  attributes[" << count - 1 << "].value.cooperative = 1;\n";
  os << "  config.attrs = attributes;\n"
     << "  config.numAttrs = " << count << ";\n";
  printMaxClusters(os, kernel);
  if (plan::clusterCtas(kernel) == 1)
    os << "  // Without clusters of one CTA the CTAs of a grid start faster.\n"
       << "  config.attrs = attributes + 1;\n"
       << "  config.numAttrs = " << count - 1 << ";\n";
  for (auto [axis, extent] : llvm::zip_equal(kAxes, kernel.grid))
    os << "  config.gridDim" << axis << " = unsigned(" << extent << ");\n";
}

/// Refuses sizes that the kernel does not take.
static void printChecks(raw_ostream &os, const Kernel &kernel) {
  for (const Size &size : kernel.sizes)
    if (!size.value)
      os << "  if (" << size.name << " < 1 || " << size.name << " > "
         << size.maximum << ")\n    return CUDA_ERROR_INVALID_VALUE;\n";
  for (const Limit &limit : kernel.limits)
    os << "  // At most " << limit.maximum << " " << limit.what << ".\n  if ("
       << limit.value << " > " << limit.maximum
       << ")\n    return CUDA_ERROR_INVALID_VALUE;\n";
}

static void printLaunch(raw_ostream &os, const Kernel &kernel,
                        const std::string &name) {
  os << "\n/// Launches the kernel on `stream`. `num_sms` is the number of "
        "SMs of the device.\n"
     << "inline CUresult launch_" << name << "(CUfunction function, const "
     << name << "Arguments &arguments,\n    [[maybe_unused]] int64_t num_sms, "
     << "CUstream stream) {\n";
  printSizes(os, kernel);
  printChecks(os, kernel);
  for (const std::string &condition : kernel.conditions)
    os << "  if (!(" << condition
       << "))\n    return CUDA_ERROR_INVALID_VALUE;\n";
  if (kernel.workspace)
    os << "  if (!arguments.workspace || arguments.workspace % "
       << kernel.workspace->alignment
       << ")\n    return CUDA_ERROR_INVALID_VALUE;\n";
  for (const Parameter &parameter : kernel.parameters)
    if (parameter.kind == ParameterKind::TensorMap)
      os << "  CUtensorMap " << launcherMember(parameter.role) << ";\n"
         << "  if (CUresult result = encode_" << name << "_" << parameter.role
         << "(arguments, &" << launcherMember(parameter.role)
         << "))\n    return result;\n";
  // The driver wants addresses of what may change.
  os << "  [[maybe_unused]] " << name << "Arguments values = arguments;\n"
     << "  void *parameters[] = {";
  llvm::interleaveComma(kernel.parameters, os, [&](const Parameter &p) {
    os << (p.kind == ParameterKind::TensorMap ? "&" : "&values.")
       << launcherMember(p.role);
  });
  os << "};\n";
  printConfiguration(os, kernel);
  os << "  return cuLaunchKernelEx(&config, function, parameters, nullptr);\n"
        "}\n";
}

/// The steps of a function that the kernels alone are not all of.
static void printSteps(raw_ostream &os, const Function &function) {
  bool hasDuty = llvm::any_of(function.steps,
                              [](const Step &step) { return !step.kernel; });
  if (!hasDuty)
    return;
  os << "//\n// '" << function.name << "' is, in this order:\n";
  for (const Step &step : function.steps) {
    if (step.kernel)
      os << "//   launch '" << *step.kernel << "'";
    else
      os << "//   the host's duty: '" << step.op << "'";
    os << (step.location.empty() ? "" : ", " + step.location) << '\n';
  }
}

/// What is said of each kernel of `plan`.
static void printKernels(raw_ostream &os, const Plan &plan) {
  for (const Kernel &kernel : plan.kernels) {
    // Names of kernels are identifiers of C++ too: see hw::ptxName.
    const std::string &name = kernel.name;
    printArguments(os, plan, withVariantParameters(plan, kernel), name);
    printLoad(os, kernel, name);
    for (const Parameter &parameter : kernel.parameters)
      if (parameter.tensorMap)
        printEncode(os, parameter, name, kernel);
    printWorkspace(os, kernel, name);
    printLaunch(os, kernel, name);
  }
  for (const Kernel &kernel : plan.kernels)
    printVariantChoice(os, plan, kernel);
}

//===----------------------------------------------------------------------===//
// Several targets
//===----------------------------------------------------------------------===//

static constexpr StringRef kPickTarget = R"cpp(
/// Sets `target` to the one whose code `device` is to run. Returns
/// CUDA_ERROR_NO_BINARY_FOR_GPU if there is none: whyNoTarget() says why.
inline CUresult pickTarget(CUdevice device, Target *target) {
  int major = 0, minor = 0;
  if (CUresult result = detail::computeCapability(device, &major, &minor))
    return result;
  for (const detail::Choice &choice : detail::kChoices)
    if (choice.major == major && choice.minor == minor) {
      *target = choice.target;
      return CUDA_SUCCESS;
    }
  return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

/// A sentence with what `device` is and what there is.
inline std::string whyNoTarget(CUdevice device) {
  int major = 0, minor = 0;
  if (detail::computeCapability(device, &major, &minor) != CUDA_SUCCESS)
    return "the device does not say what it is";
  std::string text = "the device has compute capability " +
                     std::to_string(major) + "." + std::to_string(minor) +
                     "; there are kernels for";
  const char *separator = " ";
  for (const detail::Choice &choice : detail::kChoices) {
    text += separator + std::to_string(choice.major) + "." +
            std::to_string(choice.minor) + " (" + name(choice.target) + ")";
    separator = ", ";
  }
  return text;
}
)cpp";

static constexpr StringRef kComputeCapability = R"cpp(
namespace detail {
inline CUresult computeCapability(CUdevice device, int *major, int *minor) {
  if (CUresult result = cuDeviceGetAttribute(
          major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device))
    return result;
  return cuDeviceGetAttribute(
      minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
}

/// A device and what it runs; the first counts.
struct Choice {
  int major, minor;
  Target target;
};
)cpp";

/// The targets, and which of them a device runs.
static void printTargets(raw_ostream &os, const Plan &plan) {
  os << "\n/// What there are kernels for.\nenum class Target { ";
  llvm::interleaveComma(choices(plan), os,
                        [&](const Plan *each) { os << each->target; });
  os << " };\n\n/// \"sm_100a\" and so on, as the files of the target are "
        "called.\ninline const char *name(Target target) {\n"
        "  switch (target) {\n";
  for (const Plan *each : choices(plan))
    os << "  case Target::" << each->target << ":\n    return \""
       << each->target << "\";\n";
  os << "  }\n  return \"\";\n}\n"
     << kComputeCapability << "inline constexpr Choice kChoices[] = {\n";
  llvm::StringSet<> seen;
  for (const Plan *each : choices(plan))
    for (StringRef device : each->devices)
      if (seen.insert(device).second) {
        auto [major, minor] = device.split('.');
        os << "    {" << major << ", " << minor << ", Target::" << each->target
           << "},\n";
      }
  os << "};\n} // namespace detail\n" << kPickTarget;
}

/// Starts a switch over the targets that have a kernel `name`, whose cases
/// `print` ends with a return.
static void
printSwitch(raw_ostream &os, const Plan &plan, StringRef name,
            llvm::function_ref<void(const Plan &, const Kernel &)> print) {
  os << "  switch (target) {\n";
  for (const Plan *each : choices(plan)) {
    os << "  case Target::" << each->target << ": {\n";
    if (const Kernel *kernel = findKernel(*each, name))
      print(*each, *kernel);
    else
      os << "    return CUDA_ERROR_NOT_FOUND;\n";
    os << "  }\n";
  }
  os << "  }\n  return CUDA_ERROR_INVALID_VALUE;\n}\n";
}

/// Arguments that any of the targets takes, as a kernel of one.
static Kernel mergedKernel(const Plan &plan, StringRef name) {
  Kernel merged;
  merged.name = name;
  for (const Plan *each : choices(plan))
    if (const Kernel *kernel = findKernel(*each, name))
      for (const Parameter &parameter : kernel->parameters)
        if (llvm::none_of(merged.parameters, [&](const Parameter &known) {
              return known.role == parameter.role;
            }))
          merged.parameters.push_back(parameter);
  return merged;
}

/// Declares `own`: what a target's kernel takes of the arguments of all.
static void printOwnArguments(raw_ostream &os, const Plan &each,
                              const Kernel &kernel) {
  os << "    " << each.target << "::" << kernel.name << "Arguments own;\n";
  for (const Parameter &parameter : kernel.parameters)
    os << "    own." << launcherMember(parameter.role) << " = arguments."
       << launcherMember(parameter.role) << ";\n";
}

/// How much workspace a launch needs, where one of the targets needs some.
static void printWorkspaceForTargets(raw_ostream &os, const Plan &plan,
                                     StringRef name) {
  if (llvm::none_of(choices(plan), [&](const Plan *each) {
        const Kernel *kernel = findKernel(*each, name);
        return kernel && kernel->workspace;
      }))
    return;
  printWorkspaceRules(os, name);
  for (StringRef function : {"workspace_bytes_", "workspace_zeros_"}) {
    os << "inline int64_t " << function << name << "(Target target, const "
       << name << "Arguments &arguments) {\n  switch (target) {\n";
    for (const Plan *each : choices(plan)) {
      const Kernel *kernel = findKernel(*each, name);
      if (!kernel || !kernel->workspace)
        continue;
      os << "  case Target::" << each->target << ": {\n";
      printOwnArguments(os, *each, *kernel);
      os << "    return " << each->target << "::" << function << name
         << "(own);\n  }\n";
    }
    os << "  default:\n    return 0;\n  }\n}\n";
  }
}

/// The functions of the kernel `name` of all targets.
static void printForTargets(raw_ostream &os, const Plan &plan,
                            const std::string &name) {
  printArguments(os, plan, mergedKernel(plan, name), name);
  os << "\n/// Gets the kernel from `module`, which is `target`'s.\n"
     << "inline CUresult load_" << name
     << "(Target target, CUmodule module, CUfunction *function) {\n";
  printSwitch(os, plan, name, [&](const Plan &each, const Kernel &) {
    os << "    return " << each.target << "::load_" << name
       << "(module, function);\n";
  });
  printWorkspaceForTargets(os, plan, name);
  os << "\n/// Launches `function`, which is `target`'s.\n"
     << "inline CUresult launch_" << name
     << "(Target target, CUfunction function,\n    const " << name
     << "Arguments &arguments, int64_t num_sms, CUstream stream) {\n";
  printSwitch(os, plan, name, [&](const Plan &each, const Kernel &kernel) {
    printOwnArguments(os, each, kernel);
    os << "    return " << each.target << "::launch_" << name
       << "(function, own, num_sms, stream);\n";
  });
}

static void printSeveral(raw_ostream &os, const Plan &plan) {
  printTargets(os, plan);
  llvm::SetVector<llvm::StringRef> names;
  for (const Plan *each : choices(plan)) {
    os << "\nnamespace " << each->target << " {";
    printKernels(os, *each);
    os << "} // namespace " << each->target << '\n';
    for (const Kernel &kernel : each->kernels)
      if (!kernel.variantOf)
        names.insert(kernel.name);
  }
  for (StringRef name : names)
    printForTargets(os, plan, name.str());
}

std::string blockscale::printLauncher(const Plan &plan) {
  std::string text;
  raw_ostream &&os = llvm::raw_string_ostream(text);
  std::string space = plan.kernels.empty() ? std::string("blockscale_kernels")
                                           : "launch_" + plan.kernels[0].name;
  bool isForSeveral = !plan.alternatives.empty();
  std::string preamble = kPreamble.str();
  auto fill = [&](StringRef placeholder, StringRef with) {
    preamble.replace(preamble.find(placeholder), placeholder.size(), with);
  };
  fill("{INCLUDES}", isForSeveral ? "\n#include <string>" : "");
  fill("{NAMESPACE}", space);
  os << "// Launches kernels for ";
  llvm::interleave(
      choices(plan), os, [&](const Plan *each) { os << each->target; }, " or ");
  os << " through the CUDA driver API.\n";
  for (const Function &function : plan.functions)
    printSteps(os, function);
  os << "\n#pragma once\n\n" << preamble;
  if (isForSeveral)
    printSeveral(os, plan);
  else
    printKernels(os, plan);
  os << "} // namespace " << space << '\n';
  return text;
}
