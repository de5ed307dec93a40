#!/usr/bin/env python3
"""Launches kernels of a bundle by libblockscale-runtime.so and compares every byte.

usage: check_runtime.py FOLDER LIBRARY [--only REGEX] [--emulated]

The runtime of compiled functions is C: operands in host memory, which it packs, copies
and describes to the driver. With --emulated (under `blockscale emulate --cuda`) kernels
run as they were compiled.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import argparse
import ctypes
import json
import re
import sys
from pathlib import Path

import numpy as np

import blockscale as bs
import hardware_cases as cases
from blockscale import _operands as operands
from blockscale._launch import all_sizes
from check import files_of, loaded

WORD = ctypes.c_int64


class Operand(ctypes.Structure):
    _fields_ = [("role", ctypes.c_char_p), ("data", ctypes.c_void_p), ("rank", WORD),
                ("sizes", ctypes.POINTER(WORD)), ("strides", ctypes.POINTER(WORD)),
                ("element_bytes", WORD), ("flags", WORD)]


class Kernels(ctypes.Structure):
    _fields_ = [("plan", ctypes.c_char_p), ("plan_bytes", WORD),
                ("image", ctypes.c_char_p), ("image_bytes", WORD),
                ("state", ctypes.c_void_p)]


def operand_of(role, array):
    """A contiguous array as the runtime takes it."""
    shape = array.shape
    strides = [one // array.itemsize for one in array.strides]
    return Operand(role.encode(), array.__array_interface__["data"][0], len(shape),
                   (WORD * len(shape))(*shape), (WORD * len(shape))(*strides),
                   array.itemsize, 0)


def read_arrays(arguments, more):
    """What the launch reads, by role."""
    found = {}
    for name, one in zip("ab", arguments):
        if isinstance(one, np.ndarray):
            found["x"] = one
            continue
        found[f"{name}_data"] = one.data
        if one.scales is not None:
            found[f"{name}_scales"] = one.scales
        if one.zeros is not None:
            found[f"{name}_zeros"] = one.zeros
        if one.tensor_scale is not None:
            found[f"{name}_tensor_scale"] = np.atleast_1d(one.tensor_scale)
    roles = {"ends": "offsets", "rows": "row_numbers"}
    for name, value in more.items():
        is_index = name in roles
        found[roles.get(name, name)] = np.asarray(
            value, np.int32 if is_index else getattr(value, "dtype", np.float32))
    return found


def made_arrays(kernel, planned, case, sizes):
    """Memory for what the launch writes, by role, and the shapes of the elements."""
    _, parameters = operands.describe(operands.new_launch(kernel, planned, sizes))
    m, n, k, batch = (sizes[one] for one in ("M", "N", "K", "batch"))
    lead = () if batch == 1 or case.ends else (batch,)
    columns = n if case.does == "launch" else k
    found = {}
    for role in ("d", "d_data", "d_scales", "d_tensor_scale", "transposed_data",
                 "transposed_scales"):
        if role not in parameters:
            continue
        one = parameters[role]
        if role in ("d", "d_data"):
            size = one["bytes"] // (m * columns * batch if not case.ends else m * columns)
            found[role] = np.zeros((*lead, m, columns), f"u{max(size, 1)}")
        elif role == "transposed_data":
            found[role] = np.zeros((*lead, k, m), np.uint8)
        else:
            width = {"f32": 4, "f16": 2, "bf16": 2}.get(one["type"], 1)
            found[role] = np.zeros(one["bytes"] // width, f"u{width}")
    return found


NAMES = {"d": "d0", "d_data": "data0", "d_scales": "scales0", "d_tensor_scale": "factor0",
         "transposed_data": "data1", "transposed_scales": "scales1"}


def launched(library, folder, name, is_emulated):
    case, kernel, expected = loaded(folder, name)
    files = files_of(folder / f"{name}.zip")
    image = files["kernel.ptx"] + b"\0" if is_emulated else files["kernel.cubin"]
    arguments, more = cases.inputs(bs, case, kernel)
    planned = kernel.plan["kernels"][0]
    if case.does == "launch":
        sizes = cases.sizes_of(kernel, case)
    else:
        turned = planned.get("quantization", {}).get("transposed")
        m, k = case.shape[-2:][::-1] if turned else case.shape[-2:]
        sizes = {"M": m, "N": 1, "K": k, "batch": 1}
    sizes = all_sizes(planned, sizes)
    arrays = {role: one if one.ndim == 0 else np.ascontiguousarray(one)
              for role, one in read_arrays(arguments, more).items()}
    written = made_arrays(kernel, planned, case, sizes)
    arrays |= written
    roles = {one["role"] for one in planned["parameters"]}
    many = [operand_of(role, one) for role, one in arrays.items() if role in roles or role == "a_zeros"]
    plan = kernel.plan_text.encode()
    kernels = Kernels(plan, len(plan), image, len(image), None)
    failed = library.blockscaleRuntimeLaunch(ctypes.byref(kernels), b"k",
                                             (Operand * len(many))(*many), WORD(len(many)))
    if failed:
        return library.blockscaleRuntimeError().decode()
    found = {NAMES[role]: one.reshape(-1).view(np.uint8) for role, one in written.items()}
    expected = {role: one for role, one in expected.items() if role in found}
    words = cases.differences(found, expected, cases.written_share(case))
    if library.blockscaleRuntimeUnload(ctypes.byref(kernels)):
        words += " unload: " + library.blockscaleRuntimeError().decode()
    return words


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("library")
    parser.add_argument("--only", default="")
    parser.add_argument("--emulated", action="store_true")
    arguments = parser.parse_args()
    library = ctypes.CDLL(arguments.library)
    library.blockscaleRuntimeError.restype = ctypes.c_char_p
    names = sorted(one.stem for one in arguments.folder.glob("*.zip")
                   if re.search(arguments.only, one.stem))
    same = 0
    for name in names:
        try:
            words = launched(library, arguments.folder, name, arguments.emulated)
        except Exception as why:
            words = f"{type(why).__name__}: {why}"
        same += not words
        print(json.dumps({"name": name, "words": words}), flush=True)
    print(f"{same} of {len(names)} launches of the runtime like the emulator")
    return 0 if same == len(names) else 1


if __name__ == "__main__":
    sys.exit(main())
