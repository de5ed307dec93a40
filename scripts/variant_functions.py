"""Functions of one op each, as MLIR text, of which variants.py makes kernels.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

# Each two columns make one of D: SwiGLU has no exact results, a difference has.
PAIRS = """pairs epilogue(%x, %up) {
    %1 = arith.subf %up, %x : f32
    blockscale.yield %1
  }"""

# Of products whose kernels need them.
KNOWN_ROWS = 300


def tensor(rows, k, element, spec):
    """A spec with "@" names its layout behind it, an element the order of data."""
    spec, _, layout = spec.partition("@")
    element, _, order = element.partition("@")
    text = f', "{spec}", layout = {layout or "tiled_128x4"}' if spec else ""
    text += f", order = {order}" if order else ""
    return f"!blockscale.tensor<{rows}x{k}x{element}{text}>"


def sum_type(operands, result_type):
    """Sums of integers stay exact, but for those that float scales multiply."""
    is_exact = "i8" in operands.a and not operands.b_spec
    return "i32" if is_exact else result_type


def groups_of(groups):
    """An argument with the ends of groups, the clause of ops that read it, and the
    layout of scales by groups."""
    if not groups:
        return "", "", ""
    ends = f"tensor<{groups}xi32>"
    return f", %ends: {ends}", f"groups(%ends : {ends}) ", "@grouped_128x4"


def product(name, a, b, result, schedule, clause="", more=""):
    """A function that multiplies; `more` are arguments that `clause` reads."""
    if schedule:
        clause += f"schedule(#blockscale.schedule<{schedule}>) "
    return (f"func.func @{name}(%a: {a}, %b: {b}{more}) -> {result} {{\n"
            f"  %d = blockscale.matmul %a, %b {clause}: {a}, {b} -> {result}\n"
            f"  return %d : {result}\n}}\n")


def function_along_k(name, operands, m, n, schedule, groups, result_type):
    ends, clause, apart = groups_of(groups)

    def side(rows, element, spec):
        has_tiles = spec and "@" not in spec
        return tensor(rows, "?", element, spec + apart if has_tiles else spec)
    return product(name, side(m, operands.a, operands.a_spec),
                   side(n, operands.b, operands.b_spec),
                   f"tensor<{groups}x{m}x{n}x{sum_type(operands, result_type)}>",
                   schedule, clause, ends)


def function_of_known_rows(name, operands, n, k, schedule, *_):
    return product(name, tensor(KNOWN_ROWS, k, operands.a, operands.a_spec),
                   tensor(n, k, operands.b, operands.b_spec),
                   f"tensor<{KNOWN_ROWS}x{n}x{sum_type(operands, 'f32')}>", schedule)


def function_of_late_k(name, operands, m, n, schedule, *_):
    return product(name, tensor(m, "?", operands.a, operands.a_spec),
                   tensor(n, "?", operands.b, operands.b_spec),
                   f"tensor<{m}x{n}xf32>", schedule)


def function_with_counts(name, operands, n, k, schedule, matrices, result_type):
    """Matrices of A, of which only some rows are there."""
    counts = f"tensor<{matrices}xi32>"
    return product(name, tensor(f"{matrices}x?", k, operands.a, operands.a_spec),
                   tensor(f"{matrices}x{n}", k, operands.b, operands.b_spec),
                   f"tensor<{matrices}x?x{n}x{sum_type(operands, result_type)}>",
                   schedule, f"groups(%counts : {counts}) ", f", %counts: {counts}")


def function_that_gathers(name, *what):
    return function(name, *what, of_numbers=True)


def function(name, operands, n, k, schedule, groups, result_type,
             of_numbers=False):
    is_apart = groups and operands.a_spec and "@" not in operands.a_spec
    layout = "@grouped_128x4" if is_apart else ""
    more, clause, _ = groups_of(groups)
    if of_numbers:
        more += ", %rows: tensor<?xi32>"
        clause += "rows(%rows : tensor<?xi32>) "
    return product(name, tensor("?", k, operands.a, operands.a_spec + layout),
                   tensor(f"{groups}x{n}" if groups else n, k, operands.b,
                          operands.b_spec),
                   f"tensor<?x{n}x{sum_type(operands, result_type)}>", schedule,
                   clause, more)


def function_that_adds(name, operands, n, k, schedule, _, result_type):
    a, b = (tensor(rows, k, *what) for rows, what in (
        ("?", (operands.a, operands.a_spec)), (n, (operands.b, operands.b_spec))))
    # C is of another type than D.
    addend = {"f32": "bf16", "bf16": "f16", "f16": "f32"}[result_type]
    c, d = (f"tensor<?x{n}x{element}>" for element in (addend, result_type))
    return (f"func.func @{name}(%a: {a}, %b: {b}, %c: {c}) -> {d} {{\n"
            f"  %d = blockscale.matmul %a, %b c(%c) "
            f"schedule(#blockscale.schedule<{schedule}>) : {a}, {b}, {c} -> {d}\n"
            f"  return %d : {d}\n}}\n")


def quantize(value, what, shape, groups=0, has_matrices=False):
    """The op and the end of its function, what it needs as an argument, and the type
    of its result. Scales that lie by rows know no groups, nor do those of groups that
    have a matrix each."""
    scale = ""
    _, clause, layout = groups_of(groups)
    if has_matrices or "@" in what.spec:
        clause = layout = ""
    words = what.words
    if what.gives or what.spec.startswith("multi") and not what.finds:
        factor = f"tensor<{groups}xf32>" if has_matrices else "tensor<f32>"
        scale, words = f", %t: {factor}", f"tensor_scale(%t : {factor}) {words}"
    result = tensor(*shape, what.element, what.spec + layout)
    text = (f"  %q = blockscale.quantize {value} {clause}{words} : "
            f"tensor<{shape[0]}x{shape[1]}x{what.x}> to {result}\n"
            f"  return %q : {result}\n}}\n")
    return text, scale, result


def function_that_quantizes(name, what, _, k, *__):
    text, scale, result = quantize("%x", what, ("?", k))
    return (f"func.func @{name}(%x: tensor<?x{k}x{what.x}>{scale}) -> {result} {{\n"
            + text)


def function_that_quantizes_columns(name, what, _, k, *__):
    text, scale, result = quantize("%y", what, ("?", k))
    x, y = f"tensor<{k}x?x{what.x}>", f"tensor<?x{k}x{what.x}>"
    return (f"func.func @{name}(%x: {x}{scale}) -> {result} {{\n"
            f"  %c = arith.constant 1 : index\n"
            f"  %n = tensor.dim %x, %c : {x}\n"
            f"  %e = tensor.empty(%n) : {y}\n"
            f"  %y = linalg.transpose ins(%x : {x}) outs(%e : {y}) "
            f"permutation = [1, 0]\n" + text)


def function_that_quantizes_both_ways(name, what, _, k, *__):
    rows, columns = what
    one, scale, result = quantize("%x", rows, ("?", k))
    two, scale_too, transposed = quantize("%y", columns, (k, "?"))
    one, two = (text.splitlines()[0] for text in (one, two))
    x, y = f"tensor<?x{k}x{rows.x}>", f"tensor<{k}x?x{rows.x}>"
    return (f"func.func @{name}(%x: {x}{scale or scale_too}) -> "
            f"({result}, {transposed}) {{\n"
            f"  %c = arith.constant 0 : index\n"
            f"  %n = tensor.dim %x, %c : {x}\n"
            f"  %e = tensor.empty(%n) : {y}\n"
            f"  %y = linalg.transpose ins(%x : {x}) outs(%e : {y}) "
            f"permutation = [1, 0]\n{one}\n{two.replace('%q', '%r')}\n"
            f"  return %q, %r : {result}, {transposed}\n}}\n")


def function_that_dequantizes(name, what, _, k, *__):
    a, d = tensor("?", k, what.element, what.spec), f"tensor<?x{k}x{what.x}>"
    return (f"func.func @{name}(%a: {a}) -> {d} {{\n"
            f"  %d = blockscale.dequantize %a : {a} to {d}\n  return %d : {d}\n}}\n")


def function_that_adds_up(name, what, _, k, *__):
    a = tensor("?", k, what.element, what.spec)
    tiles = -(-k // what.tile) if what.tile else 1
    tile = f" tile = {what.tile}" if what.tile else ""
    return (f"func.func @{name}(%a: {a}) -> tensor<{tiles}x?xf32> {{\n"
            f"  %d = blockscale.tile_sums %a{tile} : {a} to tensor<{tiles}x?xf32>\n"
            f"  return %d : tensor<{tiles}x?xf32>\n}}\n")


def function_that_moves_scales(name, layouts, *rest):
    return function_that_moves_parts(
        name, [("f8E4M3FN", f"e8m0_t32@{one}") for one in layouts], *rest)


def function_that_moves_parts(name, both, _, k, *__):
    """Elements and specs before and behind, with their orders and layouts."""
    a, d = (tensor("?", k, *one) for one in both)
    return (f"func.func @{name}(%a: {a}) -> {d} {{\n"
            f"  %d = blockscale.relayout %a : {a} to {d}\n  return %d : {d}\n}}\n")


def function_that_changes_sparsity(name, what, _, k, *__):
    if what.op == "prune":
        x = f"tensor<?x{k}x{what.element}>"
        return (f"func.func @{name}(%x: {x}) -> {x} {{\n"
                f"  %d = blockscale.prune %x keep {what.dense} : {x}\n"
                f"  return %d : {x}\n}}\n")
    a, d = (tensor("?", k, what.element, spec) for spec in (what.dense, what.sparse))
    if what.op == "densify":
        a, d = d, a
    return (f"func.func @{name}(%a: {a}) -> {d} {{\n"
            f"  %d = blockscale.{what.op} %a : {a} to {d}\n  return %d : {d}\n}}\n")


def function_with_quantized_result(name, one, n, k, schedule, groups, _, clause="",
                                   is_counted=False):
    """With counts there are as many matrices as groups, of which some rows are there."""
    operands, what = one
    ends, of_groups, layout = groups_of(groups)
    if is_counted or "@" in operands.a_spec:
        layout = ""
    rows = f"{groups}x?" if is_counted else "?"
    a = tensor(rows, k, operands.a, operands.a_spec + layout)
    b = tensor(f"{groups}x{n}" if groups else n, k, operands.b, operands.b_spec)
    columns = n // 2 if clause else n
    scale, result = "", f"tensor<{rows}x{columns}xf32>"
    text = f"  return %d : {result}\n}}"
    sums = result
    if what:
        text, scale, result = quantize("%d", what, (rows, columns), groups, is_counted)
        sums = f"tensor<{rows}x{columns}x{what.x}>"
    wish = f"schedule(#blockscale.schedule<{schedule}>) " if schedule else ""
    return (f"func.func @{name}(%a: {a}, %b: {b}{ends}{scale}) -> {result} {{\n"
            f"  %d = blockscale.matmul %a, %b {of_groups}{clause}{wish}: {a}, {b} -> "
            f"{sums}\n" + text)


def function_along_k_with_quantized_result(name, one, m, n, schedule, groups, _):
    operands, what = one
    ends, clause, layout = groups_of(groups)
    a, b = (tensor(rows, "?", element, spec + layout) for rows, element, spec in [
        (m, operands.a, operands.a_spec), (n, operands.b, operands.b_spec)])
    text, scale, result = quantize("%d", what, (f"{groups}x{m}", n), groups,
                                   has_matrices=True)
    return (f"func.func @{name}(%a: {a}, %b: {b}{ends}{scale}) -> {result} {{\n"
            f"  %d = blockscale.matmul %a, %b {clause}"
            f"schedule(#blockscale.schedule<{schedule}>) : {a}, {b} -> "
            f"tensor<{groups}x{m}x{n}x{what.x}>\n" + text)


def function_with_pairs(*what, **form):
    return function_with_quantized_result(*what, clause=PAIRS + " ", **form)


def function_with_counted_result(*what):
    return function_with_quantized_result(*what, is_counted=True)
