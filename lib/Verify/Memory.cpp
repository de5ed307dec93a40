//===- Memory.cpp - whether a run fits into the memory of the host --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Verify/Memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sys/resource.h>
#include <unistd.h>

using namespace blockscale;
using namespace blockscale::verify;

static constexpr uint64_t kKiB = 1024, kMiB = 1024 * kKiB;

//===----------------------------------------------------------------------===//
// What there is
//===----------------------------------------------------------------------===//

/// The number behind `name` in a file of lines "NAME NUMBER".
static std::optional<uint64_t> numberNamed(const std::string &path,
                                           const std::string &name) {
  std::ifstream file(path);
  std::string word;
  for (uint64_t number; file >> word;) {
    if (word == name && file >> number)
      return number;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::nullopt;
}

/// The number that a file consists of; none if it is missing or says "max".
static std::optional<uint64_t> numberIn(const std::string &path) {
  std::ifstream file(path);
  uint64_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

/// The path of this process among control groups of version 2: "/a/b".
static std::string controlGroup(const std::string &root) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("0::/", 0) == 0)
      return line.substr(3);
  return "/";
}

/// What one group leaves; none if it has no limit.
static std::optional<uint64_t> freeInGroup(const std::string &folder) {
  std::optional<uint64_t> limit = numberIn(folder + "/memory.max");
  std::optional<uint64_t> used = numberIn(folder + "/memory.current");
  if (!limit || !used)
    return std::nullopt;
  // Pages of files that nobody has used of late go before anything is ended.
  uint64_t kept =
      *used -
      std::min(
          *used,
          numberNamed(folder + "/memory.stat", "inactive_file").value_or(0));
  return *limit - std::min(*limit, kept);
}

/// What the limit of address space leaves.
static std::optional<uint64_t> freeAddresses() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::nullopt;
  std::optional<uint64_t> pages = numberIn("/proc/self/statm");
  uint64_t used = pages.value_or(0) * uint64_t(sysconf(_SC_PAGESIZE));
  return limit.rlim_cur - std::min<uint64_t>(limit.rlim_cur, used);
}

std::optional<uint64_t> verify::freeMemory(const std::string &root) {
  std::optional<uint64_t> least = freeAddresses();
  auto also = [&](std::optional<uint64_t> bytes) {
    if (bytes)
      least = std::min(least.value_or(*bytes), *bytes);
  };
  if (auto kib = numberNamed(root + "/proc/meminfo", "MemAvailable:"))
    also(*kib * kKiB);
  // The limit of a group holds for those inside of it too.
  for (std::string group = controlGroup(root); !group.empty();
       group.resize(group.rfind('/')))
    also(freeInGroup(root + "/sys/fs/cgroup" + group));
  also(freeInGroup(root + "/sys/fs/cgroup"));
  return least;
}

//===----------------------------------------------------------------------===//
// What a run takes
//===----------------------------------------------------------------------===//

Result<uint64_t> verify::bytesToVerify(const plan::Kernel &kernel,
                                       const plan::Environment &sizes) {
  // In double precision, which has no end: an estimate need not be exact.
  double packed = 0;
  for (const plan::Parameter &parameter : kernel.parameters) {
    Result<uint64_t> bytes = plan::memoryBytes(kernel, parameter, sizes);
    if (!bytes)
      return bytes.why();
    packed += double(*bytes);
  }
  auto size = [&](const char *name) { return double(sizes.at(name)); };
  double codes = size("batch") * size("K") * (size("M") + size("N"));
  // Once here, once in the emulator; with each byte what is known of it.
  constexpr double kCopies = 2.5;
  return uint64_t(std::min(kCopies * packed + codes, 0x1p62));
}

std::optional<Reason> verify::whyNoMemory(const std::string &what,
                                          uint64_t bytes,
                                          std::optional<uint64_t> free) {
  if (!free || bytes <= *free)
    return std::nullopt;
  return Reason(what + " would take about " + std::to_string(bytes / kMiB) +
                " MiB of memory, of which this process can have " +
                std::to_string(*free / kMiB) + " MiB; give smaller sizes");
}
