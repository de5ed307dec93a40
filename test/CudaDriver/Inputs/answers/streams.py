"""Section streams of ask.py.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

from common import *


def streams():
    retained()
    stream, flags, number, priority = Pointer(), U32(), U64(), Int()
    for flag in (0, 1, 2, 8):
        ask(f"flags {flag}", "cuStreamCreate", ref(stream), flag)
    ask("", "cuStreamCreate", ref(stream), 1)
    for wanted in (0, -1, -5, -99, 7):
        other = made("cuStreamCreateWithPriority", 1, wanted)
        ask(f"wanted {wanted}", "cuStreamGetPriority", other, ref(priority), show=lambda: priority.value)
    for label, handle in (("", stream), ("null", None), ("legacy", Pointer(1)), ("per thread", Pointer(2))):
        ask(label, "cuStreamGetFlags", handle, ref(flags), show=lambda: flags.value)
        ask(label, "cuStreamGetPriority", handle, ref(priority), show=lambda: priority.value)
        ask(label, "cuStreamGetId", handle, ref(number), show=lambda: number.value > 0)
        ask(label, "cuStreamQuery", handle)
        ask(label, "cuStreamSynchronize", handle)
        context, green = Pointer(), Pointer()
        ask(label, "cuStreamGetCtx", handle, ref(context), show=lambda: bool(context.value))
        ask(label, "cuStreamGetCtx_v2", handle, ref(context), ref(green), show=lambda: (bool(context.value), bool(green.value)))
        ask(label, "cuStreamGetGreenCtx", handle, ref(green), show=lambda: bool(green.value))
        ask(label, "cuStreamGetDevice", handle, ref(priority), show=lambda: priority.value)
    row, wrong = (U32 * 16)(), (U32 * 16)(9)
    for attribute in (0, 1, 3, 8, 10, 99):
        ask(f"{attribute}", "cuStreamGetAttribute", stream, attribute, row, show=lambda: list(row[:4]))
        ask(f"{attribute}", "cuStreamSetAttribute", stream, attribute, row)
        ask(f"{attribute} of 9", "cuStreamSetAttribute", stream, attribute, wrong)
    ask("", "cuStreamCopyAttributes", other, stream)
    ask("to itself", "cuStreamCopyAttributes", stream, stream)
    called = []
    callback = C.CFUNCTYPE(None, Pointer, Int, Pointer)(lambda handle, status, data: called.append((status, data)))
    ask("", "cuStreamAddCallback", stream, callback, Pointer(5), 0)
    ask("flags", "cuStreamAddCallback", stream, callback, Pointer(5), 1)
    ask("", "cuStreamSynchronize", stream, show=lambda: called)
    events(stream)
    ask("default", "cuStreamDestroy_v2", None)
    ask("legacy", "cuStreamDestroy_v2", Pointer(1))
    ask("", "cuStreamDestroy_v2", stream)


def events(stream):
    event, second = Pointer(), Pointer()
    for flag in (0, 1, 2, 3, 4, 6, 8, 64):
        ask(f"flags {flag}", "cuEventCreate", ref(event), flag)
    event, second = made("cuEventCreate", 0), made("cuEventCreate", 2)
    fresh, time = made("cuEventCreate", 0), C.c_float()
    ask("unrecorded", "cuEventElapsedTime_v2", ref(time), event, event)
    ask("unrecorded", "cuEventElapsedTime", ref(time), event, event)
    ask("unrecorded", "cuEventQuery", event)
    ask("unrecorded", "cuEventSynchronize", event)
    ask("unrecorded", "cuStreamWaitEvent", stream, event, 0)
    ask("", "cuEventRecord", event, stream)
    ask("", "cuEventRecord", second, stream)
    for flag in (0, 1, 2):
        ask(f"flags {flag}", "cuEventRecordWithFlags", event, stream, flag)
    ask("", "cuEventSynchronize", event)
    ask("", "cuEventSynchronize", second)
    ask("", "cuEventQuery", event)
    ask("itself", "cuEventElapsedTime_v2", ref(time), event, event, show=lambda: time.value)
    ask("itself", "cuEventElapsedTime", ref(time), event, event, show=lambda: time.value)
    ask("no timing", "cuEventElapsedTime_v2", ref(time), event, second)
    ask("one unrecorded", "cuEventElapsedTime_v2", ref(time), event, fresh)
    for flag in (0, 1, 5):
        ask(f"flags {flag}", "cuStreamWaitEvent", stream, event, flag)
    ask("", "cuEventDestroy_v2", event)
