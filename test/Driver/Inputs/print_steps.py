"""Prints the functions of a launch plan, one step a line.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import json
import sys


def operand(entry):
    name = entry["operand"] + " = " if entry["operand"] else ""
    constant = entry["constant"]
    assert (constant is None) == bool(entry["value"])
    return name + (entry["value"] or f"{constant:g}")


for function in json.load(open(sys.argv[1]))["functions"]:
    arguments = ", ".join(a["name"] for a in function["arguments"])
    print(f"{function['name']}({arguments})")
    for step in function["steps"]:
        does = "launch " + step["kernel"] if step["kernel"] else "host " + step["op"]
        operands = ", ".join(map(operand, step["operands"]))
        print(f"  {', '.join(step['results'])} = {does}({operands}) at {step['location']}")
    print("  return " + ", ".join(function["results"]))
