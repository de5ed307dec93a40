"""Section pools of ask.py.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

from common import *

Properties = structure("Properties", "i:allocation i:handles i:kind i:number P:security Q:size H:usage 54B:reserved")
Access = structure("Access", "i:kind i:number i:flags")


def pools():
    device, context = retained()
    default = made("cuDeviceGetDefaultMemPool", 0)
    pool, mem, value, flags = Pointer(), U64(), U64(), Int()

    def create(label, **fields):
        row = Properties(allocation=1, kind=1)
        for field, number in fields.items():
            setattr(row, field, number)
        return ask(label, "cuMemPoolCreate", ref(pool), ref(row))

    create("allocation 0", allocation=0)
    create("allocation 2", allocation=2)
    create("location 0", kind=0)
    create("device 7", number=7)
    create("handles 9", handles=9)
    create("host", kind=2)
    create("file descriptors", handles=1)
    create("size", size=1 << 25)
    create("")
    for which, handle in (("default", default), ("own", pool)):
        for attribute in range(0, 10):
            value = U64(7)
            ask(f"{which} {attribute}", "cuMemPoolGetAttribute", handle, attribute, ref(value), show=lambda: value.value)
    for attribute, number in ((1, 0), (2, 2), (4, 1 << 20), (5, 0), (5, 9), (6, 0), (7, 0), (7, 5), (8, 0), (99, 0)):
        ask(f"{attribute} to {number}", "cuMemPoolSetAttribute", pool, attribute, ref(U64(number)))
    ask("", "cuMemAllocFromPoolAsync", ref(mem), Size(1 << 20), pool, None)
    ask("zero", "cuMemAllocFromPoolAsync", ref(U64()), Size(0), pool, None)
    ask("2^50", "cuMemAllocFromPoolAsync", ref(U64()), Size(1 << 50), pool, None)
    for attribute in (5, 6, 7, 8):
        ask(f"used {attribute}", "cuMemPoolGetAttribute", pool, attribute, ref(value), show=lambda: value.value)
    place = array(Int, 1, 0)
    ask("", "cuMemPoolGetAccess", ref(flags), pool, place, show=lambda: flags.value)
    ask("device 7", "cuMemPoolGetAccess", ref(flags), pool, array(Int, 1, 7))
    ask("host", "cuMemPoolGetAccess", ref(flags), pool, array(Int, 2, 0), show=lambda: flags.value)
    for access in (0, 1, 3, 5):
        ask(f"{access}", "cuMemPoolSetAccess", pool, ref(Access(1, 0, access)), Size(1))
    ask("device 7", "cuMemPoolSetAccess", pool, ref(Access(1, 7, 3)), Size(1))
    ask("none", "cuMemPoolSetAccess", pool, ref(Access(1, 0, 3)), Size(0))
    found = Pointer()
    ask("", "cuPointerGetAttribute", ref(found), 17, mem, show=lambda: found.value == pool.value)
    ask("", "cuMemFreeAsync", mem, None)
    ask("again", "cuMemFreeAsync", mem, None)
    ask("null", "cuMemFreeAsync", U64(0), None)
    ask("", "cuMemAllocAsync", ref(mem), Size(100), None, show=lambda: mem.value % 512)
    ask("zero", "cuMemAllocAsync", ref(U64()), Size(0), None)
    ask("synchronous", "cuMemFree_v2", mem)
    plain = allocated(100)
    ask("of cuMemAlloc", "cuMemFreeAsync", plain, None)
    ask("", "cuMemPoolTrimTo", pool, Size(0))
    ask("", "cuMemPoolExportToShareableHandle", ref(flags), pool, 1, U64(0))
    ask("", "cuDeviceSetMemPool", 0, pool)
    ask("", "cuDeviceGetMemPool", ref(found), 0, show=lambda: found.value == pool.value)
    ask("default", "cuMemPoolDestroy", default)
    ask("current", "cuMemPoolDestroy", pool)
    ask("", "cuDeviceGetMemPool", ref(found), 0, show=lambda: found.value == default.value)
    ask("", "cuMemGetDefaultMemPool", ref(found), place, 1, show=lambda: found.value == default.value)
    ask("", "cuMemGetMemPool", ref(found), place, 1, show=lambda: found.value == default.value)
    ask("type 0", "cuMemGetMemPool", ref(found), place, 0)
    ask("", "cuMemSetMemPool", place, 1, default)
    ask("", "cuCtxSynchronize")
