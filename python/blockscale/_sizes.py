# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Sizes that a call tells: expressions of names, such as 128*((s0 + 127)//128), as
producers print them."""

import ast
import functools
from dataclasses import dataclass

from ._errors import Refused


@dataclass(frozen=True)
class Size:
    """An expression of sizes with names. Two of the same text are equal."""

    text: str

    def __str__(self):
        return self.text


# Name: what it does with two numbers, the op of MLIR's arith on indices.
OPERATIONS = {
    "+": (lambda x, y: x + y, "addi"), "-": (lambda x, y: x - y, "subi"),
    "*": (lambda x, y: x * y, "muli"), "//": (lambda x, y: x // y, "floordivsi"),
    "%": (lambda x, y: x % y, "remui"), "Max": (max, "maxsi"),
    "Min": (min, "minsi")}
SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//",
         ast.Div: "//", ast.Mod: "%"}
# What sympy prints as a call.
CALLS = {"Max": "Max", "Min": "Min", "Mod": "%", "PythonMod": "%",
         "FloorDiv": "//", "CleanDiv": "//"}


def size_of(size):
    """A size of a traced tensor: a number, or a Size if a call tells it."""
    if isinstance(size, int):
        return size
    text = str(size)
    return int(text) if text.lstrip("-").isdigit() else Size(text)


def known(sizes):
    """Whether all are numbers."""
    return all(isinstance(size, int) for size in sizes)


@functools.lru_cache(None)
def tree_of(size):
    """A Size or a number as nested tuples: (operation, left, right), a name or a
    number."""
    if isinstance(size, int):
        return size
    try:
        return read(ast.parse(size.text, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise Refused(f"the size '{size.text}' is no expression that is read "
                      "here") from error


def read(node):
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return ("-", 0, read(node.operand))
    if isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
        return (SIGNS[type(node.op)], read(node.left), read(node.right))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and \
            isinstance(node.right, ast.Constant) and node.right.value in (2, 3, 4):
        base = read(node.left)
        return functools.reduce(lambda x, y: ("*", x, y), [base] * node.right.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and \
            node.func.id in CALLS and len(node.args) >= 2:
        sign = CALLS[node.func.id]
        return functools.reduce(lambda x, y: (sign, x, y), map(read, node.args))
    raise ValueError(ast.dump(node))


def names_of(tree):
    if isinstance(tree, tuple):
        return names_of(tree[1]) | names_of(tree[2])
    return {tree} if isinstance(tree, str) else set()


def value_of(tree, names):
    """The number that a tree is, of numbers by name."""
    if isinstance(tree, tuple):
        left, right = (value_of(one, names) for one in tree[1:])
        return OPERATIONS[tree[0]][0](left, right)
    return names[tree] if isinstance(tree, str) else tree


def factors(size):
    """A size as a number and the sorted factors with names: those of a product,
    all else is one factor."""
    number, found = 1, []

    def walk(tree):
        nonlocal number
        if isinstance(tree, int):
            number *= tree
        elif isinstance(tree, tuple) and tree[0] == "*":
            walk(tree[1])
            walk(tree[2])
        else:
            found.append(str(tree))
    walk(tree_of(size))
    return number, tuple(sorted(found))


def product(sizes):
    """Of sizes, again a size."""
    number, rest = 1, []
    for size in sizes:
        if isinstance(size, int):
            number *= size
        else:
            rest.append(f"({size.text})")
    if not rest or number == 0:
        return number
    return Size("*".join([str(number)] * (number != 1) + rest))


def solution(size):
    """(name, factor, offset) of a size that is factor * name + offset; None for
    any other."""
    tree = tree_of(size)
    names = names_of(tree)
    if len(names) != 1:
        return None
    name, = names
    try:
        offset = value_of(tree, {name: 0})
        factor = value_of(tree, {name: 1}) - offset
        fits = all(value_of(tree, {name: at}) == factor * at + offset
                   for at in (2, 3, 5, 7, 64, 127, 1000, 4099))
    except ZeroDivisionError:
        return None
    return (name, factor, offset) if fits and factor > 0 else None


def check_call(arguments, shapes, limits):
    """Refuses sizes that contradict each other or what their producer says of them.

    arguments: (name, sizes) of each; shapes: the sizes that there are; limits: by
    name of a size, its least and its largest number (None for none).
    """
    names = {}
    for (_, wanted), found in zip(arguments, shapes):
        for size, number in zip(wanted, found):
            solved = None if isinstance(size, int) else solution(size)
            if solved and solved[0] not in names:
                names[solved[0]] = (number - solved[2]) // solved[1]
    for (argument, wanted), found in zip(arguments, shapes):
        if len(wanted) != len(found):
            raise Refused(f"'{argument}' has {len(found)} dimensions, expected "
                          f"{len(wanted)}")
        for at, (size, number) in enumerate(zip(wanted, found)):
            if not names_of(tree_of(size)) <= set(names):
                continue
            value = value_of(tree_of(size), names)
            if value != number:
                raise Refused(
                    f"'{argument}' has size {number} along dimension {at}, expected "
                    + (f"{value}" if isinstance(size, int) else
                       f"{size.text} = {value}"))
    for name, (least, most) in limits.items():
        number = names.get(name)
        if number is not None and (number < least or
                                   most is not None and number > most):
            raise Refused(f"the size '{name}' is {number}; the program was made "
                          f"for {least} to " + ("any" if most is None else
                                                str(most)))
