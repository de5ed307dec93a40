# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Functions as MLIR text, op by op."""

import math
import re
import struct
from dataclasses import dataclass

from ._errors import Refused
from ._sizes import (OPERATIONS, factors, known, names_of, product, size_of,
                     solution, tree_of)

# By the end of a dtype's name; packed pairs are bytes until they are unpacked.
ELEMENTS = {"float32": "f32", "bfloat16": "bf16", "float16": "f16",
            "float8_e4m3fn": "f8E4M3FN", "float8_e5m2": "f8E5M2",
            "float8_e8m0fnu": "f8E8M0FNU", "float4_e2m1fn_x2": "i8",
            "uint8": "i8", "int8": "i8", "int16": "i16", "int32": "i32",
            "int64": "i64", "bool": "i1"}
PAIRS = "float4_e2m1fn_x2"
UNSIGNED = ("uint8", "bool", PAIRS)


@dataclass(frozen=True)
class Type:
    """A tensor's type; a Size for a size that a call tells. Of integers MLIR does not
    say whether they have a sign: is_unsigned."""

    shape: tuple
    element: str
    packed: bool = False
    is_unsigned: bool = False

    def __str__(self):
        sizes = "".join(f"{size if isinstance(size, int) else '?'}x"
                        for size in self.shape)
        return f"tensor<{sizes}{self.element}>"

    def like(self, shape=None, element=None):
        same = element in (None, self.element)
        return Type(self.shape if shape is None else tuple(shape),
                    element or self.element,
                    is_unsigned=self.is_unsigned if same else element == "i1")


@dataclass(frozen=True)
class Value:
    name: str
    type: Type


def element_of(dtype, what):
    name = str(dtype).removeprefix("torch.")
    if name not in ELEMENTS:
        raise Refused(f"{what} has elements of {name}; taken are "
                      + ", ".join(ELEMENTS))
    return ELEMENTS[name]


def tensor_type(tensor, what):
    """The type of a traced tensor."""
    dtype = str(tensor.dtype).removeprefix("torch.")
    return Type(tuple(size_of(size) for size in tensor.shape),
                element_of(dtype, f"'{what}'"), dtype == PAIRS, dtype in UNSIGNED)


def constant(number, element):
    """A number as MLIR writes it, bit for bit in f32 and what is narrower."""
    if element == "i1":
        return "true" if number else "false"
    if element.startswith(("i", "ui")):
        return str(int(number))
    if element == "f64":
        return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"
    if math.isfinite(number):
        return f"{float(number):.9e}"
    bits = {"f32": ("7F800000", "FF800000", "7FC00000"),
            "bf16": ("7F80", "FF80", "7FC0"),
            "f16": ("7C00", "FC00", "7E00")}[element]
    return "0x" + bits[2 if math.isnan(number) else number < 0]


def groups(long, short):
    """Which dimensions of a shape each of a shorter one joins; None if it joins
    none."""
    found, at = [], 0
    for size in short:
        group, wanted = [], factors(size)
        while at < len(long) and (
                not group or factors(product(long[one] for one in group)) != wanted):
            group.append(at)
            at += 1
        if not group or factors(product(long[one] for one in group)) != wanted:
            return None
        found.append(group)
    while at < len(long) and found and long[at] == 1:
        found[-1].append(at)
        at += 1
    return found if at == len(long) else None


class Function:
    """One function, written from its first op to its last."""

    def __init__(self, name):
        self.name, self.arguments, self.lines = name, [], []
        self.results, self.count = [], 0
        self.indices = {}

    # Names of arguments have no dots, those of all else start with one.
    def argument(self, name, type):
        name = "%" + (re.sub(r"\W", "_", name) or "_")
        if name[1].isdigit():
            name = "%_" + name[1:]
        while any(one.name == name for one in self.arguments):
            name += "_"
        value = Value(name, type)
        self.arguments.append(value)
        return value

    def fresh(self):
        self.count += 1
        return f"%.{self.count}"

    def op(self, text, type):
        """Adds a line `name = text`; the value has this type (none for what is no
        tensor)."""
        name = self.fresh()
        self.lines.append(f"    {name} = {text}")
        return Value(name, type)

    def line(self, text):
        self.lines.append("    " + text)

    def returns(self, values):
        self.results = list(values)

    # Sizes ------------------------------------------------------------------

    def index(self, number):
        return self.op(f"arith.constant {number} : index", None).name

    def size(self, value, dimension):
        """The name of an index: a size of `value`."""
        size = value.type.shape[dimension]
        if isinstance(size, int):
            return self.index(size)
        return self.op(f"tensor.dim {value.name}, {self.index(dimension)} : "
                       f"{value.type}", None).name

    def computed(self, size, what=""):
        """The name of an index: a size, from those of the arguments."""
        return self.index(size) if isinstance(size, int) else \
            self.of_tree(tree_of(size), what)

    def of_tree(self, tree, what):
        if isinstance(tree, int):
            return self.index(tree)
        if tree not in self.indices:
            if isinstance(tree, str):
                name = self.named(tree, what)
            else:
                left, right = (self.of_tree(one, what) for one in tree[1:])
                name = self.op(f"arith.{OPERATIONS[tree[0]][1]} {left}, {right} : "
                               "index", None).name
            self.indices[tree] = name
        return self.indices[tree]

    def named(self, name, what):
        """The size of this name, of the first argument that tells it."""
        for argument in self.arguments:
            for at, size in enumerate(argument.type.shape):
                if isinstance(size, int) or name not in names_of(tree_of(size)):
                    continue
                found = solution(size)
                if found is None:
                    continue
                index, (_, factor, offset) = self.size(argument, at), found
                for number, op in ((offset, "subi"), (factor, "divui")):
                    if number != (op == "divui"):
                        index = self.op(f"arith.{op} {index}, "
                                        f"{self.index(number)} : index", None).name
                return index
        raise Refused(f"'{what}': no argument has the size '{name}'")

    def unknown_sizes(self, type, what):
        """The names of those that a call tells."""
        return [self.computed(size, what) for size in type.shape
                if not isinstance(size, int)]

    def empty(self, type, what=""):
        return self.op(f"tensor.empty({', '.join(self.unknown_sizes(type, what))}) "
                       f": {type}", type)

    def splat(self, number, type, what=""):
        """A constant tensor of one number."""
        text = constant(number, type.element)
        if known(type.shape):
            return self.op(f"arith.constant dense<{text}> : {type}", type)
        sizes = ", ".join(self.unknown_sizes(type, what))
        scalar = self.op("arith.constant " + (
            text if type.element == "i1" else f"{text} : {type.element}"), None)
        return self.op(f"tensor.splat {scalar.name}[{sizes}] : {type}", type)

    def reshape(self, value, shape, what=""):
        """`value` with other dimensions, for the node `what`."""
        shape, before = tuple(shape), value.type.shape
        if before == shape:
            return value
        type = value.type.like(shape)
        if not shape or not before:
            if any(size != 1 for size in shape + before):
                raise Refused(f"'{what}': {value.type} has no shape {type}")
            if not shape:
                return self.op(f"tensor.collapse_shape {value.name} [] : "
                               f"{value.type} into {type}", type)
            return self.expand(value, type, [], what)
        joined = groups(before, shape)
        if joined is not None:
            return self.op(f"tensor.collapse_shape {value.name} {joined} : "
                           f"{value.type} into {type}", type)
        cut = groups(shape, before)
        if cut is not None:
            return self.expand(value, type, cut, what)
        if known(before + shape) and math.prod(before) != math.prod(shape):
            raise Refused(f"'{what}': {value.type} has no shape {type}")
        flat = product(before)
        if len(before) > 1:
            value = self.reshape(value, (flat,), what)
        if len(shape) > 1:
            return self.expand(value, type, [list(range(len(shape)))], what)
        if str(value.type) == str(type):
            return Value(value.name, type)
        return self.op(f"tensor.cast {value.name} : {value.type} to {type}", type)

    def expand(self, value, type, cut, what):
        sizes = [str(size) if isinstance(size, int) else self.computed(size, what)
                 for size in type.shape]
        if all(len([at for at in group if not isinstance(type.shape[at], int)]) < 2
               for group in cut):
            return self.op(f"tensor.expand_shape {value.name} {cut} output_shape "
                           f"[{', '.join(sizes)}] : {value.type} into {type}", type)
        # Upstream's lowering knows one unknown size in a group.
        names = [self.computed(size, what) for size in type.shape]
        kind = f"tensor<{len(names)}xindex>"
        shape = self.op(f"tensor.from_elements {', '.join(names)} : {kind}", None)
        return self.op(f"tensor.reshape {value.name}({shape.name}) : ({value.type}, "
                       f"{kind}) -> {type}", type)

    def pointwise(self, values, type, body, what=""):
        """A tensor, each element computed of one of each value. Dimensions of one
        element are stretched, missing ones come first.

        body(names): appends lines of a region, in which `names` are the elements,
        and gives the name of the result.
        """
        rank = len(type.shape)
        empty, name = self.empty(type, what), self.fresh()
        dims = ", ".join(f"d{at}" for at in range(rank))

        def places(one):
            lead = rank - len(one.type.shape)
            return ", ".join(
                "0" if size == 1 and type.shape[lead + at] != 1 else f"d{lead + at}"
                for at, size in enumerate(one.type.shape))

        maps = [f"affine_map<({dims}) -> ({places(one)})>"
                for one in [*values, Value("", type)]]
        elements = [f"%.e{at}" for at in range(len(values))]
        arguments = ", ".join(
            f"{element}: {one.type.element}" for element, one in
            zip([*elements, "%.before"], [*values, Value("", type)]))
        given = ", ".join(one.name for one in values)
        types = ", ".join(str(one.type) for one in values)
        ins = f"ins({given} : {types}) " if values else ""
        loops = ", ".join(['"parallel"'] * rank)
        self.line(f"{name} = linalg.generic {{indexing_maps = [{', '.join(maps)}], "
                  f"iterator_types = [{loops}]}} {ins}outs({empty.name} : {type}) {{")
        self.line(f"^bb0({arguments}):")
        last = body(elements)
        self.line(f"  linalg.yield {last} : {type.element}")
        self.line(f"}} -> {type}")
        return Value(name, type)

    def text(self):
        arguments = ", ".join(f"{one.name}: {one.type}" for one in self.arguments)
        types = ", ".join(str(one.type) for one in self.results)
        names = ", ".join(one.name for one in self.results)
        body = "\n".join(self.lines)
        return (f"func.func @{self.name}({arguments}) -> ({types}) {{\n{body}\n"
                f"    return {names} : {types}\n}}\n")
