# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Whole functions: kernels on the emulator, the rest on the CPU."""

import json
import re
import sys
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from ._arrays import host_array, is_torch
from ._checks import choice, flag, text, whole
from ._compile import compile, spec_of
from ._compiler_calls import bytes_of, compile_options, compiler
from ._emulate import COMPLETIONS
from ._errors import Hazard, Refused
from ._formats import ELEMENTS
from ._imported import Imported
from ._kernel import CONDITIONS, DATA, Kernel, Verdict
from ._progress import watching
from ._scaled import BY_GROUP, Scaled
from ._sizes import check_call

# Elements as arrays have them, one a byte or more.
DTYPES = {name: np.dtype(one) for name, one in {
    "f64": np.float64, "f32": np.float32, "f16": np.float16,
    "bf16": ml_dtypes.bfloat16, "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2, "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
    "f8E4M3": ml_dtypes.float8_e4m3, "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz, "f8E3M4": ml_dtypes.float8_e3m4,
    "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz,
    "f6E2M3FN": ml_dtypes.float6_e2m3fn, "f6E3M2FN": ml_dtypes.float6_e3m2fn,
    "f4E2M1FN": ml_dtypes.float4_e2m1fn, "i4": ml_dtypes.int4, "i1": np.bool_, "i8": np.int8,
    "i16": np.int16, "i32": np.int32, "i64": np.int64, "ui8": np.uint8,
    "ui16": np.uint16, "ui32": np.uint32, "ui64": np.uint64,
    "index": np.int64}.items()}


def dtype_of(element):
    """None if no array has such elements. Integers of other widths, such as those of
    uint3 and of codebooks, are their bits."""
    if element in DTYPES:
        return DTYPES[element]
    width = int(element[1:]) if element[:1] == "i" and element[1:].isdecimal() else 0
    if not 0 < width < 16:
        return None
    return np.dtype(np.uint8 if width < 8 else np.uint16)


# Integers of less than a byte, each in one.
SMALL_INTEGERS = {"int4": np.int8, "int2": np.int8, "uint4": np.uint8,
                  "uint2": np.uint8}


@dataclass(frozen=True)
class Outcome:
    """What one call of a function gave.

    results: its arrays, then what it left in arguments that are memory.
    launches: a dictionary for each launch of a kernel: "kernel", "grid",
        "cluster", "counters" and "seconds".
    report: "findings" and "openPoints" of the emulator, too.
    """

    results: tuple
    launches: list
    report: dict


class Program:
    """The functions of a module: called with arrays, the emulator runs their
    kernels and the CPU the rest.

    source: an `Imported`, a `Spec` or MLIR text. Parameters of an Imported are
        given to each call of its function.
    target, options: as in `compile`.
    quantize_on_device: run kernels for what quantises operands of products,
        where there are such; by default it is the CPU's.
    functions: what they take and give, a list of dictionaries
        (blockscale-c/Functions.h).

    Raises CompileError, whose diagnostics name what nothing lowers.
    """

    def __init__(self, source, target="", *, expected_rows=None,
                 dispatch_rows=(), dense_fallback=False,
                 quantize_on_device=False):
        self.imported = source if isinstance(source, Imported) else None
        self.target = text("target", target or "")
        self.spec = spec_of(source, self.target)
        self._options = dict(expected_rows=expected_rows,
                             dispatch_rows=dispatch_rows,
                             dense_fallback=dense_fallback,
                             quantize_on_device=quantize_on_device)
        self._program = compiler().Program(
            bytes_of(self.spec.mlir), self.spec.name,
            compile_options(self.target, **self._options))
        self.functions = json.loads(self._program.describe())

    @property
    def names(self):
        return [function["name"] for function in self.functions]

    def __call__(self, *arrays, **options):
        """`run`, of which this is the result: an array, or a tuple of them."""
        results = self.run(*arrays, **options).results
        return results[0] if len(results) == 1 else results

    def run(self, *arrays, function=None, strict=False, completion="immediate",
            seed=1, threads=0, progress=None):
        """Calls a function: an `Outcome`.

        arrays: its arguments, arrays of their types or numbers; those of scaled
            tensors are `Scaled` ones in their layout, or the arrays of their
            parts in the order of "arguments". Parameters that an Imported brings
            are left out.
        function: its name; needed where there are several.
        progress: as in `Kernel.emulate`; each launch counts anew, and a method
            `begin` is called before it with its kernel.
        strict, completion, seed, threads: as in `Kernel.emulate`.

        Raises Hazard for what the emulator finds in a kernel, Refused for arrays
        that do not fit. An interrupt ends the call.
        """
        found = self._function(function)
        given = self._with_parameters(found, arrays)
        slots = found["arguments"]
        self._check_sizes(found, given)
        values = [array_for(slot, value) for slot, value in
                  zip(slots, parts_of(found, given))]
        options = run_options(strict, completion, seed, threads)
        with watching(progress, "run") as watch:
            results, report = self._program.call(
                found["name"],
                [np.ascontiguousarray(one).reshape(-1).view(np.uint8)
                 for one in values],
                [one.shape for one in values], options, watch)
        report = json.loads(report)
        if not report["clean"]:
            raise Hazard(report["findings"])
        places = found["results"] + [slot for slot in slots if slot["isMemory"]]
        return Outcome(tuple(array_of(slot, *one) for slot, one in
                             zip(places, results)), report["launches"], report)

    def _function(self, name):
        if name is None and self.imported is not None:
            name = self.imported.name
        if name is None and len(self.functions) == 1:
            return self.functions[0]
        for function in self.functions:
            if name is not None and function["name"] == text("function", name):
                return function
        names = ", ".join(self.names)
        raise Refused(f"no function '{name}'; there are {names}"
                      if name is not None else
                      f"there are {len(self.functions)} functions; name one: "
                      f"{names}")

    def _with_parameters(self, function, arrays):
        """A value for each argument."""
        count, imported = len(function["argumentTypes"]), self.imported
        names = ()
        if imported is not None and imported.name == function["name"]:
            names = imported.inputs
        parameters = imported.parameters if names else {}
        wanted = count - sum(name in parameters for name in names)
        if len(arrays) != wanted:
            raise Refused(f"'{function['name']}' takes {wanted} arguments "
                          f"besides its parameters, found {len(arrays)}"
                          if parameters else
                          f"'{function['name']}' takes {wanted} arguments, found "
                          f"{len(arrays)}")
        rest = iter(arrays)
        return [parameters[names[at]] if at < len(names)
                and names[at] in parameters else next(rest)
                for at in range(count)]

    def _check_sizes(self, function, given):
        """Sizes that a call tells are those which the producer knows."""
        imported = self.imported
        if imported is None or imported.name != function["name"] or \
                len(imported.sizes) != len(given):
            return
        check_call(list(zip(imported.inputs, imported.sizes)),
                   [shape_of(one) for one in given], imported.limits)

    def verify(self, M=(), N=(), K=(), batch=(), *, data="both",
               conditions="both", seed=1, threads=0, completion="immediate",
               progress=None):
        """Judges all kernels, as `Kernel.verify` does, and each function: it is
        called with inputs of ours, with its kernels and with products computed on
        the CPU.

        M, N, K, batch: as in `Kernel.verify`; a function gets the first of each.
        """
        sizes = {"M": M, "N": N, "K": K, "batch": batch}
        kernels = compile(self.spec, self.target, kernels_only=True,
                          **self._options)
        # A size may be of functions alone.
        verdicts = [kernel._verify(**sizes, data=data, conditions=conditions,
                                   seed=seed, threads=threads,
                                   completion=completion, progress=progress)
                    for kernel in ([kernels] if isinstance(kernels, Kernel)
                                   else kernels)]
        choice("conditions", conditions, CONDITIONS)
        many = [[whole(name, one, 1) for one in
                 (value if isinstance(value, (tuple, list)) else [value])]
                for name, value in sizes.items()]
        with watching(progress, "verify") as watch:
            ok, words, report = compiler().verify_functions(
                bytes_of(self.spec.mlir), self.spec.name,
                compile_options(self.target, **self._options),
                DATA.index(choice("data", data, DATA)), many,
                run_options(False, completion, seed, threads), watch)
        verdicts.append(Verdict(ok, words, json.loads(report)))
        return Verdict(all(verdicts), "".join(one.text for one in verdicts),
                       [run for one in verdicts for run in one.runs])

    def __repr__(self):
        return f"Program({', '.join(self.names)})"


def run_options(strict, completion, seed, threads):
    options = compiler().RunOptions()
    options.strict = flag("strict", strict)
    options.completion = COMPLETIONS.index(
        choice("completion", completion, COMPLETIONS))
    options.seed = whole("seed", seed)
    options.threads = whole("threads", threads, 0, 2**16)
    return options


# Arguments ------------------------------------------------------------------


def shape_of(value):
    """Of an array of anybody; ONNX's have `dims`."""
    shape = getattr(value, "shape", None)
    return tuple(getattr(value, "dims", np.shape(value)) if shape is None else shape)


def parts_of(function, values):
    """The arrays of all arguments, one for each slot."""
    parts = []
    for index, value in enumerate(values):
        slots = [slot for slot in function["arguments"] if slot["index"] == index]
        if not slots[0]["part"]:
            parts.append(value)
        elif isinstance(value, Scaled):
            parts += scaled_parts(function["argumentTypes"][index], slots, value)
        elif isinstance(value, (tuple, list)) and len(value) == len(slots):
            parts += value
        else:
            names = ", ".join(slot["part"] for slot in slots)
            raise Refused(f"argument {index} is a {type(value).__name__}: expected "
                          f"a Scaled or the arrays of its parts, {names}")
    return parts


def scaled_parts(type, slots, value):
    """Those of a Scaled, which has to be of this type."""
    named = re.search(r"layout = (\w+)", type)
    layout = named[1] if named else "plain"
    element = re.escape(ELEMENTS[value.format.element][0])
    legal = f'"{value.spec}"' in type if value.spec else '"' not in type
    if not legal or not re.search(f"x{element}[,>]", type) or \
            slots[-1]["part"] == "metadata":
        raise Refused(f"argument {slots[0]['index']} is a tensor of format "
                      f"'{value.format}', expected {type}")
    is_given = value.scales is not None and not value.format.by_epilogue
    if is_given and value.layout != layout or \
            (value.layout == BY_GROUP) != (layout == BY_GROUP):
        raise Refused(f"the scales of argument {slots[0]['index']} are in layout "
                      f"'{value.layout}', expected '{layout}'" +
                      (f": .to(\"{layout}\") changes it" if is_given else ""))
    data = value.data
    if data.dtype == ml_dtypes.uint4:
        data = data.view(ml_dtypes.int4)
    parts = {"data": data, "scales": value.scales, "zeros": value.zeros,
             "tensor_scale": value.tensor_scale}
    if value.scales is not None and layout not in ("plain", BY_GROUP):
        columns, *inner = {"tiled_128x4": (4, 32, 16),
                           "tiled_128x16": (16, 128, 16)}[layout]
        shape = (*value.shape[:-2], -(-value.scale_rows // 128),
                 -(-value.blocks // columns), *inner)
        parts["scales"] = value.scales.reshape(shape).view(
            value.format.scale_dtype)
    if value.tensor_scale is not None:
        parts["tensor_scale"] = value.tensor_scale.reshape(value.shape[:-2])
    return [parts[slot["part"]] for slot in slots]


def differ_in_sign(dtype, other):
    """Whether both are integers of as many bits, which functions have without a sign."""
    four_bits = (ml_dtypes.int4, ml_dtypes.uint4)
    if dtype in four_bits or other in four_bits:
        return dtype in four_bits and other in four_bits
    return (dtype.kind in "iu" and other.kind in "iu"
            and dtype.itemsize == other.itemsize)


def array_for(slot, value):
    """`value` as the array of a slot; the library looks at its sizes."""
    name = f"argument {slot['index']}"
    if slot["part"]:
        name = f"{slot['part']} of {name}"
    dtype = dtype_of(slot["element"])
    if dtype is None:
        raise Refused(f"{name} has elements of {slot['element']}, which no array "
                      "has")
    if slot["isNumber"] and isinstance(value, (int, float)):
        return np.asarray(value, dtype)
    array = producers_array(value, slot["element"])
    if array.dtype != dtype and not differ_in_sign(array.dtype, dtype):
        raise Refused(f"{name} is an array of {array.dtype}, expected {dtype}")
    # A byte of numpy's int4 repeats the sign, one of a function has zeros there.
    return array.view(np.uint8) & np.uint8(15) if dtype == ml_dtypes.int4 else array


def producers_array(value, element):
    """A weight or an input as its producer has it."""
    if is_torch(value) and element == "i8" and "x2" in str(value.dtype):
        # Pairs of 4-bit elements, which the function unpacks itself.
        value = value.view(sys.modules["torch"].uint8)
    if type(value).__name__ == "TensorProto" and "onnx" in sys.modules:
        value = sys.modules["onnx"].numpy_helper.to_array(value)
    array = host_array(value)
    if element == "i8" and str(array.dtype) in SMALL_INTEGERS:
        return array.astype(SMALL_INTEGERS[str(array.dtype)])
    return array


def array_of(slot, data, shape):
    """A result."""
    dtype = dtype_of(slot["element"])
    if dtype is None:
        raise Refused(f"result {slot['index']} has elements of {slot['element']}, "
                      "which no array has")
    array = np.frombuffer(data, dtype).reshape(shape)
    return array[()] if slot["isNumber"] else array
