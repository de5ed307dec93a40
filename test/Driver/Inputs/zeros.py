"""Writes memory of zeros for a kernel of a plan with alternatives, whose sizes are all
fixed, and prints the options of 'emulate' that name it. Part of the blockscale
project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import json
import sys

import numpy

plan = json.load(open(sys.argv[1]))
target, folder = sys.argv[2:]
chosen, = (one for one in (plan, *plan["alternatives"]) if one["target"] == target)
kernel = chosen["kernels"][0]
sizes = {one["name"]: one["value"] for one in kernel["sizes"]}
sizes["ceildiv"] = lambda x, y: -(-x // y)


def number(text):
    return eval(text.replace("/", "//"), {}, sizes)


for entry in kernel["data"]:
    pitch = number(entry["batchPitch"]) * sizes["batch"]
    numpy.save(f"{folder}/{entry['operand']}.npy", numpy.zeros(pitch, "u1"))
    print(f"--in={entry['operand']}_data={folder}/{entry['operand']}.npy")
for entry in kernel["scales"]:
    name = f"{folder}/{entry['operand']}_scales.npy"
    numpy.save(name, numpy.zeros(number(entry["bytes"]), "u1"))
    print(f"--in={entry['operand']}_scales={name}")
