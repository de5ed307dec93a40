"""Runs imported products on the emulator and compares them with numpy.

    check_numbers.py WORK RUNNER_LIBRARIES DRIVER_FOLDER [FUNCTION...]

What a function of Inputs/ means is written here once more, from the definition of the
producer's op and not from what the import makes of it. All numbers are such that
sums are exact, so that results must be equal; each is also compared with a result
that differs in one element, which must be noticed.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import os
import pathlib
import re
import subprocess
import sys

import ml_dtypes
import numpy as np

from operands import (E2M1, E4M3, E5M2, E8M0, elements, pairs, scaled, scales,
                      tiled)

HERE = pathlib.Path(__file__).parent
NAMES = {np.dtype(E4M3): "f8E4M3FN", np.dtype(E5M2): "f8E5M2",
         np.dtype(E8M0): "f8E8M0FNU", np.dtype(E2M1): "f4E2M1FN",
         np.dtype(np.uint8): "i8", np.dtype(np.float32): "f32", np.dtype(ml_dtypes.bfloat16): "bf16"}


def rows_by_rows(a, b, scale_a, scale_b, block):
    """[..., M, K] by [..., N, K]."""
    return scaled(a, scale_a, -1, block) @ np.swapaxes(
        scaled(b, scale_b, -1, block), -1, -2)


def tosa(batch_a, batch_b):
    a, b = elements((batch_a, 48, 128), E2M1, 0), elements((batch_b, 64, 128), E2M1, 3)
    if batch_a == 1:
        a, b = a.astype(E4M3), b.astype(E4M3)
    s, t = scales((batch_a, 48, 4), E8M0, 0), scales((batch_b, 64, 4), E8M0, 1)
    return [a, s, b, t], rows_by_rows(a, b, s, t, 32)


def tosa_linear():
    """Rows of x with one power of two in each block, which its scale takes."""
    x = elements((48, 128), np.float32, 0) * np.repeat(
        scales((48, 4), np.float32, 0), 32, axis=1)
    b, t = elements((64, 128), E4M3, 3), scales((64, 4), E8M0, 1)
    bias = np.arange(64, dtype=np.float32) - 20
    return [x, b, t, bias], x.astype(np.float64) @ scaled(b, t, -1, 32).T + bias


def tosa_activated():
    a, b = elements((1, 48, 128), E4M3, 0), elements((1, 64, 128), E4M3, 3)
    s, t = scales((1, 48, 4), E8M0, 0), scales((1, 64, 4), E8M0, 1)
    bias = np.arange(64, dtype=np.float32) - 20
    y = np.clip(rows_by_rows(a, b, s, t, 32) + bias, -40, 60)
    return [a, s, b, t, bias], (abs(y) * 0.5 - y).reshape(-1)


def tosa_back():
    a, s = elements((2, 3, 64), E5M2, 0), scales((2, 3, 2), E8M0, 0)
    return [a, s], scaled(a, s, -1, 32)


def tosa_cast():
    """The reference model's own result."""
    return [np.load(HERE / "tosa/values.npy")], np.load(HERE / "tosa/result.npy")


def iree():
    a, b = elements((48, 128), E2M1, 0), elements((64, 128), E2M1, 3)
    s, t = scales((48, 4), E8M0, 0), scales((64, 4), E8M0, 1)
    return ([a.reshape(48, 4, 32), b.reshape(64, 4, 32), s, t],
            rows_by_rows(a, b, s, t, 32))


def contract():
    a, b = elements((48, 128), E4M3, 0), elements((128, 64), E4M3, 3)
    s, t = scales((48, 4), E8M0, 0), scales((4, 64), E8M0, 1)
    c, alpha = elements((48, 64), np.float32, 2), np.float32(0.5)
    value = scaled(a, s, 1, 32) @ scaled(b, t, 0, 32)
    return [a, b, s, t, c, alpha], 0.5 * value + c


def dequantised():
    a, b = elements((48, 128), E2M1, 0), elements((64, 128), E2M1, 3)
    s, t = scales((48, 8), E4M3, 0), scales((64, 8), E4M3, 1)
    factors = [np.float32(0.5).reshape(()), np.float32(4).reshape(())]
    return ([a.reshape(48, 8, 16), s, b.reshape(64, 8, 16), t, *factors],
            2 * rows_by_rows(a, b, s, t, 16))


def elementwise():
    a, b = elements((3, 48, 256), E5M2, 0), elements((3, 256, 128), E4M3, 3)
    s, t = scales((3, 48, 8), E8M0, 0), scales((3, 8, 128), E8M0, 1)
    value = scaled(a, s, 2, 32) @ scaled(b, t, 1, 32)
    return [a, s, b.reshape(3, 8, 32, 128), t], value


def composite():
    """XLA's own result for the operands of make_jax.py."""
    operands = [elements((2, 48, 128), E4M3, 0), elements((2, 128, 64), E5M2, 3),
                scales((2, 48, 4), E8M0, 0), scales((2, 4, 64), E8M0, 1)]
    return operands, np.load(HERE / "jax/composite.npy")


def call():
    a, b = elements((1, 48, 128), E2M1, 0), elements((1, 64, 128), E2M1, 3)
    s, t = scales((1, 48, 8), E4M3, 0), scales((1, 64, 8), E4M3, 1)
    factor, bias = np.float32(0.25), np.arange(64, dtype=np.float32) - 20
    value = 0.25 * rows_by_rows(a, b, s, t, 16) + bias
    return [a, b, s, t, factor.reshape(()), bias], value


def symbolic():
    a, b = elements((1, 48, 128), E4M3, 0), elements((1, 64, 128), E4M3, 3)
    s, t = scales((1, 48, 4), E8M0, 0), scales((1, 64, 4), E8M0, 1)
    return [a, b, s, t], rows_by_rows(a, b, s, t, 32)


def torch_mxfp8():
    a, b = elements((48, 128), E4M3, 0), elements((64, 128), E4M3, 3)
    s, t = scales((48, 4), E8M0, 0), scales((64, 4), E8M0, 1)
    bias = (np.arange(64) - 20).astype(ml_dtypes.bfloat16)
    value = rows_by_rows(a, b, s, t, 32) + bias.astype(np.float64)
    return [a, tiled(s), b, tiled(t), bias], value


def torch_nvfp4():
    a, b = elements((48, 128), E2M1, 0), elements((64, 128), E2M1, 3)
    s, t = scales((48, 8), E4M3, 0), scales((64, 8), E4M3, 1)
    factors = [np.float32([0.5]), np.float32([4])]
    operands = [pairs(a), tiled(s), factors[0], pairs(b), tiled(t), factors[1]]
    return operands, 2 * rows_by_rows(a, b, s, t, 16)


def torch_around():
    a, b = elements((48, 128), E4M3, 0), elements((64, 128), E4M3, 3)
    s, t = scales((48, 4), E8M0, 0), scales((64, 4), E8M0, 1)
    gain = scales((64,), np.float32, 2)
    z = np.maximum(rows_by_rows(a, b, s, t, 32) * gain + 2, 0)
    halves = z.reshape(48, 2, 32)
    return [a, s, b, t, gain], halves.mean(1) - halves.max(1)


def torch_rows():
    a, b = elements((48, 128), E4M3, 0), elements((64, 128), E4M3, 3)
    s, t = scales((48, 1), np.float32, 0), scales((1, 64), np.float32, 1)
    return [a, s, b, t], a.astype(np.float64) @ b.astype(np.float64).T * s * t


def onnx_mxfp8():
    """ONNX's own results for the operands of make_onnx.py, from here on."""
    b, t = elements((64, 128), E4M3, 3), scales((64, 4), E8M0, 1)
    x, s = elements((48, 128), E4M3, 0), scales((48, 4), E8M0, 0)
    bias = np.arange(64, dtype=np.float32) - 20
    return [b, t, bias, x, s], np.load(HERE / "onnx/mxfp8.npy")


def onnx_nvfp4():
    b, t = elements((128, 64), E2M1, 3), scales((8, 64), E4M3, 1)
    x, s = elements((48, 128), E2M1, 0), scales((48, 8), E4M3, 0)
    factors = [np.float32(0.5).reshape(()), np.float32(4).reshape(())]
    return ([factors[0], b, t, factors[1], x, s], np.load(HERE / "onnx/nvfp4.npy"))


# Name: file, function, operands with the result in f64, the result's type.
CASES = {
    "static": ("tosa.mlir", "static", lambda: tosa(1, 1), "f32"),
    "shared": ("tosa.mlir", "shared", lambda: tosa(4, 1), "f32"),
    "batch": ("tosa.mlir", "batch", lambda: tosa(4, 4), "f32"),
    "linear": ("tosa.mlir", "linear", tosa_linear, "bf16"),
    "activated": ("tosa.mlir", "activated", tosa_activated, "bf16"),
    "back": ("tosa.mlir", "back", tosa_back, "bf16"),
    "cast": ("tosa.mlir", "cast", tosa_cast, "f32"),
    "iree": ("linalg.mlir", "iree", iree, "f32"),
    "contract": ("linalg.mlir", "contract", contract, "f32"),
    "dequantised": ("linalg.mlir", "dequantised", dequantised, "f32"),
    "elementwise": ("linalg.mlir", "elementwise", elementwise, "f32"),
    "composite": ("jax/composite.mlir", "main", composite, "f32"),
    "call": ("jax/call.mlir", "main", call, "bf16"),
    "mxfp8": ("torch/mxfp8.mlir", "mxfp8", torch_mxfp8, "bf16"),
    "nvfp4": ("torch/nvfp4.mlir", "nvfp4", torch_nvfp4, "f32"),
    "around": ("torch/around.mlir", "around", torch_around, "f32"),
    "rows": ("torch/rows.mlir", "rows", torch_rows, "bf16"),
    "onnx-mxfp8": ("onnx/mxfp8.mlir", "mxfp8", onnx_mxfp8, "f32"),
    "onnx-nvfp4": ("onnx/nvfp4.mlir", "nvfp4", onnx_nvfp4, "f32"),
    "symbolic": ("jax/symbolic.mlir", "main", symbolic, "f32"),
}


def constant(name, value, wanted):
    """`value` as a constant, as a tensor of the type that the function takes."""
    element = NAMES[value.dtype]
    if wanted == element:
        return f"    %{name} = arith.constant {float(value):.6e} : {element}\n"
    shape = "".join(f"{size}x" for size in value.shape)
    own = f"tensor<{shape}{element}>"
    text = f'dense<"0x{value.tobytes().hex().upper()}">'
    cast = (f"    %{name} = tensor.cast %{name}_static : {own} to {wanted}\n"
            if own != wanted else "")
    suffix = "_static" if cast else ""
    return f"    %{name}{suffix} = arith.constant {text} : {own}\n{cast}"


def program(module, function, operands, expected, result):
    """The module with a main function that prints in how many elements differ."""
    found = re.search(rf"func\.func (?:public )?@{function}\((.*?)\) -> "
                      r"\(?(tensor<[^>]*>)", module)
    types = re.findall(r"%\w+: (tensor<[^>]*>|\w+)", found[1])
    shape = "x".join(map(str, expected.shape)) + "x"
    text = "".join(constant(f"a{i}", value, kind)
                   for i, (value, kind) in enumerate(zip(operands, types)))
    text += constant("e", expected.astype(np.float32), f"tensor<{shape}f32>")
    names = ", ".join(f"%a{i}" for i in range(len(operands)))
    text += f"    %r = func.call @{function}({names}) : ({', '.join(types)}) -> {found[2]}\n"
    text += f"    %s = tensor.cast %r : {found[2]} to tensor<{shape}{result}>\n"
    if found[2] == f"tensor<{shape}{result}>":
        text = text.rpartition("    %s =")[0].replace("%r =", "%s =")
    last = "%s"
    if result != "f32":
        text += f"    %f = arith.extf %s : tensor<{shape}{result}> to tensor<{shape}f32>\n"
        last = "%f"
    rank = len(expected.shape)
    dims = ", ".join(f"d{i}" for i in range(rank))
    same = f"affine_map<({dims}) -> ({dims})>"
    loops = ", ".join(['"reduction"'] * rank)
    text += f"""    %zero = arith.constant dense<0.0> : tensor<1xf32>
    %n = linalg.generic {{indexing_maps = [{same}, {same}, affine_map<({dims}) -> (0)>], iterator_types = [{loops}]}}
        ins({last}, %e : tensor<{shape}f32>, tensor<{shape}f32>) outs(%zero : tensor<1xf32>) {{
    ^bb0(%x: f32, %y: f32, %count: f32):
      %differs = arith.cmpf une, %x, %y : f32
      %one = arith.uitofp %differs : i1 to f32
      %sum = arith.addf %count, %one : f32
      linalg.yield %sum : f32
    }} -> tensor<1xf32>
    %u = tensor.cast %n : tensor<1xf32> to tensor<*xf32>
    func.call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
"""
    body = module.rstrip()
    assert body.endswith("}")
    return (body[:-1] + "  func.func private @printMemrefF32(tensor<*xf32>)\n"
            "  func.func @check() {\n" + text + "    return\n  }\n}\n")


def imported(path):
    done = subprocess.run(["blockscale-opt", "--allow-unregistered-dialect",
                           "--blockscale-import", str(path)], check=True,
                          capture_output=True, text=True)
    return done.stdout


def only(module, function):
    """Without the other functions of the file."""
    parts = re.split(r"(?m)^(?=  func\.func )", module)
    kept = [part for part in parts[1:] if f"@{function}(" in part.split("{", 1)[0]]
    return parts[0] + kept[0].rstrip().removesuffix("}").rstrip() + "\n}\n" \
        if kept[0].rstrip().endswith("}\n}") else parts[0] + kept[0] + "}\n"


def mismatches(work, libraries, driver, text):
    source, code = work / "check.mlir", work / "check.llvm.mlir"
    source.write_text(text)
    subprocess.run(["blockscale", "compile", "--import", "--emit=host-llvm",
                    str(source), "-o", str(code)], check=True)
    done = subprocess.run(
        ["mlir-runner", str(code), "-e", "check", "-entry-point-result=void",
         f"-shared-libs={libraries}"], check=True, capture_output=True, text=True,
        env={**os.environ, "LD_LIBRARY_PATH": driver})
    return int(float(re.search(r"\[(\S+)\]\s*$", done.stdout)[1]))


def main():
    work, libraries, driver = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    work.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[4:] or CASES:
        file, function, make, result = CASES[name]
        operands, expected = make()
        if result == "bf16":
            expected = expected.astype(ml_dtypes.bfloat16)
        expected = expected.astype(np.float32)
        assert len(np.unique(expected)) > 20, f"{name}: too few different results"
        module = only(imported(HERE / file), function)
        wrong = expected.copy()
        wrong.flat[wrong.size // 3] += 1024
        right = mismatches(work, libraries, driver,
                           program(module, function, operands, expected, result))
        noticed = mismatches(work, libraries, driver,
                             program(module, function, operands, wrong, result))
        if right or noticed != 1:
            sys.exit(f"{name}: {right} of {expected.size} elements differ; "
                     f"{noticed} with one wrong on purpose")
        print(f"{name}: {expected.size} elements agree")


if __name__ == "__main__":
    main()
