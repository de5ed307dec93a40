#!/usr/bin/env python3
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What it takes until the Python package is there, and until it compiles.

usage: python_import.py [--rounds N]

To be run by a Python that has the package. Each step is run by N fresh
interpreters (default 11), in turns; prints median and least wall time from the
interpreter's first line on, and the least processor time, in milliseconds. The
interpreter's own start comes on top.
"""

import argparse
import statistics
import subprocess
import sys

PRODUCT = 'bs.matmul(M="M", N=256, K=512, a="nvfp4", b="nvfp4")'
STEPS = {
    "import blockscale": "import blockscale",
    "import numpy, ml_dtypes": "import numpy, ml_dtypes",
    "both": "import numpy, ml_dtypes, blockscale",
    "first quantize": "import numpy as np, blockscale as bs; "
                      "bs.quantize(np.ones((8, 32), 'f4'), 'nvfp4')",
    "first compile": f"import blockscale as bs; bs.compile({PRODUCT})",
    "two compiles": f"import blockscale as bs; bs.compile({PRODUCT}); "
                    f"bs.compile({PRODUCT})",
}


def milliseconds(code):
    """Wall and processor time of one run."""
    timed = ("import time; wall, busy = time.perf_counter(), "
             f"time.process_time(); {code}; "
             "print(time.perf_counter() - wall, time.process_time() - busy)")
    done = subprocess.run([sys.executable, "-c", timed], check=True,
                          capture_output=True, text=True)
    return [1e3 * float(one) for one in done.stdout.split()]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--rounds", type=int, default=11)
    rounds = arguments.parse_args().rounds
    runs = {name: [] for name in STEPS}
    for _ in range(rounds):
        for name, code in STEPS.items():
            runs[name].append(milliseconds(code))
    print(f"{'':24} {'median':>8} {'least':>8} {'processor':>10}")
    for name, found in runs.items():
        walls, busy = zip(*found)
        print(f"{name:24} {statistics.median(walls):8.1f} {min(walls):8.1f} "
              f"{min(busy):10.1f}")


if __name__ == "__main__":
    main()
