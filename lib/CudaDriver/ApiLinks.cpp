//===- ApiLinks.cpp - linking of device code ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// There is nothing to link in a single piece of PTX, which is handed on. Pieces
// that call each other are not supported.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "Images.h"

#include <fstream>
#include <iterator>

using namespace blockscale;
using namespace blockscale::cuda;

struct CUlinkState_st {
  std::vector<std::string> pieces;
};

namespace {

std::unordered_set<const CUlinkState_st *> &links() {
  static auto *all = new std::unordered_set<const CUlinkState_st *>;
  return *all;
}

/// PTX in what is added; an error of the driver otherwise.
CUresult addPiece(CUlinkState link, const char *asker, const uint8_t *data,
                  uint64_t available) {
  std::string why;
  FatBinary binary = readImages(data, available);
  const FatImage *image = nullptr;
  if (binary.error.empty())
    image = chooseImage(binary, Core::get().device.chip().name, why);
  if (!image) {
    say(std::string(asker) + ": " + (why.empty() ? binary.error : why));
    return binary.error.empty() ? CUDA_ERROR_NO_BINARY_FOR_GPU
                                : CUDA_ERROR_INVALID_IMAGE;
  }
  link->pieces.push_back(image->ptx);
  return CUDA_SUCCESS;
}

} // namespace

BLOCKSCALE_API CUresult cuLinkCreate_v2(unsigned, CUjit_option *, void **,
                                        CUlinkState *link) {
  return withContext([&] {
    if (!link)
      return CUDA_ERROR_INVALID_VALUE;
    *link = new CUlinkState_st;
    links().insert(*link);
    return CUDA_SUCCESS;
  });
}

BLOCKSCALE_API CUresult cuLinkAddData_v2(CUlinkState link, CUjitInputType,
                                         void *data, size_t size, const char *,
                                         unsigned, CUjit_option *, void **) {
  return withContext([&] {
    if (!links().count(link))
      return CUDA_ERROR_INVALID_HANDLE;
    if (!data || size > readableBytes(data))
      return CUDA_ERROR_INVALID_VALUE;
    // A zero byte ends PTX, which a program may leave out here.
    std::string bytes(static_cast<const char *>(data), size);
    return addPiece(link, "cuLinkAddData",
                    reinterpret_cast<const uint8_t *>(bytes.c_str()),
                    bytes.size() + 1);
  });
}

BLOCKSCALE_API CUresult cuLinkAddFile_v2(CUlinkState link, CUjitInputType,
                                         const char *path, unsigned,
                                         CUjit_option *, void **) {
  return withContext([&] {
    if (!links().count(link))
      return CUDA_ERROR_INVALID_HANDLE;
    std::ifstream file(path ? path : "", std::ios::binary);
    if (!file)
      return CUDA_ERROR_FILE_NOT_FOUND;
    std::string bytes((std::istreambuf_iterator<char>(file)),
                      std::istreambuf_iterator<char>());
    return addPiece(link, "cuLinkAddFile",
                    reinterpret_cast<const uint8_t *>(bytes.c_str()),
                    bytes.size() + 1);
  });
}

BLOCKSCALE_API CUresult cuLinkComplete(CUlinkState link, void **result,
                                       size_t *size) {
  return withContext([&] {
    if (!links().count(link))
      return CUDA_ERROR_INVALID_HANDLE;
    if (!result || !size || link->pieces.empty())
      return CUDA_ERROR_INVALID_VALUE;
    if (link->pieces.size() > 1) {
      sayOnce("cuLinkComplete: " + std::to_string(link->pieces.size()) +
              " pieces of PTX are to be linked, the emulator takes one: "
              "compile the program as a whole");
      return CUDA_ERROR_NOT_SUPPORTED;
    }
    *result = link->pieces.front().data();
    *size = link->pieces.front().size() + 1;
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
