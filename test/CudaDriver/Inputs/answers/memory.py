"""Section memory of ask.py.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

from common import *

# Addresses, file descriptors, identities.
HIDDEN = (1, 3, 4, 5, 7, 11, 12, 16, 20)


def pointer_attributes(label, address):
    for attribute in range(1, 23):
        buffer = (U64 * 8)(*([0x7777777777777777] * 8))
        size = {2: 4, 6: 1, 8: 1, 9: 4, 10: 1, 13: 1, 14: 4, 15: 8, 18: 1, 19: 4, 21: 1}.get(attribute, 4)
        ask(f"{label} {attribute}", "cuPointerGetAttribute", buffer, attribute, U64(address),
            show=None if attribute in HIDDEN else lambda: hex(buffer[0] & ((1 << 8 * size) - 1)))


def memory():
    retained()
    mem, other, base, size = U64(), U64(), U64(), Size()
    ask("zero", "cuMemAlloc_v2", ref(mem), Size(0))
    ask("2^50", "cuMemAlloc_v2", ref(mem), Size(1 << 50))
    ask("", "cuMemAlloc_v2", ref(mem), Size(4096), show=lambda: mem.value % 512)
    ask("small", "cuMemAlloc_v2", ref(other), Size(100), show=lambda: other.value % 512)
    ask("", "cuMemGetAddressRange_v2", ref(base), ref(size), U64(mem.value + 100),
        show=lambda: (base.value == mem.value, size.value))
    ask("small", "cuMemGetAddressRange_v2", ref(base), ref(size), other, show=lambda: (base.value == other.value, size.value))
    ask("outside", "cuMemGetAddressRange_v2", ref(base), ref(size), U64(128))
    pointer_attributes("device", mem.value + 4)
    host = (U32 * 1024)()
    pointer_attributes("any host", C.addressof(host))
    ask("nowhere", "cuPointerGetAttribute", (U64 * 8)(), 2, U64(64))
    ask("99", "cuPointerGetAttribute", (U64 * 8)(), 99, mem)
    kind, pointer = U32(77), U64(77)
    rows = array(Pointer, C.addressof(kind), C.addressof(pointer))
    ask("", "cuPointerGetAttributes", 2, array(Int, 2, 3), rows, mem, show=lambda: (kind.value, pointer.value == mem.value))
    ask("any host", "cuPointerGetAttributes", 2, array(Int, 2, 3), rows, U64(C.addressof(host)),
        show=lambda: (kind.value, pointer.value))
    ask("none", "cuPointerGetAttributes", 0, array(Int, 2, 3), rows, mem)
    ask("99", "cuPointerGetAttributes", 2, array(Int, 2, 99), rows, mem)
    yes = U32(1)
    ask("synchronous", "cuPointerSetAttribute", ref(yes), 6, mem)
    ask("kind", "cuPointerSetAttribute", ref(yes), 2, mem)
    ask("any host", "cuPointerSetAttribute", ref(yes), 6, U64(C.addressof(host)))
    pinned, second, flags = Pointer(), Pointer(), U32()
    ask("", "cuMemHostAlloc", ref(pinned), Size(256), 0)
    ask("mapped", "cuMemHostAlloc", ref(second), Size(256), 2)
    ask("", "cuMemHostGetFlags", ref(flags), second, show=lambda: flags.value)
    ask("bad flags", "cuMemHostAlloc", ref(Pointer()), Size(256), 0x100)
    ask("zero", "cuMemHostAlloc", ref(Pointer()), Size(0), 0)
    ask("zero", "cuMemAllocHost_v2", ref(Pointer()), Size(0))
    ask("2^50", "cuMemHostAlloc", ref(Pointer()), Size(1 << 50), 0)
    pointer_attributes("pinned", pinned.value)
    ask("", "cuMemHostGetDevicePointer_v2", ref(base), pinned, 0, show=lambda: base.value == pinned.value)
    ask("flags", "cuMemHostGetDevicePointer_v2", ref(base), pinned, 1)
    ask("not pinned", "cuMemHostGetDevicePointer_v2", ref(base), host, 0)
    ask("", "cuMemHostGetFlags", ref(flags), pinned, show=lambda: flags.value)
    ask("not pinned", "cuMemHostGetFlags", ref(flags), host)
    ask("", "cuMemGetAddressRange_v2", ref(base), ref(size), U64(pinned.value), show=lambda: size.value)
    ask("pinned", "cuMemFree_v2", U64(pinned.value))
    ask("device", "cuMemFreeHost", Pointer(mem.value))
    ask("inside", "cuMemFreeHost", Pointer(second.value + 8))
    ask("", "cuMemFreeHost", pinned)
    ask("again", "cuMemFreeHost", pinned)
    ask("allocated", "cuMemHostUnregister", second)
    ask("", "cuMemHostRegister_v2", host, Size(4096), 0)
    ask("twice", "cuMemHostRegister_v2", host, Size(4096), 0)
    ask("overlapping", "cuMemHostRegister_v2", Pointer(C.addressof(host) + 2048), Size(4096), 0)
    ask("", "cuMemHostGetFlags", ref(flags), host, show=lambda: flags.value)
    pointer_attributes("registered", C.addressof(host))
    ask("registered", "cuMemFreeHost", host)
    ask("inside", "cuMemHostUnregister", Pointer(C.addressof(host) + 8))
    ask("", "cuMemHostUnregister", host)
    ask("twice", "cuMemHostUnregister", host)
    ask("zero", "cuMemHostRegister_v2", host, Size(0), 0)
    ask("bad flags", "cuMemHostRegister_v2", host, Size(64), 0x100)
    ask("read only", "cuMemHostRegister_v2", host, Size(4096), 8)
    ask("I/O", "cuMemHostRegister_v2", host, Size(4096), 4)
    ask("device", "cuMemHostRegister_v2", Pointer(mem.value), Size(64), 0)
    managed = U64()
    ask("", "cuMemAllocManaged", ref(managed), Size(4096), 1)
    pointer_attributes("managed", managed.value)
    for flag in (0, 2, 3, 4, 9):
        ask(f"flags {flag}", "cuMemAllocManaged", ref(U64()), Size(4096), flag)
    ask("zero", "cuMemAllocManaged", ref(U64()), Size(0), 1)
    here, there = array(Int, 1, 0), array(Int, 1, 7)
    location = lambda kind, number: U64(kind | (number & 0xffffffff) << 32)
    for advice in range(0, 8):
        ask(f"advice {advice}", "cuMemAdvise_v2", managed, Size(4096), advice, location(1, 0))
    ask("bad device", "cuMemAdvise_v2", managed, Size(4096), 3, location(1, 7))
    ask("host", "cuMemAdvise_v2", managed, Size(4096), 3, location(2, 0))
    ask("not managed", "cuMemAdvise_v2", mem, Size(4096), 1, location(1, 0))
    ask("too long", "cuMemAdvise_v2", managed, Size(1 << 24), 1, location(1, 0))
    ask("", "cuMemPrefetchAsync_v2", managed, Size(4096), location(1, 0), 0, None)
    ask("host", "cuMemPrefetchAsync_v2", managed, Size(4096), location(2, 0), 0, None)
    ask("flags", "cuMemPrefetchAsync_v2", managed, Size(4096), location(1, 0), 1, None)
    ask("bad device", "cuMemPrefetchAsync_v2", managed, Size(4096), location(1, 7), 0, None)
    ask("not managed", "cuMemPrefetchAsync_v2", mem, Size(4096), location(1, 0), 0, None)
    ask("zero", "cuMemPrefetchAsync_v2", managed, Size(0), location(1, 0), 0, None)
    ask("", "cuStreamAttachMemAsync", None, managed, Size(0), 1)
    ask("single, default stream", "cuStreamAttachMemAsync", None, managed, Size(0), 4)
    ask("not managed", "cuStreamAttachMemAsync", None, mem, Size(0), 1)
    ask("length", "cuStreamAttachMemAsync", None, managed, Size(8), 1)
    ask("host", "cuMemFreeHost", Pointer(managed.value))
    ask("managed", "cuMemFree_v2", managed)
    ask("inside", "cuMemFree_v2", U64(other.value + 4))
    ask("", "cuMemFree_v2", other)
    ask("again", "cuMemFree_v2", other)
    ask("null", "cuMemFree_v2", U64(0))
    pitch = Size()
    for width, height, element in ((100, 10, 4), (512, 10, 4), (513, 10, 16), (1, 1, 8), (100, 10, 3), (100, 10, 1), (100, 0, 4), (0, 10, 4)):
        ask(f"{width} {height} {element}", "cuMemAllocPitch_v2", ref(other), ref(pitch), Size(width), Size(height), element,
            show=lambda: pitch.value)
    free, total = Size(), Size()
    ask("", "cuMemGetInfo_v2", ref(free), ref(total), show=lambda: 0 < free.value < total.value)
