"""Sections trap to host of ask.py: what a kernel that fails leaves behind.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

from common import *


def fails(label, entry, argument, block=(1, 1, 1)):
    retained()
    memory, module = allocated(), loaded()
    event, stream, other = made("cuEventCreate", 0), made("cuStreamCreate", 1), made("cuStreamCreate", 1)
    kernel = function(module, entry)
    where = argument(memory.value) if callable(argument) else argument
    launch(label, kernel, (1, 1, 1), block, where, stream=stream)
    ask("", "cuStreamSynchronize", stream)
    ask("", "cuStreamSynchronize", stream)
    ask("", "cuStreamQuery", stream)
    ask("", "cuStreamQuery", other)
    ask("", "cuCtxSynchronize")
    ask("", "cuEventRecord", event, stream)
    ask("", "cuEventQuery", event)
    ask("", "cuMemAlloc_v2", ref(U64()), Size(64))
    ask("", "cuMemAllocAsync", ref(U64()), Size(64), stream)
    ask("", "cuMemcpyDtoH_v2", C.create_string_buffer(64), memory, Size(4))
    ask("", "cuMemsetD8_v2", memory, 1, Size(4))
    launch("after", kernel, (1, 1, 1), (1, 1, 1), memory)
    ask("", "cuModuleGetFunction", ref(Pointer()), module, entry.encode())
    ask("", "cuModuleLoadData", ref(Pointer()), PTX)
    ask("", "cuStreamCreate", ref(Pointer()), 1)
    ask("", "cuEventCreate", ref(Pointer()), 0)
    value, size, free = Int(), Size(), Size()
    ask("", "cuFuncGetAttribute", ref(value), 0, kernel)
    ask("", "cuDeviceGetAttribute", ref(value), 1, 0)
    ask("", "cuMemGetInfo_v2", ref(free), ref(size))
    ask("", "cuPointerGetAttribute", ref(value), 2, memory)
    ask("", "cuCtxGetLimit", ref(size), 0)
    ask("", "cuGraphCreate", ref(Pointer()), 0)
    ask("", "cuMemHostAlloc", ref(Pointer()), Size(64), 0)
    ask("", "cuOccupancyMaxActiveBlocksPerMultiprocessor", ref(value), kernel, 32, Size(0))
    ask("", "cuEventDestroy_v2", event)
    ask("", "cuModuleUnload", module)
    ask("", "cuMemFree_v2", memory)
    ask("", "cuStreamDestroy_v2", stream)
    own = Pointer()
    ask("", "cuCtxCreate_v4", ref(own), None, 0, 0)
    ask("", "cuCtxSetCurrent", None)
    ask("", "cuDevicePrimaryCtxReset_v2", 0)
    again = Pointer()
    ask("", "cuDevicePrimaryCtxRetain", ref(again), 0)
    ask("", "cuCtxSetCurrent", again)
    ask("after the reset", "cuMemAlloc_v2", ref(U64()), Size(64))
    ask("after the reset", "cuCtxSynchronize")


def trap():
    fails("trap", "trapped", 0)


def address():
    fails("address 16", "read", 16)


def misaligned():
    fails("address + 2", "read", lambda memory: memory + 2)


def shared():
    fails("shared 2^24", "readshared", 1 << 24)


def local():
    fails("local 2^30", "readlocal", 1 << 30)


def host():
    data = (U32 * 16)()
    fails("memory of the host", "read", C.addressof(data))


ASSERTION = b"""
.version 8.0
.target sm_90
.address_size 64
.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.global .align 1 .b8 text[8] = {110, 111, 116, 32, 115, 111, 0};
.visible .entry asserted(.param .u64 p) { .reg .b64 %d<3>; .reg .b32 %r<2>;
  mov.u64 %d1, text; cvta.global.u64 %d2, %d1; mov.u32 %r1, 7;
  { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e; mov.u64 %d1, 1;
    st.param.b64 [a], %d2; st.param.b64 [b], %d2; st.param.b32 [c], %r1; st.param.b64 [d], %d2; st.param.b64 [e], %d1;
    call __assertfail, (a, b, c, d, e); }
  ret; }
\0"""


def assertion():
    retained()
    module = loaded(ASSERTION)
    launch("assertion", function(module, "asserted"), (1, 1, 1), (1, 1, 1), 0)
    ask("assertion", "cuCtxSynchronize")
    ask("assertion", "cuMemAlloc_v2", ref(U64()), Size(64))
