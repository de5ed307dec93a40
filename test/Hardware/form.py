"""A form: one instruction, or a few, applied to the same operands in each thread.

The code names its operands {a}, {b}, ... and its result {d}; {o} is the address of
the thread's own record of the output for forms that store their results
themselves, {s} that of 32 bytes of shared memory of its own, {id} a number that
is nowhere else in the module, for labels.
"""

import dataclasses


@dataclasses.dataclass
class Form:
    name: str
    code: str
    pools: tuple  # of each operand
    out: object  # 'b16', 'b32', 'b64' or 'pred': {d}; a number: bytes at {o}
    group: str = "exact"  # what its comparison asks; see compare.py
    count: int = 8192
    apart: bool = False  # not in a kernel with others, which may be refused
    warp: bool = False  # operands belong to warps: nobody leaves early


def size_of(form):
    if isinstance(form.out, int):
        return form.out
    return {"b16": 2, "b32": 4, "b64": 8, "pred": 1}[form.out]
