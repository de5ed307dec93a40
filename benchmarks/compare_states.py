#!/usr/bin/env python3
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Time, instructions and memory of one state of the project against another.

usage: compare_states.py BASE NEW [--rounds N] [--instructions] [PROGRAM...]

BASE and NEW are two `blockscale` programs. Compiles the examples, emulates
generated GEMMs and CUDA programs with and without strict mode on one host
thread, by both in turns. Prints for each the least processor time of N runs
(default 5) and the largest resident set, and NEW's share of BASE's. With
--instructions it also counts instructions with valgrind's cachegrind, which
other work on the machine does not disturb. Exits with 1 if a share of the
instructions, or without them of the time, or of the memory exceeds 1.03.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from strict_cost import KINDS, compile_gemm

LIMIT = 1.03
SIZES = (512, 1024)


def run(command):
    """Processor time in seconds and largest resident set in MiB of one run."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"error: {' '.join(command)} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def count_instructions(command):
    done = subprocess.run(
        ["valgrind", "--tool=cachegrind", "--cache-sim=no",
         "--cachegrind-out-file=/dev/null", *command],
        capture_output=True, text=True, check=True)
    return int(re.search(r"I *refs: *([\d,]+)", done.stderr)[1].replace(",", ""))


def workloads(tools, folder, programs):
    """Names, and a command for each tool."""
    examples = Path(__file__).resolve().parent.parent / "examples"
    for example in sorted(examples.glob("*.mlir")):
        yield (f"compile {example.stem}",
               [[tool, "compile", "--no-cubin", str(example), "-o", str(folder)]
                for tool in tools])
    for strict in (0, 1):
        for kind in KINDS:
            for size in SIZES:
                # Each reads a plan of its own: its version may differ.
                commands = [compile_gemm(tool, folder / str(i), kind, size) +
                            [f"--strict={strict}"]
                            for i, tool in enumerate(tools)]
                yield f"{kind} {size}{' strict' * strict}", commands
        for program in programs:
            yield (f"{Path(program).stem}{' strict' * strict}",
                   [[tool, "emulate", "--threads=1", f"--strict={strict}",
                     "--cuda", program] for tool in tools])


def compare(name, commands, rounds, instructions):
    """Prints a row; whether it holds the limit."""
    times, memory = ([], []), ([], [])
    for _ in range(rounds):
        for i, command in enumerate(commands):
            time, resident = run(command)
            times[i].append(time)
            memory[i].append(resident)
    pairs = [tuple(map(min, times)), tuple(map(min, memory))]
    if instructions:
        pairs.append(tuple(count_instructions(command) / 1e6
                           for command in commands))
    cells = [f"{old:.3f} | {new:.3f} | {new / old:.3f}" for old, new in pairs]
    print(f"| {name} | {' | '.join(cells)} |", flush=True)
    judged = pairs[1:] if instructions else pairs
    return all(new <= old * LIMIT for old, new in judged)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base")
    parser.add_argument("new")
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--instructions", action="store_true")
    options = parser.parse_args()
    heads = ["processor time, s", "", "", "memory, MiB", "", ""]
    if options.instructions:
        heads += ["instructions, M", "", ""]
    print(f"| what | {' | '.join(heads)} |")
    print("| --- |" + " --- |" * len(heads))
    holds = True
    with tempfile.TemporaryDirectory() as folder:
        for i in range(2):
            Path(folder, str(i)).mkdir()
        for name, commands in workloads((options.base, options.new),
                                        Path(folder), options.programs):
            holds &= compare(name, commands, options.rounds,
                             options.instructions)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
