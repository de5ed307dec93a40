"""Section graphs of ask.py.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

from common import *

Kernel = structure("Kernel", "P:function I:gx I:gy I:gz I:bx I:by I:bz I:shared P:parameters P:extra P:kernel P:context")
Fill = structure("Fill", "Q:target Q:pitch I:value I:element Q:width Q:height")


class Made:
    """A graph of a fill and a kernel after it."""

    def __init__(self):
        self.memory, self.module = allocated(), loaded()
        self.add1 = function(self.module, "add1")
        self.context = Pointer()
        cu.cuCtxGetCurrent(ref(self.context))
        self.row = Arguments(self.memory)
        self.fill = Fill(self.memory.value, 0, 5, 4, 64, 1)
        self.kernel = Kernel(self.add1, 2, 1, 1, 32, 1, 1, 0, C.addressof(self.row.row), None, None, None)
        self.graph, self.first, self.second = made("cuGraphCreate", 0), Pointer(), Pointer()
        assert cu.cuGraphAddMemsetNode(ref(self.first), self.graph, None, Size(0), ref(self.fill), self.context) == 0
        assert cu.cuGraphAddKernelNode_v2(ref(self.second), self.graph, ref(self.first), Size(1), ref(self.kernel)) == 0


def graphs():
    retained()
    ask("flags", "cuGraphCreate", ref(Pointer()), 1)
    m = Made()
    node, count, kind, executable = Pointer(), Size(), Int(), Pointer()
    ask("", "cuGraphGetNodes", m.graph, None, ref(count), show=lambda: count.value)
    rows = (Pointer * 4)()
    count.value = 4
    ask("room for four", "cuGraphGetNodes", m.graph, rows, ref(count), show=lambda: (count.value, [bool(row) for row in rows]))
    ask("", "cuGraphGetRootNodes", m.graph, None, ref(count), show=lambda: count.value)
    for label, which in (("fill", m.first), ("kernel", m.second)):
        ask(label, "cuGraphNodeGetType", which, ref(kind), show=lambda: kind.value)
        ask(label, "cuGraphNodeGetDependencies_v2", which, None, None, ref(count), show=lambda: count.value)
        ask(label, "cuGraphNodeGetDependentNodes_v2", which, None, None, ref(count), show=lambda: count.value)
    ask("again", "cuGraphAddDependencies_v2", m.graph, ref(m.first), ref(m.second), None, Size(1))
    ask("cycle", "cuGraphAddDependencies_v2", m.graph, ref(m.second), ref(m.first), None, Size(1))
    ask("itself", "cuGraphAddDependencies_v2", m.graph, ref(m.first), ref(m.first), None, Size(1))
    edge = structure("Edge", "B:out B:into B:kind 5B:reserved")
    for label, data in (("ports", edge(1, 0, 0)), ("programmatic", edge(1, 0, 1)), ("reserved", edge(0, 0, 0, (C.c_ubyte * 5)(1)))):
        other = Pointer()
        ask("", "cuGraphAddKernelNode_v2", ref(other), m.graph, None, Size(0), ref(m.kernel))
        ask(f"{label} from the kernel", "cuGraphAddDependencies_v2", m.graph, ref(m.second), ref(other), ref(data), Size(1))
        ask(f"{label} from the fill", "cuGraphAddDependencies_v2", m.graph, ref(m.first), ref(other), ref(data), Size(1))
        ask("", "cuGraphDestroyNode", other)
    third = Pointer()
    ask("", "cuGraphAddEmptyNode", ref(third), m.graph, ref(m.second), Size(1))
    ask("cycle of three", "cuGraphAddDependencies_v2", m.graph, ref(third), ref(m.first), None, Size(1))
    ask("after the cycle", "cuGraphInstantiateWithFlags", ref(executable), m.graph, U64(0))
    ask("not there", "cuGraphRemoveDependencies_v2", m.graph, ref(m.first), ref(third), None, Size(1))
    ask("", "cuGraphRemoveDependencies_v2", m.graph, ref(third), ref(m.first), None, Size(1))
    other = Made()
    ask("other graph's", "cuGraphAddDependencies_v2", m.graph, ref(m.first), ref(other.second), None, Size(1))
    ask("other graph's", "cuGraphAddEmptyNode", ref(node), m.graph, ref(other.first), Size(1))
    ask("same twice", "cuGraphAddEmptyNode", ref(node), m.graph, array(Pointer, m.first.value, m.first.value), Size(2))
    instantiate(m, other)
    user_objects(m)


def instantiate(m, other):
    executable, flags, stream = Pointer(), U64(), made("cuStreamCreate", 1)
    for flag in (1, 2, 4, 8, 16, 64):
        ask(f"flags {flag}", "cuGraphInstantiateWithFlags", ref(executable), m.graph, U64(flag))
    row = structure("Row", "Q:flags P:stream P:node i:result")()
    ask("", "cuGraphInstantiateWithParams", ref(executable), m.graph, ref(row), show=lambda: row.result)
    ask("", "cuGraphInstantiateWithFlags", ref(executable), m.graph, U64(0))
    ask("", "cuGraphExecGetFlags", executable, ref(flags), show=lambda: flags.value)
    ask("", "cuGraphUpload", executable, stream)
    ask("", "cuGraphLaunch", executable, stream)
    ask("again at once", "cuGraphLaunch", executable, stream)
    ask("", "cuStreamSynchronize", stream)
    result = structure("Result", "i:result i:pad P:node P:source")()
    ask("same", "cuGraphExecUpdate_v2", executable, m.graph, ref(result), show=lambda: result.result)
    ask("fewer nodes", "cuGraphExecUpdate_v2", executable, other.graph, ref(result))
    say("fewer nodes", "result", result.result)
    kernel = Kernel.from_buffer_copy(m.kernel)
    kernel.gx = 1
    ask("", "cuGraphExecKernelNodeSetParams_v2", executable, m.second, ref(kernel))
    kernel.gx = 0
    ask("no grid", "cuGraphExecKernelNodeSetParams_v2", executable, m.second, ref(kernel))
    kernel.gx, kernel.bx = 1, 2000
    ask("2000 threads", "cuGraphExecKernelNodeSetParams_v2", executable, m.second, ref(kernel))
    ask("2000 threads", "cuGraphKernelNodeSetParams_v2", m.second, ref(kernel))
    kernel.bx = 32
    ask("not a kernel", "cuGraphExecKernelNodeSetParams_v2", executable, m.first, ref(kernel))
    ask("other graph's", "cuGraphExecKernelNodeSetParams_v2", executable, other.second, ref(kernel))
    kernel.function = function(m.module, "limited").value
    ask("other kernel", "cuGraphExecKernelNodeSetParams_v2", executable, m.second, ref(kernel))
    fill = Fill.from_buffer_copy(m.fill)
    fill.value = 7
    ask("", "cuGraphExecMemsetNodeSetParams", executable, m.first, ref(fill), m.context)
    fill.width = 32
    ask("other width", "cuGraphExecMemsetNodeSetParams", executable, m.first, ref(fill), m.context)
    fill.element = 3
    ask("element 3", "cuGraphExecMemsetNodeSetParams", executable, m.first, ref(fill), m.context)
    enabled = U32()
    ask("", "cuGraphNodeGetEnabled", executable, m.second, ref(enabled), show=lambda: enabled.value)
    ask("", "cuGraphNodeSetEnabled", executable, m.second, 0)
    ask("", "cuGraphNodeGetEnabled", executable, m.second, ref(enabled), show=lambda: enabled.value)
    ask("2", "cuGraphNodeSetEnabled", executable, m.second, 2)
    ask("other graph's", "cuGraphNodeSetEnabled", executable, other.second, 0)
    ask("", "cuGraphLaunch", executable, stream)
    ask("", "cuStreamSynchronize", stream)
    copy, found = Pointer(), Pointer()
    ask("", "cuGraphClone", ref(copy), m.graph)
    ask("", "cuGraphNodeFindInClone", ref(found), m.second, copy, show=lambda: bool(found.value))
    ask("other graph's", "cuGraphNodeFindInClone", ref(found), other.second, copy)
    ask("not a clone", "cuGraphNodeFindInClone", ref(found), m.second, other.graph)
    ask("", "cuGraphDestroyNode", m.first)
    ask("", "cuGraphDestroy", copy)
    ask("", "cuGraphDestroy", m.graph)
    ask("graph is gone", "cuGraphLaunch", executable, stream)
    ask("", "cuStreamSynchronize", stream)
    ask("", "cuGraphExecDestroy", executable)
    ask("", "cuGraphDebugDotPrint", other.graph, b"/nothing/here.dot", 0)
    m.graph = other.graph


def user_objects(m):
    freed = []
    free = C.CFUNCTYPE(None, Pointer)(lambda data: freed.append(data))
    thing = Pointer()
    ask("count 0", "cuUserObjectCreate", ref(thing), Pointer(1), free, 0, 1)
    ask("flags 0", "cuUserObjectCreate", ref(thing), Pointer(1), free, 1, 0)
    ask("", "cuUserObjectCreate", ref(thing), Pointer(1), free, 2, 1)
    ask("", "cuUserObjectRetain", thing, 1)
    ask("0", "cuUserObjectRetain", thing, 0)
    ask("0", "cuUserObjectRelease", thing, 0)
    ask("", "cuGraphRetainUserObject", m.graph, thing, 1, 0)
    ask("move", "cuGraphRetainUserObject", m.graph, thing, 1, 1)
    ask("flags 2", "cuGraphRetainUserObject", m.graph, thing, 1, 2)
    ask("", "cuGraphReleaseUserObject", m.graph, thing, 1)
    ask("", "cuUserObjectRelease", thing, 2)
    say("freed", len(freed))
    ask("", "cuGraphDestroy", m.graph)
    say("freed", "at last", len(freed) <= 1)
