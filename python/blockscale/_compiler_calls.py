# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The extension with the compiler, and what it is given."""

import importlib
import importlib.util

from ._checks import flag, text, whole
from ._errors import Refused


def compiler():
    """The extension with the compiler. MLIR is loaded behind it, which takes
    longer than all else, so that only what compiles waits for it."""
    try:
        return importlib.import_module("._compiler", __package__)
    except ModuleNotFoundError as error:
        raise Refused("this installation cannot compile: it is the package "
                      "'blockscale-emulator', install 'blockscale' instead"
                      ) from error


def has_compiler():
    """Whether there is the extension with the compiler, which is not loaded."""
    return importlib.util.find_spec("._compiler", __package__) is not None


def bytes_of(mlir):
    return mlir.encode() if isinstance(mlir, str) else mlir


def compile_options(target="", expected_rows=None, dense_fallback=False,
                    host_duties=False, cubin=False, ptxas="", dispatch_rows=(),
                    quantize_on_device=False, kernels_only=False):
    options = compiler().CompileOptions()
    options.target = text("target", target or "")
    options.ptxas = str(ptxas)
    if expected_rows is not None:
        options.expected_rows = whole("expected_rows", expected_rows, 1)
    options.dense_fallback = flag("dense_fallback", dense_fallback)
    options.host_duties = flag("host_duties", host_duties)
    options.quantize_on_device = flag("quantize_on_device", quantize_on_device)
    options.kernels_only = kernels_only
    options.with_cubin = flag("cubin", cubin)
    options.dispatch_rows = dispatch_text(dispatch_rows)
    return options


def dispatch_text(rows):
    """As the C library has it: "16,512", "auto" or nothing."""
    if isinstance(rows, str):
        return rows
    numbers = rows if isinstance(rows, (tuple, list)) else [rows]
    return ",".join(str(whole("dispatch_rows", one, 1)) for one in numbers)
