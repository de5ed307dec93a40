//===- CheckVerb.cpp - say what a checkpoint's tensors are ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Progress.h"
#include "Verb.h"
#include "blockscale/Checkpoint/Check.h"
#include "blockscale/Driver/Driver.h"
#include "blockscale/Driver/OutputFiles.h"

using namespace blockscale;
using namespace blockscale::driver;

namespace {
class CheckVerb : public Verb {
public:
  CheckVerb();
  int run() override;

private:
  enum class Form { Text, Json };

  std::string input, output = "-";
  bool headersOnly = false;
  Form form = Form::Text;
  Progress progress{command};
};
} // namespace

CheckVerb::CheckVerb()
    : Verb("check", "Say how the tensors of a checkpoint are quantised and "
                    "what contradicts its convention") {
  command.positional("FILE", input,
                     "A .safetensors file, the index of several, or their "
                     "directory");
  command.flag("headers-only", headersOnly,
               "Read no scales: names, types, shapes and single numbers only");
  command.choice<Form>("format", form,
                       {{"text", Form::Text, "for people (default)"},
                        {"json", Form::Json, "for programs"}},
                       "Form of the answer");
  command.text("o", output, "FILE", "Where to write the answer");
}

int CheckVerb::run() {
  if (input.empty())
    return reportError("no checkpoint given", kNotUnderstood);
  Result<checkpoint::Checkpoint> read = checkpoint::Checkpoint::open(input);
  if (!read)
    return reportError(read.why().text, kFailure);
  checkpoint::CheckOptions options;
  options.readScales = !headersOnly;
  options.progress = [&](uint64_t done, uint64_t total) {
    progress.report(done, total);
  };
  progress.begin("check", "bytes of scales");
  checkpoint::CheckReport report = checkpoint::check(*read, options);
  progress.finish();
  std::string text = form == Form::Json ? checkpoint::printReportJson(report)
                                        : checkpoint::printReport(report);
  if (auto why = writeFile(output, text))
    return reportError(why->text, kFailure);
  return report.count(checkpoint::Grade::Error) ? kFailure : kSuccess;
}

std::unique_ptr<Verb> blockscale::driver::makeCheckVerb() {
  return std::make_unique<CheckVerb>();
}
