# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Arithmetic of a traced program, element by element. Floats narrower than f32 are
computed in f32 and rounded behind each op, as PyTorch does on the CPU."""

import math
from dataclasses import dataclass

from ._errors import Refused
from ._mlir_text import Type, Value, constant, tensor_type
from ._sizes import Size, product

F32 = "f32"
WIDTHS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64}


def is_float(element):
    return "f" in element


def is_narrow(element):
    """Floats of 8 bits and less, which arithmetic does not take."""
    return element.startswith(("f8", "f6", "f4"))


@dataclass(frozen=True)
class Scalar:
    name: str
    element: str
    is_unsigned: bool = False


class Body:
    """What is done to one element of each tensor."""

    def __init__(self, function):
        self.function = function

    def op(self, text, element, is_unsigned=False):
        name = self.function.fresh()
        self.function.line(f"  {name} = {text}")
        return Scalar(name, element, is_unsigned)

    def number(self, value, element):
        text = constant(value, element)
        return self.op("arith.constant " + (text if element == "i1" else
                                            f"{text} : {element}"), element)

    def binary(self, op, x, y):
        return self.op(f"{op} {x.name}, {y.name} : {x.element}", x.element,
                       x.is_unsigned)

    def unary(self, op, x):
        return self.op(f"{op} {x.name} : {x.element}", x.element)

    def choose(self, condition, x, y):
        return self.op(f"arith.select {condition.name}, {x.name}, {y.name} : "
                       f"{x.element}", x.element, x.is_unsigned)

    def compare(self, how, x, y):
        """how: eq, ne, lt, le, gt or ge; nothing but 'ne' is true of NaN."""
        if is_float(x.element):
            how = "une" if how == "ne" else "o" + how
            op = "arith.cmpf"
        else:
            sign = "" if how in ("eq", "ne") else "u" if x.is_unsigned else "s"
            how, op = sign + how, "arith.cmpi"
        return self.op(f"{op} {how}, {x.name}, {y.name} : {x.element}", "i1", True)

    def convert(self, x, element, is_unsigned=False):
        """`x` as another element; floats of 8 bits and less are no matter of
        single elements."""
        source = x.element
        if source == element:
            return Scalar(x.name, element, is_unsigned)
        if is_float(source) and is_float(element):
            bits = {"bf16": 16, "f16": 16, "f32": 32, "f64": 64}
            if bits[source] == bits[element]:
                x, source = self.convert(x, F32), F32
            op = "extf" if bits[source] < bits[element] else "truncf"
        elif element == "i1":
            return self.compare("ne", x, self.number(0, source))
        elif is_float(source):
            op = "fptoui" if is_unsigned else "fptosi"
            x = x if source in ("f32", "f64") else self.convert(x, F32)
        elif is_float(element):
            if element in ("bf16", "f16"):
                return self.convert(self.convert(x, F32), element)
            op = "uitofp" if x.is_unsigned else "sitofp"
        elif WIDTHS[source] > WIDTHS[element]:
            op = "trunci"
        else:
            op = "extui" if x.is_unsigned else "extsi"
        return self.op(f"arith.{op} {x.name} : {x.element} to {element}", element,
                       is_unsigned)


# Narrow floats --------------------------------------------------------------


def matrix(function, value, what):
    """With two dimensions."""
    shape = value.type.shape
    if len(shape) == 2:
        return value
    rows = function.reshape(value, (1, *shape), what) if len(shape) < 2 else value
    shape = rows.type.shape
    while len(shape) > 2:
        shape = (product(shape[:2]), *shape[2:])
    if len(shape) < 2:
        shape = (1, 1)
    return function.reshape(rows, shape, what)


def unscaled(type):
    sizes = str(type).removeprefix("tensor<").removesuffix(">")
    return f"!blockscale.tensor<{sizes}>"


def powers_of_two(function, value, what):
    """e8m0 as f32: bits of an exponent; the least is subnormal, 255 no number."""
    def body(names):
        make = Body(function)
        byte = make.op(f"arith.bitcast {names[0]} : f8E8M0FNU to i8", "i8", True)
        code = make.convert(byte, "i32", True)
        shifted = make.binary("arith.shli", code, make.number(23, "i32"))
        for special, bits in ((0, 0x400000), (255, 0x7fc00000)):
            is_it = make.compare("eq", code, make.number(special, "i32"))
            shifted = make.choose(is_it, make.number(bits, "i32"), shifted)
        return make.op(f"arith.bitcast {shifted.name} : i32 to f32", F32).name
    return function.pointwise([value], value.type.like(element=F32), body, what)


def widened(function, value, what=""):
    """Narrow floats as f32."""
    element = value.type.element
    if not is_narrow(element):
        return value
    if element == "f8E8M0FNU":
        return powers_of_two(function, value, what)
    data = matrix(function, value, what)
    type = unscaled(data.type)
    scaled = function.op(f"blockscale.assemble {data.name} : {data.type} to {type}",
                         None)
    wide = data.type.like(element=F32)
    numbers = function.op(f"blockscale.dequantize {scaled.name} : {type} to {wide}",
                          wide)
    return function.reshape(numbers, value.type.shape, what)


def to_powers_of_two(function, value, what):
    """f32 as e8m0, as PyTorch rounds it: the sign is dropped, a half goes up, but
    for one of the least power."""
    def body(names):
        make = Body(function)
        bits = make.op(f"arith.bitcast {names[0]} : f32 to i32", "i32", True)

        def masked(mask):
            return make.binary("arith.andi", bits, make.number(mask, "i32"))

        code = make.binary("arith.shrui", masked(0x7f800000), make.number(23, "i32"))
        zero = make.number(0, "i32")
        is_half = make.compare("ne", masked(0x400000), zero)
        is_more = make.compare("ne", masked(0x3fffff), zero)
        is_normal = make.compare("ne", code, zero)
        is_number = make.compare("ne", code, make.number(255, "i32"))
        goes_up = make.binary("arith.andi", is_half,
                              make.binary("arith.ori", is_more, is_normal))
        goes_up = make.binary("arith.andi", goes_up, is_number)
        code = make.binary("arith.addi", code, make.convert(goes_up, "i32"))
        byte = make.convert(code, "i8")
        return make.op(f"arith.bitcast {byte.name} : i8 to f8E8M0FNU",
                       "f8E8M0FNU").name
    return function.pointwise([value], value.type.like(element="f8E8M0FNU"), body,
                              what)


def narrowed(function, value, element, what=""):
    """f32 as narrow floats: to nearest, ties to even, saturating."""
    if element == "f8E8M0FNU":
        return to_powers_of_two(function, value, what)
    wide = matrix(function, value, what)
    plain = wide.type.like(element=element)
    type = unscaled(plain)
    scaled = function.op(f"blockscale.quantize {wide.name} : {wide.type} to {type}",
                         None)
    data = function.op(f"blockscale.disassemble {scaled.name} : {type}", plain)
    return function.reshape(data, value.type.shape, what)


# Tensors --------------------------------------------------------------------


def cast(function, value, element, what="", is_unsigned=False):
    """A tensor with other elements."""
    if value.type.element == element and value.type.is_unsigned == is_unsigned:
        return value
    value = widened(function, value, what)
    narrow = is_narrow(element)
    type = Type(value.type.shape, F32 if narrow else element, is_unsigned=is_unsigned)

    def body(names):
        return Body(function).convert(
            Scalar(names[0], value.type.element, value.type.is_unsigned),
            type.element, is_unsigned).name
    if value.type.element != type.element:
        value = function.pointwise([value], type, body, what)
    return narrowed(function, value, element, what) if narrow else \
        Value(value.name, type)


def number_in(function, number, what):
    """What adds a number to a body: a number of the program, or a size."""
    if isinstance(number, Size):
        index = function.computed(number, what)
        return lambda body, element: body.convert(
            body.op(f"arith.index_cast {index} : index to i64", "i64"), element)
    if not isinstance(number, (int, float)):
        raise Refused(f"'{what}': a number that is known at run time only")
    return lambda body, element: body.number(number, element)


def filled(function, node, type, number):
    """A tensor that is one number everywhere."""
    element = F32 if is_narrow(type.element) else type.element
    add = number_in(function, number, node.name)
    value = function.pointwise(
        [], type.like(element=element),
        lambda _: add(Body(function), element).name, node.name)
    if is_narrow(type.element):
        return narrowed(function, value, type.element, node.name)
    return Value(value.name, type)


def computed(function, node, values, how, element=None, compute=None):
    """One tensor of several, and of numbers.

    how(make, *scalars): the result of single elements. compute: the element in which
    it is computed; as PyTorch chooses it, if none is given. element: of the result;
    the node's if none is given.
    """
    type = tensor_type(node.meta["val"], node.name)
    element = element or type.element
    compute = compute or common(values, element)
    tensors = [widened(function, one, node.name) for one in values
               if isinstance(one, Value)]
    narrow = is_narrow(element)
    wide = Type(type.shape, F32 if narrow else element, is_unsigned=type.is_unsigned)
    numbers = {at: number_in(function, one, node.name)
               for at, one in enumerate(values) if not isinstance(one, Value)}

    def body(names):
        make, given, scalars = Body(function), iter(zip(names, tensors)), []
        for at in range(len(values)):
            if at in numbers:
                scalars.append(numbers[at](make, compute))
                continue
            name, tensor = next(given)
            scalars.append(make.convert(
                Scalar(name, tensor.type.element, tensor.type.is_unsigned),
                compute, tensor.type.is_unsigned))
        found = how(make, *scalars)
        return make.convert(found, wide.element, wide.is_unsigned).name

    value = function.pointwise(tensors, wide, body, node.name)
    return narrowed(function, value, element, node.name) if narrow else value


def common(values, element):
    """In which element PyTorch computes with these: f32 for floats below."""
    found = {one.type.element for one in values if isinstance(one, Value)}
    floats = {one for one in found if is_float(one)}
    if floats or any(isinstance(one, float) for one in values) or is_float(element):
        return "f64" if "f64" in floats else F32
    return max(found or {element}, key=WIDTHS.get)


def arithmetic(floats, integers=None, unsigned=None):
    """A builder of `op x, y`; alpha multiplies y."""
    def make(function, node, *values, alpha=1):
        def how(body, x, y):
            if alpha != 1:
                y = body.binary("arith.mulf" if is_float(y.element) else
                                "arith.muli", y, body.number(alpha, y.element))
            op = floats if is_float(x.element) else \
                unsigned if x.is_unsigned and unsigned else integers
            if op is None:
                raise Refused(f"'{node.name}': integers are not taken")
            return body.binary(op, x, y)
        return computed(function, node, values, how)
    return make


def subtracted_from(function, node, x, y, alpha=1):
    return arithmetic("arith.subf", "arith.subi")(function, node, y, x, alpha=alpha)


def divide(function, node, x, y, rounding_mode=None):
    def how(body, a, b):
        ratio = body.binary("arith.divf", a, b)
        return ratio if rounding_mode is None else body.unary(
            {"floor": "math.floor", "trunc": "math.trunc"}[rounding_mode], ratio)
    if rounding_mode is not None and not is_float(common([x, y], "i1")):
        raise Refused(f"'{node.name}': a division of integers")
    return computed(function, node, (x, y), how)


def comparison(how):
    def make(function, node, x, y):
        return computed(function, node, (x, y),
                        lambda body, a, b: body.compare(how, a, b),
                        compute=common((x, y), "i1"))
    return make


def bits(op):
    def make(function, node, x, y):
        return computed(function, node, (x, y),
                        lambda body, a, b: body.binary(op, a, b))
    return make


def shift_right(function, node, x, y):
    return computed(function, node, (x, y), lambda body, a, b: body.binary(
        "arith.shrui" if a.is_unsigned else "arith.shrsi", a, b))


def logical(op):
    def make(function, node, *values):
        return computed(function, node, values,
                        lambda body, a, b: body.binary(op, a, b), compute="i1")
    return make


def invert(function, node, x):
    return computed(function, node, (x,), lambda body, a: body.binary(
        "arith.xori", a, body.number(True if a.element == "i1" else -1, a.element)))


def logical_not(function, node, x):
    return computed(function, node, (x,), lambda body, a: body.binary(
        "arith.xori", a, body.number(True, "i1")), compute="i1")


def where(function, node, condition, x=0, y=0):
    """x where the condition is true, y elsewhere."""
    type = tensor_type(node.meta["val"], node.name)
    compute = F32 if is_float(type.element) else type.element

    def how(body, c, a, b):
        return body.choose(body.compare("ne", c, body.number(0, c.element)), a, b)

    # The condition keeps its own element: it is converted with the others, and a
    # truth is 0 or 1 in each.
    return computed(function, node, (condition, x, y), how, compute=compute)


def masked_fill(function, node, x, mask, value):
    return where(function, node, mask, value, x)


def put(function, node, x, places, value, accumulate=False):
    """The value where one mask is true."""
    if len(places) != 1 or places[0].type.element != "i1" or accumulate:
        raise Refused(f"'{node.name}': values are put where one mask is true; other "
                      "places are not taken")
    return where(function, node, places[0], value, x)


def clamp(function, node, x, least=None, most=None):
    def how(body, a, *bounds):
        kind = "f" if is_float(a.element) else "ui" if a.is_unsigned else "si"
        names = {"f": ("arith.maximumf", "arith.minimumf"),
                 "ui": ("arith.maxui", "arith.minui"),
                 "si": ("arith.maxsi", "arith.minsi")}[kind]
        for op, bound in zip(names, bounds):
            if bound is not None:
                a = body.binary(op, a, number_in(function, bound, node.name)(body, a.element))
        return a
    bounds = (least, most)
    if any(isinstance(one, Value) for one in bounds):
        if least is not None:
            x = computed(function, node, (x, least), lambda body, a, b: body.binary(
                "arith.maximumf", a, b))
        return x if most is None else computed(
            function, node, (x, most), lambda body, a, b: body.binary(
                "arith.minimumf", a, b))
    return computed(function, node, (x,), lambda body, a: how(body, a, *bounds))


def clamp_max(function, node, x, most):
    return clamp(function, node, x, None, most)


def power(function, node, x, exponent):
    """Whole powers up to 4 by products, halves by roots, others by pow."""
    def how(body, a):
        if exponent in (2, 3, 4):
            square = body.binary("arith.mulf", a, a)
            return square if exponent == 2 else body.binary(
                "arith.mulf", square, a if exponent == 3 else square)
        if exponent == 0.5:
            return body.unary("math.sqrt", a)
        if exponent == -0.5:
            return body.unary("math.rsqrt", a)
        return body.binary("math.powf", a, body.number(exponent, a.element))
    if isinstance(exponent, Value):
        return computed(function, node, (x, exponent), lambda body, a, b:
                        body.binary("math.powf", a, b))
    return computed(function, node, (x,), how, compute=common((x, 1.0), F32))


def power_of_number(function, node, base, x):
    return computed(function, node, (x,), lambda body, a: body.binary(
        "math.powf", body.number(base, a.element), a), compute=F32)


# Functions of one float -----------------------------------------------------


def float_function(how):
    """A builder of how(body, x), x an f32."""
    def make(function, node, x, *_, **__):
        return computed(function, node, (x,), how, compute=F32)
    return make


def math_op(op):
    return float_function(lambda body, x: body.unary(op, x))


def sigmoid_of(body, x):
    one = body.number(1, F32)
    power_of = body.unary("math.exp", body.unary("arith.negf", x))
    return body.binary("arith.divf", one, body.binary("arith.addf", one, power_of))


def silu_of(body, x):
    one = body.number(1, F32)
    power_of = body.unary("math.exp", body.unary("arith.negf", x))
    return body.binary("arith.divf", x, body.binary("arith.addf", one, power_of))


def magnitude(function, node, x):
    def how(body, a):
        return body.unary("math.absf" if is_float(a.element) else "math.absi", a)
    return computed(function, node, (x,), how)


def negate(function, node, x):
    def how(body, a):
        return body.unary("arith.negf", a) if is_float(a.element) else \
            body.binary("arith.subi", body.number(0, a.element), a)
    return computed(function, node, (x,), how)


def relu(function, node, x):
    return clamp(function, node, x, 0)


def is_infinite(body, x):
    return body.compare("eq", body.unary("math.absf", x), body.number(math.inf, F32))


def gelu(function, node, x, approximate="none"):
    """x * (1 + erf(x / sqrt(2))) / 2, or with a hyperbolic tangent for erf."""
    def how(body, a):
        def times(one, factor):
            return body.binary("arith.mulf", one, body.number(factor, F32))
        if approximate == "tanh":
            cube = body.binary("arith.mulf", body.binary("arith.mulf", a, a), a)
            inner = body.binary("arith.addf", a, times(cube, 0.044715))
            curve = body.unary("math.tanh", times(inner, math.sqrt(2 / math.pi)))
        else:
            curve = body.unary("math.erf", times(a, math.sqrt(0.5)))
        return body.binary("arith.mulf", times(a, 0.5),
                           body.binary("arith.addf", curve, body.number(1, F32)))
    if approximate not in ("none", "tanh"):
        raise Refused(f"'{node.name}': gelu with approximate = '{approximate}'")
    return computed(function, node, (x,), how, compute=F32)


def converted(function, node, value, *_, **__):
    """A conversion of elements."""
    type = tensor_type(node.meta["val"], node.name)
    if not isinstance(value, Value) or value.type.shape != type.shape:
        raise Refused(f"'{node.name}': a conversion that changes the shape")
    return cast(function, value, type.element, node.name, type.is_unsigned)


def bits_as(function, node, value, type):
    """The same bits as other elements of the same size."""
    if value.type.shape != type.shape:
        raise Refused(f"'{node.name}': bits of {value.type} as {type}; elements "
                      "have to be of one size")
    if value.type.element == type.element:
        return Value(value.name, type)

    def body(names):
        return Body(function).op(
            f"arith.bitcast {names[0]} : {value.type.element} to {type.element}",
            type.element).name
    return function.pointwise([value], type, body, node.name)


def named(name, *overloads):
    return [f"aten.{name}.{one}" for one in overloads or ("default",)]


BOTH = ("Tensor", "Scalar")
BUILDERS = {name: builder for names, builder in [
    (named("add", *BOTH), arithmetic("arith.addf", "arith.addi")),
    (named("sub", *BOTH), arithmetic("arith.subf", "arith.subi")),
    (named("rsub", *BOTH), subtracted_from),
    (named("mul", *BOTH), arithmetic("arith.mulf", "arith.muli")),
    (named("div", *BOTH, "Tensor_mode", "Scalar_mode"), divide),
    (named("maximum"), arithmetic("arith.maximumf", "arith.maxsi", "arith.maxui")),
    (named("minimum"), arithmetic("arith.minimumf", "arith.minsi", "arith.minui")),
    *((named(name, *BOTH), comparison(name))
      for name in ("eq", "ne", "lt", "le", "gt", "ge")),
    *((named(f"bitwise_{name}", "Tensor", "Scalar"), bits(f"arith.{name}i"))
      for name in ("and", "or", "xor")),
    *((named(f"__{name}__", *BOTH), bits(f"arith.{name}i"))
      for name in ("and", "or", "xor")),
    (named("bitwise_left_shift", "Tensor", "Tensor_Scalar"), bits("arith.shli")),
    (named("__lshift__", *BOTH), bits("arith.shli")),
    (named("bitwise_right_shift", "Tensor", "Tensor_Scalar"), shift_right),
    (named("__rshift__", *BOTH), shift_right),
    *((named(f"logical_{name}"), logical(f"arith.{name}i"))
      for name in ("and", "or", "xor")),
    (named("bitwise_not"), invert), (named("logical_not"), logical_not),
    (named("where", "self", "ScalarSelf", "ScalarOther", "Scalar"), where),
    (named("masked_fill", *BOTH), masked_fill),
    (named("index_put"), put),
    (named("clamp", "default", "Tensor") + named("clamp_min", "default", "Tensor"),
     clamp),
    (named("clamp_max", "default", "Tensor"), clamp_max),
    (named("pow", "Tensor_Scalar", "Tensor_Tensor"), power),
    (named("pow", "Scalar"), power_of_number),
    (named("isnan"), float_function(lambda body, x: body.compare("ne", x, x))),
    (named("isinf"), float_function(is_infinite)),
    (named("relu"), relu), (named("silu"), float_function(silu_of)),
    (named("sigmoid"), float_function(sigmoid_of)), (named("gelu"), gelu),
    (named("abs"), magnitude), (named("neg"), negate),
    *((named(name), math_op(op)) for name, op in {
        "tanh": "math.tanh", "exp": "math.exp", "exp2": "math.exp2",
        "log": "math.log", "log2": "math.log2", "ceil": "math.ceil",
        "floor": "math.floor", "round": "math.roundeven", "trunc": "math.trunc",
        "sqrt": "math.sqrt", "rsqrt": "math.rsqrt", "cos": "math.cos",
        "sin": "math.sin", "erf": "math.erf"}.items()),
    (named("reciprocal"), float_function(lambda body, x: body.binary(
        "arith.divf", body.number(1, F32), x))),
    (named("_to_copy") + named("to", "dtype", "dtype_layout") +
     named("type_as") + named("float"), converted),
] for name in names}
