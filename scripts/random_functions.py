"""Draws whole functions: chains of products and of what random_values.py does between
them, with loops, branches, gates, groups of rows and products that a step of training
has.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

from random_parts import Product, draw_schedule
from random_values import (FLOATS, LARGE_FLOATS, MIXES, Function, Value, binary, convert,
                           cut, draw_weighted, insert, is_whole, prune, quantize,
                           quantized_type, round_to, softmax, spread, there_and_back,
                           transpose, turn, unary, weights)
from variant_kinds import Operands, same

ROWS = [1, 7, 24, 33, 64, 96, 127, 128, 130, 160, 200]
WIDTHS = [32, 64, 96, 128, 128, 160, 192, 256, 256, 384]
# Of a product that no other one follows.
LAST_WIDTHS = WIDTHS + [8, 24, 40, 72, 100, 130, 257]
# Of rows in groups, whose scales lie by groups or by rows.
EXPERTS = [
    Operands("f8E4M3FN", "f8E4M3FN", "e8m0_t32@grouped_128x4", "e8m0_t32"),
    Operands("f4E2M1FN", "f4E2M1FN", "multi_float32_e4m3fn_t16@grouped_128x4",
             "multi_float32_e4m3fn_t16"),
    Operands("f4E2M1FN", "f4E2M1FN", "e8m0_t32@grouped_128x4", "e8m0_t32"),
    Operands("f8E4M3FN", "f8E4M3FN", "float32_t128@plain", "float32_t128_t128@plain"),
    same("f8E4M3FN", "float32_t0@plain"), same("bf16", "")]
# Element and specs of activations before and after pruning, and of weights beside them.
PRUNED = [("f8E4M3FN", "e8m0_t64", "e8m0_t32n2m4", "f8E4M3FN", "e8m0_t64"),
          ("f8E4M3FN", "float32_t128@plain", "float32_t64n2m4", "f8E4M3FN",
           "float32_t128_t128@plain"),
          ("bf16", "", "n2m4", "bf16", "")]
PAIRS = ("pairs epilogue(%g, %up) {\n    %d = arith.subf %up, %g : f32\n"
         "    blockscale.yield %d\n  }")


def multiply(function, a, b, like, clauses="", types=""):
    """A product of two operands, given as names and types."""
    rng = function.rng
    function.floats = LARGE_FLOATS
    if rng.random() < 0.5:
        clauses += " SCHEDULE"
    result = like.like(element=rng.choice(LARGE_FLOATS))
    return function.op(f"blockscale.matmul {a[0]}, {b[0]} {clauses} : {a[1]}, {b[1]}"
                       f"{types} -> {result.type}", result)


def draw_mix(function, value):
    """Of which the columns of a value are whole blocks; None where none is."""
    for _ in range(20):
        mix = draw_weighted(function.rng, MIXES)
        if is_whole(value, mix.a_spec, mix.b_spec):
            return mix
    return None


def draw_addend(function, like):
    """Clauses and types of a C of the shape of the result, now and then another value."""
    rng = function.rng
    others = [one for one in function.values if one.shape == like.shape]
    if rng.random() < 0.65 or not (others or "?" not in like.shape):
        return [], ""
    if others and rng.random() < 0.7:
        addend = rng.choice(others)
    else:
        addend = like.like(element=rng.choice(FLOATS))
        addend.name = function.argument(addend.type, "c")
    beta = [f"beta({function.argument('f32', 's')})"] if rng.random() < 0.4 else []
    return [*beta, f"c({addend.name})"], f", {addend.type}"


def draw_epilogue(function, like):
    """Clauses of a product, and the types of what they read."""
    rng = function.rng
    clauses, types = draw_addend(function, like)
    if rng.random() < 0.2:
        clauses.insert(0, f"alpha({function.argument('f32', 's')})")
    if rng.random() < 0.35:
        bias = f"tensor<{like.columns}x{rng.choice(FLOATS)}>"
        clauses.append(f"bias({function.argument(bias, 'v')})")
        types += f", {bias}"
    roll = rng.random()
    if roll < 0.35:
        name = "relu" if roll < 0.25 else rng.choice(["gelu", "silu"])
        clauses.append(f"activation({name})")
    elif roll < 0.45 and like.columns != "?" and like.columns % 2 == 0 and not types:
        clauses.append(PAIRS)
        like = like.like((*like.shape[:-1], like.columns // 2))
    return " ".join(clauses), types, like


def product(function, value, widths=tuple(WIDTHS)):
    """The value by weights, whose K are its columns."""
    rng, mix = function.rng, draw_mix(function, value)
    if not mix:
        return value
    n = rng.choice(widths)
    if "?" in value.shape and rng.random() < 0.2:
        n = "?"
    a = quantize(function, value, mix.a, mix.a_spec)
    b = weights(function, (*value.shape[:-2], n, value.columns), mix.b, mix.b_spec)
    clauses, types, like = draw_epilogue(function, value.like((*value.shape[:-1], n)))
    return multiply(function, a, b, like, clauses, types)


def gate(function, value):
    """Gate and up of the same rows, multiplied on the host."""
    rng, mix = function.rng, draw_mix(function, value)
    if not mix:
        return value
    like = value.like((*value.shape[:-1], rng.choice(WIDTHS)))
    a = quantize(function, value, mix.a, mix.a_spec)
    shape, both = (*value.shape[:-2], like.columns, value.columns), []
    for _ in range(2):
        b = weights(function, shape, mix.b, mix.b_spec)
        both.append(multiply(function, a, b, like))
    left, right = (convert(function, one, both[0].element) for one in both)
    op = rng.choice(["mulf", "subf", "maximumf"])
    return function.op(f"arith.{op} {left.name}, {right.name} : {left.type}", left)


def by_itself(function, value):
    """A matrix by itself, both turned before they are quantised."""
    mix = draw_weighted(function.rng, MIXES)
    turned = value.like(value.shape[::-1])
    if (not value.is_matrix or "?" in value.shape or "n2m4" in mix.b_spec
            or not is_whole(turned, mix.a_spec, mix.b_spec)):
        return value
    a = quantize(function, transpose(function, value), mix.a, mix.a_spec)
    b = quantize(function, transpose(function, value), mix.b, mix.b_spec)
    return multiply(function, a, b, value.like((value.columns, value.columns)))


def draw_ends(function, rows, count):
    """A constant with the ends of groups, some of them empty."""
    rng = function.rng
    ends = sorted(rng.choice([rng.randint(0, rows), 0, rows]) for _ in range(count))
    ends[-1] = rows
    name, type = function.new(), f"tensor<{count}xi32>"
    function.line(f"{name} = arith.constant dense<{ends}> : {type}")
    return f"{name} : {type}"


def experts(function, value):
    """Rows in groups, a matrix for each."""
    rng = function.rng
    mix = rng.choice(EXPERTS)
    if not value.is_matrix or "?" in value.shape or not is_whole(
            value, mix.a_spec, mix.b_spec):
        return value
    count, n = rng.choice([1, 2, 3, 5]), rng.choice(WIDTHS)
    clauses, types = f"groups({draw_ends(function, value.shape[0], count)}) ", ""
    a = quantize(function, value, mix.a, mix.a_spec,
                 clauses if "grouped" in mix.a_spec else "")
    type = quantized_type((count, n, value.columns), mix.b, mix.b_spec)
    b = function.argument(type, "w"), type
    if rng.random() < 0.3:
        types = f", tensor<{count}x{n}xf32>"
        clauses += f"bias({function.argument(types[2:], 'v')}) "
    clauses += rng.choice(["", "activation(relu)", ""])
    return multiply(function, a, b, value.like((value.shape[0], n)), clauses, types)


def compressed(function, value):
    """What is left of the value in pairs of four, by weights."""
    rng = function.rng
    if not value.is_matrix or value.columns == "?" or value.columns % 128:
        return value
    element, dense, sparse, w, w_spec = rng.choice(PRUNED)
    n = rng.choice(WIDTHS)
    name, type = quantize(function, prune(function, value), element, dense)
    s, s_type = function.new(), quantized_type(value.shape, element, sparse)
    function.line(f"{s} = blockscale.compress {name} : {type} to {s_type}")
    b = weights(function, (n, value.columns), w, w_spec)
    return multiply(function, (s, s_type), b, value.like((value.shape[0], n)))


def loop(function, value):
    """A product with as many columns as rows of K, twice."""
    mix = draw_mix(function, value)
    if not mix or not value.is_matrix or value.columns == "?":
        return value
    value = convert(function, value, function.rng.choice(LARGE_FLOATS))
    w = weights(function, (value.columns, value.columns), mix.b, mix.b_spec)
    low, high, step = (function.new() for _ in range(3))
    for name, number in ((low, 0), (high, 2), (step, 1)):
        function.line(f"{name} = arith.constant {number} : index")
    inner, kept = value.like(name=function.new()), list(function.values)
    result = value.like(name=function.new())
    function.line(f"{result.name} = scf.for %i{result.name[1:]} = {low} to {high} step "
                  f"{step} iter_args({inner.name} = {value.name}) -> ({value.type}) {{")
    made = multiply(function, quantize(function, inner, mix.a, mix.a_spec), w, value,
                    function.rng.choice(["", "activation(relu)"]))
    made = convert(function, made, value.element)
    function.line(f"scf.yield {made.name} : {value.type}\n  }}")
    function.values = [*kept, result]
    return result


def branch(function, value):
    """One of two, as an argument says."""
    kept, result = list(function.values), value.like(name=function.new())
    function.line(f"{result.name} = scf.if {function.argument('i1', 'f')} -> "
                  f"({value.type}) {{")
    for step, end in ((binary, "  } else {"), (unary, "  }")):
        made = convert(function, step(function, value), value.element)
        function.line(f"scf.yield {made.name} : {value.type}\n{end}")
        function.values = list(kept)
    function.values.append(result)
    return result


STEPS = [(4, unary), (5, binary), (3, spread), (3, round_to), (2, turn), (2, cut),
         (1, insert), (1, softmax), (2, there_and_back), (1, prune), (1, loop),
         (1, branch), (1, gate), (1, by_itself), (2, experts), (1, compressed)]


def draw_steps(function, value):
    for _ in range(function.rng.choice([0, 0, 1, 2])):
        value = draw_weighted(function.rng, STEPS)(function, value)
    return value


def draw_argument(function, rows):
    """The first value: a matrix or a batch, whose rows the types have or not."""
    rng = function.rng
    is_dynamic = rng.random() < 0.4
    outer = (rng.choice([2, 3]),) if rng.random() < 0.15 else ()
    columns = "?" if is_dynamic and rng.random() < 0.2 else rng.choice(WIDTHS)
    x = Value("", (*outer, "?" if is_dynamic else rows, columns), rng.choice(FLOATS))
    x.name = function.argument(x.type, "x")
    function.values.append(x)
    return x


def draw_results(function, value):
    """Names and types of what is returned: numbers or codes, and now and then a value
    on the way."""
    rng, results = function.rng, []
    mix = draw_weighted(rng, [one for one in MIXES if one[1].a_spec])
    if rng.random() < 0.3 and is_whole(value, mix.a_spec):
        results.append(quantize(function, value, mix.a, mix.a_spec))
    else:
        results.append((value.name, value.type))
    if rng.random() < 0.3:
        other = rng.choice(function.values)
        results.append((other.name, other.type))
    return results


def draw_options(function, chip, rows):
    rng = function.rng
    options = [f"--target={chip}", f"--m={rows}",
               f"--num-sms={rng.choice([16, 17, 33, 148])}",
               f"--seed={rng.randrange(1 << 32)}",
               f"--completion={rng.choice(['immediate', 'random', 'latest'])}"]
    if rng.random() < 0.6:
        options.append("--quantize-on-device")
    if rng.random() < 0.25:
        options.append(f"--dispatch-rows={rng.choice(['auto', '16,64', '8', '100'])}")
    # Sums under scales that follow from the data are rounded with exact data, too, and
    # lie in the middle between codes (docs/whole-functions.md).
    options.append("--data=random" if function.has_found_scales
                   else f"--data={rng.choice(['exact', 'both'])}")
    return options


def draw_function(rng, chip):
    function = Function(rng)
    rows = rng.choice(ROWS)
    value = draw_argument(function, rows)
    for left in reversed(range(rng.choice([1, 1, 2, 2, 3]))):
        value = draw_steps(function, value)
        value = product(function, value, WIDTHS if left else LAST_WIDTHS)
    results = draw_results(function, draw_steps(function, value))
    arguments = ", ".join(f"{name}: {type}" for name, type in function.arguments)
    types = ", ".join(type for _, type in results)
    made = Product(chip, draw_schedule(rng, chip), draw_options(function, chip, rows))
    made.text = (f"func.func @f({arguments}) -> ({types}) {{\n"
                 + "\n".join(function.lines)
                 + f"\n  return {', '.join(name for name, _ in results)} : {types}\n}}\n")
    return made
