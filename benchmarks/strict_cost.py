#!/usr/bin/env python3
"""What strict mode costs: kernels and CUDA programs with and without it.

usage: strict_cost.py BLOCKSCALE [ROUNDS] [PROGRAM...]

Runs generated GEMMs of NVFP4 and MXFP8, 1024 to 4096 cubed, and the programs,
in turns with and without strict mode, on one host thread. Prints the least
processor time of ROUNDS runs (default 3) of the whole process.
"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

KINDS = {"NVFP4": ("f4E2M1FN", "e4m3fn_t16"), "MXFP8": ("f8E4M3FN", "e8m0_t32")}
SIZES = (1024, 2048, 4096)


def processor_time(command):
    """Seconds of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (
        after.ru_stime - before.ru_stime)


def compile_gemm(tool, folder, kind, size):
    """The command that emulates a GEMM without its last option."""
    element, spec = KINDS[kind]
    name = f"gemm_{kind.lower()}_{size}"
    tensor = f'!blockscale.tensor<{size}x{size}x{element}, "{spec}", layout = tiled_128x4>'
    result = f"tensor<{size}x{size}xf32>"
    source = folder / f"{name}.mlir"
    source.write_text(
        f"func.func @{name}(%a: {tensor}, %b: {tensor}) -> {result} {{\n"
        f"  %0 = blockscale.matmul %a, %b : {tensor}, {tensor} -> {result}\n"
        f"  return %0 : {result}\n}}\n")
    subprocess.run([tool, "compile", str(source), "--target=sm_100a",
                    "--no-cubin", "-o", str(folder)], check=True,
                   stdout=subprocess.DEVNULL)
    command = [tool, "emulate", str(folder / f"{name}.ptx"),
               f"--plan={folder / name}.plan.json", "--threads=1",
               f"--out=d={folder / 'd.npy'}"]
    fp4 = kind == "NVFP4"
    contents = {"data": (size * size // (2 if fp4 else 1), 0x31),
                "scales": (size * size // (16 if fp4 else 32),
                           0x38 if fp4 else 127)}
    for operand in "ab":
        for what, (count, byte) in contents.items():
            path = folder / f"{operand}_{what}.npy"
            header = str({"descr": "|u1", "fortran_order": False,
                          "shape": (count,)}).ljust(117) + "\n"
            path.write_bytes(b"\x93NUMPY\x01\x00\x76\x00" + header.encode()
                             + bytes([byte]) * count)
            command.append(f"--in={operand}_{what}={path}")
    return command


def row(name, command, rounds):
    """`command(strict)`; the times in turns."""
    times = {True: [], False: []}
    for _ in range(rounds):
        for strict in times:
            times[strict].append(processor_time(command(strict)))
    plain, strict = min(times[False]), min(times[True])
    print(f"| {name} | {plain:.2f} | {strict:.2f} | {strict / plain:.2f} |",
          flush=True)


def main():
    tool = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    print("| what | plain, s | strict, s | ratio |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            for size in SIZES:
                base = compile_gemm(tool, Path(folder), kind, size)
                row(f"{kind} {size} cubed",
                    lambda strict: base + [f"--strict={int(strict)}"], rounds)
    for program in sys.argv[3:]:
        row(Path(program).name,
            lambda strict: [tool, "emulate", "--threads=1",
                            f"--strict={int(strict)}", "--cuda", program],
            rounds)


if __name__ == "__main__":
    main()
