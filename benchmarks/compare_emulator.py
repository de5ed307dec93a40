#!/usr/bin/env python3
"""Whether the emulator got slower: two builds of it, in turns.

usage: compare_emulator.py OLD NEW [ROUNDS] [PROGRAM...]

OLD and NEW are 'blockscale' of two states. Each compiles and emulates GEMMs of
NVFP4 and MXFP8, 1024 cubed, with and without strict mode, and runs the CUDA
programs; on one host thread and one processor, in a new order each round. Prints
the least processor time of ROUNDS runs (default 5) and the largest resident set
of either, and the ratio. Other work on the machine makes runs longer, never
shorter: with enough rounds the ratio hardly depends on it.
"""

import os
import random
import sys
import tempfile
from pathlib import Path

from strict_cost import KINDS, compile_gemm

SIZE = 1024


def run(command, processor):
    """Processor time in seconds and resident set in KiB of one run."""
    pid = os.fork()
    if pid == 0:
        os.sched_setaffinity(0, {processor})
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, 1)
        os.dup2(sink, 2)
        os.execv(command[0], command)
    _, status, usage = os.wait4(pid, 0)
    if status:
        sys.exit(f"status {os.waitstatus_to_exitcode(status)}: "
                 + " ".join(command))
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def commands(tools, folder, programs):
    """By name of the measurement: the command of each tool."""
    result = {}
    for kind in KINDS:
        pair = []
        for i, tool in enumerate(tools):
            place = folder / f"{kind}{i}"
            place.mkdir()
            pair.append(compile_gemm(tool, place, kind, SIZE))
        for strict in (0, 1):
            result[f"{kind} {SIZE} cubed, {'strict' if strict else 'plain'}"] = [
                command + [f"--strict={strict}"] for command in pair
            ]
    for program in programs:
        for strict in (0, 1):
            name = f"{Path(program).name}, {'strict' if strict else 'plain'}"
            result[name] = [[
                tool, "emulate", "--threads=1", f"--strict={strict}", "--cuda"
            ] + program.split() for tool in tools]
    return result


def main():
    tools = [str(Path(tool).resolve()) for tool in sys.argv[1:3]]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    processor = max(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder:
        all_commands = commands(tools, Path(folder), sys.argv[4:])
        print("| what | old, s | new, s | ratio | memory |\n"
              "| --- | --- | --- | --- | --- |")
        best = {name: [[float("inf"), 0], [float("inf"), 0]]
                for name in all_commands}
        for _ in range(rounds):
            for name, pair in all_commands.items():
                for side in random.sample((0, 1), 2):
                    time, memory = run(pair[side], processor)
                    entry = best[name][side]
                    entry[0] = min(entry[0], time)
                    entry[1] = max(entry[1], memory)
        for name, (old, new) in best.items():
            print(f"| {name} | {old[0]:.3f} | {new[0]:.3f} | "
                  f"{new[0] / old[0]:.3f} | {new[1] / old[1]:.3f} |")


if __name__ == "__main__":
    main()
