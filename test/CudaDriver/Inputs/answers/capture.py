"""Section capture of ask.py.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

from common import *


def status(label, stream):
    state = Int(-1)
    ask(label, "cuStreamIsCapturing", stream, ref(state), show=lambda: state.value)


def spoiled(label, stream, *calls):
    """What calls answer during a capture, and what the capture then is."""
    for mode in (0, 1, 2):
        graph = Pointer()
        ask(f"{label}, mode {mode}", "cuStreamBeginCapture_v2", stream, mode)
        for function, *arguments in calls:
            ask(f"{label}, mode {mode}", function, *arguments)
        status(f"{label}, mode {mode}", stream)
        ask(f"{label}, mode {mode}", "cuStreamEndCapture", stream, ref(graph), show=lambda: bool(graph.value))


def capture():
    retained()
    memory, other, graph = allocated(), U64(), Pointer()
    stream, second, blocking = made("cuStreamCreate", 1), made("cuStreamCreate", 1), made("cuStreamCreate", 0)
    event, timed = made("cuEventCreate", 2), made("cuEventCreate", 0)
    module = loaded()
    add1 = function(module, "add1")
    ask("default stream", "cuStreamBeginCapture_v2", None, 0)
    ask("legacy", "cuStreamBeginCapture_v2", Pointer(1), 0)
    ask("mode 7", "cuStreamBeginCapture_v2", stream, 7)
    ask("not begun", "cuStreamEndCapture", stream, ref(graph))
    status("before", stream)
    spoiled("nothing", stream)
    spoiled("twice", stream, ("cuStreamBeginCapture_v2", stream, 0))
    spoiled("synchronise", stream, ("cuStreamSynchronize", stream))
    spoiled("query", stream, ("cuStreamQuery", stream))
    spoiled("context", stream, ("cuCtxSynchronize",))
    spoiled("other stream", stream, ("cuStreamSynchronize", second), ("cuStreamQuery", second))
    spoiled("default stream", stream, ("cuStreamSynchronize", None), ("cuMemsetD8Async", memory, 1, Size(8), None))
    spoiled("allocate", stream, ("cuMemAlloc_v2", ref(other), Size(64)))
    spoiled("allocate in order", stream, ("cuMemAllocAsync", ref(other), Size(64), stream))
    spoiled("free", stream, ("cuMemFree_v2", allocated(64)))
    spoiled("host memory", stream, ("cuMemHostAlloc", ref(Pointer()), Size(64), 0))
    spoiled("copy", stream, ("cuMemcpyDtoD_v2", memory, U64(memory.value + 64), Size(64)))
    spoiled("fill", stream, ("cuMemsetD8_v2", memory, 1, Size(64)))
    spoiled("load", stream, ("cuModuleLoadData", ref(Pointer()), PTX))
    spoiled("event", stream, ("cuEventRecord", event, stream), ("cuEventQuery", event))
    spoiled("synchronise event", stream, ("cuEventRecord", event, stream), ("cuEventSynchronize", event))
    spoiled("event of another", stream, ("cuEventRecord", timed, second), ("cuStreamWaitEvent", stream, timed, 0))
    spoiled("callback", stream, ("cuStreamAddCallback", stream, C.CFUNCTYPE(None, Pointer, Int, Pointer)(lambda *_: None), None, 0))
    spoiled("end of another", stream, ("cuStreamEndCapture", second, ref(Pointer())))
    spoiled("destroy", stream, ("cuStreamGetFlags", stream, ref(U32())), ("cuStreamGetPriority", stream, ref(Int())))
    spoiled("attributes", stream, ("cuStreamGetAttribute", stream, 1, (U32 * 16)()))
    spoiled("forked", stream, ("cuEventRecord", event, stream), ("cuStreamWaitEvent", second, event, 0))
    status("forked", second)
    forked(stream, second, event, memory, add1)
    information(stream, memory, add1)
    mode = Int(1)
    ask("", "cuThreadExchangeStreamCaptureMode", ref(mode), show=lambda: mode.value)
    ask("", "cuThreadExchangeStreamCaptureMode", ref(mode), show=lambda: mode.value)
    ask("9", "cuThreadExchangeStreamCaptureMode", ref(Int(9)))
    to_graph(stream, memory, add1)
    spoiled("blocking, default stream", blocking, ("cuMemsetD8Async", memory, 1, Size(8), None))
    status("at the end", stream)
    ask("", "cuStreamBeginCapture_v2", stream, 0)
    ask("capturing", "cuStreamDestroy_v2", stream)


def forked(stream, second, event, memory, add1):
    graph = Pointer()
    ask("", "cuStreamBeginCapture_v2", stream, 0)
    ask("", "cuEventRecord", event, stream)
    ask("", "cuStreamWaitEvent", second, event, 0)
    status("second", second)
    launch("", add1, (1, 1, 1), (32, 1, 1), memory, stream=second)
    ask("of the second", "cuStreamEndCapture", second, ref(graph))
    status("first", stream)
    status("second", second)
    ask("of the first", "cuStreamEndCapture", stream, ref(graph))
    ask("", "cuStreamBeginCapture_v2", stream, 0)
    ask("", "cuEventRecord", event, stream)
    ask("", "cuStreamWaitEvent", second, event, 0)
    launch("", add1, (1, 1, 1), (32, 1, 1), memory, stream=second)
    ask("unjoined", "cuStreamEndCapture", stream, ref(graph))
    status("unjoined", second)
    ask("captured event", "cuEventSynchronize", event)
    ask("captured event", "cuEventQuery", event)
    ask("captured event", "cuStreamWaitEvent", second, event, 0)


def information(stream, memory, add1):
    state, number, graph, nodes, edges, count = Int(), U64(), Pointer(), Pointer(), Pointer(), Size()
    whole = (ref(state), ref(number), ref(graph), ref(nodes), ref(edges), ref(count))
    ask("idle", "cuStreamGetCaptureInfo_v3", stream, *whole, show=lambda: state.value)
    cu.cuStreamBeginCapture_v2(stream, 0)
    launch("", add1, (1, 1, 1), (32, 1, 1), memory, stream=stream)
    ask("", "cuStreamGetCaptureInfo_v3", stream, *whole, show=lambda: (state.value, bool(graph.value), count.value))
    ask("", "cuStreamGetCaptureInfo_v2", stream, ref(state), ref(number), ref(graph), ref(nodes), ref(count),
        show=lambda: (state.value, bool(graph.value), count.value))
    ask("captured graph", "cuGraphDestroy", graph)
    ask("captured graph", "cuGraphInstantiateWithFlags", ref(Pointer()), graph, U64(0))
    ask("mode 9", "cuStreamUpdateCaptureDependencies_v2", stream, None, None, Size(0), 9)
    ask("set none", "cuStreamUpdateCaptureDependencies_v2", stream, None, None, Size(0), 1)
    ask("", "cuStreamGetCaptureInfo_v3", stream, *whole, show=lambda: count.value)
    ask("", "cuStreamEndCapture", stream, ref(graph))
    ask("idle", "cuStreamUpdateCaptureDependencies_v2", stream, None, None, Size(0), 1)
    ask("null", "cuStreamGetCaptureInfo_v3", None, *whole, show=lambda: state.value)


def to_graph(stream, memory, add1):
    graph, empty, after, count = Pointer(), Pointer(), Pointer(), Size()
    cu.cuGraphCreate(ref(graph), 0)
    cu.cuGraphAddEmptyNode(ref(empty), graph, None, Size(0))
    ask("", "cuStreamBeginCaptureToGraph", stream, graph, ref(empty), None, Size(1), 0)
    launch("", add1, (1, 1, 1), (32, 1, 1), memory, stream=stream)
    ask("", "cuStreamEndCapture", stream, ref(after), show=lambda: after.value == graph.value)
    ask("", "cuGraphGetNodes", graph, None, ref(count), show=lambda: count.value)
    ask("", "cuGraphGetEdges_v2", graph, None, None, None, ref(count), show=lambda: count.value)
