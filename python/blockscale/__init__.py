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

import importlib

# What there is, by the module that has it. A module is imported when the first
# of its names is asked for, so that to import the package costs next to nothing:
# numpy comes with the first array, MLIR (by _compiler_calls.py) with the first product.
_NAMES = {
    "_checkpoint": ("CheckReport", "Checkpoint", "Finding", "Parameter",
                    "check", "pack", "read"),
    "_compile": ("compile", "load_kernel"),
    "_device": ("DeviceArray", "to_device"),
    "_device_scaled": ("DeviceScaled",),
    "_driver": ("Device", "devices", "emulate_without_card"),
    "_emulate": ("emulate",),
    "_errors": ("Busy", "CheckpointError", "CompileError", "DeviceError",
                "Diagnostic", "Error", "Hazard", "InternalError", "Refused"),
    "_formats": ("FORMATS", "Format", "format_named"),
    "_from_jax": ("from_jax",),
    "_from_onnx": ("from_onnx",),
    "_from_torch": ("from_torch",),
    "_imported": ("Imported", "from_mlir"),
    "_kernel": ("Argument", "Kernel", "Verdict"),
    "_layout": ("Layout", "layout", "layouts"),
    "_launch": ("Prepared",),
    "_nki_kernels": ("NkiKernels",),
    "_launch_convert": ("PreparedConversion",),
    "_launch_dequantize": ("PreparedDequantization",),
    "_launch_quantize": ("PreparedQuantization",),
    "_program": ("Outcome", "Program"),
    "_quantize": ("quantize",),
    "_scaled": ("Scaled", "prune"),
    "_spec": ("Spec", "matmul", "parse"),
    "_targets": ("KernelChoice",),
}
_MODULES = ("dask", "explain", "triton")
_HOMES = {name: home for home, names in _NAMES.items() for name in names}

__all__ = sorted([*_HOMES, *_MODULES])


def __getattr__(name):
    """What is asked for the first time; from then on it is found."""
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    if name == "__version__":
        value = importlib.import_module("._core", __name__).version
    elif name in _HOMES:
        value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__),
                        name)
    else:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'",
                             name=name)
    return globals().setdefault(name, value)


def __dir__():
    return sorted({*globals(), *__all__, "__version__"})
