//===- Check.h - how the test programs check themselves -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_CUDADRIVER_CHECK_H
#define BLOCKSCALE_TEST_CUDADRIVER_CHECK_H

#include <cstdio>
#include <cstdlib>
#include <cuda.h>

/// Ends the program if a call of the driver returns something else.
#define RETURNS(expected, expression)                                          \
  do {                                                                         \
    CUresult result_ = (expression);                                           \
    if (result_ != (expected)) {                                               \
      const char *name_ = "a number that is no error";                         \
      cuGetErrorName(result_, &name_);                                         \
      std::printf("line %d: %s: %s\n", __LINE__, #expression, name_);          \
      std::exit(1);                                                            \
    }                                                                          \
  } while (0)
#define CALL(expression) RETURNS(CUDA_SUCCESS, expression)

/// Ends the program if a condition does not hold.
#define EXPECT(condition)                                                      \
  do {                                                                         \
    if (!(condition)) {                                                        \
      std::printf("line %d: not so: %s\n", __LINE__, #condition);              \
      std::exit(1);                                                            \
    }                                                                          \
  } while (0)

/// y = a * x + y, and a variable that counts its launches.
inline constexpr char kPtx[] = R"(
.version 8.7
.target sm_100a
.address_size 64
.visible .global .align 4 .u32 launches = 40;
.visible .const .align 4 .f32 offset = 0f00000000;
.visible .entry axpy(.param .f32 a, .param .u64 x, .param .u64 y,
                     .param .u32 n)
.maxntid 256
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .f32 %f<6>;
  .reg .b64 %d<6>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  ld.param.u32 %r5, [n];
  setp.ne.u32 %p1, %r4, 0;
  @!%p1 red.global.add.u32 [launches], 1;
  setp.ge.u32 %p1, %r4, %r5;
  @%p1 ret;
  ld.param.f32 %f1, [a];
  ld.param.u64 %d1, [x];
  ld.param.u64 %d2, [y];
  mul.wide.u32 %d3, %r4, 4;
  add.u64 %d4, %d1, %d3;
  add.u64 %d5, %d2, %d3;
  ld.global.f32 %f2, [%d4];
  ld.global.f32 %f3, [%d5];
  fma.rn.f32 %f4, %f1, %f2, %f3;
  ld.const.f32 %f5, [offset];
  add.rn.f32 %f4, %f4, %f5;
  st.global.f32 [%d5], %f4;
  ret;
}
.visible .entry nothing() { ret; }
)";

#endif // BLOCKSCALE_TEST_CUDADRIVER_CHECK_H
