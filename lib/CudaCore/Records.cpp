//===- Records.cpp - what `blockscale emulate` is told --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Records.h"
#include "Core.h"

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace blockscale;
using namespace blockscale::cuda;

void Records::add(const LaunchRecord &record) {
  if (path.empty() || (!all && record.findings.empty()))
    return;
  nlohmann::json findings = nlohmann::json::array();
  for (const auto &[kind, text] : record.findings)
    findings.push_back({{"kind", kind}, {"text", text}});
  nlohmann::json line = {{"kernel", record.kernel},
                         {"shape", record.shape},
                         {"instructions", record.instructions},
                         {"seconds", record.seconds},
                         {"findings", std::move(findings)},
                         {"advice", record.advice}};
  // A source line may hold anything.
  std::string text =
      line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
      "\n";
  if (file < 0)
    file = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  // One write, so that lines of several processes do not mix.
  if (file < 0 || write(file, text.data(), text.size()) != ssize_t(text.size()))
    sayOnce("cannot keep a record of this launch in '" + path + "'");
}
