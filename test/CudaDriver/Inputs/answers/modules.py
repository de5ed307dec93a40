"""Sections images and functions of ask.py.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

from common import *


def images():
    retained()
    module = Pointer()
    cluster = b".visible .entry clustered() .reqnctapercluster 2, 1, 1 { ret; }"
    plain = PTX.replace(cluster, b"")
    cases = {"text": b"hello\0", "empty": b"\0" * 64, "bad PTX": PTX.replace(b"atom.global", b"bad.global"),
             "unknown symbol": PTX.replace(b"[table], %r1; ret; }\n\0", b"[tables], %r1; ret; }\n\0"),
             "sm_100": PTX.replace(b"sm_90", b"sm_100").replace(b"8.0", b"8.6"),
             "sm_90a": PTX.replace(b"sm_90", b"sm_90a"),
             "version 9.0": PTX.replace(b"8.0", b"9.0"), "version 9.9": PTX.replace(b"8.0", b"9.9"),
             "sm_70": plain.replace(b"sm_90", b"sm_70"),
             "extern": PTX.replace(b".visible .global .align 8 .b8 table[64]", b".extern .global .align 8 .b8 table[64]"),
             "ELF": b"\x7fELF\x02\x01\x01" + b"\0" * 200, "fat binary": b"\x50\xed\x55\xba\x01\0\x10\0" + b"\0" * 200}
    for label, image in cases.items():
        ask(label, "cuModuleLoadData", ref(module), image)
        ask(label, "cuLibraryLoadData", ref(Pointer()), image, None, None, 0, None, None, 0)
    ask("missing file", "cuModuleLoad", ref(module), b"/nothing/here.ptx")
    ask("missing file", "cuLibraryLoadFromFile", ref(module), b"/nothing/here.ptx", None, None, 0, None, None, 0)
    log, errors = C.create_string_buffer(1024), C.create_string_buffer(1024)
    options = array(Int, 3, 4, 5, 6)
    values = array(Pointer, C.addressof(log), 1024, C.addressof(errors), 1024)
    ask("logs", "cuModuleLoadDataEx", ref(module), PTX, 4, options, values, show=lambda: (values[1], values[3], log.value))
    values = array(Pointer, C.addressof(log), 1024, C.addressof(errors), 1024)
    ask("logs, bad", "cuModuleLoadDataEx", ref(module), cases["bad PTX"], 4, options, values)
    say("logs, bad", "has errors", bool(errors.value))
    for option in (0, 7, 9, 12, 30, 99):
        ask(f"option {option}", "cuModuleLoadDataEx", ref(module), PTX, 1, array(Int, option), array(Pointer, 2))
    mode = Int()
    ask("", "cuModuleGetLoadingMode", ref(mode), show=lambda: mode.value)


def functions():
    retained()
    module, base, size, number = loaded(), U64(), Size(), U32()
    handle = Pointer()
    ask("missing", "cuModuleGetFunction", ref(handle), module, b"nothing")
    ask("empty", "cuModuleGetFunction", ref(handle), module, b"")
    ask("variable", "cuModuleGetFunction", ref(handle), module, b"table")
    kernels = {entry: function(module, entry) for entry in KERNELS}
    ask("", "cuModuleGetFunctionCount", ref(number), module, show=lambda: number.value)
    rows = (Pointer * 16)()
    ask("", "cuModuleEnumerateFunctions", rows, 16, module, show=lambda: sum(1 for row in rows if row))
    for symbol in ("table", "factor", "tables", "add1"):
        ask(symbol, "cuModuleGetGlobal_v2", ref(base), ref(size), module, symbol.encode(), show=lambda: size.value)
    ask("global", "cuMemFree_v2", base)
    attributes(kernels)
    add1 = kernels["add1"]
    for label in ("", "again"):
        ask(label, "cuFuncIsLoaded", ref(number), add1, show=lambda: number.value)
        ask(label, "cuFuncLoad", add1)
    text, owner = C.c_char_p(), Pointer()
    ask("", "cuFuncGetName", ref(text), add1, show=lambda: text.value)
    ask("", "cuFuncGetModule", ref(owner), add1, show=lambda: owner.value == module.value)
    for config in (0, 1, 2, 3, 4):
        ask(f"{config}", "cuFuncSetCacheConfig", add1, config)
        ask(f"{config}", "cuFuncSetSharedMemConfig", add1, config)
    for entry in KERNELS:
        for place in range(4):
            offset, length = Size(), Size()
            if ask(f"{entry} {place}", "cuFuncGetParamInfo", kernels[entry], Size(place), ref(offset), ref(length),
                   show=lambda: (offset.value, length.value)):
                break
    ask("", "cuModuleUnload", module)
    ask("null", "cuModuleUnload", None)


def attributes(kernels):
    for entry, kernel in kernels.items():
        for attribute in list(range(0, 17)) + [-1]:
            value = Int(-77)
            # Registers, and the versions of the code, are the compiler's.
            hidden = attribute in (4, 5, 6)
            ask(f"{entry} {attribute}", "cuFuncGetAttribute", ref(value), attribute, kernel,
                show=None if hidden else lambda: value.value)
    add1 = kernels["add1"]
    for attribute, value in ((0, 64), (1, 64), (2, 64), (3, 64), (4, 64), (5, 90), (6, 90), (7, 0), (7, 1), (8, 100), (8, 227 * 1024), (8, 228 * 1024), (8, -1),
                             (8, 0), (9, 50), (9, 100), (9, 101), (9, -1), (9, -2), (10, 2), (10, 1), (11, 2), (12, 1), (13, 2), (14, 1), (14, 2), (14, 0),
                             (15, 0), (15, 1), (15, 2), (15, 9), (16, 1), (99, 1)):
        ask(f"{attribute} to {value}", "cuFuncSetAttribute", add1, attribute, value)
    for attribute in range(8, 16):
        value = Int(-77)
        ask(f"after {attribute}", "cuFuncGetAttribute", ref(value), attribute, add1, show=lambda: value.value)
    limited = kernels["limited"]
    for size in (226 * 1024, 226 * 1024 + 1, 227 * 1024):
        ask(f"limited {size}", "cuFuncSetAttribute", limited, 8, size)
