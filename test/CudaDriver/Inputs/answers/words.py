"""Section words of ask.py: values that streams write and wait for.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

from common import *


def words():
    retained()
    mem, stream = allocated(), made("cuStreamCreate", 1)
    host = (U32 * 4)()
    room = lambda offset: U64(mem.value + offset)
    for suffix in ("", "_v2"):
        for flags in (0, 1, 2):
            ask(f"{flags}", "cuStreamWriteValue32" + suffix, stream, mem, 7, flags)
            ask(f"{flags}", "cuStreamWriteValue64" + suffix, stream, mem, U64(7), flags)
        for flags, value in ((0, 5), (1, 7), (2, 7), (3, 8), (1 << 30, 5), (1 << 31, 5)):
            ask(f"{flags}", "cuStreamWaitValue32" + suffix, stream, mem, value, U32(flags))
            ask(f"{flags}", "cuStreamWaitValue64" + suffix, stream, mem, U64(value), U32(flags))
        ask("odd address", "cuStreamWriteValue32" + suffix, stream, room(2), 7, 0)
        ask("odd address", "cuStreamWriteValue64" + suffix, stream, room(4), U64(7), 0)
        ask("odd address", "cuStreamWaitValue32" + suffix, stream, room(2), 7, 0)
        ask("null", "cuStreamWriteValue32" + suffix, stream, U64(0), 7, 0)
        ask("any host", "cuStreamWriteValue32" + suffix, stream, U64(C.addressof(host)), 7, 0)
    row = structure("Row", "I:operation I:pad Q:address Q:value I:flags I:pad2 Q:alias Q:more")
    def batch(label, *rows, flags=0):
        kept = array(row, *rows)
        ask(label, "cuStreamBatchMemOp_v2", stream, len(rows), kept, flags)
    batch("", row(2, 0, mem.value, 9), row(1, 0, mem.value, 9))
    batch("64 bits", row(5, 0, mem.value, 9), row(4, 0, mem.value, 9))
    batch("barrier", row(6, 0))
    batch("flush", row(3, 0))
    batch("operation 9", row(9, 0, mem.value, 9))
    batch("flags", row(2, 0, mem.value, 9), flags=1)
    batch("none")
    batch("257", *[row(2, 0, mem.value, 9)] * 257)
    value = U32()
    ask("", "cuMemcpyDtoH_v2", ref(value), mem, Size(4), show=lambda: value.value)
    ask("", "cuStreamSynchronize", stream)
    ask("default stream", "cuStreamWriteValue32_v2", None, mem, 3, 0)
    ask("", "cuCtxSynchronize")
