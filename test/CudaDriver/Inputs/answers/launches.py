"""Sections launches and clusters of ask.py.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

from common import *

Attribute = structure("Attribute", "I:id I:pad 16I:value")


class Config(C.Structure):
    _fields_ = [(word, U32) for word in ("gx", "gy", "gz", "bx", "by", "bz", "shared")] + [
        ("stream", Pointer), ("attributes", C.POINTER(Attribute)), ("count", U32)]


def launches():
    retained()
    memory, module = allocated(), loaded()
    kernels = {entry: function(module, entry) for entry in KERNELS}
    add1, limited = kernels["add1"], kernels["limited"]
    small = (32, 1, 1)
    for label, kernel, grid, block, shared in (
            ("", add1, (2, 1, 1), small, 0), ("no grid", add1, (0, 1, 1), small, 0), ("no grid in z", add1, (1, 1, 0), small, 0),
            ("no block", add1, (1, 1, 1), (0, 1, 1), 0), ("1025", add1, (1, 1, 1), (1025, 1, 1), 0), ("32 x 33", add1, (1, 1, 1), (32, 33, 1), 0),
            ("z 65", add1, (1, 1, 1), (1, 1, 65), 0), ("y 65536", add1, (1, 65536, 1), (1, 1, 1), 0), ("z 65536", add1, (1, 1, 65536), (1, 1, 1), 0),
            ("x 2^31", add1, (1 << 31, 1, 1), (1, 1, 1), 0), ("shared 48 KiB and 1 KiB", limited, (1, 1, 1), small, 49152),
            ("shared fits", limited, (1, 1, 1), small, 47 * 1024), ("shared 227 KiB", add1, (1, 1, 1), small, 227 * 1024),
            ("shared 48 KiB", add1, (1, 1, 1), small, 48 * 1024), ("shared 48 KiB + 1", add1, (1, 1, 1), small, 48 * 1024 + 1),
            ("shared 2^31", add1, (1, 1, 1), small, 1 << 31),
            ("above maxntid", limited, (1, 1, 1), (65, 1, 1), 0), ("y instead of x", limited, (1, 1, 1), (1, 64, 1), 0),
            ("not reqntid", kernels["required"], (1, 1, 1), small, 0), ("reqntid", kernels["required"], (1, 1, 1), (96, 1, 1), 0),
            ("odd grid of clusters", kernels["clustered"], (3, 1, 1), small, 0), ("clusters", kernels["clustered"], (4, 1, 1), small, 0)):
        launch(label, kernel, grid, block, memory, shared)
    ask("", "cuFuncSetAttribute", add1, 8, 227 * 1024)
    launch("shared 227 KiB, asked for", add1, (1, 1, 1), small, memory, 227 * 1024)
    ask("", "cuCtxSynchronize")
    row = Arguments(memory)
    packed = structure("Packed", "Q:pointer I:count")(memory.value, 64)
    size = Size(C.sizeof(packed))
    extra = array(Pointer, 1, C.addressof(packed), 2, C.addressof(size), 0)
    ask("packed", "cuLaunchKernel", add1, 1, 1, 1, 32, 1, 1, 0, None, None, extra)
    ask("packed and pointers", "cuLaunchKernel", add1, 1, 1, 1, 32, 1, 1, 0, None, row.row, extra)
    size.value = 8
    ask("packed short", "cuLaunchKernel", add1, 1, 1, 1, 32, 1, 1, 0, None, None, extra)
    for grid in (1, 2000, 100000):
        ask(f"{grid}", "cuLaunchCooperativeKernel", add1, grid, 1, 1, 32, 1, 1, 0, None, row.row)
    called = []
    host = C.CFUNCTYPE(None, Pointer)(lambda data: called.append(data))
    ask("", "cuLaunchHostFunc", None, host, Pointer(5))
    ask("", "cuCtxSynchronize", show=lambda: called)
    ask("", "cuProfilerStart")
    ask("", "cuProfilerStop")


def clusters():
    retained()
    memory, module = allocated(1 << 16), loaded()
    kernels = {entry: function(module, entry) for entry in KERNELS}
    add1, small = kernels["add1"], (32, 1, 1)

    def extended(label, kernel, grid, *attributes, block=small, shared=0, launching=True):
        row = Arguments(memory)
        rows = array(Attribute, *[Attribute(number, 0, (U32 * 16)(*value)) for number, value in attributes])
        config = Config(*grid, *block, shared, None, rows, len(attributes))
        count = Int()
        if launching:
            ask(label, "cuLaunchKernelEx", ref(config), kernel, row.row, None)
        ask(label, "cuOccupancyMaxActiveClusters", ref(count), kernel, ref(config), show=lambda: count.value)
        ask(label, "cuOccupancyMaxPotentialClusterSize", ref(count), kernel, ref(config), show=lambda: count.value)

    grid = (16, 2, 1)
    extended("plain", add1, grid)
    for size in ((1, 1, 1), (2, 1, 1), (3, 1, 1), (4, 1, 1), (8, 1, 1), (16, 1, 1), (0, 1, 1), (0, 0, 0), (2, 2, 1), (1, 1, 2), (5, 1, 1), (32, 1, 1)):
        extended(f"cluster {size}", add1, grid, (4, size))
    extended("cluster 3 of 6", add1, (6, 1, 1), (4, (3, 1, 1)))
    extended("cluster 6 of 6", add1, (6, 1, 1), (4, (6, 1, 1)))
    for shared in (16, 48, 100, 113, 114, 200, 227):
        ask("", "cuFuncSetAttribute", add1, 8, shared * 1024)
        for size in (1, 2, 4, 8):
            extended(f"{shared} KiB, cluster {size}", add1, (16, 1, 1), (4, (size, 1, 1)), shared=shared * 1024, launching=False)
    for threads in (64, 256, 1024):
        for size in (1, 2, 4, 8):
            extended(f"{threads} threads, cluster {size}", add1, (16, 1, 1), (4, (size, 1, 1)), block=(threads, 1, 1), launching=False)
    extended("grid of clustered", kernels["clustered"], (8, 1, 1))
    extended("cluster of clustered", kernels["clustered"], (8, 1, 1), (4, (2, 1, 1)))
    extended("other cluster of clustered", kernels["clustered"], (8, 1, 1), (4, (4, 1, 1)))
    for label, attributes in {
            "spread": ((4, (2, 1, 1)), (5, (1,))), "policy 9": ((4, (2, 1, 1)), (5, (9,))), "preferred": ((4, (2, 1, 1)), (11, (4, 1, 1))),
            "preferred no multiple": ((4, (2, 1, 1)), (11, (3, 1, 1))), "preferred alone": ((11, (4, 1, 1)),), "cooperative": ((2, (1,)),), "programmatic": ((6, (1,)),), "priority": ((8, (0,)),), "priority -1": ((8, (0xffffffff,)),),
            "priority -99": ((8, (0xffffff9d,)),), "priority 99": ((8, (99,)),), "unknown": ((77, (1,)),), "ignored": ((0, (0,)),), "window": ((1, (0,) * 8),),
            "synchronisation": ((3, (1,)),), "domain 1": ((10, (1,)),), "domain map": ((9, (0, 1)),), "carveout": ((14, (50,)),),
            "carveout 101": ((14, (101,)),), "updatable": ((13, (0, 0)),), "twice": ((4, (2, 1, 1)), (4, (4, 1, 1)))}.items():
        extended(label, add1, (16, 2, 1), *attributes)
    extended("cooperative, too many", add1, (100000, 1, 1), (2, (1,)))
    ask("", "cuCtxSynchronize")
    ask("", "cuFuncSetAttribute", add1, 14, 1)
    for size in ((16, 1, 1), (32, 1, 1), (2, 1, 1)):
        extended(f"non-portable {size}", add1, (32, 1, 1), (4, size))
    ask("", "cuCtxSynchronize")
