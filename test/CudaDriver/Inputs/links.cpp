//===- links.cpp - PTX that the driver links ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Check.h"
#include <cstring>
#include <string>

static const std::string kHeader =
    ".version 8.7\n.target sm_100a\n.address_size 64\n";
static const std::string kKernel =
    kHeader + ".extern .func (.param .b32 r) f(.param .b32 x);\n"
              ".extern .global .align 4 .b32 bias;\n"
              ".visible .entry k(.param .u64 out) {\n"
              ".reg .b32 %r<4>; .reg .b64 %rd<2>;\n"
              "{ .param .b32 r; .param .b32 x; st.param.b32 [x], 20;\n"
              "call.uni (r), f, (x); ld.param.b32 %r1, [r]; }\n"
              "ld.global.b32 %r2, [bias]; add.s32 %r1, %r1, %r2;\n"
              "ld.param.u64 %rd1, [out]; st.global.b32 [%rd1], %r1; ret; }\n";
static const std::string kFunction =
    kHeader + ".visible .func (.param .b32 r) f(.param .b32 x) {\n"
              ".reg .b32 %r<3>; ld.param.b32 %r1, [x];\n"
              "mul.lo.s32 %r2, %r1, 2; st.param.b32 [r], %r2; ret; }\n";
static const std::string kVariable =
    kHeader + ".visible .global .align 4 .b32 bias = 2;\n";

static CUresult add(CUlinkState link, const std::string &ptx,
                    const char *name) {
  return cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char *>(ptx.data()),
                       ptx.size() + 1, name, 0, nullptr, nullptr);
}

/// A link whose errors go to `log`.
struct Log {
  char text[512] = "";
  CUjit_option options[2] = {CU_JIT_ERROR_LOG_BUFFER,
                             CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[2] = {text, reinterpret_cast<void *>(sizeof text)};
  CUlinkState link = nullptr;

  Log() { CALL(cuLinkCreate(2, options, values, &link)); }
  ~Log() { CALL(cuLinkDestroy(link)); }
};

int main() {
  CALL(cuInit(0));
  CUcontext context;
  CALL(cuCtxCreate(&context, nullptr, 0, 0));
  void *image;
  size_t size;
  {
    Log good;
    CALL(add(good.link, kKernel, "kernel.ptx"));
    CALL(add(good.link, kFunction, "function.ptx"));
    CALL(add(good.link, kVariable, nullptr));
    CALL(cuLinkComplete(good.link, &image, &size));
    CUmodule module;
    CUfunction function;
    CUdeviceptr out;
    CALL(cuModuleLoadData(&module, image));
    CALL(cuModuleGetFunction(&function, module, "k"));
    CALL(cuMemAlloc(&out, 4));
    void *arguments[] = {&out};
    CALL(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments,
                        nullptr));
    int value = 0;
    CALL(cuMemcpyDtoH(&value, out, 4));
    EXPECT(value == 42);
    CALL(cuModuleGetGlobal(&out, &size, module, "bias"));
    EXPECT(size == 4);
  }
  {
    Log open;
    CALL(add(open.link, kKernel, "kernel.ptx"));
    CALL(add(open.link, kVariable, "variable.ptx"));
    RETURNS(CUDA_ERROR_INVALID_SOURCE,
            cuLinkComplete(open.link, &image, &size));
    EXPECT(std::strstr(open.text, "'f', which 'kernel.ptx' declares, is "
                                  "defined nowhere"));
    EXPECT(reinterpret_cast<size_t>(open.values[1]) == std::strlen(open.text));
  }
  {
    Log twice;
    CALL(add(twice.link, kFunction, "one.ptx"));
    CALL(add(twice.link, kFunction, "two.ptx"));
    RETURNS(CUDA_ERROR_INVALID_SOURCE,
            cuLinkComplete(twice.link, &image, &size));
    EXPECT(std::strstr(twice.text,
                       "'f' is defined in 'one.ptx' and again in 'two.ptx'"));
  }
  {
    Log bad;
    RETURNS(
        CUDA_ERROR_INVALID_PTX,
        add(bad.link, kHeader + ".visible .entry k() { ret }\n", "bad.ptx"));
    EXPECT(std::strstr(bad.text, "bad.ptx:4:"));
    RETURNS(CUDA_ERROR_INVALID_VALUE, cuLinkComplete(bad.link, &image, &size));
  }
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuLinkCreate(1, nullptr, nullptr, nullptr));
  std::printf("all right\n");
}
