//===- LauncherVariants.cpp - launchers that choose by rows ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LauncherVariants.h"
#include "blockscale/Plan/Variants.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace blockscale;
using namespace blockscale::plan;
using llvm::raw_ostream;
using llvm::StringRef;

std::string blockscale::launcherMember(StringRef role) {
  std::string result;
  for (size_t i = 0; i < role.size(); ++i)
    if (role[i] == '_' && i + 1 < role.size())
      result += llvm::toUpper(role[++i]);
    else
      result += role[i];
  return result;
}

Kernel blockscale::withVariantParameters(const Plan &plan,
                                         const Kernel &kernel) {
  Kernel merged = kernel;
  for (const Kernel *variant : variantsOf(plan, kernel.name))
    for (const Parameter &parameter : variant->parameters)
      if (llvm::none_of(merged.parameters, [&](const Parameter &known) {
            return known.role == parameter.role;
          }))
        merged.parameters.push_back(parameter);
  return merged;
}

/// The member by which the choice is made: a size that is not known.
static std::string rowsMember(const Kernel &kernel) {
  for (const Parameter &parameter : kernel.parameters)
    if (parameter.operand == "M")
      return launcherMember(parameter.role);
  llvm_unreachable("variants are of kernels with an unknown M");
}

namespace {
/// What is said of a kernel with `arguments` of its own.
using Call =
    llvm::function_ref<std::string(const Kernel &, StringRef arguments)>;
} // namespace

/// Returns of `call`, for each kernel that may be chosen: fewest rows first.
static void printReturns(raw_ostream &os, const Plan &plan,
                         const Kernel &kernel, Call call) {
  for (const Kernel *variant : variantsOf(plan, kernel.name)) {
    os << "  if (arguments." << rowsMember(kernel)
       << " <= " << mostRows(*variant) << ") {\n    [[maybe_unused]] "
       << variant->name << "Arguments own;\n";
    for (const Parameter &parameter : variant->parameters) {
      std::string member = launcherMember(parameter.role);
      os << "    own." << member << " = arguments." << member << ";\n";
    }
    os << "    return " << call(*variant, "own") << ";\n  }\n";
  }
  os << "  return " << call(kernel, "arguments") << ";\n}\n";
}

/// How much workspace a launch needs, if any of them needs some.
static void printWorkspaceChoice(raw_ostream &os, const Plan &plan,
                                 const Kernel &kernel) {
  std::vector<const Kernel *> all = variantsOf(plan, kernel.name);
  all.push_back(&kernel);
  if (llvm::none_of(
          all, [](const Kernel *each) { return each->workspace.has_value(); }))
    return;
  for (StringRef function : {"workspace_bytes_", "workspace_zeros_"}) {
    os << "\n/// Of the kernel that is chosen; 0 if it needs none.\ninline "
          "int64_t "
       << function << kernel.name << "(const " << kernel.name
       << "Kernels &,\n    const " << kernel.name
       << "Arguments &arguments) {\n";
    printReturns(os, plan, kernel,
                 [&](const Kernel &each, StringRef arguments) -> std::string {
                   if (!each.workspace)
                     return "0";
                   return (function + each.name + "(" + arguments + ")").str();
                 });
  }
}

void blockscale::printVariantChoice(raw_ostream &os, const Plan &plan,
                                    const Kernel &kernel) {
  std::vector<const Kernel *> variants = variantsOf(plan, kernel.name);
  if (variants.empty())
    return;
  const std::string &name = kernel.name;
  os << "\n/// '" << name
     << "' and its variants for few rows, of which a launch takes one.\nstruct "
     << name << "Kernels {\n  CUfunction " << name << " = nullptr;\n";
  for (const Kernel *variant : variants)
    os << "  CUfunction " << variant->name << " = nullptr; // up to "
       << mostRows(*variant) << " rows\n";
  os << "};\n\n/// Gets all of them from `module`.\ninline CUresult load_"
     << name << "(CUmodule module, " << name << "Kernels *kernels) {\n";
  for (const Kernel *variant : variants)
    os << "  if (CUresult result = load_" << variant->name
       << "(module, &kernels->" << variant->name << "))\n    return result;\n";
  os << "  return load_" << name << "(module, &kernels->" << name << ");\n}\n";
  printWorkspaceChoice(os, plan, kernel);
  os << "\n/// Launches the one for the number of rows.\ninline CUresult "
        "launch_"
     << name << "(const " << name << "Kernels &kernels,\n    const " << name
     << "Arguments &arguments, int64_t num_sms, CUstream stream) {\n";
  printReturns(os, plan, kernel, [](const Kernel &each, StringRef arguments) {
    return "launch_" + each.name + "(kernels." + each.name + ", " +
           arguments.str() + ", num_sms, stream)";
  });
}
