"""Makes the sample that replay.py holds the emulator against in every test run.

    python3 test/Hardware/sample.py BUNDLE MEASURED EMULATED SAMPLE.xz [EARLIER.xz]

Of each kernel of forms 32 operands with their results, of each other launch the
checksum of what it left. Forms whose results differ by design (compare.py shows
them) and those that tell where they run are left out. Of an earlier sample all is kept
that the bundle does not have and that replay.py still makes.
"""

import json
import lzma
import os
import sys
import zlib

import numpy as np

import compare
import replay
from forms_matrix import forms as matrix_forms
from forms_warp import forms as warp_forms
from values import random_of

ROWS = 32
PLACES = ("mov %", "isspacep", "cvta", "barrier.red", "activemask", "bar.")


def rows_of(launch, count, warps):
    rng = random_of(launch["kernel"])
    if warps:
        first = int(rng.integers(0, count // ROWS, 1)[0]) * ROWS
        return np.arange(first, first + ROWS)
    return np.sort(rng.permutation(count)[:ROWS])


def kernel(bundle, plan, launch, measured, emulated, warps):
    forms = [f for f in launch["forms"] if f[4] == "exact" and
             not f[0].startswith(PLACES)]
    names, results = [], []
    columns = compare.operands(bundle, plan, launch)
    rows = rows_of(launch, launch["forms"][0][3],
                   any(f[0] in warps for f in launch["forms"]))
    for name, offset, size, count, _ in forms:
        mine = measured[offset:offset + size * count]
        if emulated and mine != emulated[offset:offset + size * count]:
            continue
        table = np.frombuffer(mine, np.uint8).reshape(count, size)
        names.append(name)
        results.append(table[rows].tobytes().hex())
    return {"pools": launch["input"].split("/")[:-1], "forms": names,
            "operands": [c[rows].tobytes().hex() for c in columns],
            "results": results}


def earlier(path, plan):
    """Kernels of forms, and launches, of a sample before."""
    with open(path, "rb") as file:
        sample = json.loads(lzma.decompress(file.read()))
    own = {x.get("name") for x in plan["launches"]}
    made = {x["name"] for make in replay.MODULES.values() for _, launches in make()
            for x in launches}
    has_forms = any("input" in x for x in plan["launches"])
    return ([] if has_forms else sample["kernels"],
            {name: crc for name, crc in sample["launches"].items()
             if name in made - own})


def main():
    bundle, measured, emulated, out, *before = sys.argv[1:]
    with open(os.path.join(bundle, "plan.json")) as file:
        plan = json.load(file)
    device, emulator = compare.Run(measured), compare.Run(emulated)
    warps = {f.name for f in list(warp_forms()) + list(matrix_forms())}
    kernels, launches = [], {}
    for number, launch in enumerate(plan["launches"]):
        a, b = device.data(number), emulator.data(number)
        if a is None or launch.get("special") == "encode":
            continue
        if "input" in launch:
            if b is None and not all("fma.rn.oob" in f[0] for f in launch["forms"]):
                continue
            made = kernel(bundle, plan, launch, a, b, warps)
            if made["forms"]:
                kernels.append(made)
        elif a == b and launch["forms"][0][4] == "exact":
            launches[launch["name"]] = zlib.crc32(a)
    every = {"wgmma": 5, "tensor": 2}
    kept = {name: crc for index, (name, crc) in enumerate(launches.items())
            if index % every.get(name.replace(" ", ".").split(".")[0], 1) == 0}
    for path in before:
        old_kernels, old_launches = earlier(path, plan)
        kernels, kept = old_kernels + kernels, {**old_launches, **kept}
    text = json.dumps({"device": device.index["device"], "kernels": kernels,
                       "launches": kept})
    with open(out, "wb") as file:
        file.write(lzma.compress(text.encode(), preset=9))
    print(f"{sum(len(k['forms']) for k in kernels)} forms, {len(kept)} launches, "
          f"{os.path.getsize(out)} bytes")


if __name__ == "__main__":
    main()
