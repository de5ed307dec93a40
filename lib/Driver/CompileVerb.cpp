//===- CompileVerb.cpp - compile files ------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InputModule.h"
#include "Verb.h"
#include "blockscale/Driver/Compile.h"
#include "blockscale/Driver/Driver.h"
#include "blockscale/Driver/OutputFiles.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace blockscale;
using namespace blockscale::driver;
using llvm::StringRef;
namespace cl = llvm::cl;

namespace {
class CompileVerb : public Verb {
public:
  CompileVerb()
      : Verb("compile", "Compile MLIR to PTX, cubin, launch plan and report") {}
  int run() override;

private:
  int check();
  int compileOne(StringRef path, const CompileOptions &options);
  int writeOutputs(StringRef path, const Compilation &compilation);

  cl::list<std::string> inputs{cl::Positional, cl::sub(command), cl::OneOrMore,
                               cl::value_desc("FILE.mlir"),
                               cl::desc("Files to compile")};
  cl::opt<std::string> target{
      "target", cl::sub(command), cl::init("sm_100a"), cl::value_desc("CHIP"),
      cl::desc("Chip of products whose schedule names none (default sm_100a)")};
  cl::opt<std::string> output{
      "o", cl::sub(command), cl::value_desc("PATH"),
      cl::desc("Directory for the files (default '.'); with --emit the file "
               "for the text (default standard output)")};
  cl::opt<std::string> ptxas{
      "ptxas", cl::sub(command), cl::value_desc("PATH"),
      cl::desc("CUDA's assembler (default: where it is usually installed)")};
  cl::opt<bool> noCubin{"no-cubin", cl::sub(command),
                        cl::desc("Do not run the assembler")};
  cl::opt<int64_t> expectedRows{
      "expected-rows", cl::sub(command), cl::init(4096),
      cl::value_desc("NUMBER"),
      cl::desc("Rows to optimise for where their number is dynamic (default "
               "4096)")};
  cl::opt<bool> denseFallback{
      "dense-fallback", cl::sub(command),
      cl::desc("Multiply sparse operands that no instruction takes as dense "
               "ones")};
  cl::opt<bool> hostDuties{
      "host-duties", cl::sub(command),
      cl::desc("List in the launch plan what no kernel does, for the host "
               "to do in its order, in place of refusing it")};
  cl::opt<Emit> emit{
      "emit", cl::sub(command), cl::init(Emit::All),
      cl::desc("Print one stage instead of writing all files"),
      cl::values(
          clEnumValN(Emit::Tensor, "tensor", "Products with their schedules"),
          clEnumValN(Emit::Kernel, "kernel", "Kernels without addresses"),
          clEnumValN(Emit::Assigned, "assigned",
                     "Kernels with all addresses and scale ids"),
          clEnumValN(Emit::NVVM, "nvvm", "Kernels in the NVVM dialect"),
          clEnumValN(Emit::LLVM, "llvm", "LLVM IR"),
          clEnumValN(Emit::PTX, "ptx", "PTX"),
          clEnumValN(Emit::Launcher, "launcher",
                     "C++ header that launches the kernels"))};
};
} // namespace

/// What is wrong with the command line as a whole.
int CompileVerb::check() {
  llvm::StringSet<> stems;
  for (const std::string &input : inputs)
    if (!stems.insert(llvm::sys::path::stem(input)).second)
      return reportError("two inputs would write the same files: '" + input +
                             "'",
                         kNotUnderstood);
  if (emit != Emit::All && inputs.size() > 1)
    return reportError("--emit takes one input, found " +
                           llvm::Twine(inputs.size()),
                       kNotUnderstood);
  if (noCubin && ptxas.getNumOccurrences())
    return reportError("--ptxas and --no-cubin contradict each other",
                       kNotUnderstood);
  return kSuccess;
}

int CompileVerb::writeOutputs(StringRef path, const Compilation &compilation) {
  std::string stem =
      path == "-" ? "kernels" : llvm::sys::path::stem(path).str();
  OutputFiles files;
  files.add(stem + ".ptx", compilation.ptx);
  if (!compilation.cubin.empty())
    files.add(stem + ".cubin", compilation.cubin);
  files.add(stem + ".plan.json", plan::printPlan(compilation.plan));
  files.add(stem + ".report.txt", printReportText(compilation.report));
  files.add(stem + ".report.json", printReportJSON(compilation.report));
  if (llvm::Error error = files.write(output.empty() ? "." : output.getValue()))
    return reportError(llvm::toString(std::move(error)), kFailure);
  return kSuccess;
}

int CompileVerb::compileOne(StringRef path, const CompileOptions &options) {
  InputModule module(path);
  if (!module)
    return kFailure;
  if (emit != Emit::All) {
    mlir::FailureOr<std::string> text = compileTo(*module, emit, options);
    if (mlir::failed(text))
      return kFailure;
    StringRef destination = output.empty() ? "-" : StringRef(output);
    if (llvm::Error problem = writeFile(destination, *text))
      return reportError(llvm::toString(std::move(problem)), kFailure);
    return kSuccess;
  }
  mlir::FailureOr<Compilation> compilation = compile(*module, options);
  if (mlir::failed(compilation))
    return kFailure;
  return writeOutputs(path, *compilation);
}

int CompileVerb::run() {
  if (int code = check())
    return code;
  CompileOptions options;
  options.target = target;
  options.expectedRows = expectedRows;
  options.denseFallback = denseFallback;
  options.hostDuties = hostDuties;
  if (std::optional<std::string> why = whyNot(options))
    return reportError(*why, kNotUnderstood);
  if (emit == Emit::All && !noCubin) {
    llvm::Expected<std::string> program = findPtxas(ptxas);
    if (program)
      options.ptxas = *program;
    else if (ptxas.getNumOccurrences())
      return reportError(llvm::toString(program.takeError()), kFailure);
    else
      llvm::errs() << "blockscale: note: no cubin: "
                   << llvm::toString(program.takeError()) << '\n';
  }
  int result = kSuccess;
  for (const std::string &input : inputs)
    if (int code = compileOne(input, options))
      result = code;
  return result;
}

std::unique_ptr<Verb> blockscale::driver::makeCompileVerb() {
  return std::make_unique<CompileVerb>();
}
