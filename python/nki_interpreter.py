"""Runs kernels of AWS NKI that blockscale emits, on numpy, and checks each call
against what NKI's public documents demand.

Written from those documents alone: it shares no code or table with the
compiler. A kernel is Python; it runs as it is, with modules `nki`, `nki.isa` and
`nki.language` that stand here. Every broken rule is an NKIError with the document
that states it. Bytes of SBUF and PSUM are modelled with their owners: reading what
no one wrote, or what another tile has overwritten since, is an error too.

What the documents leave open is fixed as follows: sums are exact within an
instruction, rounded once to float32, and added to PSUM in float32; quantize_mx
rounds elements to nearest, ties to even.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import sys
import types

from nki_isa import Isa
from nki_memory import DTYPES, DType, DynamicSlice, HbmTensor, Machine, Tensor, Tile, require


def make_modules(machine):
    """`nki`, `nki.isa` and `nki.language` for one run."""
    nki, isa, nl = (types.ModuleType(name) for name in ("nki", "nki.isa", "nki.language"))
    instructions = Isa(machine)
    for name in dir(Isa):
        if not name.startswith("_"):
            setattr(isa, name, getattr(instructions, name))
    for dtype in DTYPES.values():
        setattr(nl, dtype.name, dtype)
    for name in ("sbuf", "psum", "shared_hbm", "private_hbm", "add", "multiply", "maximum",
                 "gelu", "silu"):
        setattr(nl, name, name)
    nl.ds = DynamicSlice

    def ndarray(shape, dtype, buffer="sbuf", address=None):
        require(isinstance(dtype, DType), f"dtype {dtype!r}", "nki.language.ndarray")
        if buffer in ("shared_hbm", "private_hbm"):
            require(address is None, "address in HBM", "nki.language.ndarray")
            tensor = HbmTensor(shape, dtype, once=True)
            machine.temporaries.append(tensor)
            return tensor.whole()
        require(buffer in ("sbuf", "psum"), f"buffer {buffer!r}", "nki.language.ndarray")
        require(address is None or machine.revision >= "2026-04", "address",
                "nki.language.ndarray")
        tile = Tile(machine, shape, dtype, getattr(machine, buffer), address)
        machine.allocated.append(tile)
        return tile.whole()

    def jit(function=None, platform_target=None):
        if platform_target is not None:
            require(platform_target == "trn3", f"platform_target {platform_target!r}",
                    "nki.jit; nc_matmul_mx is of NeuronCore-v4 and newer")
        return function if function else lambda inner: inner

    nl.ndarray, nki.jit, nki.isa, nki.language = ndarray, jit, isa, nl
    return {"nki": nki, "nki.isa": isa, "nki.language": nl}


def run_kernel(code, name, inputs, revision):
    """Runs `name` of the compiled file `code`.

    `inputs` are pairs of a numpy array and the name of its NKI type. Returns the
    results as numpy arrays and the Machine.
    """
    machine = Machine(revision)
    modules = make_modules(machine)
    saved = {module: sys.modules.get(module) for module in modules}
    sys.modules.update(modules)
    try:
        scope = {}
        exec(code, scope)  # pylint: disable=exec-used
        arguments = [HbmTensor(array.shape, DTYPES[kind], array).whole()
                     for array, kind in inputs]
        results = scope[name](*arguments)
    finally:
        for module, old in saved.items():
            if old is None:
                del sys.modules[module]
            else:
                sys.modules[module] = old
    results = results if isinstance(results, tuple) else (results,)
    arrays = []
    for result in results:
        require(isinstance(result, Tensor) and result.memory == "hbm"
                and not result.root.read_only, "result outside of HBM", "nki.jit")
        arrays.append(result.root.values.reshape(result.root.shape))
    for tensor in machine.temporaries:
        require(tensor.written.all(), "tensor in HBM with elements that were not written",
                "one store for each element")
    for tile in machine.allocated:
        require(not tile.open, "accumulation group that is not closed",
                "nki.isa.nc_matmul_mx, Parameters")
        require(not tile.unread, "sum in PSUM that nothing read", "one use of each sum")
    return arrays, machine
