//===- ApiLinks.cpp - linking of device code ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is linked is PTX, and the result is PTX again, which the functions that
// load modules take.
//
//===----------------------------------------------------------------------===//

#include "DeviceRuntime.h"
#include "Driver.h"
#include "Images.h"

#include <cstring>
#include <fstream>
#include <iterator>

using namespace blockscale;
using namespace blockscale::cuda;

struct CUlinkState_st {
  std::vector<emulator::PtxPiece> pieces;
  /// Empty until the end.
  std::string result;
  /// CU_JIT_ERROR_LOG_BUFFER: the program's memory, and the option that tells
  /// it how much was written.
  char *log = nullptr;
  unsigned logBytes = 0;
  void **written = nullptr;
};

namespace {

std::unordered_set<const CUlinkState_st *> &links() {
  static auto *all = new std::unordered_set<const CUlinkState_st *>;
  return *all;
}

/// Says the messages, and writes them where the program wants to find them.
CUresult fail(CUlinkState link, const std::string &asker,
              const std::vector<std::string> &messages, CUresult error) {
  std::string log;
  for (const std::string &message : messages) {
    say(asker + ": " + message);
    log += "error   : " + message + "\n";
  }
  if (link->log && link->logBytes) {
    size_t bytes = std::min<size_t>(log.size(), link->logBytes - 1);
    std::memcpy(link->log, log.data(), bytes);
    link->log[bytes] = 0;
    if (link->written)
      *link->written = reinterpret_cast<void *>(bytes);
  }
  return error;
}

/// PTX in what is added; an error of the driver otherwise.
CUresult addPiece(CUlinkState link, const char *asker, std::string_view bytes,
                  const char *name) {
  // A zero byte ends PTX, which a program may leave out here.
  std::string text(bytes);
  std::string why;
  FatBinary binary = readImages(reinterpret_cast<const uint8_t *>(text.c_str()),
                                text.size() + 1);
  if (!binary.error.empty())
    return fail(link, asker, {binary.error}, CUDA_ERROR_INVALID_IMAGE);
  const FatImage *image =
      chooseImage(binary, Core::get().device.chip().name, why);
  if (!image)
    return fail(link, asker, {why}, CUDA_ERROR_NO_BINARY_FOR_GPU);
  std::string called =
      name && *name ? name : "piece " + std::to_string(link->pieces.size() + 1);
  emulator::PtxPiece piece{called, image->ptx};
  std::vector<std::string> errors;
  for (const emulator::Diagnostic &error :
       emulator::parsePtx(image->ptx).errors)
    errors.push_back(called + ":" + error.format());
  if (!errors.empty())
    return fail(link, asker, errors, CUDA_ERROR_INVALID_PTX);
  link->pieces.push_back(std::move(piece));
  return CUDA_SUCCESS;
}

} // namespace

BLOCKSCALE_API CUresult cuLinkCreate_v2(unsigned count, CUjit_option *options,
                                        void **values, CUlinkState *link) {
  return withContext([&] {
    if (!link || (count && (!options || !values)))
      return CUDA_ERROR_INVALID_VALUE;
    auto state = std::make_unique<CUlinkState_st>();
    for (unsigned i = 0; i != count; ++i) {
      if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
        state->log = static_cast<char *>(values[i]);
      if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) {
        state->logBytes = unsigned(reinterpret_cast<uintptr_t>(values[i]));
        state->written = values + i;
      }
    }
    *link = state.release();
    links().insert(*link);
    return CUDA_SUCCESS;
  });
}

BLOCKSCALE_API CUresult cuLinkAddData_v2(CUlinkState link, CUjitInputType type,
                                         void *data, size_t size,
                                         const char *name, unsigned,
                                         CUjit_option *, void **) {
  return withContext([&] {
    if (!links().count(link))
      return CUDA_ERROR_INVALID_HANDLE;
    if (!data || !size || size > readableBytes(data) ||
        unsigned(type) >= CU_JIT_NUM_INPUT_TYPES || !link->result.empty())
      return CUDA_ERROR_INVALID_VALUE;
    return addPiece(link, "cuLinkAddData",
                    {static_cast<const char *>(data), size}, name);
  });
}

BLOCKSCALE_API CUresult cuLinkAddFile_v2(CUlinkState link, CUjitInputType type,
                                         const char *path, unsigned,
                                         CUjit_option *, void **) {
  return withContext([&] {
    if (!links().count(link))
      return CUDA_ERROR_INVALID_HANDLE;
    if (unsigned(type) >= CU_JIT_NUM_INPUT_TYPES || !link->result.empty())
      return CUDA_ERROR_INVALID_VALUE;
    std::ifstream file(path ? path : "", std::ios::binary);
    if (!file)
      return CUDA_ERROR_FILE_NOT_FOUND;
    std::string bytes((std::istreambuf_iterator<char>(file)),
                      std::istreambuf_iterator<char>());
    return addPiece(link, "cuLinkAddFile", bytes, path);
  });
}

BLOCKSCALE_API CUresult cuLinkComplete(CUlinkState link, void **result,
                                       size_t *size) {
  return withContext([&] {
    if (!links().count(link) || !link->result.empty())
      return CUDA_ERROR_INVALID_HANDLE;
    if (!result || !size || link->pieces.empty())
      return CUDA_ERROR_INVALID_VALUE;
    emulator::PtxLinkResult linked = linkDeviceCode(link->pieces);
    for (const std::string &name : linked.unresolved)
      linked.errors.push_back(name + ", is defined nowhere");
    if (!linked.errors.empty())
      return fail(link, "cuLinkComplete", linked.errors,
                  CUDA_ERROR_INVALID_SOURCE);
    link->result = std::move(*linked.text);
    *result = link->result.data();
    *size = link->result.size() + 1;
    return CUDA_SUCCESS;
  });
}

BLOCKSCALE_API CUresult cuLinkDestroy(CUlinkState link) {
  return withDriver([&] {
    if (!links().erase(link))
      return CUDA_ERROR_INVALID_HANDLE;
    delete link;
    return CUDA_SUCCESS;
  });
}
