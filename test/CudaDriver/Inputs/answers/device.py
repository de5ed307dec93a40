"""Sections before, device and attributes of ask.py.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import re

from common import *


def before():
    """Calls before cuInit, and without a context."""
    handle, number, size = Pointer(), Int(), U64()
    ask("uninitialised", "cuCtxGetCurrent", ref(handle))
    ask("uninitialised", "cuDeviceGetCount", ref(number))
    ask("uninitialised", "cuDeviceGet", ref(number), 0)
    ask("uninitialised", "cuDriverGetVersion", ref(number), show=lambda: number.value >= 13000)
    ask("uninitialised", "cuMemAlloc_v2", ref(size), Size(16))
    ask("uninitialised", "cuCtxSynchronize")
    ask("uninitialised", "cuStreamQuery", None)
    ask("uninitialised", "cuEventCreate", ref(handle), 0)
    ask("uninitialised", "cuModuleLoadData", ref(handle), PTX)
    ask("uninitialised", "cuGraphCreate", ref(handle), 0)
    ask("uninitialised", "cuPointerGetAttribute", ref(size), 2, U64(64))
    ask("flags", "cuInit", 1)
    ask("", "cuInit", 0)
    ask("again", "cuInit", 0)
    ask("", "cuCtxGetCurrent", ref(handle), show=lambda: handle.value)
    device = Int()
    ask("no context", "cuCtxGetDevice", ref(device))
    flags = U32()
    ask("no context", "cuCtxGetFlags", ref(flags))
    ask("no context", "cuCtxSynchronize")
    ask("no context", "cuMemAlloc_v2", ref(size), Size(16))
    ask("no context", "cuMemAllocManaged", ref(size), Size(16), 1)
    ask("no context", "cuMemHostAlloc", ref(handle), Size(16), 0)
    ask("no context", "cuMemFree_v2", U64(64))
    ask("no context, null", "cuMemFree_v2", U64(0))
    ask("no context", "cuMemcpyHtoD_v2", U64(64), b"1234", Size(4))
    ask("no context", "cuMemsetD8_v2", U64(64), 0, Size(4))
    ask("no context", "cuMemGetInfo_v2", ref(size), ref(U64()))
    ask("no context", "cuModuleLoadData", ref(handle), PTX)
    ask("no context", "cuStreamCreate", ref(handle), 0)
    ask("no context", "cuStreamQuery", None)
    ask("no context", "cuStreamSynchronize", None)
    ask("no context", "cuEventCreate", ref(handle), 0)
    ask("no context", "cuGraphCreate", ref(handle), 0)
    ask("no context", "cuCtxPopCurrent_v2", ref(handle))
    ask("no context", "cuCtxGetLimit", ref(size), 0)
    ask("no context", "cuCtxSetCacheConfig", 0)
    ask("no context", "cuPointerGetAttribute", ref(size), 2, U64(64))
    ask("no context", "cuMemCreate", ref(U64()), Size(1 << 21), array(U64, 1, 1, 0, 0), U64(0))
    ask("no context", "cuProfilerStart")
    ask("no context", "cuMemAddressReserve", ref(size), Size(1 << 21), Size(0), U64(0), U64(0))
    library = Pointer()
    ask("no context", "cuLibraryLoadData", ref(library), PTX, None, None, 0, None, None, 0)
    ask("no context", "cuLinkCreate_v2", 0, None, None, ref(handle))


def device():
    cu.cuInit(0)
    dev, number, size = Int(), Int(), Size()
    ask("ordinal 99", "cuDeviceGet", ref(dev), 99)
    ask("negative", "cuDeviceGet", ref(dev), -1)
    ask("", "cuDeviceGet", ref(dev), 0, show=lambda: dev.value)
    text = C.create_string_buffer(64)
    ask("", "cuDeviceGetName", text, 64, dev, show=lambda: text.value)
    ask("short", "cuDeviceGetName", text, 4, dev, show=lambda: text.value)
    ask("one", "cuDeviceGetName", text, 1, dev, show=lambda: text.value)
    ask("bad device", "cuDeviceGetName", text, 64, 7)
    ask("bad device", "cuDeviceGetAttribute", ref(number), 1, 7)
    ask("bad device", "cuDeviceTotalMem_v2", ref(size), 7)
    ask("", "cuDeviceTotalMem_v2", ref(size), dev, show=lambda: size.value)
    major, minor = Int(), Int()
    ask("", "cuDeviceComputeCapability", ref(major), ref(minor), dev, show=lambda: (major.value, minor.value))
    row = (Int * 16)()
    ask("", "cuDeviceGetProperties", row, dev, show=lambda: list(row[:15]))
    for function in ("cuDeviceGetUuid", "cuDeviceGetUuid_v2"):
        uuid = (C.c_ubyte * 16)()
        ask("", function, uuid, dev, show=lambda: any(uuid))
    mask, luid = U32(), C.create_string_buffer(8)
    ask("", "cuDeviceGetLuid", luid, ref(mask), dev)
    ask("", "cuDeviceGetPCIBusId", text, 64, dev,
        show=lambda: bool(re.fullmatch(rb"[0-9A-F]{4,8}:[0-9A-F]{2}:[0-9A-F]{2}\.0", text.value)))
    identity = text.value
    ask("", "cuDeviceGetByPCIBusId", ref(number), identity, show=lambda: number.value)
    ask("none", "cuDeviceGetByPCIBusId", ref(number), b"00000000:FE:1F.0")
    ask("no number", "cuDeviceGetByPCIBusId", ref(number), b"hello")
    short = C.create_string_buffer(4)
    ask("short", "cuDeviceGetPCIBusId", short, 4, dev)
    ask("itself", "cuDeviceCanAccessPeer", ref(number), dev, dev, show=lambda: number.value)
    ask("bad", "cuDeviceCanAccessPeer", ref(number), dev, 7)
    pool, other = Pointer(), Pointer()
    ask("", "cuDeviceGetDefaultMemPool", ref(pool), dev)
    ask("", "cuDeviceGetMemPool", ref(other), dev, show=lambda: pool.value == other.value)
    ask("bad", "cuDeviceGetMemPool", ref(other), 7)
    for kind in (0, 1, 5):
        ask(f"type {kind}", "cuDeviceGetExecAffinitySupport", ref(number), kind, dev, show=lambda: number.value)
    for attribute in range(0, 5):
        value = U64(99)
        ask(f"attribute {attribute}", "cuDeviceGetGraphMemAttribute", dev, attribute, ref(value),
            show=lambda: value.value)
    value = U64(0)
    ask("high", "cuDeviceSetGraphMemAttribute", dev, 1, ref(value))
    ask("current", "cuDeviceSetGraphMemAttribute", dev, 0, ref(value))
    value = U64(5)
    ask("high to 5", "cuDeviceSetGraphMemAttribute", dev, 1, ref(value))
    ask("", "cuDeviceGraphMemTrim", dev)
    ask("bad", "cuDeviceGraphMemTrim", 7)
    text = C.c_char_p()
    for code in (0, 1, 2, 3, 100, 101, 200, 201, 209, 214, 216, 218, 219, 220, 221, 222, 223, 300, 301, 400, 401, 500, 600,
                 700, 701, 702, 709, 710, 712, 713, 714, 715, 716, 717, 718, 719, 720, 721, 800, 801, 802, 900, 901,
                 902, 905, 906, 907, 908, 909, 910, 911, 912, 914, 915, 916, 999, 1000, 12345, -1):
        ask(f"code {code}", "cuGetErrorName", code, ref(text), show=lambda: text.value)


def attributes():
    cu.cuInit(0)
    for attribute in list(range(0, 160)) + [1000, -1]:
        value = Int(-77)
        ask(f"attribute {attribute}", "cuDeviceGetAttribute", ref(value), attribute, 0, show=lambda: value.value)
