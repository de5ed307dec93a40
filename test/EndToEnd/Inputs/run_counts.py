# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs `main` of a module of linalg in this machine's JIT, and says how often each
number was printed: run_counts.py FILE.mlir."""

import collections
import platform
import subprocess
import sys

LOWERED = ["--one-shot-bufferize=bufferize-function-boundaries",
           "--convert-linalg-to-loops", "--convert-scf-to-cf", "--expand-strided-metadata",
           "--lower-affine", "--convert-vector-to-llvm", "--convert-to-llvm",
           "--reconcile-unrealized-casts"]

# As in test/lit.cfg.py: an instruction for bf16 that takes subnormals for 0.
NO_SHORT_CUTS = ["-mattr=-avx512bf16"] if platform.machine() == "x86_64" else []

lowered = subprocess.run(["mlir-opt", sys.argv[1], *LOWERED], check=True,
                         capture_output=True)
printed = subprocess.run(
    ["mlir-runner", *NO_SHORT_CUTS, "-e", "main", "-entry-point-result=void", "-O0",
     f"-shared-libs={sys.argv[2]}"], input=lowered.stdout, check=True, capture_output=True)
for number, times in sorted(collections.Counter(printed.stdout.split()).items()):
    print(times, number.decode())
