"""Sections libraries and links of ask.py.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

from common import *


def libraries():
    retained()
    library, kernel, number = Pointer(), Pointer(), U32()
    ask("", "cuLibraryLoadData", ref(library), PTX, None, None, 0, None, None, 0)
    ask("option 9", "cuLibraryLoadData", ref(Pointer()), PTX, None, None, 0, array(Int, 9), array(Pointer, 1), 1)
    ask("binary is kept", "cuLibraryLoadData", ref(Pointer()), PTX, None, None, 0, array(Int, 1), array(Pointer, 1), 1)
    ask("", "cuLibraryGetKernelCount", ref(number), library, show=lambda: number.value)
    rows = (Pointer * 16)()
    ask("", "cuLibraryEnumerateKernels", rows, 16, library, show=lambda: sum(1 for row in rows if row))
    ask("missing", "cuLibraryGetKernel", ref(kernel), library, b"nothing")
    ask("", "cuLibraryGetKernel", ref(kernel), library, b"add1")
    base, size = U64(), Size()
    for symbol in (b"table", b"factor", b"tables"):
        ask(symbol.decode(), "cuLibraryGetGlobal", ref(base), ref(size), library, symbol, show=lambda: size.value)
        ask(symbol.decode(), "cuLibraryGetManaged", ref(base), ref(size), library, symbol, show=lambda: size.value)
    ask("missing", "cuLibraryGetUnifiedFunction", ref(handle := Pointer()), library, b"add1")
    module, made_of, owner = Pointer(), Pointer(), Pointer()
    ask("", "cuLibraryGetModule", ref(module), library)
    ask("", "cuKernelGetFunction", ref(made_of), kernel)
    ask("", "cuKernelGetLibrary", ref(owner), kernel, show=lambda: owner.value == library.value)
    ask("", "cuFuncGetModule", ref(handle), made_of, show=lambda: handle.value == module.value)
    text = C.c_char_p()
    ask("", "cuKernelGetName", ref(text), kernel, show=lambda: text.value)
    offset, length = Size(), Size()
    for place in range(3):
        ask(f"{place}", "cuKernelGetParamInfo", kernel, Size(place), ref(offset), ref(length), show=lambda: (offset.value, length.value))
    value = Int()
    for attribute in (0, 1, 2, 3, 7, 8, 9, 10, 14, 15, 16):
        ask(f"{attribute}", "cuKernelGetAttribute", ref(value), attribute, kernel, 0, show=lambda: value.value)
    ask("device 7", "cuKernelGetAttribute", ref(value), 0, kernel, 7)
    for attribute, number_of in ((8, 100 * 1024), (8, 228 * 1024), (0, 1), (9, 50), (14, 1)):
        ask(f"{attribute} to {number_of}", "cuKernelSetAttribute", attribute, number_of, kernel, 0)
    ask("of the function", "cuFuncGetAttribute", ref(value), 8, made_of, show=lambda: value.value)
    ask("device 7", "cuKernelSetAttribute", 8, 1024, kernel, 7)
    ask("", "cuKernelSetCacheConfig", kernel, 1, 0)
    ask("the library's", "cuModuleUnload", module)
    memory = allocated()
    row = Arguments(memory)
    ask("a kernel", "cuLaunchKernel", kernel, 1, 1, 1, 32, 1, 1, 0, None, row.row, None)
    ask("a kernel", "cuFuncGetAttribute", ref(value), 0, kernel, show=lambda: value.value)
    ask("a kernel", "cuFuncGetName", ref(text), kernel, show=lambda: text.value)
    ask("", "cuCtxSynchronize")
    ask("", "cuLibraryUnload", library)


HEAD = b".version 8.0\n.target sm_90\n.address_size 64\n"
DEFINES = HEAD + b".visible .func (.param .u32 r) f(.param .u32 x) { .reg .u32 %r1; ld.param.u32 %r1, [x]; st.param.u32 [r], %r1; ret; }\n\0"
CALLS = HEAD + b""".extern .func (.param .u32 r) f(.param .u32 x);
.visible .entry k(.param .u64 p) { .reg .u32 %r<3>; .reg .u64 %d1; ld.param.u64 %d1, [p]; mov.u32 %r1, 5;
{ .param .u32 a; .param .u32 b; st.param.u32 [a], %r1; call (b), f, (a); ld.param.u32 %r2, [b]; }
st.global.u32 [%d1], %r2; ret; }
\0"""


def links():
    retained()
    link, image, size, module = Pointer(), Pointer(), Size(), Pointer()
    errors = C.create_string_buffer(4096)

    def begin():
        values = array(Pointer, C.addressof(errors), 4096)
        cu.cuLinkCreate_v2(2, array(Int, 5, 6), values, ref(link))
        return values

    def add(label, what, kind=1, length=None):
        return ask(label, "cuLinkAddData_v2", link, kind, what, Size(len(what) if length is None else length), b"one.ptx", 0, None, None)

    def end(label):
        code = ask(label, "cuLinkComplete", link, ref(image), ref(size), show=lambda: size.value > 0)
        say(label, "has errors", bool(errors.value))
        ask(label, "cuLinkDestroy", link)
        errors.value = b""
        return code

    begin()
    end("nothing")
    keep = begin()
    add("caller", CALLS)
    add("callee", DEFINES)
    ask("linked", "cuLinkComplete", link, ref(image), ref(size), show=lambda: size.value > 0)
    ask("linked", "cuModuleLoadData", ref(module), image)
    ask("linked", "cuModuleGetFunction", ref(Pointer()), module, b"k")
    add("after the end", DEFINES)
    ask("twice", "cuLinkComplete", link, ref(image), ref(size))
    ask("", "cuLinkDestroy", link)
    keep = begin()
    add("no callee", CALLS)
    end("no callee")
    keep = begin()
    add("defined", DEFINES)
    add("defined twice", DEFINES)
    end("defined twice")
    keep = begin()
    add("bad", DEFINES.replace(b"ld.param", b"bad.param"))
    end("bad")
    keep = begin()
    add("text", b"hello\0")
    add("kind 9", DEFINES, 9)
    add("cubin", b"\x7fELF\x02\x01\x01" + b"\0" * 200, 0)
    add("empty", DEFINES, 1, 0)
    ask("missing", "cuLinkAddFile_v2", link, 1, b"/nothing/here.ptx", 0, None, None)
    end("after wrong ones")
