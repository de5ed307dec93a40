"""What the sections of ask.py share: calls, names of errors, kernels.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import ctypes as C

cu = C.CDLL("libcuda.so.1")
U64, U32, Int, Size, Pointer = C.c_uint64, C.c_uint, C.c_int, C.c_size_t, C.c_void_p
ref = C.byref


def name(code):
    text = C.c_char_p()
    if cu.cuGetErrorName(code, ref(text)) == 0:
        return text.value.decode().replace("CUDA_ERROR_", "").replace("CUDA_SUCCESS", "ok")
    return str(code)


def say(*values):
    print(*values, flush=True)


def plain(value):
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return value


def ask(label, function, *arguments, show=None):
    """Calls, prints the answer and, where it is good, what show() returns."""
    try:
        target = getattr(cu, function)
    except AttributeError:
        say(label, function, "is not exported")
        return -1
    code = target(*arguments)
    say(label, function, name(code), *([plain(show())] if show and code == 0 else ()))
    return code


def array(kind, *values):
    return (kind * max(1, len(values)))(*values)


def structure(title, fields):
    """A structure from words such as "Q:pointer I:count 4B:reserved"."""
    kinds = {"Q": U64, "I": U32, "i": Int, "P": Pointer, "H": C.c_ushort, "B": C.c_ubyte, "q": C.c_int64,
             "f": C.c_float}
    rows = []
    for word in fields.split():
        kind, field = word.split(":")
        count = kind[:-1]
        rows.append((field, kinds[kind[-1]] * int(count) if count else kinds[kind[-1]]))
    return type(title, (C.Structure,), {"_fields_": rows})


def retained():
    """The primary context of the first card, made current."""
    cu.cuInit(0)
    device, context = Int(), Pointer()
    cu.cuDeviceGet(ref(device), 0)
    assert cu.cuDevicePrimaryCtxRetain(ref(context), device) == 0
    assert cu.cuCtxSetCurrent(context) == 0
    return device, context


def allocated(size=4096):
    memory = U64()
    assert cu.cuMemAlloc_v2(ref(memory), Size(size)) == 0
    return memory


def made(function, *arguments, kind=Pointer):
    """The handle that a call gives through its first parameter."""
    handle = kind()
    code = getattr(cu, function)(ref(handle), *arguments)
    if code:
        say("preparation", function, name(code))
    return handle


PTX = b"""
.version 8.0
.target sm_90
.address_size 64
.visible .global .align 8 .b8 table[64];
.visible .const .align 4 .u32 factor = 7;
.visible .entry add1(.param .u64 p, .param .u32 n)
{
  .reg .b64 %d<4>; .reg .b32 %r<8>; .reg .pred %p;
  ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p, %r5, %r1; @%p ret;
  mul.wide.u32 %d2, %r5, 4; add.u64 %d3, %d1, %d2;
  atom.global.add.u32 %r6, [%d3], 1;
  ret;
}
.visible .entry limited(.param .u64 p) .maxntid 64, 1, 1 { .shared .align 16 .b8 room[1024];
  .reg .b32 %r<2>; mov.u32 %r1, 0; st.shared.u32 [room], %r1; ret; }
.visible .entry required() .reqntid 96, 1, 1 { ret; }
.visible .entry clustered() .reqnctapercluster 2, 1, 1 { ret; }
.visible .entry bigparam(.param .align 8 .b8 q[4000]) { ret; }
.visible .entry trapped() { trap; }
.visible .entry read(.param .u64 p) {
  .reg .b64 %d<2>; .reg .b32 %r<2>;
  ld.param.u64 %d1, [p]; ld.global.u32 %r1, [%d1]; st.global.u32 [table], %r1; ret; }
.visible .entry readshared(.param .u64 p) { .shared .align 16 .b8 words[64];
  .reg .b64 %d<2>; .reg .b32 %r<3>;
  ld.param.u64 %d1, [p]; cvt.u32.u64 %r2, %d1; ld.shared.u32 %r1, [%r2]; st.global.u32 [table], %r1; ret; }
.visible .entry readlocal(.param .u64 p) { .local .align 16 .b8 words[64];
  .reg .b64 %d<2>; .reg .b32 %r<3>;
  ld.param.u64 %d1, [p]; cvt.u32.u64 %r2, %d1; st.local.u32 [words], %r2; ld.local.u32 %r1, [%r2];
  st.global.u32 [table], %r1; ret; }
\0"""
KERNELS = ("add1", "limited", "required", "clustered", "bigparam", "trapped", "read")


def loaded(image=PTX):
    return made("cuModuleLoadData", image)


def function(module, entry):
    return made("cuModuleGetFunction", module, entry.encode())


class Arguments:
    """Arguments of a launch: a pointer and a number."""

    def __init__(self, memory, count=64):
        self.pointer, self.count = U64(getattr(memory, "value", memory)), U32(count)
        self.row = array(Pointer, C.addressof(self.pointer), C.addressof(self.count))


def launch(label, kernel, grid, block, memory, shared=0, stream=None):
    row = Arguments(memory)
    return ask(label, "cuLaunchKernel", kernel, *grid, *block, shared, stream, row.row, None)
