//===- mapped.cpp - memory that the program maps itself -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Check.h"
#include <cstring>
#include <string>
#include <unistd.h>
#include <vector>

/// Adds 1 to each of the words; one thread for each.
static const char kAdd[] =
    ".version 8.7\n.target sm_100a\n.address_size 64\n"
    ".visible .entry add(.param .u64 words) {\n"
    ".reg .b32 %r<5>;\n.reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd1, [words];\nmov.u32 %r1, %tid.x;\n"
    "mov.u32 %r2, %ctaid.x;\nmad.lo.u32 %r3, %r2, 1024, %r1;\n"
    "mul.wide.u32 %rd2, %r3, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
    "ld.global.u32 %r4, [%rd3];\nadd.u32 %r4, %r4, 1;\n"
    "st.global.u32 [%rd3], %r4;\nret;\n}\n";

int main(int count, char **arguments) {
  constexpr size_t kPiece = 2 << 20;
  CALL(cuInit(0));
  CUdevice device;
  CUcontext context;
  CALL(cuDeviceGet(&device, 0));
  CALL(cuDevicePrimaryCtxRetain(&context, device));
  CALL(cuCtxSetCurrent(context));
  int isSupported = 0;
  CALL(cuDeviceGetAttribute(
      &isSupported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
      device));
  EXPECT(isSupported == 1);
  CUmodule module;
  CUfunction add;
  CALL(cuModuleLoadData(&module, kAdd));
  CALL(cuModuleGetFunction(&add, module, "add"));

  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  size_t granularity = 0, freeBefore, freeNow, total;
  CALL(cuMemGetAllocationGranularity(&granularity, &properties,
                                     CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  EXPECT(granularity == kPiece);
  CALL(cuMemGetInfo(&freeBefore, &total));

  // Two pieces side by side are one; a third address shows the first again.
  CUmemGenericAllocationHandle first, second;
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&first, 4096, &properties, 0));
  CALL(cuMemCreate(&first, kPiece, &properties, 0));
  CALL(cuMemCreate(&second, kPiece, &properties, 0));
  CALL(cuMemGetInfo(&freeNow, &total));
  EXPECT(freeBefore - freeNow == 2 * kPiece);
  CUdeviceptr at, twin;
  CALL(cuMemAddressReserve(&at, 4 * kPiece, 0, 0, 0));
  CALL(cuMemAddressReserve(&twin, kPiece, 8 * kPiece, 0, 0));
  EXPECT(at % kPiece == 0 && twin % (8 * kPiece) == 0);
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&twin, 100, 0, 0, 0));
  RETURNS(CUDA_ERROR_NOT_SUPPORTED, cuMemMap(at, kPiece, kPiece, first, 0));
  RETURNS(CUDA_ERROR_NOT_SUPPORTED, cuMemMap(at, 2 * kPiece, 0, first, 0));
  CALL(cuMemMap(at, kPiece, 0, first, 0));
  CALL(cuMemMap(at + kPiece, kPiece, 0, second, 0));
  CALL(cuMemMap(twin, kPiece, 0, first, 0));
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemMap(at, kPiece, 0, second, 0));
  RETURNS(CUDA_ERROR_INVALID_VALUE,
          cuMemMap(at + 4 * kPiece, kPiece, 0, second, 0));
  int word = 7;
  // Mapped is not yet accessible.
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(at, &word, sizeof word));
  CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, {0}},
                         CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess(at, 3 * kPiece, &access, 1));
  CALL(cuMemSetAccess(at, 2 * kPiece, &access, 1));
  CALL(cuMemSetAccess(twin, kPiece, &access, 1));
  unsigned long long flags = 0;
  CALL(cuMemGetAccess(&flags, &access.location, at + 5));
  EXPECT(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  RETURNS(CUDA_ERROR_INVALID_VALUE,
          cuMemGetAccess(&flags, &access.location, at + 2 * kPiece));

  // Copies and kernels cross the seam.
  std::vector<int> words(2048, 40), back(2048);
  CUdeviceptr seam = at + kPiece - 4096;
  CALL(cuMemcpyHtoD(seam, words.data(), 8192));
  void *parameters[] = {&seam};
  CALL(cuLaunchKernel(add, 2, 1, 1, 1024, 1, 1, 0, nullptr, parameters,
                      nullptr));
  CALL(cuMemcpyDtoH(back.data(), seam, 8192));
  for (int value : back)
    EXPECT(value == 41);
  CALL(cuMemcpyDtoH(back.data(), twin + kPiece - 4096, 4096));
  EXPECT(back[0] == 41 && back[1023] == 41);

  // What holds it is counted: a handle, a mapping, the file of another process.
  CUmemGenericAllocationHandle again, imported;
  CALL(cuMemRetainAllocationHandle(&again,
                                   reinterpret_cast<void *>(at + kPiece + 1)));
  EXPECT(again == second);
  CALL(cuMemRelease(second));
  CALL(cuMemRelease(second));
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemRelease(second));
  int file = -1;
  CALL(cuMemExportToShareableHandle(
      &file, first, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CALL(cuMemImportFromShareableHandle(
      &imported, reinterpret_cast<void *>(intptr_t(file)),
      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  close(file);
  CALL(cuMemMap(at + 2 * kPiece, kPiece, 0, imported, 0));
  CALL(cuMemSetAccess(at + 2 * kPiece, kPiece, &access, 1));
  CALL(cuMemcpyDtoH(back.data(), at + 3 * kPiece - 4096, 4096));
  EXPECT(back[0] == 41);
  CUmemAllocationProp asked;
  CALL(cuMemGetAllocationPropertiesFromHandle(&asked, first));
  EXPECT(asked.location.type == CU_MEM_LOCATION_TYPE_DEVICE);
  CALL(cuMemRelease(first));
  CALL(cuMemRelease(imported));

  // Not freed by cuMemFree; taken away in whole mappings.
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemFree(at));
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(at, kPiece / 2));
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(at, 4 * kPiece));
  CALL(cuMemUnmap(at + kPiece, 2 * kPiece));
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(at + kPiece, kPiece));
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(seam, words.data(), 8192));

  // Other processes by the older handles: as on a device without them.
  CUipcMemHandle shared;
  CUevent event;
  CUipcEventHandle sharedEvent;
  CALL(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  RETURNS(CUDA_ERROR_NOT_SUPPORTED, cuIpcGetMemHandle(&shared, at));
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&shared, 5));
  RETURNS(CUDA_ERROR_NOT_SUPPORTED, cuIpcGetEventHandle(&sharedEvent, event));
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuIpcCloseMemHandle(at));

  // A kernel that writes what it may only read, or reads what is not mapped.
  if (count > 1) {
    std::string what = arguments[1];
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    if (what == "read-only")
      CALL(cuMemSetAccess(at, kPiece, &access, 1));
    CUdeviceptr wrong = what == "read-only" ? at : at + kPiece;
    void *wrongParameters[] = {&wrong};
    CALL(cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, nullptr, wrongParameters,
                        nullptr));
    RETURNS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    return 0;
  }
  CALL(cuMemUnmap(at, kPiece));
  CALL(cuMemUnmap(twin, kPiece));
  CALL(cuMemAddressFree(at, 4 * kPiece));
  CALL(cuMemAddressFree(twin, kPiece));
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(twin, kPiece));
  CALL(cuMemGetInfo(&freeNow, &total));
  EXPECT(freeNow == freeBefore);
  std::printf("all right\n");
}
