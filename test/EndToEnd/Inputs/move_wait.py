"""Moves griddepcontrol.wait of a PTX file after the first tensor load, in the
warp of that load."""

import sys

lines = open(sys.argv[1]).read().splitlines()
wait = next(i for i, line in enumerate(lines) if "griddepcontrol.wait" in line)
word = lines.pop(wait)
load = next(i for i, line in enumerate(lines) if "cp.async.bulk.tensor" in line)
while not lines[load].rstrip().endswith(";"):
    load += 1
lines.insert(load + 1, word)
print("\n".join(lines))
