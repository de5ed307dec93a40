# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What JAX has lowered to StableHLO. jax itself is not imported: the program brings
what is asked of it."""

from ._errors import Refused
from ._imported import from_mlir


def from_jax(lowered, name="<jax>", target=""):
    """What `jax.jit(f).lower(...)` returned, with block-scaled products:
    `jax.lax.scaled_dot`, `jax.nn.scaled_matmul` for CUDA.

    For CUDA a machine without it lowers by
    `jax.jit(f).trace(...).lower(lowering_platforms=("cuda",))`.

    Returns an `Imported`. Its arguments are the leaves of those of f that f uses,
    in the order of `jax.tree.leaves`. target: as in `from_mlir`.
    """
    if not hasattr(lowered, "compiler_ir"):
        raise Refused("expected what jax.jit(f).lower(...) returns, found a "
                      f"{type(lowered).__name__}")
    module = lowered.compiler_ir("stablehlo")
    if not hasattr(module, "operation"):
        raise Refused("the program has no form in StableHLO")
    return from_mlir(module.operation.get_asm(print_generic_op_form=True), name,
                     target)
