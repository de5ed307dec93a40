"""Writes what JAX 0.10.2 makes of block-scaled products, and what XLA computes.

    pip install jax==0.10.2
    python make_jax.py FOLDER

The folder gets composite.mlir, with the result of XLA on the CPU in composite.npy,
call.mlir (for CUDA, so that nothing here executes it) and symbolic.mlir (an unknown
number of rows), all in the generic form.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import pathlib
import sys

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
from jax._src.interpreters.mlir import make_ir_context
from jax._src.lib.mlir import ir

import operands

ROWS, COLUMNS, K = 48, 64, 128


def composite(a, b, scale_a, scale_b):
    """A batch of two; K before the columns of b."""
    return jax.lax.scaled_dot(a, b, lhs_scale=scale_a, rhs_scale=scale_b,
                              dimension_numbers=(((2,), (1,)), ((0,), (0,))),
                              preferred_element_type=jnp.float32)


def call(a, b, scale_a, scale_b, factor, bias):
    product = jax.nn.scaled_matmul(a, b, scale_a, scale_b,
                                   preferred_element_type=jnp.float32)
    return (product * factor + bias).astype(jnp.bfloat16)


def symbolic(a, b, scale_a, scale_b):
    """The composite with an unknown size does not pass JAX's own verifier."""
    return jax.nn.scaled_matmul(a, b, scale_a, scale_b,
                                preferred_element_type=jnp.float32)


def generic(lowered):
    return lowered.compiler_ir("stablehlo").operation.get_asm(
        print_generic_op_form=True) + "\n"


def main():
    folder = pathlib.Path(sys.argv[1])
    values = [operands.elements((2, ROWS, K), operands.E4M3, 0),
              operands.elements((2, K, COLUMNS), operands.E5M2, 3),
              operands.scales((2, ROWS, K // 32), operands.E8M0, 0),
              operands.scales((2, K // 32, COLUMNS), operands.E8M0, 1)]
    (folder / "composite.mlir").write_text(generic(jax.jit(composite).lower(*values)))
    np.save(folder / "composite.npy", np.asarray(jax.jit(composite)(*values)))
    shape = jax.ShapeDtypeStruct
    lowered = jax.jit(call).trace(
        shape((1, ROWS, K), jnp.float4_e2m1fn), shape((1, COLUMNS, K), jnp.float4_e2m1fn),
        shape((1, ROWS, K // 16), jnp.float8_e4m3fn),
        shape((1, COLUMNS, K // 16), jnp.float8_e4m3fn), shape((), jnp.float32),
        shape((COLUMNS,), jnp.float32)).lower(lowering_platforms=("cuda",))
    (folder / "call.mlir").write_text(generic(lowered))
    m, = jax.export.symbolic_shape("m")
    allowed = jax.export.DisabledSafetyCheck.custom_call("__op$block_scaled_dot")
    exported = jax.export.export(jax.jit(symbolic), platforms=["cuda"],
                                 disabled_checks=[allowed])(
        shape((1, m, K), jnp.float8_e4m3fn), shape((1, COLUMNS, K), jnp.float8_e4m3fn),
        shape((1, m, K // 32), jnp.float8_e8m0fnu),
        shape((1, COLUMNS, K // 32), jnp.float8_e8m0fnu))
    with make_ir_context():
        module = ir.Module.parse(exported.mlir_module())
        text = module.operation.get_asm(print_generic_op_form=True) + "\n"
    (folder / "symbolic.mlir").write_text(text)


if __name__ == "__main__":
    main()
