#!/usr/bin/env python3
"""Time of `blockscale compile` for each example, whole process.

usage: compile_time.py BLOCKSCALE [ROUNDS]

Prints the least wall and processor time of ROUNDS runs (default 8), without
and with the cubin.
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def processor_time():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measure(tool, example, options, rounds):
    """Least wall and processor time in seconds."""
    wall, processor = [], []
    with tempfile.TemporaryDirectory() as folder:
        command = [tool, "compile", str(example), "-o", folder, *options]
        for _ in range(rounds):
            started, used = time.time(), processor_time()
            subprocess.run(command, check=True)
            wall.append(time.time() - started)
            processor.append(processor_time() - used)
    return min(wall), min(processor)


def main():
    tool = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 8
    examples = Path(__file__).resolve().parent.parent / "examples"
    print("| example | PTX, ms (processor) | with cubin, ms (processor) |")
    print("| --- | --- | --- |")
    for example in sorted(examples.glob("*.mlir")):
        cells = []
        for options in (["--no-cubin"], []):
            wall, processor = measure(tool, example, options, rounds)
            cells.append(f"{wall * 1e3:.0f} ({processor * 1e3:.0f})")
        print(f"| {example.stem} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
