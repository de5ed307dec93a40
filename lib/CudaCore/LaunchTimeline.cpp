//===- LaunchTimeline.cpp - the estimated time of a launch ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchTimeline.h"
#include "blockscale/Timeline/Print.h"

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace blockscale;
using namespace blockscale::cuda;

/// Bytes of the allocations whose addresses stand in the arguments: pointers,
/// and the first word of tensor maps. The program's others are not the
/// kernel's.
static uint64_t memoryOf(const emulator::Launch &launch) {
  std::set<const Allocation *> seen;
  uint64_t bytes = 0;
  for (const emulator::Argument &argument : launch.arguments) {
    const auto &data = std::get<std::vector<uint8_t>>(argument);
    for (size_t at = 0; at + sizeof(uint64_t) <= data.size();
         at += sizeof(uint64_t)) {
      uint64_t address;
      std::memcpy(&address, data.data() + at, sizeof address);
      const Allocation *one = Core::get().memory.find(address);
      if (one && seen.insert(one).second)
        bytes += one->size;
    }
  }
  return bytes;
}

LaunchTimeline::LaunchTimeline(const emulator::Launch &launch,
                               emulator::Options &options) {
  const Core &core = Core::get();
  if (!core.report && core.timelineFolder.empty())
    return;
  const hw::Part *part = core.device.part();
  if (!part) {
    say("there are no reports and timelines of " +
        std::string(core.device.name) + ": its speed is not known");
    return;
  }
  conditions = timeline::conditionsOf(launch, *part);
  conditions.memoryBytes = memoryOf(launch);
  timeline.emplace(conditions);
  options.event = [this](const emulator::Event &event) {
    timeline->add(event);
  };
}

/// What of a name may stand in a file's name.
static std::string fileNameOf(const std::string &kernel) {
  std::string name = kernel.substr(0, kernel.find('('));
  for (char &letter : name)
    if (!std::isalnum(static_cast<unsigned char>(letter)) && letter != '.')
      letter = '_';
  constexpr size_t kLongest = 60;
  return name.substr(0, kLongest);
}

/// Writes a new file of the folder; several processes may do so.
static void writeTrace(const std::string &kernel, const std::string &text) {
  static unsigned number = 0;
  int file = -1;
  std::string path;
  do {
    char digits[16];
    std::snprintf(digits, sizeof digits, "%04u", ++number);
    path = Core::get().timelineFolder + "/" + digits + "-" +
           fileNameOf(kernel) + ".json";
    file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (file < 0 && errno == EEXIST);
  size_t written = 0;
  while (file >= 0 && written != text.size()) {
    ssize_t now = write(file, text.data() + written, text.size() - written);
    if (now < 0)
      break;
    written += size_t(now);
  }
  if (file < 0 || written != text.size())
    sayOnce("cannot write '" + path + "': " + std::strerror(errno));
  if (file >= 0)
    close(file);
}

void LaunchTimeline::finish(const std::string &kernel) {
  if (!timeline)
    return;
  const Core &core = Core::get();
  timeline::Estimate estimate = timeline->finish();
  std::string name = readableName(kernel);
  if (core.report)
    std::fputs(timeline::printReport(estimate, conditions.part, name).c_str(),
               stderr);
  if (!core.timelineFolder.empty())
    writeTrace(name, timeline::printTrace(estimate, conditions.part, name));
}
