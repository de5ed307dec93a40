"""Sections of ask.py that ask the runtime.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

from common import *

rt = C.CDLL("libcudart.so.13")
rt.cudaGetErrorName.restype = C.c_char_p
rt.cudaGetErrorString.restype = C.c_char_p


def error_name(code):
    return rt.cudaGetErrorName(code).decode().replace("cudaError", "").replace("cudaSuccess", "ok")


def call(label, function, *arguments, show=None):
    """Calls; prints the answer, and what cudaGetLastError says if it is another."""
    try:
        target = getattr(rt, function)
    except AttributeError:
        say(label, function, "is not exported")
        return -1
    code = target(*arguments)
    last = rt.cudaGetLastError()
    left = () if last == code else (f"(last: {error_name(last)})",)
    say(label, function, error_name(code), *left, *([plain(show())] if show and code == 0 else ()))
    return code


def runtime():
    number, size, pointer, other = Int(), Size(), Pointer(), Pointer()
    call("", "cudaGetDeviceCount", ref(number), show=lambda: number.value > 0)
    call("", "cudaRuntimeGetVersion", ref(number), show=lambda: number.value // 1000)
    call("99", "cudaSetDevice", 99)
    call("-1", "cudaSetDevice", -1)
    call("0x1000", "cudaSetDeviceFlags", 0x1000)
    call("3", "cudaSetDeviceFlags", 3)
    call("", "cudaGetDevice", ref(number), show=lambda: number.value)
    call("", "cudaInitDevice", 0, 0, 0)
    call("7", "cudaInitDevice", 7, 0, 0)
    for attribute in (1, 16, 39, 75, 76, 81, 97, 106, 0, 200):
        call(f"{attribute}", "cudaDeviceGetAttribute", ref(number), attribute, 0, show=lambda: number.value)
    call("device 7", "cudaDeviceGetAttribute", ref(number), 1, 7)
    for code in list(range(0, 140)) + list(range(200, 230)) + list(range(300, 305)) + [400, 401] + [500, 600] + list(range(700, 725)) + list(range(800, 815)) + \
            list(range(900, 925)) + [999, 1000, 10000, -1]:
        say("error", code, rt.cudaGetErrorName(code).decode())
    call("zero", "cudaMalloc", ref(other), Size(0), show=lambda: other.value)
    call("2^50", "cudaMalloc", ref(other), Size(1 << 50))
    call("", "cudaMalloc", ref(pointer), Size(4096))
    call("null", "cudaFree", None)
    call("null", "cudaFreeHost", None)
    call("inside", "cudaFree", Pointer(pointer.value + 8))
    call("any host", "cudaFree", C.create_string_buffer(64))
    call("device", "cudaFreeHost", pointer)
    host = C.create_string_buffer(4096)
    for kind in (0, 1, 2, 3, 4, 5, -1):
        call(f"kind {kind}, host to device", "cudaMemcpy", pointer, host, Size(64), kind)
        call(f"kind {kind}, device to host", "cudaMemcpy", host, pointer, Size(64), kind)
    call("zero", "cudaMemcpy", pointer, host, Size(0), 1)
    call("zero, null", "cudaMemcpy", None, None, Size(0), 1)
    call("nowhere", "cudaMemcpy", Pointer(64), host, Size(64), 1)
    call("", "cudaMemset", pointer, 1, Size(64))
    call("nowhere", "cudaMemset", Pointer(64), 1, Size(64))
    call("zero", "cudaMemset", Pointer(0), 1, Size(0))
    for pitch, width in ((64, 64), (32, 64), (0, 0), (0, 64)):
        call(f"{pitch} {width}", "cudaMemcpy2D", pointer, Size(64), host, Size(pitch), Size(width), Size(4), 1)
        call(f"{pitch} {width}", "cudaMemset2D", pointer, Size(pitch), 1, Size(width), Size(4))
    call("", "cudaMallocPitch", ref(other), ref(size), Size(100), Size(4), show=lambda: size.value)
    call("no height", "cudaMallocPitch", ref(other), ref(size), Size(100), Size(0), show=lambda: other.value)
    row = structure("Row", "i:kind i:number P:device P:host 8Q:reserved")()
    for label, where in (("device", pointer), ("host", host), ("nowhere", Pointer(64))):
        call(label, "cudaPointerGetAttributes", ref(row), where, show=lambda: (row.kind, row.number, bool(row.device), bool(row.host)))
    pinned = Pointer()
    call("", "cudaHostAlloc", ref(pinned), Size(64), 0)
    call("pinned", "cudaPointerGetAttributes", ref(row), pinned, show=lambda: (row.kind, row.number, bool(row.device), bool(row.host)))
    call("", "cudaHostGetDevicePointer", ref(other), pinned, 0, show=lambda: other.value == pinned.value)
    call("not pinned", "cudaHostGetDevicePointer", ref(other), host, 0)
    call("allocated", "cudaHostUnregister", pinned)
    call("any host", "cudaHostUnregister", host)
    call("pinned", "cudaFree", pinned)
    call("flags", "cudaHostAlloc", ref(other), Size(64), 0x100)
    call("zero", "cudaHostAlloc", ref(other), Size(0), 0, show=lambda: other.value)
    call("", "cudaFreeHost", pinned)
    call("again", "cudaFreeHost", pinned)
    call("", "cudaMallocManaged", ref(other), Size(64), 1)
    call("managed", "cudaPointerGetAttributes", ref(row), other, show=lambda: (row.kind, row.number, bool(row.device), bool(row.host)))
    call("zero", "cudaMallocManaged", ref(other), Size(0), 1)
    call("flags 0", "cudaMallocManaged", ref(other), Size(64), 0)
    for limit in range(0, 8):
        call(f"{limit}", "cudaDeviceGetLimit", ref(size), limit, show=lambda: size.value)
    streams_and_events()
    symbols(pointer)
    call("", "cudaFree", pointer)
    call("again", "cudaFree", pointer)
    call("", "cudaDeviceReset")
    call("after reset", "cudaFree", pointer)


def symbols(pointer):
    fake = C.create_string_buffer(8)
    other, size = Pointer(), Size()
    call("no symbol", "cudaGetSymbolAddress", ref(other), fake)
    call("no symbol", "cudaGetSymbolSize", ref(size), fake)
    call("no symbol", "cudaMemcpyToSymbol", fake, pointer, Size(4), Size(0), 3)
    call("no function", "cudaFuncGetAttributes", C.create_string_buffer(512), fake)
    call("no function", "cudaFuncSetAttribute", fake, 8, 100)
    call("no function", "cudaGetFuncBySymbol", ref(other), fake)
    dim = structure("Dim", "I:x I:y I:z")
    call("no function", "cudaLaunchKernel", fake, dim(1, 1, 1), dim(1, 1, 1), None, Size(0), None)
    call("no function", "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", ref(Int()), fake, 32, Size(0), 0)
    for name, version in ((b"cuMemAlloc", 13000), (b"cuNothing", 13000), (b"cuGreenCtxCreate", 12000), (b"cuMemAlloc", 2000), (b"cuMemAlloc", 20000)):
        status = Int(-1)
        call(f"{name.decode()} {version}", "cudaGetDriverEntryPointByVersion", name, ref(other), version, U64(0), ref(status),
             show=lambda: (bool(other.value), status.value))
        say("status", status.value)


def streams_and_events():
    stream, event, second, number, time = Pointer(), Pointer(), Pointer(), U32(), C.c_float()
    call("flags 8", "cudaStreamCreateWithFlags", ref(stream), 8)
    call("", "cudaStreamCreateWithFlags", ref(stream), 1)
    call("", "cudaStreamGetFlags", stream, ref(number), show=lambda: number.value)
    call("flags 64", "cudaEventCreateWithFlags", ref(event), 64)
    call("interprocess", "cudaEventCreateWithFlags", ref(event), 4)
    call("", "cudaEventCreate", ref(event))
    call("", "cudaEventCreateWithFlags", ref(second), 2)
    call("unrecorded", "cudaEventElapsedTime", ref(time), event, event)
    call("unrecorded", "cudaEventQuery", event)
    call("", "cudaEventRecord", event, stream)
    call("", "cudaEventRecord", second, stream)
    call("", "cudaEventSynchronize", event)
    call("no timing", "cudaEventElapsedTime", ref(time), event, second)
    call("flags 5", "cudaStreamWaitEvent", stream, event, 5)
    call("flags 5", "cudaEventRecordWithFlags", event, stream, 5)
    call("default", "cudaStreamDestroy", None)
    call("default", "cudaStreamBeginCapture", None, 0)
    call("mode 7", "cudaStreamBeginCapture", stream, 7)
    call("not begun", "cudaStreamEndCapture", stream, ref(Pointer()))
    call("", "cudaStreamBeginCapture", stream, 0)
    call("capturing", "cudaStreamSynchronize", stream)
    call("capturing", "cudaMalloc", ref(Pointer()), Size(64))
    call("capturing", "cudaStreamEndCapture", stream, ref(Pointer()))
    pool, other = Pointer(), Pointer()
    call("", "cudaDeviceGetDefaultMemPool", ref(pool), 0)
    call("", "cudaMallocAsync", ref(other), Size(64), stream)
    call("", "cudaFreeAsync", other, stream)
    call("again", "cudaFreeAsync", other, stream)
    call("null", "cudaFreeAsync", None, stream)
    call("", "cudaStreamSynchronize", stream)
    call("", "cudaStreamDestroy", stream)
    can = Int()
    call("itself", "cudaDeviceCanAccessPeer", ref(can), 0, 0, show=lambda: can.value)


class Config(C.Structure):
    _fields_ = [(word, U32) for word in ("gx", "gy", "gz", "bx", "by", "bz")] + [
        ("shared", Size), ("stream", Pointer), ("attributes", Pointer), ("count", U32)]


def prepared():
    library, kernel = Pointer(), {}
    call("", "cudaLibraryLoadData", ref(library), PTX, None, None, 0, None, None, 0)
    for entry in KERNELS:
        kernel[entry] = Pointer()
        call(entry, "cudaLibraryGetKernel", ref(kernel[entry]), library, entry.encode())
    memory = Pointer()
    call("", "cudaMalloc", ref(memory), Size(4096))
    return library, kernel, memory


def runtime_launches():
    library, kernels, memory = prepared()
    call("missing", "cudaLibraryGetKernel", ref(Pointer()), library, b"nothing")
    call("text", "cudaLibraryLoadData", ref(Pointer()), b"hello\0", None, None, 0, None, None, 0)
    call("bad PTX", "cudaLibraryLoadData", ref(Pointer()), PTX.replace(b"atom.global", b"bad.global"), None, None, 0, None, None, 0)
    call("sm_100", "cudaLibraryLoadData", ref(Pointer()), PTX.replace(b"sm_90", b"sm_100").replace(b"8.0", b"8.6"), None, None, 0, None, None, 0)
    call("version 9.9", "cudaLibraryLoadData", ref(Pointer()), PTX.replace(b"8.0", b"9.9"), None, None, 0, None, None, 0)
    row = Arguments(memory)
    Attribute = structure("Attribute", "I:id I:pad 16I:value")
    add1 = kernels["add1"]

    def launch_with(label, kernel, grid, block=(32, 1, 1), shared=0, attributes=()):
        rows = array(Attribute, *[Attribute(number, 0, (U32 * 16)(*value)) for number, value in attributes])
        config = Config(*grid, *block, shared, None, C.addressof(rows), len(attributes))
        call(label, "cudaLaunchKernelExC", ref(config), kernel, row.row)
        count = Int()
        call(label, "cudaOccupancyMaxActiveClusters", ref(count), kernel, ref(config), show=lambda: count.value)
        call(label, "cudaOccupancyMaxPotentialClusterSize", ref(count), kernel, ref(config), show=lambda: count.value)

    launch_with("", add1, (2, 1, 1))
    launch_with("no grid", add1, (0, 1, 1))
    launch_with("no block", add1, (1, 1, 1), (0, 1, 1))
    launch_with("1025", add1, (1, 1, 1), (1025, 1, 1))
    launch_with("z 65", add1, (1, 1, 1), (1, 1, 65))
    launch_with("y 65536", add1, (1, 65536, 1))
    launch_with("shared 48 KiB + 1", add1, (1, 1, 1), shared=48 * 1024 + 1)
    launch_with("shared 2^40", add1, (1, 1, 1), shared=1 << 40)
    launch_with("above maxntid", kernels["limited"], (1, 1, 1), (65, 1, 1))
    launch_with("not reqntid", kernels["required"], (1, 1, 1))
    launch_with("odd grid of clusters", kernels["clustered"], (3, 1, 1))
    launch_with("clustered", kernels["clustered"], (4, 1, 1))
    for size in ((2, 1, 1), (3, 1, 1), (8, 1, 1), (16, 1, 1), (0, 1, 1)):
        launch_with(f"cluster {size}", add1, (16, 1, 1), attributes=((4, size),))
    launch_with("cooperative, too many", add1, (100000, 1, 1), attributes=((2, (1,)),))
    dim = structure("Dim", "I:x I:y I:z")
    for label, grid in (("", 1), ("too many", 100000)):
        call(label, "cudaLaunchCooperativeKernel", add1, dim(grid, 1, 1), dim(32, 1, 1), row.row, Size(0), None)
    call("", "cudaDeviceSynchronize")
    attributes = (C.c_uint8 * 512)()
    for entry, kernel in kernels.items():
        call(entry, "cudaFuncGetAttributes", attributes, kernel,
             show=lambda: list((C.c_uint64 * 3).from_buffer(attributes)) + [(C.c_int * 6).from_buffer(attributes, 24)[0]])
    for attribute, value in ((8, 228 * 1024), (8, 227 * 1024), (8, -1), (9, 50), (9, 101), (10, 2), (14, 1), (0, 1), (99, 1)):
        call(f"{attribute} to {value}", "cudaFuncSetAttribute", add1, attribute, value)
    blocks, size = Int(), Size()
    for threads, shared in ((32, 0), (1024, 0), (1025, 0), (0, 0), (-1, 0), (32, 300 * 1024)):
        call(f"{threads} {shared}", "cudaOccupancyMaxActiveBlocksPerMultiprocessor", ref(blocks), add1, threads, Size(shared), show=lambda: blocks.value)
    call("", "cudaOccupancyAvailableDynamicSMemPerBlock", ref(size), add1, 2, 256, show=lambda: size.value)
    call("", "cudaLibraryUnload", library)


def runtime_graphs():
    library, kernels, memory = prepared()
    graph, node, executable, count = Pointer(), Pointer(), Pointer(), Size()
    call("flags", "cudaGraphCreate", ref(graph), 1)
    call("", "cudaGraphCreate", ref(graph), 0)
    call("", "cudaGraphAddEmptyNode", ref(node), graph, None, Size(0))
    call("itself", "cudaGraphAddDependencies", graph, ref(node), ref(node), None, Size(1))
    row = Arguments(memory)
    kernel = structure("Kernel", "P:function I:gx I:gy I:gz I:bx I:by I:bz I:shared P:parameters P:extra")
    for label, values in {"": (1, 32), "no grid": (0, 32), "2000 threads": (1, 2000)}.items():
        parameters = kernel(kernels["add1"], values[0], 1, 1, values[1], 1, 1, 0, C.addressof(row.row), None)
        call(label, "cudaGraphAddKernelNode", ref(Pointer()), graph, None, Size(0), ref(parameters))
    fake = C.create_string_buffer(8)
    parameters = kernel(C.addressof(fake), 1, 1, 1, 1, 1, 1, 0, C.addressof(row.row), None)
    call("no function", "cudaGraphAddKernelNode", ref(Pointer()), graph, None, Size(0), ref(parameters))
    call("", "cudaGraphInstantiate", ref(executable), graph, U64(0))
    call("flags 64", "cudaGraphInstantiate", ref(Pointer()), graph, U64(64))
    call("", "cudaGraphLaunch", executable, None)
    call("", "cudaDeviceSynchronize")
    handle = U64()
    call("", "cudaGraphConditionalHandleCreate", ref(handle), graph, 1, 1)
    Conditional = structure("Conditional", "i:type 3I:reserved Q:handle i:kind I:size P:graphs P:context 25Q:rest Q:reserved2")
    wanted = Conditional(type=13, handle=handle.value, kind=0, size=1)
    call("conditional", "cudaGraphAddNode", ref(node), graph, None, None, Size(0), ref(wanted))
    call("conditional", "cudaGraphClone", ref(Pointer()), graph)
    call("", "cudaGraphExecDestroy", executable)
    call("", "cudaGraphDestroy", graph)


def runtime_trap():
    library, kernels, memory = prepared()
    row = Arguments(Pointer(16))
    dim = structure("Dim", "I:x I:y I:z")
    code = rt.cudaLaunchKernel(kernels["read"], dim(1, 1, 1), dim(1, 1, 1), row.row, Size(0), None)
    say("address 16", error_name(code))
    for label, function, arguments in (("first", "cudaDeviceSynchronize", ()), ("second", "cudaDeviceSynchronize", ()),
                                       ("after", "cudaMalloc", (ref(Pointer()), Size(64))), ("after", "cudaFree", (memory,)), ("after", "cudaGetLastError", ()),
                                       ("after", "cudaPeekAtLastError", ()), ("after", "cudaStreamQuery", (None,)), ("after", "cudaGetDevice", (ref(Int()),)),
                                       ("after", "cudaMemGetInfo", (ref(Size()), ref(Size()))), ("reset", "cudaDeviceReset", ()),
                                       ("after reset", "cudaMalloc", (ref(Pointer()), Size(64))), ("after reset", "cudaDeviceSynchronize", ())):
        say(label, function, error_name(getattr(rt, function)(*arguments)))
