# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What the scripts share that compare kernels with blockscale-to-linalg: kernels run on
the emulator, and MLIR that counts the elements that differ."""

import json
import subprocess

import numpy as np


def compiled(folder, text):
    (folder / "kernels.mlir").write_text(text)
    subprocess.run(["blockscale", "compile", folder / "kernels.mlir", "--no-cubin", "-o",
                    folder], check=True)
    plan = json.loads((folder / "kernels.plan.json").read_text())
    return {one["name"]: one for one in plan["kernels"]}


def run(folder, name, inputs, outputs):
    command = ["blockscale", "emulate", folder / "kernels.ptx", "--plan",
               folder / "kernels.plan.json", "--kernel", name]
    for role, values in inputs.items():
        np.save(folder / f"{role}.npy", values)
        command += ["--in", f"{role}={folder}/{role}.npy"]
    for role in outputs:
        command += ["--out", f"{role}={folder}/{role}.npy"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return [np.load(folder / f"{role}.npy").view(np.uint8).reshape(-1)
            for role in outputs]


def pitch_of(planned, operand):
    return next(int(one["linePitch"]) for one in planned["data"]
                if one["operand"] == operand)


def dense(codes, element, bits=0):
    """A constant of codes, each in the bytes that it takes."""
    bits = bits or int(element.lstrip("ui"))
    size = {4: 1, 6: 1, 8: 1, 16: 2, 32: 4}[bits]
    shape = "x".join(map(str, codes.shape))
    text = codes.astype(f"<u{size}").tobytes().hex()
    return f'arith.constant dense<"0x{text}"> : tensor<{shape}x{element}>'


def counted(name, value, codes, element, bits):
    """Prints how many elements of `value` have other bits than `codes`."""
    wide = max(8, bits)
    rank = codes.ndim
    names = ", ".join(f"d{i}" for i in range(rank))
    same = f"affine_map<({names}) -> ({names})>"
    shape = "x".join(map(str, codes.shape))
    cast = f"    %g = arith.bitcast %f : {element} to i{bits}\n"
    if element.startswith("i"):
        cast = f"    %g = arith.bitcast %f : i{bits} to i{bits}\n"
    if bits < wide:
        cast += f"    %h = arith.extui %g : i{bits} to i{wide}\n"
    else:
        cast += f"    %zero = arith.constant 0 : i{wide}\n"
        cast += f"    %h = arith.ori %g, %zero : i{wide}\n"
    loops = ", ".join(['"reduction"'] * rank)
    return f"""
  %{name}k = {dense(codes, f"i{wide}", wide)}
  %{name}z = arith.constant dense<0> : tensor<i32>
  %{name}n = linalg.generic {{indexing_maps = [{same}, {same}, affine_map<({names}) -> ()>], iterator_types = [{loops}]}} ins({value}, %{name}k : tensor<{shape}x{element}>, tensor<{shape}xi{wide}>) outs(%{name}z : tensor<i32>) {{
  ^bb0(%f: {element}, %e: i{wide}, %sum: i32):
{cast}    %ne = arith.cmpi ne, %h, %e : i{wide}
    %o = arith.extui %ne : i1 to i32
    %next = arith.addi %sum, %o : i32
    linalg.yield %next : i32
  }} -> tensor<i32>
  %{name}v = tensor.extract %{name}n[] : tensor<i32>
  vector.print %{name}v : i32
"""


def write(folder, cases):
    """FOLDER/linalg.mlir, whose `main` runs all cases, each a body and what it counts."""
    text = "".join(
        f"func.func @f{i}() {{{body}{''.join(counted(*one) for one in results)}"
        f"  return\n}}\n" for i, (body, results) in enumerate(cases))
    calls = "\n".join(f"  call @f{i}() : () -> ()" for i in range(len(cases)))
    (folder / "linalg.mlir").write_text(
        f"{text}func.func @main() {{\n{calls}\n  return\n}}\n")
