# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Block-scaled matrix products: compile, emulate, verify, quantise, launch.

    import blockscale as bs
    import numpy as np

    kernel = bs.compile(bs.matmul(M="M", N=256, K=512, a="nvfp4", b="nvfp4"))
    x = np.random.default_rng(0).standard_normal((64, 512), np.float32)
    w = np.random.default_rng(1).standard_normal((256, 512), np.float32)
    y = kernel.emulate(bs.quantize(x, like=kernel.arg("a")),
                       bs.quantize(w, like=kernel.arg("b")))
    print(kernel.verify(M=129))

Nothing but `launch`, `prepare` and `upload` needs a GPU, and these run on the
emulated driver where there is none (`emulate_without_card`). Arrays may be of
numpy, ml_dtypes, torch, jax or whatever has DLPack. Errors are subclasses of
`Error`.
"""

from . import dask, explain
from ._checkpoint import (Checkpoint, CheckReport, Finding, Parameter, check,
                          pack, read)
from ._core import version as __version__
from ._device import DeviceArray, to_device
from ._driver import Device, devices, emulate_without_card
from ._emulate import emulate
from ._errors import (Busy, CheckpointError, CompileError, DeviceError,
                      Diagnostic, Error, Hazard, InternalError, Refused)
from ._formats import FORMATS, Format, format_named
from ._kernel import Argument, Kernel, Verdict, compile, load_kernel
from ._launch import DeviceScaled, Prepared
from ._scaled import Scaled, prune, quantize
from ._spec import Spec, matmul, parse

__all__ = ["Argument", "Busy", "CheckReport", "Checkpoint", "CheckpointError",
           "CompileError", "Device", "DeviceArray", "DeviceError",
           "DeviceScaled", "Diagnostic", "Error", "FORMATS", "Finding",
           "Format", "Hazard", "InternalError", "Kernel", "Parameter",
           "Prepared", "Refused", "Scaled", "Spec", "Verdict", "check",
           "compile", "dask", "devices", "emulate", "emulate_without_card",
           "explain", "format_named", "load_kernel", "matmul", "pack", "parse",
           "prune", "quantize", "read", "to_device"]
