"""What strict mode costs: processor time and memory of a program with it and
without, the least of a few runs of each in turn. Fails above the bounds.

usage: strict_cost.py TIME MEMORY COMMAND...; {strict} in the command is replaced
"""
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import sys

RUNS = 2


def measure(command):
    """Seconds of processor time and KiB of memory of a command."""
    child = os.spawnvp(os.P_NOWAIT, command[0], command)
    _, status, used = os.wait4(child, 0)
    if status:
        sys.exit(f"{' '.join(command)} failed")
    return used.ru_utime, used.ru_maxrss


bounds, words = [float(word) for word in sys.argv[1:3]], sys.argv[3:]
least = {}
for _ in range(RUNS):
    for mode in ("true", "false"):
        values = measure([word.replace("{strict}", mode) for word in words])
        least[mode] = [min(pair) for pair in zip(values, least.get(mode, values))]
ratios = [strict / plain for strict, plain in zip(least["true"], least["false"])]
print(f"time {ratios[0]:.2f}, memory {ratios[1]:.2f}; {least}")
if any(ratio > bound for ratio, bound in zip(ratios, bounds)):
    sys.exit(f"above {bounds}")
