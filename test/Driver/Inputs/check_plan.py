"""Compares launch plans with the PTX they belong to and with their page.

    check_plan.py LAUNCH_PLAN.md STEM...

reads STEM.plan.json and STEM.ptx. The parameters of each kernel must have the
offsets, sizes and alignments that the `.param` lines declare, and every key of
the file must be one that the page names.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import json
import re
import sys

SIZES = {"b8": 1, "u16": 2, "u32": 4, "f32": 4, "b32": 4, "u64": 8, "b64": 8}


def declared_parameters(ptx, kernel):
    """(offset, size, alignment) of each parameter, laid out in order."""
    entry = re.search(r"\.entry %s\((.*?)\)" % re.escape(kernel), ptx, re.S)
    if not entry:
        sys.exit(f"no entry '{kernel}'")
    result, end = [], 0
    for line in entry.group(1).strip().splitlines():
        # `.ptr ... .align` speaks of what the pointer points to.
        own = re.sub(r"\.ptr.*?\.align \d+", "", line)
        element = SIZES[re.search(r"\.([a-z]\d+) ", own).group(1)]
        count = re.search(r"\[(\d+)\]", own)
        align = re.search(r"\.align (\d+)", own)
        alignment = int(align.group(1)) if align else element
        size = element * int(count.group(1)) if count else element
        offset = (end + alignment - 1) // alignment * alignment
        end = offset + size
        result.append((offset, size, alignment))
    return result


def check_parameters(kernel, ptx):
    declared = declared_parameters(ptx, kernel["name"])
    planned = [(p["offset"], p["size"], p["alignment"])
               for p in kernel["parameters"]]
    if planned != declared:
        sys.exit(f"{kernel['name']}: planned {planned}, declared {declared}")
    for p in kernel["parameters"]:
        if (p["kind"] == "tensorMap") != (p["size"] == 128):
            sys.exit(f"{kernel['name']}: '{p['role']}' is a {p['kind']} of "
                     f"{p['size']} bytes")
    threads = re.search(r"\.reqntid (\d+)", ptx)
    if not threads or int(threads.group(1)) != kernel["block"][0]:
        sys.exit(f"{kernel['name']}: block {kernel['block']}, declared "
                 f"{threads and threads.group(1)} threads")


def keys_of(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys_of(inner)


def main():
    with open(sys.argv[1]) as file:
        page = set(re.findall(r"\w+", " ".join(
            re.findall(r"`([^`]*)`", file.read()))))
    for stem in sys.argv[2:]:
        with open(stem + ".plan.json") as file:
            plan = json.load(file)
        with open(stem + ".ptx") as file:
            ptx = file.read()
        unknown = sorted(set(keys_of(plan)) - page)
        if unknown:
            sys.exit(f"{stem}: the page does not name {unknown}")
        if f".target {plan['target']}" not in ptx:
            sys.exit(f"{stem}: the PTX is not for {plan['target']}")
        for kernel in plan["kernels"]:
            check_parameters(kernel, ptx)
            print(kernel["name"], len(kernel["parameters"]), "parameters agree")


if __name__ == "__main__":
    main()
