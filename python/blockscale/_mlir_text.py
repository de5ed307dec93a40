# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Functions as MLIR text, op by op."""

import math
import re
from dataclasses import dataclass

from ._errors import Refused

# By the end of a dtype's name; packed pairs are bytes until they are unpacked.
ELEMENTS = {"float32": "f32", "bfloat16": "bf16", "float16": "f16",
            "float8_e4m3fn": "f8E4M3FN", "float8_e5m2": "f8E5M2",
            "float8_e8m0fnu": "f8E8M0FNU", "float4_e2m1fn_x2": "i8",
            "uint8": "i8", "int8": "i8", "int32": "i32", "int64": "i64",
            "bool": "i1"}
PAIRS = "float4_e2m1fn_x2"


@dataclass(frozen=True)
class Type:
    """A tensor's type; None for a size that a call tells."""

    shape: tuple
    element: str
    packed: bool = False

    def __str__(self):
        sizes = "".join(f"{'?' if size is None else size}x" for size in self.shape)
        return f"tensor<{sizes}{self.element}>"

    def like(self, shape=None, element=None):
        return Type(self.shape if shape is None else tuple(shape),
                    element or self.element)


@dataclass(frozen=True)
class Value:
    name: str
    type: Type


def size_of(size):
    """None for a size with a name."""
    return size if isinstance(size, int) else None


def element_of(dtype, what):
    name = str(dtype).removeprefix("torch.")
    if name not in ELEMENTS:
        raise Refused(f"{what} has elements of {name}; taken are "
                      + ", ".join(ELEMENTS))
    return ELEMENTS[name]


def tensor_type(tensor, what):
    """The type of a traced tensor."""
    return Type(tuple(size_of(size) for size in tensor.shape),
                element_of(tensor.dtype, f"'{what}'"),
                str(tensor.dtype).endswith(PAIRS))


def groups(long, short):
    """Which dimensions of a shape each of a shorter one joins; None if it joins
    none. Sizes that a call tells stay apart from others."""
    found, at = [], 0
    for size in short:
        group, product = [], 1
        while at < len(long) and (not group or product != size):
            if long[at] is None or size is None:
                if group or long[at] is not size:
                    return None
                group, product, at = [at], size, at + 1
                break
            product *= long[at]
            group.append(at)
            at += 1
        if product != size or not group:
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

    def size(self, value, dimension):
        """The name of an index: a size of `value`."""
        size = value.type.shape[dimension]
        if size is not None:
            return self.index(size)
        return self.op(f"tensor.dim {value.name}, {self.index(dimension)} : "
                       f"{value.type}", None).name

    def index(self, number):
        return self.op(f"arith.constant {number} : index", None).name

    def splat(self, number, type):
        """A constant tensor of one number; its sizes are known."""
        return self.op(f"arith.constant dense<{float(number):.9e}> : {type}",
                       type)

    def reshape(self, value, shape, what=""):
        """`value` with other dimensions, for the node `what`."""
        shape = tuple(shape)
        if value.type.shape == shape:
            return value
        type = value.type.like(shape)
        joined = groups(value.type.shape, shape)
        if joined is not None:
            return self.op(f"tensor.collapse_shape {value.name} {joined} : "
                           f"{value.type} into {type}", type)
        cut = groups(shape, value.type.shape)
        if cut is not None:
            sizes = [str(size) if size is not None else
                     self.size(value, next(i for i, group in enumerate(cut)
                                           if at in group))
                     for at, size in enumerate(shape)]
            return self.op(
                f"tensor.expand_shape {value.name} {cut} output_shape "
                f"[{', '.join(sizes)}] : {value.type} into {type}", type)
        if None in shape or None in value.type.shape:
            raise Refused(f"'{what}': a reshape of {value.type} to {type} is not "
                          "known before run time")
        flat = self.reshape(value, (math.prod(shape),), what)
        return self.reshape(flat, shape, what)

    def text(self):
        arguments = ", ".join(f"{one.name}: {one.type}" for one in self.arguments)
        types = ", ".join(str(one.type) for one in self.results)
        names = ", ".join(one.name for one in self.results)
        body = "\n".join(self.lines)
        return (f"func.func @{self.name}({arguments}) -> ({types}) {{\n{body}\n"
                f"    return {names} : {types}\n}}\n")
