"""Holds a device, or the emulator, against a sample of what was measured.

    blockscale emulate --device=H100 --strict=0 --cuda \\
        python3 test/Hardware/replay.py test/Hardware/h100.xz
"""

import ctypes
import itertools
import json
import lzma
import os
import sys
import tempfile
import zlib

import numpy as np

import async_tensor
import forms_convert
import forms_float
import forms_integer
import forms_matrix
import forms_memory
import forms_warp
import kernels
import map_changes
import scripts
import special
import tensors
import warp_tiles
import warpgroup
from driver import Driver
from form import size_of
from values import DTYPES, width

FORMS = (forms_integer, forms_float, forms_convert, forms_warp, forms_memory,
         forms_matrix)
MODULES = {"script": scripts.modules, "warpgroup": warpgroup.modules,
           "tiles": warp_tiles.modules, "map": map_changes.modules,
           "tensor": lambda: [(async_tensor.module_text(),
                               list(async_tensor.launches()))]}
ROWS = 32
PER_MODULE = 24


class State:
    """Inputs that are on the device already."""

    def __init__(self, driver):
        self.driver, self.made, self.placed = driver, {}, {}

    def bytes(self, key):
        if key not in self.made:
            self.made[key] = special.make(key)
        return self.made[key]

    def input(self, key):
        if key not in self.placed:
            data = self.bytes(key)
            self.placed[key] = self.driver.allocate(len(data))
            self.driver.write(self.placed[key], data)
        return self.placed[key]


def load(driver, text):
    with tempfile.NamedTemporaryFile("w", suffix=".ptx", delete=False) as file:
        file.write(text)
    try:
        return driver.load(file.name)
    finally:
        os.remove(file.name)


def replay_forms(driver, sample, known):
    """The forms whose results are others than those of the sample."""
    wrong = []
    for at in range(0, len(sample), PER_MODULE):
        part = sample[at:at + PER_MODULE]
        made = [kernels.Kernel(f"k{at + i}", [known[n] for n in entry["forms"]],
                               tuple(entry["pools"]), ROWS)
                for i, entry in enumerate(part)]
        text, _ = kernels.module(made)
        module = load(driver, text)
        for kernel, entry in zip(made, part):
            columns = [np.frombuffer(bytes.fromhex(text), DTYPES[width(pool)])
                       for text, pool in zip(entry["operands"], entry["pools"])]
            data = run_kernel(driver, module, kernel, kernels.packed(columns))
            for form, offset, expected in zip(kernel.forms, kernel.offsets,
                                              entry["results"]):
                size = size_of(form) * ROWS
                if data[offset:offset + size].hex() != expected:
                    wrong.append(form.name)
        driver.unload(module)
    return wrong


def run_kernel(driver, module, kernel, inputs):
    source, target = driver.allocate(len(inputs)), driver.allocate(kernel.size)
    driver.write(source, inputs)
    driver.launch(driver.function(module, kernel.name), 1, ROWS,
                  [ctypes.c_uint64(source), ctypes.c_uint64(target)])
    data = driver.read(target, kernel.size)
    driver.free(source)
    driver.free(target)
    return data


def replay_launches(driver, expected):
    state = State(driver)
    wrong, seen = [], set()
    for text, launches in itertools.chain(*(make() for make in MODULES.values())):
        wanted = [x for x in launches if x["name"] in expected]
        if not wanted:
            continue
        names = {x["kernel"] for x in wanted}
        pieces = text.split(".visible .entry ")
        text = ".visible .entry ".join(
            [pieces[0]] + [p for p in pieces[1:] if p.split("(")[0] in names])
        module = load(driver, text)
        state.module = lambda name: module
        for launch in wanted:
            seen.add(launch["name"])
            data = tensors.run(driver, launch, state, None)
            if zlib.crc32(data) != expected[launch["name"]]:
                wrong.append(launch["name"])
        driver.unload(module)
    return wrong + sorted(set(expected) - seen)


def main():
    with open(sys.argv[1], "rb") as file:
        sample = json.loads(lzma.decompress(file.read()))
    driver = Driver()
    known = {form.name: form for forms in FORMS for form in forms.forms()}
    wrong = replay_forms(driver, sample["kernels"], known)
    wrong += replay_launches(driver, sample["launches"])
    for name in wrong:
        print(f"differs from what was measured: {name}")
    count = sum(len(entry["forms"]) for entry in sample["kernels"])
    print(f"{count} forms and {len(sample['launches'])} launches, "
          f"{len(wrong)} differ")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
