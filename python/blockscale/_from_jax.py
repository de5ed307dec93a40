# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What JAX has lowered to StableHLO. jax itself is not imported for what it lowered: the
program brings what is asked of it. What it exported are bytes, which jax reads."""

import importlib

from ._errors import Refused
from ._imported import from_mlir


def from_jax(lowered, name="<jax>", target=""):
    """What `jax.jit(f).lower(...)` or `jax.export.export(jax.jit(f))(...)` returned,
    with block-scaled products: `jax.lax.scaled_dot`, `jax.nn.scaled_matmul` for
    CUDA.

    For CUDA a machine without it lowers by
    `jax.jit(f).trace(...).lower(lowering_platforms=("cuda",))`.

    Returns an `Imported`. Its arguments are the leaves of those of f that f uses,
    in the order of `jax.tree.leaves`. target: as in `from_mlir`.
    """
    if hasattr(lowered, "mlir_module_serialized"):
        module = deserialized(lowered.mlir_module_serialized)
    elif hasattr(lowered, "compiler_ir"):
        module = lowered.compiler_ir("stablehlo")
    else:
        raise Refused("expected what jax.jit(f).lower(...) returns, found a "
                      f"{type(lowered).__name__}")
    if not hasattr(module, "operation"):
        raise Refused("the program has no form in StableHLO")
    return from_mlir(module.operation.get_asm(print_generic_op_form=True), name,
                     target)


def deserialized(artifact):
    """The module of what jax.export wrote, which only jax reads."""
    ir = importlib.import_module("jax.extend.mlir.ir")
    stablehlo = importlib.import_module("jax.extend.mlir.dialects.stablehlo")
    chlo = importlib.import_module("jax.extend.mlir.dialects.chlo")
    context = ir.Context()
    for dialect in (stablehlo, chlo):
        dialect.register_dialect(context, True)
    try:
        return stablehlo.deserialize_portable_artifact(context, artifact)
    except (RuntimeError, ValueError) as error:
        raise Refused(f"jax does not read what jax.export wrote: {error}") from error
