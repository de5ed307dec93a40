//===- NvJitLink.cpp - the real nvJitLink, whose cubins keep their PTX ----===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In the place of libnvJitLink.so.13. What is linked of one piece of PTX keeps
// that piece; of what is optimised while it is linked (-lto) a second linker
// makes the PTX. Other pieces that call each other have no PTX to keep.
//
//===----------------------------------------------------------------------===//

#include "Forward.h"
#include "Images.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>

using namespace blockscale;

namespace {

/// nvJitLinkResult and nvJitLinkInputType.
constexpr int kNoLibrary = 6;
constexpr int kInputPtx = 2;

void *realNamed(const char *function) {
  return cuda::realFunction("libnvJitLink.so.13", "BLOCKSCALE_NVJITLINK",
                            function);
}

template <typename... Arguments>
int callReal(const char *function, Arguments... arguments) {
  auto *real = reinterpret_cast<int (*)(Arguments...)>(realNamed(function));
  return real ? real(arguments...) : kNoLibrary;
}

struct Input {
  int type;
  std::string bytes, name;
};

/// What a program has told its linker.
struct Link {
  std::vector<std::string> options;
  std::vector<Input> inputs;
  /// Whether something came from a file, which is not kept.
  bool hasFiles = false;

  bool isOptimised() const {
    for (const std::string &option : options)
      if (option == "-lto")
        return true;
    return false;
  }
};

std::mutex lock;
std::map<void *, Link> &links() {
  static auto *all = new std::map<void *, Link>;
  return *all;
}

/// Bytes that a linker gives in two calls.
int read(void *link, const char *sizeName, const char *bytesName,
         std::string &bytes) {
  size_t size = 0;
  if (int error = callReal(sizeName, link, &size))
    return error;
  bytes.resize(size);
  return size ? callReal(bytesName, link, static_cast<void *>(bytes.data()))
              : 0;
}

/// The PTX of what was linked; empty if there is none.
std::string ptxOf(const Link &link) {
  if (link.hasFiles)
    return "";
  if (link.inputs.size() == 1 && link.inputs[0].type == kInputPtx)
    return link.inputs[0].bytes;
  if (!link.isOptimised())
    return "";
  std::vector<const char *> options;
  for (const std::string &option : link.options)
    options.push_back(option.c_str());
  options.push_back("-ptx");
  void *twin = nullptr;
  std::string ptx;
  if (callReal("nvJitLinkCreate", &twin, uint32_t(options.size()),
               options.data()) != 0)
    return "";
  bool good = true;
  for (const Input &input : link.inputs)
    good &= callReal("nvJitLinkAddData", twin, input.type,
                     static_cast<const void *>(input.bytes.data()),
                     input.bytes.size(), input.name.c_str()) == 0;
  if (!good || callReal("nvJitLinkComplete", twin) != 0 ||
      read(twin, "nvJitLinkGetLinkedPtxSize", "nvJitLinkGetLinkedPtx", ptx) !=
          0)
    ptx.clear();
  callReal("nvJitLinkDestroy", &twin);
  return ptx;
}

int readCubin(void *link, std::string &cubin) {
  if (int error = read(link, "nvJitLinkGetLinkedCubinSize",
                       "nvJitLinkGetLinkedCubin", cubin))
    return error;
  std::string ptx = ptxOf(links()[link]);
  if (!ptx.empty())
    if (std::optional<std::string> both = cuda::addPtx(cubin, ptx))
      cubin = std::move(*both);
  return 0;
}

} // namespace

BLOCKSCALE_API int nvJitLinkCreate(void **link, uint32_t count,
                                   const char **options) {
  std::lock_guard<std::mutex> guard(lock);
  int error = callReal("nvJitLinkCreate", link, count, options);
  if (!error)
    links()[*link].options.assign(options, options + count);
  return error;
}

BLOCKSCALE_API int nvJitLinkDestroy(void **link) {
  std::lock_guard<std::mutex> guard(lock);
  if (link)
    links().erase(*link);
  return callReal("nvJitLinkDestroy", link);
}

BLOCKSCALE_API int nvJitLinkAddData(void *link, int type, const void *data,
                                    size_t size, const char *name) {
  std::lock_guard<std::mutex> guard(lock);
  int error = callReal("nvJitLinkAddData", link, type, data, size, name);
  if (!error)
    links()[link].inputs.push_back(
        {type, std::string(static_cast<const char *>(data), size),
         name ? name : ""});
  return error;
}

BLOCKSCALE_API int nvJitLinkAddFile(void *link, int type, const char *name) {
  std::lock_guard<std::mutex> guard(lock);
  links()[link].hasFiles = true;
  return callReal("nvJitLinkAddFile", link, type, name);
}

BLOCKSCALE_API int nvJitLinkGetLinkedCubinSize(void *link, size_t *size) {
  std::lock_guard<std::mutex> guard(lock);
  std::string cubin;
  int error = readCubin(link, cubin);
  if (!error && size)
    *size = cubin.size();
  return error;
}

BLOCKSCALE_API int nvJitLinkGetLinkedCubin(void *link, void *bytes) {
  std::lock_guard<std::mutex> guard(lock);
  std::string cubin;
  int error = readCubin(link, cubin);
  if (!error && bytes)
    std::memcpy(bytes, cubin.data(), cubin.size());
  return error;
}

FORWARD(nvJitLinkComplete, kNoLibrary)
FORWARD(nvJitLinkGetErrorLog, kNoLibrary)
FORWARD(nvJitLinkGetErrorLogSize, kNoLibrary)
FORWARD(nvJitLinkGetInfoLog, kNoLibrary)
FORWARD(nvJitLinkGetInfoLogSize, kNoLibrary)
FORWARD(nvJitLinkGetLinkedLTOIR, kNoLibrary)
FORWARD(nvJitLinkGetLinkedLTOIRSize, kNoLibrary)
FORWARD(nvJitLinkGetLinkedPtx, kNoLibrary)
FORWARD(nvJitLinkGetLinkedPtxSize, kNoLibrary)
FORWARD(nvJitLinkVersion, kNoLibrary)
