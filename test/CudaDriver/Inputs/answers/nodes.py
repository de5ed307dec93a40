"""Sections nodes and conditionals of ask.py.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

from common import *
from copies import Copy3D
from graphs import Fill, Kernel, Made

Conditional = structure("Conditional", "i:type 3I:reserved Q:handle i:kind I:size P:graphs P:context 25Q:rest Q:reserved2")


def nodes():
    retained()
    m = Made()
    node, stream = Pointer(), made("cuStreamCreate", 1)
    add_kernels(m)
    for label, fields in {"element 3": {"element": 3}, "element 8": {"element": 8}, "width 0": {"width": 0}, "height 0": {"height": 0}, "null": {"target": 0},
                          "odd": {"target": m.memory.value + 2}, "wide value": {"element": 1, "value": 300}, "host": {"target": 64}}.items():
        row = Fill.from_buffer_copy(m.fill)
        for field, value in fields.items():
            setattr(row, field, value)
        ask(label, "cuGraphAddMemsetNode", ref(node), m.graph, None, Size(0), ref(row), m.context)
    back = Fill()
    ask("", "cuGraphMemsetNodeGetParams", m.first, ref(back), show=lambda: (back.pitch, back.value, back.element, back.width, back.height))
    ask("a kernel", "cuGraphMemsetNodeGetParams", m.second, ref(back))
    copy = Copy3D(skind=2, sdevice=m.memory.value, dkind=2, ddevice=m.memory.value + 1024, width=64, height=1, depth=1)
    copied = Pointer()
    ask("", "cuGraphAddMemcpyNode", ref(copied), m.graph, None, Size(0), ref(copy), m.context)
    read = Copy3D()
    ask("", "cuGraphMemcpyNodeGetParams", copied, ref(read), show=lambda: (read.skind, read.width, read.height, read.depth, read.spitch))
    copy.width = 0
    ask("width 0", "cuGraphAddMemcpyNode", ref(node), m.graph, None, Size(0), ref(copy), m.context)
    copy.width, copy.skind = 64, 9
    ask("kind 9", "cuGraphAddMemcpyNode", ref(node), m.graph, None, Size(0), ref(copy), m.context)
    called = []
    host_function = C.CFUNCTYPE(None, Pointer)(lambda data: called.append(data))
    host = structure("Host", "P:function P:data")(C.cast(host_function, Pointer), 5)
    hosted = Pointer()
    ask("", "cuGraphAddHostNode", ref(hosted), m.graph, ref(m.second), Size(1), ref(host))
    ask("", "cuGraphHostNodeSetParams", hosted, ref(host))
    event, other_event, got = made("cuEventCreate", 2), made("cuEventCreate", 0), Pointer()
    recorded, waited = Pointer(), Pointer()
    ask("", "cuGraphAddEventRecordNode", ref(recorded), m.graph, None, Size(0), event)
    ask("", "cuGraphAddEventWaitNode", ref(waited), m.graph, ref(recorded), Size(1), event)
    ask("", "cuGraphEventRecordNodeGetEvent", recorded, ref(got), show=lambda: got.value == event.value)
    ask("a wait", "cuGraphEventRecordNodeGetEvent", waited, ref(got))
    ask("", "cuGraphEventWaitNodeSetEvent", waited, other_event)
    child, inside = Pointer(), Pointer()
    other = Made()
    ask("", "cuGraphAddChildGraphNode", ref(child), m.graph, None, Size(0), other.graph)
    ask("", "cuGraphChildGraphNodeGetGraph", child, ref(inside), show=lambda: inside.value != other.graph.value)
    ask("a child's", "cuGraphDestroy", inside)
    executable, enabled, kind = Pointer(), U32(), Int()
    ask("", "cuGraphNodeGetType", child, ref(kind), show=lambda: kind.value)
    ask("", "cuGraphInstantiateWithFlags", ref(executable), m.graph, U64(0))
    ask("host", "cuGraphNodeSetEnabled", executable, hosted, 0)
    ask("copy", "cuGraphNodeSetEnabled", executable, copied, 0)
    ask("child", "cuGraphNodeGetEnabled", executable, child, ref(enabled))
    ask("", "cuGraphExecHostNodeSetParams", executable, hosted, ref(host))
    ask("", "cuGraphExecEventRecordNodeSetEvent", executable, recorded, other_event)
    ask("", "cuGraphExecEventWaitNodeSetEvent", executable, waited, event)
    ask("", "cuGraphExecChildGraphNodeSetParams", executable, child, other.graph)
    copy.skind, copy.width = 2, 32
    ask("other width", "cuGraphExecMemcpyNodeSetParams", executable, copied, ref(copy), m.context)
    ask("", "cuGraphLaunch", executable, stream)
    ask("", "cuStreamSynchronize", stream, show=lambda: called)
    attributes(m)
    memory_nodes(m, stream)


def add_kernels(m):
    node = Pointer()
    for label, fields in {"no grid": {"gx": 0}, "2000 threads": {"bx": 2000}, "shared 64 KiB": {"shared": 65536}, "y 65536": {"gy": 65536}}.items():
        row = Kernel.from_buffer_copy(m.kernel)
        for field, value in fields.items():
            setattr(row, field, value)
        ask(label, "cuGraphAddKernelNode_v2", ref(node), m.graph, None, Size(0), ref(row))
        if node.value and not cu.cuGraphInstantiateWithFlags(ref(Pointer()), m.graph, U64(0)):
            say(label, "instantiates")
        if node.value:
            cu.cuGraphDestroyNode(node)
        node = Pointer()
    back = Kernel()
    ask("", "cuGraphKernelNodeGetParams_v2", m.second, ref(back), show=lambda: (back.function == m.add1.value, back.gx, back.bx, bool(back.parameters)))
    ask("a fill", "cuGraphKernelNodeGetParams_v2", m.first, ref(back))


def attributes(m):
    row = (U32 * 16)()
    for attribute in (1, 2, 4, 5, 6, 8, 99):
        ask(f"{attribute}", "cuGraphKernelNodeGetAttribute", m.second, attribute, row, show=lambda: list(row[:3]))
    for attribute, value in ((4, (2, 1, 1)), (4, (3, 1, 1)), (4, (0, 0, 0)), (8, (0,)), (2, (1,)), (99, (1,))):
        ask(f"{attribute} to {value}", "cuGraphKernelNodeSetAttribute", m.second, attribute, (U32 * 16)(*value))
    ask("a fill", "cuGraphKernelNodeGetAttribute", m.first, 8, row)


def memory_nodes(m, stream):
    graph = made("cuGraphCreate", 0)
    Allocate = structure("Allocate", "i:allocation i:handles i:kind i:number P:security Q:size H:usage 54B:reserved P:access Q:count Q:bytes Q:pointer")
    row, node, freed, twice = Allocate(allocation=1, kind=1, bytes=4096), Pointer(), Pointer(), Pointer()
    ask("", "cuGraphAddMemAllocNode", ref(node), graph, None, Size(0), ref(row))
    back = Allocate()
    ask("", "cuGraphMemAllocNodeGetParams", node, ref(back), show=lambda: (back.bytes, back.pointer == row.pointer))
    zero, odd = Allocate(allocation=1, kind=1, bytes=0), Allocate(allocation=1, kind=9, bytes=64)
    ask("zero", "cuGraphAddMemAllocNode", ref(twice), graph, None, Size(0), ref(zero))
    ask("kind 9", "cuGraphAddMemAllocNode", ref(twice), graph, None, Size(0), ref(odd))
    executable = Pointer()
    ask("", "cuGraphAddMemFreeNode", ref(freed), graph, ref(node), Size(1), U64(row.pointer))
    ask("twice", "cuGraphAddMemFreeNode", ref(twice), graph, ref(node), Size(1), U64(row.pointer))
    pointer = U64()
    ask("", "cuGraphMemFreeNodeGetParams", freed, ref(pointer), show=lambda: pointer.value == row.pointer)
    ask("allocates", "cuGraphClone", ref(Pointer()), graph)
    ask("allocates", "cuGraphAddChildGraphNode", ref(Pointer()), m.graph, None, Size(0), graph)
    ask("allocates", "cuGraphDestroyNode", node)
    ask("allocates", "cuGraphInstantiateWithFlags", ref(executable), graph, U64(0))
    ask("second time", "cuGraphInstantiateWithFlags", ref(Pointer()), graph, U64(0))
    ask("", "cuGraphLaunch", executable, stream)
    ask("", "cuGraphLaunch", executable, stream)
    ask("", "cuStreamSynchronize", stream)
    leaking = made("cuGraphCreate", 0)
    ask("", "cuGraphAddMemAllocNode", ref(node), leaking, None, Size(0), ref(row))
    ask("leaking", "cuGraphInstantiateWithFlags", ref(executable), leaking, U64(0))
    ask("leaking", "cuGraphLaunch", executable, stream)
    ask("leaking, again", "cuGraphLaunch", executable, stream)
    ask("", "cuMemFreeAsync", U64(row.pointer), stream)
    ask("freed, again", "cuGraphLaunch", executable, stream)
    ask("", "cuMemFree_v2", U64(row.pointer))
    ask("", "cuStreamSynchronize", stream)


def conditionals():
    retained()
    m = Made()
    handle, node = U64(), Pointer()
    ask("flags 2", "cuGraphConditionalHandleCreate", ref(handle), m.graph, m.context, 1, 2)
    ask("flags 0, value 1", "cuGraphConditionalHandleCreate", ref(handle), m.graph, m.context, 1, 0)
    ask("", "cuGraphConditionalHandleCreate", ref(handle), m.graph, m.context, 1, 1)

    def add(label, graph, handle, kind, size):
        row = Conditional(type=13, handle=handle.value, kind=kind, size=size, context=m.context.value)
        code = ask(label, "cuGraphAddNode_v2", ref(node), graph, None, None, Size(0), ref(row))
        return None if code else C.cast(row.graphs, C.POINTER(Pointer))

    add("kind 9", m.graph, handle, 9, 1)
    add("if of 3", m.graph, handle, 0, 3)
    add("if of 0", m.graph, handle, 0, 0)
    add("while of 2", m.graph, handle, 1, 2)
    add("switch of 0", m.graph, handle, 2, 0)
    bodies = add("while", m.graph, handle, 1, 1)
    add("same handle", m.graph, handle, 1, 1)
    other = made("cuGraphConditionalHandleCreate", m.graph, m.context, 1, 1, kind=U64)
    stranger = Made()
    add("other graph's handle", stranger.graph, other, 0, 1)
    body = bodies[0]
    add("nested, handle of the outer graph", Pointer(body), other, 0, 1)
    add("same handle, nested and outside", m.graph, other, 0, 1)
    unused = made("cuGraphConditionalHandleCreate", m.graph, m.context, 1, 1, kind=U64)
    add("switch", m.graph, unused, 2, 3)
    of_body = Pointer()
    ask("of a body", "cuGraphConditionalHandleCreate", ref(handle), Pointer(body), m.context, 1, 1)
    ask("a body", "cuGraphDestroy", Pointer(body))
    ask("empty body", "cuGraphAddEmptyNode", ref(node), Pointer(body), None, Size(0))
    host_function = C.CFUNCTYPE(None, Pointer)(lambda data: None)
    host = structure("Host", "P:function P:data")(C.cast(host_function, Pointer), 5)
    ask("host in a body", "cuGraphAddHostNode", ref(node), Pointer(body), None, Size(0), ref(host))
    ask("event in a body", "cuGraphAddEventRecordNode", ref(node), Pointer(body), None, Size(0), made("cuEventCreate", 0))
    copy = Pointer()
    ask("", "cuGraphClone", ref(copy), m.graph)
    ask("as a child", "cuGraphAddChildGraphNode", ref(node), made("cuGraphCreate", 0), None, Size(0), m.graph)
    never = made("cuGraphConditionalHandleCreate", stranger.graph, stranger.context, 1, 1, kind=U64)
    executable = Pointer()
    ask("unused handle", "cuGraphInstantiateWithFlags", ref(executable), stranger.graph, U64(0))
    add("empty if", stranger.graph, never, 0, 1)
    ask("empty if", "cuGraphInstantiateWithFlags", ref(executable), stranger.graph, U64(0))
    ask("empty if", "cuGraphLaunch", executable, None)
    ask("empty if", "cuCtxSynchronize")
    result = structure("Result", "i:result i:pad P:node P:source")()
    ask("itself", "cuGraphExecUpdate_v2", executable, stranger.graph, ref(result))
    say("itself", "result", result.result)
    ask("", "cuGraphDestroy", m.graph)
