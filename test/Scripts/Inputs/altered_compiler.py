#!/usr/bin/env python3
"""Stands in for `blockscale`: one kernel comes out with another instruction,
another one is refused.

ALTERED_COMPILER names the program that compiles.
"""

import os
import subprocess
import sys

done = subprocess.run([os.environ["ALTERED_COMPILER"], *sys.argv[1:]],
                      capture_output=True, text=True)
if sys.argv[1] != "compile":
    sys.stdout.write(done.stdout)
    sys.exit(done.returncode)
with open(sys.argv[-1]) as file:
    if "@k3_" in file.read():
        sys.exit("k3 is refused")
head, mark, kernel = done.stdout.partition(".entry k1_")
sys.stdout.write(head + mark + kernel.replace("tid.x", "tid.y", 1))
sys.exit(done.returncode)
