# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What to compile, said without MLIR."""

import re
from dataclasses import dataclass

from ._checks import choice, flag, text, whole
from ._compiler_calls import compiler, has_compiler
from ._errors import Refused
from ._formats import ELEMENTS, format_named

RESULTS = ("f32", "f16", "bf16", "i32")
ACTIVATIONS = (None, "relu", "gelu", "silu")
BIASES = (None, "row", "column")
ORDERS = ("k_major", "mn_major")
LAYOUTS = ("tiled_128x4", "plain", "tiled_128x16")


@dataclass(frozen=True)
class Spec:
    """MLIR text or bytecode, and the name that diagnostics give it."""

    mlir: str | bytes
    name: str = ""


def parse(mlir, name="<mlir>"):
    """A spec of MLIR text or bytecode that somebody else wrote."""
    if not isinstance(mlir, bytes):
        text("mlir", mlir)
    return Spec(mlir, text("name", name))


def extent(name, size):
    """A size as types print it: "?" for one that a launch says."""
    if size is None or isinstance(size, str) and size == name:
        return "?"
    if isinstance(size, str):
        raise Refused(f"{name} = '{size}': a dynamic size is written "
                      f"{name}='{name}' or None")
    return str(whole(name, size, 1))


def layouts_of(type_a, a, type_b, b):
    """How kernels for NVIDIA's chips read the scales of two operands, whose types are
    MLIR's. The compiler is asked where one has others than the other."""
    def has_tiles(format_):
        return format_.scale is not None and not format_.by_epilogue

    if a == b or not (has_tiles(a) or has_tiles(b)) or not has_compiler():
        return "tiled_128x4", "tiled_128x4"
    return compiler().scale_layouts(type_a, type_b)


def matmul(M, N, K, a, b, out="f32", batch=None, alpha=False, beta=False,
           bias=None, activation=None, name="matmul", a_order="k_major",
           b_order="k_major", layout=None):
    """The product D[m, n] = activation(alpha * sum_k A[m, k] * B[n, k] +
    beta * C[m, n] + bias).

    M, N, K, batch: sizes; "M" (or None) leaves M to each launch, and so on.
        Without `batch` there is one product; batch="batch" is dynamic.
    a, b: names of formats ("nvfp4", "mxfp8", ...) or `Format` values.
    out: element type of D: "f32", "f16", "bf16" or "i32".
    alpha, beta: whether launches give these factors; beta brings C, of f32.
    bias: None, "row" (one f32 per m) or "column" (one per n).
    activation: None, "relu", "gelu" (with the error function) or "silu".
    name: of the function, a C identifier.
    a_order, b_order: "k_major", or "mn_major" for elements of 8 or 16 bits that
        lie along M or N in memory.
    layout: of the scales in memory. By default it is that which kernels for NVIDIA's
        chips read of each operand: "tiled_128x4", or "plain" where no instruction
        reads its scales beside the other one's elements and scales, so that sums are
        multiplied by them. "plain" of all is for AWS's chips, and "tiled_128x16" what
        sm_107a reads of `a`: those of `b` are "tiled_128x4" then.

    Raises Refused for what cannot be written so; what no chip has is refused by
    `compile`.
    """
    choice("a_order", a_order, ORDERS)
    choice("b_order", b_order, ORDERS)
    choice("layout", layout, (None, *LAYOUTS))
    alpha, beta = flag("alpha", alpha), flag("beta", beta)
    choice("out", out, RESULTS)
    choice("bias", bias, BIASES)
    choice("activation", activation, ACTIVATIONS)
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text("name", name)):
        raise Refused(f"name = {name!r}: expected a C identifier")
    m, n, k = extent("M", M), extent("N", N), extent("K", K)
    lead = "" if batch is None else extent("batch", batch) + "x"

    def operand(format_, rows, order, layout):
        scales = f', "{format_.spec}"' if format_.spec else ""
        # Beside metadata it is the layout of those.
        has_layout = format_.sparsity is not None or not format_.by_epilogue
        if format_.spec and layout != "plain" and has_layout:
            scales += f", layout = {layout}"
        return (f"!blockscale.tensor<{lead}{rows}x{k}x"
                f"{ELEMENTS[format_.element][0]}{scales}"
                f"{', order = mn_major' if order == 'mn_major' else ''}>")

    a, b = format_named(a), format_named(b)
    layout_b = "tiled_128x4" if layout == "tiled_128x16" else layout
    if layout is None:
        layout, layout_b = layouts_of(operand(a, m, "k_major", "plain"), a,
                                      operand(b, n, "k_major", "plain"), b)
    result = f"tensor<{lead}{m}x{n}x{out}>"
    arguments = ["%a: !a", "%b: !b"]
    clauses, types = "", ["!a", "!b"]
    for factor, wanted in (("alpha", alpha), ("beta", beta)):
        if wanted:
            arguments.append(f"%{factor}: f32")
            clauses += f" {factor}(%{factor})"
    if beta:
        types.append(f"tensor<{lead}{m}x{n}xf32>")
        arguments.append(f"%c: {types[-1]}")
        clauses += " c(%c)"
    if bias:
        types.append(f"tensor<{m if bias == 'row' else n}xf32>")
        arguments.append(f"%bias: {types[-1]}")
        clauses += " bias(%bias) row" if bias == "row" else " bias(%bias)"
    if activation:
        clauses += f" activation({activation})"
    return Spec(
        f"!a = {operand(a, m, a_order, layout)}\n"
        f"!b = {operand(b, n, b_order, layout_b)}\n"
        f"func.func @{name}({', '.join(arguments)}) -> {result} {{\n"
        f"  %d = blockscale.matmul %a, %b{clauses} : {', '.join(types)}"
        f" -> {result}\n  return %d : {result}\n}}\n", name)
