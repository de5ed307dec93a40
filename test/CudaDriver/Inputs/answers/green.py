"""Section green of ask.py.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

from common import *

Resource = structure("Resource", "i:type 92B:padding I:count I:least I:alignment 36B:rest 256B:room")


def green():
    device, primary = retained()
    whole = Resource()
    for kind in (0, 1, 2, 1000, 10000):
        ask(f"type {kind}", "cuDeviceGetDevResource", 0, ref(whole), kind)
    ask("device 7", "cuDeviceGetDevResource", 7, ref(whole), 1)
    ask("", "cuDeviceGetDevResource", 0, ref(whole), 1, show=lambda: (whole.count, whole.least, whole.alignment))
    ask("", "cuCtxGetDevResource", primary, ref(whole), 1, show=lambda: (whole.count, whole.least, whole.alignment))
    exact = structure("Exact", "i:type 92B:padding I:count I:least I:alignment 36B:rest")
    size = C.sizeof(exact)
    source = exact.from_buffer_copy(whole)
    for flags in (0, 1, 2, 4):
        for least in (1, 2, 7, 8, 9, 16, 20, 32, 60, 66, 100, 128, 132, 133, 0):
            rows, count, rest = (exact * 160)(), U32(160), exact()
            ask(f"flags {flags} least {least}", "cuDevSmResourceSplitByCount", rows, ref(count), ref(source), ref(rest), flags, least,
                show=lambda: (count.value, rows[0].count, rows[max(0, count.value - 1)].count, rest.type, rest.count))
    count = U32(0)
    ask("count only", "cuDevSmResourceSplitByCount", None, ref(count), ref(source), None, 0, 8, show=lambda: count.value)
    rows, count, rest = (exact * 4)(), U32(2), exact()
    ask("two", "cuDevSmResourceSplitByCount", rows, ref(count), ref(source), ref(rest), 0, 16,
        show=lambda: (count.value, [(row.type, row.count, row.least, row.alignment) for row in rows[:2]], rest.count, rest.least, rest.alignment))
    again, number = (exact * 4)(), U32(4)
    ask("of a group", "cuDevSmResourceSplitByCount", again, ref(number), ref(rows[0]), ref(exact()), 0, 8, show=lambda: (number.value, again[0].count))
    number = U32(4)
    ask("of the rest", "cuDevSmResourceSplitByCount", again, ref(number), ref(rest), ref(exact()), 0, 32, show=lambda: (number.value, again[0].count))
    none = exact()
    ask("of none", "cuDevSmResourceSplitByCount", again, ref(number), ref(none), ref(exact()), 0, 8)
    description, context, plain, stream = Pointer(), Pointer(), Pointer(), Pointer()
    both = Pointer()
    ask("two", "cuDevResourceGenerateDesc", ref(both), rows, 2)
    ask("twice the same", "cuDevResourceGenerateDesc", ref(Pointer()), (exact * 2)(rows[0], rows[0]), 2)
    ask("", "cuDevResourceGenerateDesc", ref(description), ref(rows[0]), 1)
    ask("flags 0", "cuGreenCtxCreate", ref(context), description, 0, 0)
    ask("flags 2", "cuGreenCtxCreate", ref(context), description, 0, 2)
    ask("device 7", "cuGreenCtxCreate", ref(context), description, 7, 1)
    ask("", "cuGreenCtxCreate", ref(context), description, 0, 1)
    own, number = exact(), U64()
    ask("", "cuGreenCtxGetDevResource", context, ref(own), 1, show=lambda: (own.count, own.least, own.alignment))
    ask("type 0", "cuGreenCtxGetDevResource", context, ref(own), 0)
    ask("", "cuGreenCtxGetId", context, ref(number), show=lambda: number.value > 0)
    ask("", "cuCtxFromGreenCtx", ref(plain), context, show=lambda: bool(plain.value))
    ask("flags 0", "cuGreenCtxStreamCreate", ref(stream), context, 0, 0)
    ask("flags 9", "cuGreenCtxStreamCreate", ref(stream), context, 9, 0)
    ask("", "cuGreenCtxStreamCreate", ref(stream), context, 1, 0)
    found, of_stream = Pointer(), Pointer()
    ask("", "cuStreamGetGreenCtx", stream, ref(found), show=lambda: found.value == context.value)
    ask("", "cuStreamGetCtx", stream, ref(of_stream), show=lambda: (of_stream.value == plain.value, of_stream.value == primary.value))
    ask("", "cuStreamGetCtx_v2", stream, ref(of_stream), ref(found), show=lambda: (bool(of_stream.value), bool(found.value)))
    event = made("cuEventCreate", 0)
    ask("", "cuGreenCtxRecordEvent", context, event)
    ask("", "cuGreenCtxWaitEvent", context, event)
    memory, module = allocated(), loaded()
    launch("of the primary's module", function(module, "add1"), (1, 1, 1), (32, 1, 1), memory, stream=stream)
    ask("", "cuStreamSynchronize", stream)
    ask("", "cuCtxSetCurrent", plain)
    ask("current", "cuCtxGetDevResource", plain, ref(own), 1, show=lambda: own.count)
    blocks = Int()
    ask("", "cuOccupancyMaxActiveBlocksPerMultiprocessor", ref(blocks), function(module, "add1"), 32, Size(0), show=lambda: blocks.value)
    attribute = Int()
    ask("", "cuDeviceGetAttribute", ref(attribute), 16, 0, show=lambda: attribute.value)
    ask("a green one's", "cuCtxDestroy_v2", plain)
    ask("", "cuCtxSetCurrent", primary)
    ask("", "cuStreamDestroy_v2", stream)
    ask("", "cuGreenCtxDestroy", context)
