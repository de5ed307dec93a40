"""Prints what the driver and the runtime answer to many calls, right and wrong.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

    ask.py            every section, each in a process of its own
    ask.py SECTION    one section

A line is the section, what is special of the call, the function, its answer and
what it gave. No call passes a null pointer where the driver's manual wants one
that points: the real driver may crash there.
"""

import importlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

SECTIONS = {
    "before": "device", "device": "device", "attributes": "device", "context": "contexts",
    "memory": "memory", "copies": "copies", "pools": "pools", "mapped": "mapped",
    "images": "modules", "functions": "modules", "libraries": "libraries", "links": "libraries",
    "launches": "launches", "clusters": "launches", "occupancy": "occupancy",
    "streams": "streams", "capture": "capture", "words": "words",
    "graphs": "graphs", "nodes": "nodes", "conditionals": "nodes",
    "maps": "tensor_maps", "im2col": "tensor_maps", "green": "green", "entries": "entries",
    "trap": "faults", "address": "faults", "misaligned": "faults", "shared": "faults",
    "local": "faults", "assertion": "faults", "host": "faults",
    "runtime": "runtime", "runtime_launches": "runtime", "runtime_graphs": "runtime",
    "runtime_trap": "runtime",
}


def alone(section):
    """What the section prints in a process of its own, and how it ended."""
    try:
        done = subprocess.run([sys.executable, __file__, section], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=25)
        return done.stdout, done.returncode, done.stderr
    except subprocess.TimeoutExpired as late:
        return late.stdout or b"", "a timeout", late.stderr or b""


def main():
    if len(sys.argv) > 1:
        section = sys.argv[1]
        getattr(importlib.import_module(SECTIONS[section]), section)()
        return
    with ThreadPoolExecutor(4) as pool:
        for section, (out, code, errors) in zip(SECTIONS, pool.map(alone, SECTIONS)):
            for line in out.decode(errors="replace").splitlines():
                print(" ".join(f"{section}: {line}".split()))
            if code:
                print(f"{section}: ended with {code}")
            sys.stdout.flush()
            sys.stderr.write(errors.decode(errors="replace"))


if __name__ == "__main__":
    main()
