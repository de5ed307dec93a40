//===- NvJitLink.cpp - the real nvJitLink, whose cubins keep their PTX ----===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In the place of libnvJitLink.so.13. What is linked of pieces that are PTX, or
// keep theirs, keeps what our own linker makes of them; of what is optimised
// while it is linked (-lto) a second linker makes the PTX.
//
//===----------------------------------------------------------------------===//

#include "Forward.h"
#include "Images.h"

#include "blockscale/Emulator/PtxLinker.h"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

/// nvJitLinkResult.
constexpr int kNoLibrary = 6;

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

  /// The chip, "sm_100", of `-arch=sm_100a`.
  std::string chip() const {
    constexpr std::string_view kArch = "-arch=sm_";
    for (const std::string &option : options)
      if (option.compare(0, kArch.size(), kArch) == 0) {
        std::string digits = option.substr(kArch.size());
        size_t end = digits.find_first_not_of("0123456789");
        return "sm_" + digits.substr(0, end);
      }
    return "";
  }

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

/// The PTX of all pieces as one; empty if one has none.
std::string linkPieces(const Link &link) {
  std::vector<emulator::PtxPiece> pieces;
  for (const Input &input : link.inputs) {
    std::string why;
    FatBinary binary =
        readImages(reinterpret_cast<const uint8_t *>(input.bytes.c_str()),
                   input.bytes.size() + 1);
    const FatImage *image = chooseImage(binary, link.chip(), why);
    if (!image)
      return "";
    pieces.push_back({input.name, image->ptx});
  }
  if (pieces.size() == 1)
    return pieces.front().text;
  // What is wrong with them the real linker has said.
  return emulator::linkPtx(pieces).text.value_or("");
}

/// The PTX of what was linked; empty if there is none.
std::string ptxOf(const Link &link) {
  if (!link.isOptimised())
    return linkPieces(link);
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
  int error = callReal("nvJitLinkAddFile", link, type, name);
  if (!error) {
    std::ifstream file(name, std::ios::binary);
    links()[link].inputs.push_back(
        {type,
         std::string(std::istreambuf_iterator<char>(file),
                     std::istreambuf_iterator<char>()),
         name});
  }
  return error;
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
