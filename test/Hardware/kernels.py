"""PTX of forms: kernels whose threads each apply a few forms to their operands."""

import dataclasses

from form import size_of
from values import cases, width

BLOCK = 128
ALIGN = 256
SHARED = 8192
HEADER = """.version 9.0
.target sm_90a
.address_size 64
.shared .align 1024 .b8 tiles[%d];
""" % SHARED


def aligned(size):
    return (size + ALIGN - 1) // ALIGN * ALIGN


@dataclasses.dataclass
class Kernel:
    name: str
    forms: list
    pools: tuple
    count: int
    offsets: list = dataclasses.field(default_factory=list)
    size: int = 0

    def place(self):
        self.offsets, self.size = [], 0
        for form in self.forms:
            self.offsets.append(self.size)
            self.size += aligned(size_of(form) * self.count)


def columns_of(pools, count):
    """The operands of a set of pools, one column after the other, and the count."""
    columns = cases(pools, count)
    return columns, len(columns[0])


def packed(columns):
    pieces = []
    for column in columns:
        data = column.tobytes()
        pieces.append(data + bytes(aligned(len(data)) - len(data)))
    return b"".join(pieces)


def operand_names(count):
    return ["a", "b", "c", "e"][:count] if count <= 4 else []


def text_of(kernel, first_line):
    """The kernel's lines and which of them belongs to which form."""
    lines = [f".visible .entry {kernel.name}(.param .u64 source, .param .u64 target)",
             "{", ".reg .b64 %in, %out, %at, %wide; .reg .b32 %i, %j, %own, %warp;"]
    widths = [width(pool) for pool in kernel.pools]
    for index, reg in enumerate(widths):
        lines.append(f".reg .{reg} %x{index};")
    lines += ["ld.param.u64 %in, [source]; ld.param.u64 %out, [target];",
              "cvta.to.global.u64 %in, %in; cvta.to.global.u64 %out, %out;",
              f"mov.u32 %i, %ctaid.x; mov.u32 %j, %tid.x; "
              f"mad.lo.u32 %i, %i, {BLOCK}, %j;",
              "mov.u32 %own, tiles; shr.u32 %warp, %j, 5; "
              "mad.lo.u32 %warp, %warp, 1024, %own; "
              "mad.lo.u32 %own, %j, 32, %own; add.u32 %own, %own, 4096;"]
    offset = 0
    for index, reg in enumerate(widths):
        size = int(reg[1:]) // 8
        lines.append(f"mul.wide.u32 %at, %i, {size}; add.u64 %at, %at, %in; "
                     f"ld.global.{reg} %x{index}, [%at+{offset}];")
        offset += aligned(size * kernel.count)
    owners = {}
    for number, (form, offset) in enumerate(zip(kernel.forms, kernel.offsets)):
        size = size_of(form)
        out = form.out if isinstance(form.out, str) else "b32"
        names = {"s": "%own", "w": "%warp", "o": "%at", "d": "%d",
                 "id": f"_{kernel.name}_{number}"}
        for index in range(len(widths)):
            names[f"x{index}"] = f"%x{index}"
        names.update(zip(operand_names(len(widths)),
                         (f"%x{i}" for i in range(len(widths)))))
        body = (f"{{ .reg .{out} %d; mul.wide.u32 %at, %i, {size}; "
                f"add.u64 %at, %at, %out; add.u64 %at, %at, {offset}; "
                + form.code.format(**names))
        if form.out == "pred":
            body += " selp.b32 %j, 1, 0, %d; st.global.b8 [%at], %j;"
        elif isinstance(form.out, str):
            body += f" st.global.{out} [%at], %d;"
        owners[first_line + len(lines)] = form.name
        lines.append(body + " }")
    lines += ["ret;", "}"]
    return lines, owners


def group(forms, prefix, most):
    """Kernels of forms with the same operands."""
    sets = {}
    for form in forms:
        sets.setdefault((form.pools, form.count, form.apart), []).append(form)
    kernels = []
    for (pools, count, _), members in sets.items():
        real = 65536 if len(pools) == 1 and width(pools[0]) == "b16" else count
        for at in range(0, len(members), most):
            kernels.append(Kernel(f"{prefix}_{len(kernels)}",
                                  members[at:at + most], pools, real))
    return kernels


def module(kernels):
    lines, owners = HEADER.splitlines(), {}
    for kernel in kernels:
        kernel.place()
        text, own = text_of(kernel, len(lines) + 1)
        owners.update(own)
        lines += text
    return "\n".join(lines) + "\n", owners
