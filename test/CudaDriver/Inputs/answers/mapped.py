"""Section mapped of ask.py.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

from common import *

Properties = structure("Properties", "i:kind i:handles i:place i:number P:meta B:compressed B:rdma H:usage 4B:reserved")
Access = structure("Access", "i:kind i:number i:flags")
PIECE = 2 << 20


def mapped():
    retained()
    at, second, handle, other, size = U64(), U64(), U64(), U64(), Size()
    row = Properties(kind=1, place=1)
    for flag in (0, 1, 2):
        ask(f"option {flag}", "cuMemGetAllocationGranularity", ref(size), ref(row), flag, show=lambda: size.value)
    ask("device 7", "cuMemGetAllocationGranularity", ref(size), ref(Properties(kind=1, place=1, number=7)), 0)
    ask("host", "cuMemGetAllocationGranularity", ref(size), ref(Properties(kind=1, place=2)), 0, show=lambda: size.value)
    for label, length, alignment, where, flags in (("", 4 * PIECE, 0, 0, 0), ("zero", 0, 0, 0, 0), ("odd", PIECE + 1, 0, 0, 0), ("4096", 4096, 0, 0, 0),
                                                   ("alignment 3", PIECE, 3, 0, 0), ("flags", PIECE, 0, 0, 1)):
        ask(label, "cuMemAddressReserve", ref(second if label else at), Size(length), Size(alignment), U64(where), U64(flags),
            show=None if label else lambda: at.value % PIECE)
    for label, length, fields, flags in (("", PIECE, {}, 0), ("second", PIECE, {}, 0), ("zero", 0, {}, 0), ("odd", PIECE + 4096, {}, 0), ("kind 0", PIECE, {"kind": 0}, 0),
                                         ("place 0", PIECE, {"place": 0}, 0), ("device 7", PIECE, {"number": 7}, 0),
                                         ("flags", PIECE, {}, 1), ("2^50", 1 << 50, {}, 0), ("descriptor", PIECE, {"handles": 1}, 0),
                                         ("host", PIECE, {"place": 2}, 0), ("compressed", PIECE, {"compressed": 1}, 0)):
        wanted = Properties(kind=1, place=1)
        for field, number in fields.items():
            setattr(wanted, field, number)
        holder = {"": handle, "second": other}.get(label, U64())
        ask(label, "cuMemCreate", ref(holder), Size(length), ref(wanted), U64(flags))
        if label == "descriptor":
            shared = holder
    back = Properties()
    ask("", "cuMemGetAllocationPropertiesFromHandle", ref(back), handle, show=lambda: (back.kind, back.handles, back.place, back.number))
    a = at.value
    for label, where, length, offset, what, flags in (
            ("flags", a, PIECE, 0, handle, 1), ("offset", a, PIECE, PIECE, handle, 0), ("odd offset", a, PIECE, 4096, handle, 0),
            ("half", a, PIECE // 2, 0, handle, 0), ("too long", a, 2 * PIECE, 0, handle, 0), ("zero", a, 0, 0, handle, 0),
            ("odd address", a + 4096, PIECE, 0, handle, 0), ("not reserved", 1 << 40, PIECE, 0, handle, 0),
            ("", a, PIECE, 0, handle, 0), ("mapped", a, PIECE, 0, other, 0), ("twice", a + PIECE, PIECE, 0, handle, 0)):
        ask(label, "cuMemMap", U64(where), Size(length), Size(offset), what, U64(flags))
    data = b"1234"
    ask("no access", "cuMemcpyHtoD_v2", at, data, Size(4))
    flags = U64(9)
    ask("none yet", "cuMemGetAccess", ref(flags), array(Int, 1, 0), at, show=lambda: flags.value)
    for label, where, length, fields, count in (("", a, PIECE, (1, 0, 3), 1), ("read", a, PIECE, (1, 0, 1), 1), ("none", a, PIECE, (1, 0, 0), 1), ("flags 5", a, PIECE, (1, 0, 5), 1),
                                                ("device 7", a, PIECE, (1, 7, 3), 1), ("host", a, PIECE, (2, 0, 3), 1), ("unmapped part", a, 4 * PIECE, (1, 0, 3), 1),
                                                ("odd", a, PIECE + 4096, (1, 0, 3), 1), ("not reserved", 1 << 40, PIECE, (1, 0, 3), 1), ("again", a, 2 * PIECE, (1, 0, 3), 1),
                                                ("count 0", a, PIECE, (1, 0, 3), 0)):
        ask(label, "cuMemSetAccess", U64(where), Size(length), ref(Access(*fields)), Size(count))
    ask("", "cuMemGetAccess", ref(flags), array(Int, 1, 0), at, show=lambda: flags.value)
    ask("device 7", "cuMemGetAccess", ref(flags), array(Int, 1, 7), at)
    ask("not mapped", "cuMemGetAccess", ref(flags), array(Int, 1, 0), U64(a + 3 * PIECE))
    ask("", "cuMemcpyHtoD_v2", at, data, Size(4))
    base = U64()
    ask("", "cuMemGetAddressRange_v2", ref(base), ref(size), U64(a + 100), show=lambda: (base.value == a, size.value))
    ask("reserved only", "cuMemGetAddressRange_v2", ref(base), ref(size), U64(a + 3 * PIECE))
    kept = U64()
    ask("", "cuMemRetainAllocationHandle", ref(kept), Pointer(a), show=lambda: kept.value == handle.value)
    ask("not mapped", "cuMemRetainAllocationHandle", ref(kept), Pointer(a + 3 * PIECE))
    ask("mapped", "cuMemFree_v2", at)
    ask("mapped", "cuMemAddressFree", at, Size(4 * PIECE))
    ask("half", "cuMemUnmap", at, Size(PIECE // 2))
    ask("both", "cuMemUnmap", at, Size(2 * PIECE))
    ask("not mapped", "cuMemUnmap", U64(a + 2 * PIECE), Size(PIECE))
    ask("again", "cuMemUnmap", at, Size(PIECE))
    ask("second", "cuMemUnmap", U64(a + PIECE), Size(PIECE))
    ask("part", "cuMemAddressFree", at, Size(PIECE))
    ask("", "cuMemAddressFree", at, Size(4 * PIECE))
    ask("again", "cuMemAddressFree", at, Size(4 * PIECE))
    number = Int()
    ask("not asked for", "cuMemExportToShareableHandle", ref(number), handle, 1, U64(0))
    ask("", "cuMemExportToShareableHandle", ref(number), shared, 1, U64(0), show=lambda: number.value > 2)
    ask("type 0", "cuMemExportToShareableHandle", ref(number), shared, 0, U64(0))
    ask("flags", "cuMemExportToShareableHandle", ref(number), shared, 1, U64(1))
    ask("", "cuMemImportFromShareableHandle", ref(kept), Pointer(number.value), 1)
    ask("not a descriptor", "cuMemImportFromShareableHandle", ref(kept), Pointer(999), 1)
    for label, what in (("", handle), ("retained", handle), ("again", handle), ("other", other)):
        ask(label, "cuMemRelease", what)
    ask("", "cuCtxSynchronize")
    share()


def share():
    mem, handle, event = allocated(), C.create_string_buffer(64), made("cuEventCreate", 6)
    ask("", "cuIpcGetMemHandle", handle, mem)
    ask("host", "cuIpcGetMemHandle", handle, U64(C.addressof(handle)))
    ask("inside", "cuIpcGetMemHandle", handle, U64(mem.value + 64))
    ask("not opened", "cuIpcCloseMemHandle", mem)
    ask("", "cuIpcGetEventHandle", handle, event)
    ask("timed", "cuIpcGetEventHandle", handle, made("cuEventCreate", 0))
