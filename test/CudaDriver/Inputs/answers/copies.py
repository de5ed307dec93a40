"""Section copies of ask.py.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

from common import *

Copy2D = structure("Copy2D", "Q:sx Q:sy I:skind P:shost Q:sdevice P:sarray Q:spitch "
                   "Q:dx Q:dy I:dkind P:dhost Q:ddevice P:darray Q:dpitch Q:width Q:height")
Copy3D = structure("Copy3D", "Q:sx Q:sy Q:sz Q:slod I:skind P:shost Q:sdevice P:sarray P:r0 Q:spitch Q:sheight "
                   "Q:dx Q:dy Q:dz Q:dlod I:dkind P:dhost Q:ddevice P:darray P:r1 Q:dpitch Q:dheight "
                   "Q:width Q:height Q:depth")
HOST, DEVICE, ARRAY, UNIFIED = 1, 2, 3, 4


def boxes(mem, host):
    def two(label, function="cuMemcpy2D_v2", stream=(), **fields):
        row = Copy2D(skind=HOST, shost=C.addressof(host), spitch=64, dkind=DEVICE, ddevice=mem.value, dpitch=128, width=64,
                     height=4)
        for field, value in fields.items():
            setattr(row, field, value)
        ask(f"2D {label}", function, ref(row), *stream)

    two("")
    two("", "cuMemcpy2DUnaligned_v2")
    two("", "cuMemcpy2DAsync_v2", (None,))
    two("narrow source pitch", spitch=32)
    two("narrow target pitch", dpitch=32)
    two("no pitch", spitch=0, dpitch=0)
    two("no pitch, one row", spitch=0, dpitch=0, height=1)
    two("width 0", width=0)
    two("height 0", height=0)
    two("kind 9", skind=9)
    two("unified", skind=UNIFIED, sdevice=mem.value + 2048)
    two("huge pitch, one row", spitch=1 << 32, height=1)
    two("offset", sx=8, dx=16, sy=1, dy=2, width=32)
    two("x beyond the pitch", sx=40, width=32)

    def three(label, function="cuMemcpy3D_v2", stream=(), **fields):
        row = Copy3D(skind=HOST, shost=C.addressof(host), spitch=64, sheight=4, dkind=DEVICE, ddevice=mem.value, dpitch=64,
                     dheight=4, width=64, height=4, depth=2)
        for field, value in fields.items():
            setattr(row, field, value)
        ask(f"3D {label}", function, ref(row), *stream)

    three("")
    three("", "cuMemcpy3DAsync_v2", (None,))
    three("narrow pitch", spitch=32)
    three("low height", sheight=2)
    three("no height", sheight=0, dheight=0)
    three("no pitch", spitch=0, dpitch=0, sheight=0, dheight=0)
    three("depth 0", depth=0)
    three("level", slod=1)
    three("offsets", sz=1, dz=1, depth=1)


def copies():
    retained()
    mem, other = allocated(), allocated()
    host = (U32 * 1024)(*range(1024))
    back = (U32 * 1024)()
    room = lambda offset=0: U64(mem.value + offset)
    ask("", "cuMemcpyHtoD_v2", mem, host, Size(4096))
    ask("nowhere", "cuMemcpyHtoD_v2", U64(64), host, Size(4))
    ask("zero bytes", "cuMemcpyHtoD_v2", U64(0), host, Size(0))
    ask("", "cuMemcpyDtoH_v2", back, mem, Size(4096), show=lambda: list(back[:3]))
    ask("nowhere", "cuMemcpyDtoH_v2", back, U64(64), Size(4))
    ask("", "cuMemcpyDtoD_v2", other, mem, Size(4096))
    ask("host pointer", "cuMemcpyDtoD_v2", other, U64(C.addressof(host)), Size(64))
    ask("host pointer", "cuMemcpyHtoD_v2", U64(C.addressof(back)), host, Size(64))
    ask("device pointer", "cuMemcpyHtoD_v2", other, Pointer(mem.value), Size(64))
    ask("nowhere", "cuMemcpyDtoD_v2", other, U64(64), Size(64))
    ask("overlapping", "cuMemcpyDtoD_v2", room(8), mem, Size(64))
    ask("H to D", "cuMemcpy", other, U64(C.addressof(host)), Size(64))
    ask("D to H", "cuMemcpy", U64(C.addressof(back)), other, Size(64))
    ask("H to H", "cuMemcpy", U64(C.addressof(back)), U64(C.addressof(host)), Size(64))
    ask("", "cuMemcpyAsync", other, mem, Size(64), None)
    ask("", "cuMemcpyHtoDAsync_v2", mem, host, Size(64), None)
    ask("", "cuMemcpyDtoHAsync_v2", back, mem, Size(64), None)
    ask("", "cuMemcpyDtoDAsync_v2", other, mem, Size(64), None)
    context = Pointer()
    cu.cuCtxGetCurrent(ref(context))
    ask("", "cuMemcpyPeer", other, context, mem, context, Size(64))
    ask("", "cuMemcpyPeerAsync", other, context, mem, context, Size(64), None)
    boxes(mem, host)
    ask("", "cuMemsetD32_v2", mem, 5, Size(16))
    for width, offset, function in ((4, 2, "cuMemsetD32_v2"), (2, 1, "cuMemsetD16_v2")):
        ask(f"at {offset}", function, room(offset), 5, Size(16))
    ask("zero", "cuMemsetD8_v2", mem, 5, Size(0))
    ask("zero at null", "cuMemsetD8_v2", U64(0), 5, Size(0))
    ask("nowhere", "cuMemsetD8_v2", U64(64), 5, Size(16))
    ask("host", "cuMemsetD8_v2", U64(C.addressof(host)), 5, Size(16))
    for function, value in (("cuMemsetD8Async", 1), ("cuMemsetD16Async", 1), ("cuMemsetD32Async", 1)):
        ask("", function, mem, value, Size(16), None)
    for bits in (8, 16, 32):
        ask("", f"cuMemsetD2D{bits}_v2", mem, Size(64), 1, Size(16), Size(4))
        ask("", f"cuMemsetD2D{bits}Async", mem, Size(64), 1, Size(16), Size(4), None)
        ask("narrow pitch", f"cuMemsetD2D{bits}_v2", mem, Size(8), 1, Size(16), Size(4))
        ask("odd pitch", f"cuMemsetD2D{bits}_v2", mem, Size(67), 1, Size(16), Size(4))
        ask("height 0", f"cuMemsetD2D{bits}_v2", mem, Size(64), 1, Size(16), Size(0))
        ask("width 0", f"cuMemsetD2D{bits}_v2", mem, Size(64), 1, Size(0), Size(4))
    batch(mem, other)


def batch(mem, other):
    Attributes = structure("Attributes", "I:order I:k0 i:n0 I:k1 i:n1 I:flags")
    targets, sources, sizes = array(U64, mem.value, mem.value + 64), array(U64, other.value, other.value + 64), array(Size, 64, 64)
    stream = made("cuStreamCreate", 1)

    def copy(label, count=2, attributes=1, indices=(0,), order=1, flags=0, stream=stream):
        row = array(Attributes, *[Attributes(order, 0, 0, 0, 0, flags) for _ in range(attributes)])
        ask(label, "cuMemcpyBatchAsync_v2", targets, sources, sizes, Size(count), row, array(Size, *indices), Size(attributes), stream)

    copy("batch")
    copy("batch of none", count=0)
    copy("default stream", stream=None)
    copy("order 0", order=0)
    copy("order 3", order=3)
    copy("order 4", order=4)
    copy("flags 1", flags=1)
    copy("flags 2", flags=2)
    copy("no attributes", attributes=0)
    copy("first index 1", indices=(1,))
    copy("more attributes than copies", attributes=3, indices=(0, 1, 2))
    copy("indices fall", attributes=2, indices=(0, 0))
    ask("", "cuStreamSynchronize", stream)
    managed = made("cuMemAllocManaged", Size(1 << 21), 1, kind=U64)
    pointers, lengths, places = array(U64, managed.value), array(Size, 1 << 21), array(Int, 1, 0)
    ask("", "cuMemPrefetchBatchAsync", pointers, lengths, Size(1), places, array(Size, 0), Size(1), U64(0), stream)
    ask("flags", "cuMemPrefetchBatchAsync", pointers, lengths, Size(1), places, array(Size, 0), Size(1), U64(1), stream)
    ask("", "cuMemDiscardBatchAsync", pointers, lengths, Size(1), U64(0), stream)
    ask("not managed", "cuMemDiscardBatchAsync", array(U64, mem.value), array(Size, 64), Size(1), U64(0), stream)
    ask("", "cuMemDiscardAndPrefetchBatchAsync", pointers, lengths, Size(1), places, array(Size, 0), Size(1), U64(0), stream)
    ask("", "cuStreamSynchronize", stream)
