//===- basics.cpp - modules, memory, launches and contexts of the driver --===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Check.h"
#include <cstring>
#include <string>
#include <vector>

constexpr int kCount = 600;

struct Vectors {
  std::vector<float> hostX, hostY;
  CUdeviceptr x = 0, y = 0;
  Vectors() : hostX(kCount), hostY(kCount) {
    for (int i = 0; i < kCount; ++i) {
      hostX[i] = float(i);
      hostY[i] = float(1000 - 2 * i);
    }
    CALL(cuMemAlloc(&x, kCount * sizeof(float)));
    CALL(cuMemAlloc(&y, kCount * sizeof(float)));
    CALL(cuMemcpyHtoD(x, hostX.data(), kCount * sizeof(float)));
    CALL(cuMemcpyHtoD(y, hostY.data(), kCount * sizeof(float)));
  }
  /// Whether y is factor * x + its first values.
  void check(float factor) {
    std::vector<float> back(kCount);
    CALL(cuMemcpyDtoH(back.data(), y, kCount * sizeof(float)));
    for (int i = 0; i < kCount; ++i)
      EXPECT(back[i] == factor * hostX[i] + hostY[i]);
  }
};

static void checkStart() {
  int count = -1;
  CUcontext context;
  RETURNS(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuInit(1));
  CALL(cuInit(0));
  CALL(cuDeviceGetCount(&count));
  EXPECT(count == 1);
  CUdevice device;
  RETURNS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, 1));
  CALL(cuDeviceGet(&device, 0));
  char name[64];
  CALL(cuDeviceGetName(name, sizeof name, device));
  EXPECT(std::strcmp(name, "NVIDIA B200") == 0);
  int value;
  CALL(cuDeviceGetAttribute(
      &value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  EXPECT(value == 10);
  CALL(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                            device));
  EXPECT(value == 148);
  RETURNS(CUDA_ERROR_INVALID_VALUE,
          cuDeviceGetAttribute(&value, CUdevice_attribute(0), device));
  CUdeviceptr pointer;
  RETURNS(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&pointer, 4));
  CALL(cuCtxGetCurrent(&context));
  EXPECT(context == nullptr);
  const char *text;
  CALL(cuGetErrorName(CUDA_ERROR_INVALID_CONTEXT, &text));
  EXPECT(std::strcmp(text, "CUDA_ERROR_INVALID_CONTEXT") == 0);
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuGetErrorName(CUresult(1000), &text));
  CALL(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
  EXPECT(std::strcmp(text, "out of memory") == 0);
}

static void checkContexts() {
  CUcontext primary, same, first, second, popped;
  unsigned flags;
  int active;
  CALL(cuDevicePrimaryCtxGetState(0, &flags, &active));
  EXPECT(!active);
  RETURNS(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(0));
  CALL(cuDevicePrimaryCtxRetain(&primary, 0));
  CALL(cuDevicePrimaryCtxRetain(&same, 0));
  EXPECT(primary == same);
  CALL(cuDevicePrimaryCtxRelease(0));
  CALL(cuDevicePrimaryCtxGetState(0, &flags, &active));
  EXPECT(active);
  CALL(cuCtxCreate(&first, nullptr, 0, 0));
  CALL(cuCtxCreate(&second, nullptr, 0, 0));
  CALL(cuCtxGetCurrent(&same));
  EXPECT(same == second);
  // Handles belong to the context in which they were made.
  CUmodule module;
  CUfunction function;
  CALL(cuModuleLoadData(&module, kPtx));
  CALL(cuModuleGetFunction(&function, module, "nothing"));
  CALL(
      cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  CALL(cuCtxPopCurrent(&popped));
  EXPECT(popped == second);
  RETURNS(
      CUDA_ERROR_INVALID_HANDLE,
      cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  // Memory goes with its context.
  CALL(cuCtxPushCurrent(second));
  CUdeviceptr pointer;
  CALL(cuMemAlloc(&pointer, 100));
  CUcontext owner;
  CALL(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, pointer));
  EXPECT(owner == second);
  CALL(cuCtxDestroy(second));
  RETURNS(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(second));
  RETURNS(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent(second));
  RETURNS(CUDA_ERROR_INVALID_VALUE,
          cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, pointer));
  CALL(cuCtxGetCurrent(&same));
  EXPECT(same == first);
  RETURNS(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(module));
  CALL(cuCtxDestroy(first));
  RETURNS(CUDA_ERROR_INVALID_CONTEXT, cuCtxPopCurrent(&popped));
  CALL(cuCtxSetCurrent(primary));
  int device = -1;
  CALL(cuCtxGetDevice(&device));
  EXPECT(device == 0);
  size_t bytes;
  CALL(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 4096));
  CALL(cuCtxGetLimit(&bytes, CU_LIMIT_PRINTF_FIFO_SIZE));
  EXPECT(bytes == 4096);
  RETURNS(CUDA_ERROR_UNSUPPORTED_LIMIT,
          cuCtxGetLimit(&bytes, CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH));
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuCtxGetLimit(&bytes, CUlimit(77)));
}

static void checkModules() {
  CUmodule module, other;
  CUfunction function;
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuModuleLoadData(&module, nullptr));
  RETURNS(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, "/nowhere"));
  std::string foreign = kPtx;
  foreign.replace(foreign.find("sm_100a"), 7, "sm_103a");
  RETURNS(CUDA_ERROR_NO_BINARY_FOR_GPU,
          cuModuleLoadData(&module, foreign.c_str()));
  CALL(cuModuleLoadDataEx(&module, kPtx, 0, nullptr, nullptr));
  CALL(cuModuleLoadData(&other, kPtx));
  RETURNS(CUDA_ERROR_NOT_FOUND,
          cuModuleGetFunction(&function, module, "absent"));
  CALL(cuModuleGetFunction(&function, module, "axpy"));
  const size_t offsets[] = {0, 8, 16, 24}, sizes[] = {4, 8, 8, 4};
  size_t offset, size;
  for (size_t i = 0; i < 4; ++i) {
    CALL(cuFuncGetParamInfo(function, i, &offset, &size));
    EXPECT(offset == offsets[i] && size == sizes[i]);
  }
  RETURNS(CUDA_ERROR_INVALID_VALUE,
          cuFuncGetParamInfo(function, 4, &offset, &size));
  int value;
  CALL(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                          function));
  EXPECT(value == 256);
  CUdeviceptr launches, offsetVariable;
  CALL(cuModuleGetGlobal(&launches, &size, module, "launches"));
  EXPECT(size == 4);
  RETURNS(CUDA_ERROR_NOT_FOUND,
          cuModuleGetGlobal(&launches, &size, module, "absent"));
  CALL(cuModuleGetGlobal(&launches, &size, module, "launches"));

  Vectors vectors;
  float factor = 3;
  int count = kCount;
  void *arguments[] = {&factor, &vectors.x, &vectors.y, &count};
  CALL(cuLaunchKernel(function, 3, 1, 1, 256, 1, 1, 0, nullptr, arguments,
                      nullptr));
  CALL(cuCtxSynchronize());
  vectors.check(3);
  // The same with all parameters in one buffer.
  struct {
    float factor;
    CUdeviceptr x, y;
    int count;
  } packed{2, vectors.x, vectors.y, kCount};
  size_t bytes = 28;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed,
                   CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  CALL(
      cuLaunchKernel(function, 3, 1, 1, 256, 1, 1, 0, nullptr, nullptr, extra));
  vectors.check(5);
  int now = 0;
  CALL(cuMemcpyDtoH(&now, launches, sizeof now));
  EXPECT(now == 42);
  // A constant, which the host sets; of the other module it is another one.
  CALL(cuModuleGetGlobal(&offsetVariable, nullptr, other, "offset"));
  CALL(cuMemsetD32(offsetVariable, 0x42C80000, 1)); // 100
  CALL(
      cuLaunchKernel(function, 3, 1, 1, 256, 1, 1, 0, nullptr, nullptr, extra));
  vectors.check(7);
  CALL(cuModuleUnload(module));
  RETURNS(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(module));
  RETURNS(
      CUDA_ERROR_INVALID_HANDLE,
      cuLaunchKernel(function, 3, 1, 1, 256, 1, 1, 0, nullptr, nullptr, extra));
  RETURNS(CUDA_ERROR_INVALID_HANDLE,
          cuModuleGetFunction(&function, module, "axpy"));
  CALL(cuModuleUnload(other));
}

static void checkLibraries() {
  CUlibrary library;
  CUkernel kernel;
  CUmodule module;
  CUfunction function;
  CALL(cuLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr,
                         0));
  CALL(cuLibraryGetKernel(&kernel, library, "axpy"));
  unsigned count;
  CALL(cuLibraryGetKernelCount(&count, library));
  EXPECT(count == 2);
  CALL(cuKernelGetFunction(&function, kernel));
  const char *name;
  CALL(cuKernelGetName(&name, kernel));
  EXPECT(std::strcmp(name, "axpy") == 0);
  CALL(cuLibraryGetModule(&module, library));
  RETURNS(CUDA_ERROR_NOT_PERMITTED, cuModuleUnload(module));
  Vectors vectors;
  CUlaunchConfig config{};
  CUlaunchAttribute attributes[3] = {};
  attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attributes[0].value.clusterDim = {2, 1, 1};
  attributes[1].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attributes[1].value.cooperative = 1;
  attributes[2].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attributes[2].value.programmaticStreamSerializationAllowed = 1;
  config.gridDimX = 4;
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 150;
  config.blockDimY = config.blockDimZ = 1;
  config.attrs = attributes;
  config.numAttrs = 3;
  float factor = -1;
  int length = kCount;
  void *arguments[] = {&factor, &vectors.x, &vectors.y, &length};
  // A kernel can be launched by its handle.
  CALL(cuLaunchKernelEx(&config, reinterpret_cast<CUfunction>(kernel),
                        arguments, nullptr));
  vectors.check(-1);
  int clusters = 0;
  CALL(cuOccupancyMaxActiveClusters(&clusters, function, &config));
  EXPECT(clusters > 0 && clusters * 2 <= 148 * 32);
  config.gridDimX = 3;
  RETURNS(CUDA_ERROR_INVALID_CLUSTER_SIZE,
          cuLaunchKernelEx(&config, function, arguments, nullptr));
  attributes[0].value.clusterDim = {16, 1, 1};
  config.gridDimX = 16;
  RETURNS(CUDA_ERROR_INVALID_CLUSTER_SIZE,
          cuLaunchKernelEx(&config, function, arguments, nullptr));
  CALL(cuFuncSetAttribute(
      function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
  CALL(cuLaunchKernelEx(&config, function, arguments, nullptr));
  vectors.check(-2);
  CALL(cuLibraryUnload(library));
  RETURNS(CUDA_ERROR_INVALID_HANDLE, cuLibraryUnload(library));
}

static void checkLimits() {
  CUmodule module;
  CUfunction function;
  CALL(cuModuleLoadData(&module, kPtx));
  CALL(cuModuleGetFunction(&function, module, "nothing"));
  auto launch = [&](unsigned gridY, unsigned block, unsigned shared) {
    return cuLaunchKernel(function, 1, gridY, 1, block, 1, 1, shared, nullptr,
                          nullptr, nullptr);
  };
  RETURNS(CUDA_ERROR_INVALID_VALUE, launch(1, 1025, 0));
  RETURNS(CUDA_ERROR_INVALID_VALUE, launch(1, 0, 0));
  RETURNS(CUDA_ERROR_INVALID_VALUE, launch(65536, 1, 0));
  RETURNS(CUDA_ERROR_INVALID_VALUE, launch(1, 32, 50000));
  RETURNS(CUDA_ERROR_INVALID_VALUE,
          cuFuncSetAttribute(function,
                             CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                             300000));
  CALL(cuFuncSetAttribute(
      function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 200000));
  CALL(launch(1, 32, 200000));
  RETURNS(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
          cuLaunchCooperativeKernel(function, 149, 1, 1, 32, 1, 1, 200000,
                                    nullptr, nullptr));
  CALL(cuLaunchCooperativeKernel(function, 148, 1, 1, 32, 1, 1, 200000, nullptr,
                                 nullptr));
  int blocks, grid, block;
  CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 1024, 0));
  EXPECT(blocks == 2);
  CALL(
      cuOccupancyMaxPotentialBlockSize(&grid, &block, function, nullptr, 0, 0));
  EXPECT(block == 1024 && grid == 2 * 148);
  CUstream stale;
  CALL(cuStreamCreate(&stale, CU_STREAM_NON_BLOCKING));
  CALL(cuStreamDestroy(stale));
  RETURNS(
      CUDA_ERROR_INVALID_HANDLE,
      cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stale, nullptr, nullptr));
  CALL(cuModuleUnload(module));
}

static void checkMemory() {
  CUdeviceptr pointer, base;
  size_t size, free, total;
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&pointer, 0));
  RETURNS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&pointer, size_t(1) << 45));
  CALL(cuMemAlloc(&pointer, 1000));
  CALL(cuMemGetInfo(&free, &total));
  EXPECT(total - free >= 1000);
  CALL(cuMemGetAddressRange(&base, &size, pointer + 10));
  EXPECT(base == pointer && size == 1000);
  CALL(cuMemsetD16(pointer, 0x1234, 500));
  CALL(cuMemsetD8(pointer + 2, 0xFF, 1));
  unsigned char bytes[6];
  CALL(cuMemcpyDtoH(bytes, pointer, 6));
  const unsigned char expected[6] = {0x34, 0x12, 0xFF, 0x12, 0x34, 0x12};
  EXPECT(std::memcmp(bytes, expected, 6) == 0);
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(pointer + 2, 0, 1));
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(pointer + 996, bytes, 6));
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemFree(pointer + 1));
  CALL(cuMemFree(pointer));
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemFree(pointer));
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(pointer, bytes, 4));
  RETURNS(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange(&base, &size, pointer));
  // Rectangles: columns 1 and 2 of two rows of a pitch of 4.
  unsigned char host[3][4] = {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}};
  size_t pitch;
  CALL(cuMemAllocPitch(&pointer, &pitch, 5, 3, 4));
  CALL(cuMemsetD2D8(pointer, pitch, 0xEE, 5, 3));
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = host;
  copy.srcPitch = 4;
  copy.srcXInBytes = copy.srcY = 1;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = pointer;
  copy.dstPitch = pitch;
  copy.dstXInBytes = 3;
  copy.WidthInBytes = copy.Height = 2;
  CALL(cuMemcpy2D(&copy));
  unsigned char row[5];
  CALL(cuMemcpyDtoH(row, pointer + pitch, 5));
  const unsigned char second[5] = {0xEE, 0xEE, 0xEE, 9, 10};
  EXPECT(std::memcmp(row, second, 5) == 0);
  CALL(cuMemFree(pointer));
}

static void checkPools() {
  CUmemoryPool own, standard, current;
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CALL(cuMemPoolCreate(&own, &properties));
  CALL(cuDeviceGetDefaultMemPool(&standard, 0));
  CALL(cuDeviceGetMemPool(&current, 0));
  EXPECT(standard == current && own != standard);
  CUdeviceptr one, two;
  CUstream stream;
  CALL(cuStreamCreate(&stream, 0));
  CALL(cuMemAllocFromPoolAsync(&one, 300, own, stream));
  CALL(cuMemAllocFromPoolAsync(&two, 200, own, stream));
  cuuint64_t used;
  CALL(cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
  EXPECT(used == 500);
  CALL(cuMemFreeAsync(one, stream));
  CALL(cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
  EXPECT(used == 200);
  CALL(cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &used));
  EXPECT(used == 500);
  CUmemoryPool found;
  CALL(cuPointerGetAttribute(&found, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, two));
  EXPECT(found == own);
  RETURNS(CUDA_ERROR_INVALID_VALUE,
          cuMemPoolSetAttribute(own, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
  // Memory outlives its pool.
  CALL(cuMemPoolDestroy(own));
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(own));
  CALL(cuMemsetD8Async(two, 3, 200, stream));
  CALL(cuMemFreeAsync(two, stream));
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(two, stream));
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(standard));
  CALL(cuStreamDestroy(stream));
}

static void checkEvents() {
  CUevent start, end;
  CUstream stream;
  CALL(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -3));
  int priority;
  CALL(cuStreamGetPriority(stream, &priority));
  EXPECT(priority == -3);
  CALL(cuEventCreate(&start, CU_EVENT_DEFAULT));
  CALL(cuEventCreate(&end, CU_EVENT_DISABLE_TIMING));
  float passed;
  CALL(cuEventRecord(start, stream));
  CALL(cuEventRecord(end, stream));
  RETURNS(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&passed, start, end));
  CALL(cuEventDestroy(end));
  CALL(cuEventCreate(&end, CU_EVENT_DEFAULT));
  RETURNS(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&passed, start, end));
  CALL(cuEventRecord(end, stream));
  CALL(cuEventElapsedTime(&passed, start, end));
  EXPECT(passed >= 0);
  CALL(cuStreamWaitEvent(stream, end, 0));
  CALL(cuEventQuery(end));
  CALL(cuEventDestroy(end));
  RETURNS(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(end));
  int called = 0;
  CALL(cuLaunchHostFunc(
      stream, [](void *data) { ++*static_cast<int *>(data); }, &called));
  CALL(cuStreamSynchronize(stream));
  EXPECT(called == 1);
  CALL(cuStreamDestroy(stream));
  RETURNS(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(stream));
}

int main() {
  checkStart();
  checkContexts();
  checkModules();
  checkLibraries();
  checkLimits();
  checkMemory();
  checkPools();
  checkEvents();
  std::printf("all right\n");
}
