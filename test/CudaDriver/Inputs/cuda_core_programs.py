"""Programs of cuda.core. Part of the blockscale project, under the Apache License
v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import sys

import numpy
from cuda.bindings import driver
from cuda.core import (Device, EventOptions, LaunchConfig, LegacyPinnedMemoryResource,
                       Linker, LinkerOptions, ObjectCode, PinnedMemoryResource,
                       Program, ProgramOptions, StreamOptions, VirtualMemoryResource,
                       launch)
from cuda.core.graph import GraphDefinition

PTX = b"""
.version 8.7
.target sm_100a
.address_size 64
.visible .entry scale(.param .u64 x, .param .f32 f, .param .u32 n)
{
  .reg .pred %p; .reg .b32 %r<5>; .reg .f32 %f<3>; .reg .b64 %d<4>;
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  ld.param.u32 %r1, [n];
  setp.ge.u32 %p, %r4, %r1;
  @%p ret;
  ld.param.u64 %d1, [x]; mul.wide.u32 %d2, %r4, 4; add.u64 %d3, %d1, %d2;
  ld.param.f32 %f1, [f]; ld.global.f32 %f2, [%d3]; mul.f32 %f2, %f2, %f1;
  st.global.f32 [%d3], %f2;
  ret;
}
"""

CODE = r"""
template <typename T> __global__ void axpy(T a, const T *x, T *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] += a * x[i];
}
extern "C" __global__ void add(float *x, float more, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] += more;
}
"""

N = 1000
GRID = LaunchConfig(grid=4, block=256)

device = Device()
device.set_current()
stream = device.create_stream(options=StreamOptions(nonblocking=True))


def check(result):
    if int(result[0]):
        raise RuntimeError(str(result[0]))
    return result[1] if len(result) == 2 else None


# Two files: the first calls the second.
PIECES = ["""
extern __device__ float change(float x);
extern "C" __global__ void apply(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = change(x[i]);
}
""", """
__device__ float factor = 3;
__device__ float change(float x) { return factor * x + 1; }
"""]


def upload(values):
    buffer = device.allocate(values.nbytes, stream=stream)
    check(driver.cuMemcpyHtoDAsync(int(buffer.handle), values.ctypes.data,
                                   values.nbytes, stream.handle))
    return buffer


def download(buffer):
    stream.sync()
    values = numpy.empty(N, "f4")
    check(driver.cuMemcpyDtoH(values.ctypes.data, int(buffer.handle), values.nbytes))
    return values


x = numpy.arange(N, dtype="f4")


def run_ptx():
    kernel = ObjectCode.from_ptx(PTX).get_kernel("scale")
    assert [(p.offset, p.size) for p in kernel.arguments_info] == [(0, 8), (8, 4), (12, 4)]
    buffer = upload(x)
    launch(stream, GRID, kernel, buffer, numpy.float32(3), numpy.int32(N))
    assert numpy.array_equal(download(buffer), 3 * x)
    # A graph that is captured, and one that is built.
    builder = device.create_graph_builder().begin_building()
    launch(builder, GRID, kernel, buffer, numpy.float32(2), numpy.int32(N))
    graph = builder.end_building().complete()
    graph.launch(stream)
    graph.launch(stream)
    assert numpy.array_equal(download(buffer), 12 * x)
    definition = GraphDefinition()
    first = definition.launch(GRID, kernel, buffer, numpy.float32(0.5), numpy.int32(N))
    first.launch(GRID, kernel, buffer, numpy.float32(-1), numpy.int32(N))
    assert len(definition.nodes()) == 2 and len(definition.edges()) == 1
    definition.instantiate().launch(stream)
    assert numpy.array_equal(download(buffer), -6 * x)
    events = [device.create_event(options=EventOptions(timing_enabled=True)) for _ in "ab"]
    stream.record(events[0])
    stream.record(events[1])
    events[1].sync()
    assert events[1] - events[0] >= 0
    # Memory of the host, which the device sees.
    legacy = LegacyPinnedMemoryResource().allocate(4 * N)
    numpy.from_dlpack(legacy).view("f4")[:] = x
    target = device.allocate(4 * N, stream=stream)
    legacy.copy_to(target, stream=stream)
    assert numpy.array_equal(download(target), x)
    PinnedMemoryResource().allocate(64, stream=stream).close()
    # Memory that cuda.core maps by itself.
    mapped = VirtualMemoryResource(device).allocate(4 * N)
    check(driver.cuMemcpyDtoDAsync(int(mapped.handle), int(target.handle), 4 * N,
                                   stream.handle))
    launch(stream, GRID, kernel, mapped, numpy.float32(7), numpy.int32(N))
    assert numpy.array_equal(download(mapped), 7 * x)
    mapped.close()
    assert device.properties.multiprocessor_count == 148


def run_cubin():
    options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}")
    program = Program(CODE, code_type="c++", options=options)
    module = program.compile("cubin", name_expressions=("axpy<float>",))
    kernel = module.get_kernel("axpy<float>")
    dx, dy = upload(x), upload(numpy.ones(N, "f4"))
    launch(stream, GRID, kernel, numpy.float32(2), dx, dy, numpy.int32(N))
    assert numpy.array_equal(download(dy), 2 * x + 1)
    linked = Linker(Program(CODE, code_type="c++", options=options).compile("ptx"),
                    options=LinkerOptions(arch=f"sm_{device.arch}")).link("cubin")
    launch(stream, GRID, linked.get_kernel("add"), dx, numpy.float32(5), numpy.int32(N))
    assert numpy.array_equal(download(dx), x + 5)
    # Two pieces, one of which calls the other.
    options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}",
                             relocatable_device_code=True)
    pieces = [Program(code, code_type="c++", options=options).compile(target)
              for code, target in zip(PIECES, ("ptx", "cubin"))]
    linked = Linker(*pieces, options=LinkerOptions(arch=f"sm_{device.arch}")).link("cubin")
    launch(stream, GRID, linked.get_kernel("apply"), dx, numpy.int32(N))
    assert numpy.array_equal(download(dx), 3 * (x + 5) + 1)


for name in sys.argv[1:]:
    globals()["run_" + name]()
    print(name, "done")
