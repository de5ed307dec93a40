"""Makes the bundle: modules, inputs and the plan of launches that runner.py obeys.

    python3 test/Hardware/build.py FOLDER [--only=PREFIX,...] [--emulator=PROGRAM]

Forms that ptxas refuses are left out; those that ptxas takes and the emulator
refuses are written to FOLDER/refused.txt and left out of the emulator's modules.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import forms_convert
import forms_float
import forms_integer
import forms_matrix
import forms_memory
import forms_warp
import async_tensor
import encode_cases
import kernels
import map_changes
import scripts
import special
import warp_tiles
import warpgroup

FAMILIES = {
    "integer": (forms_integer.forms, 12), "float": (forms_float.forms, 12),
    "convert": (forms_convert.forms, 12), "warp": (forms_warp.forms, 6),
    "memory": (forms_memory.forms, 8), "matrix": (forms_matrix.forms, 6),
}
SPECIAL = {
    "encode": lambda: [(None, list(encode_cases.launches()))],
    "tensor": lambda: [(async_tensor.module_text(), list(async_tensor.launches()))],
    "script": scripts.modules, "warpgroup": warpgroup.modules, "tiles": warp_tiles.modules,
    "map": map_changes.modules,
}
PER_MODULE = 12


def assemble(path, cubin):
    """The lines that ptxas refuses; none once it has written the cubin."""
    result = subprocess.run(["ptxas", "-arch=sm_90a", path, "-o", cubin],
                            capture_output=True, text=True)
    if result.returncode == 0:
        return {}
    found = {}
    for line in (result.stderr + result.stdout).splitlines():
        match = re.search(r", line (\d+); (?:error|fatal)\s*: (.*)", line)
        if match:
            found.setdefault(int(match[1]), match[2])
    if not found:
        sys.exit(f"{path}: {result.stderr}")
    return found


def emulated(path, program):
    """The line that the emulator's front end refuses, with its reason."""
    result = subprocess.run([program, "emulate", path, "--kernel=none"],
                            capture_output=True, text=True)
    match = re.search(r":(\d+):\d+: (.*)", result.stderr)
    return {int(match[1]): match[2]} if match else {}


def settle(kernel_list, path, check, refused):
    """Writes the module without the forms that 'check' refuses."""
    while kernel_list:
        text, owners = kernels.module(kernel_list)
        with open(path, "w") as file:
            file.write(text)
        bad = check(path)
        if not bad:
            return
        names = set()
        for line, reason in bad.items():
            if line not in owners:
                sys.exit(f"{path}:{line}: {reason}")
            names.add(owners[line])
            refused[owners[line]] = reason
        for kernel in kernel_list:
            kernel.forms = [f for f in kernel.forms if f.name not in names]
        kernel_list[:] = [k for k in kernel_list if k.forms]


def build_family(family, folder, program, pool):
    make, most = FAMILIES[family]
    unique = {form.name: form for form in make()}
    refused = {}
    everything = kernels.group(unique.values(), family, most)
    probe = os.path.join(folder, f"{family}.probe.ptx")
    # What ptxas refuses, before kernels are filled again with what is left.
    chunks = [everything[i:i + 40] for i in range(0, len(everything), 40)]

    def sift(index):
        settle(chunks[index], f"{probe}.{index}",
               lambda path: assemble(path, "/dev/null"), refused)
        os.remove(f"{probe}.{index}") if os.path.exists(f"{probe}.{index}") else None

    list(pool.map(sift, range(len(chunks))))
    left = [f for f in unique.values() if f.name not in refused]
    final = kernels.group(left, family, most)
    modules = [final[i:i + PER_MODULE] for i in range(0, len(final), PER_MODULE)]
    unknown = {}

    def finish(index):
        path = os.path.join(folder, f"{family}{index}.ptx")
        settle(modules[index], path, lambda p: emulated(p, program), unknown)
        assert not assemble(path, path[:-3] + "cubin")

    list(pool.map(finish, range(len(modules))))
    print(f"{family}: {len(left)} forms, ptxas refuses {len(refused)} candidates, "
          f"the emulator {len(unknown)} more", flush=True)
    return modules, unknown, refused


def launches(family, modules, inputs):
    for index, module in enumerate(modules):
        for kernel in module:
            key = "/".join(kernel.pools) + f"/{kernel.count}"
            if key not in inputs:
                columns, count = kernels.columns_of(kernel.pools, kernel.count)
                assert count == kernel.count, (key, count)
                inputs[key] = kernels.packed(columns)
            yield {"module": f"{family}{index}", "kernel": kernel.name,
                   "grid": kernel.count // kernels.BLOCK, "block": kernels.BLOCK,
                   "input": key, "size": kernel.size,
                   "forms": [[f.name, offset, kernels.size_of(f), kernel.count,
                              f.group] for f, offset in
                             zip(kernel.forms, kernel.offsets)]}


def build_special(family, folder, program, pool, refused):
    """Modules of whole kernels; those that ptxas or the emulator refuse are out."""
    result = []

    def one(item):
        text, launches = item
        if text is None:
            return launches
        path = os.path.join(folder, launches[0]["module"] + ".ptx")
        reasons = {}
        special.settle(text, path, lambda p: assemble(p, p[:-3] + "cubin"), reasons)
        with open(path) as file:
            text = file.read()
        unknown = {}
        special.settle(text, path, lambda p: emulated(p, program), unknown)
        refused.update(unknown)
        if unknown:
            assemble(path, path[:-3] + "cubin")
        gone = set(reasons) | set(unknown)
        for name in sorted(reasons):
            print(f"{family}: ptxas refuses {name}: {reasons[name]}", flush=True)
        return [x for x in launches if x["kernel"] not in gone]

    for launches in pool.map(one, list(SPECIAL[family]())):
        result += launches
    print(f"{family}: {len(result)} launches", flush=True)
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--only", default=",".join([*FAMILIES, *SPECIAL]))
    parser.add_argument("--emulator", default="build/bin/blockscale-emulate")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    plan, inputs, lines = [], {}, []
    with ThreadPoolExecutor(2) as pool:
        for family in options.only.split(","):
            if family in SPECIAL:
                unknown = {}
                plan += build_special(family, options.folder, options.emulator, pool,
                                      unknown)
                lines += [f"{name}: {reason}" for name, reason in unknown.items()]
                continue
            modules, unknown, refused = build_family(family, options.folder,
                                                     options.emulator, pool)
            plan += launches(family, modules, inputs)
            lines += [f"{name}: {reason}" for name, reason in unknown.items()]
            with open(os.path.join(options.folder, f"{family}.ptxas.txt"), "w") as f:
                f.writelines(f"{n}: {r}\n" for n, r in refused.items())
    special.add_inputs(plan, inputs)
    table, offset = {}, 0
    with open(os.path.join(options.folder, "inputs.bin"), "wb") as file:
        for key, data in inputs.items():
            table[key] = [offset, len(data)]
            file.write(data)
            offset += len(data)
    with open(os.path.join(options.folder, "plan.json"), "w") as file:
        json.dump({"inputs": table, "launches": plan}, file)
    with open(os.path.join(options.folder, "refused.txt"), "w") as file:
        file.writelines(line + "\n" for line in lines)
    here = os.path.dirname(os.path.abspath(__file__))
    for name in ("runner.py", "driver.py", "tensors.py"):
        shutil.copy(os.path.join(here, name), options.folder)
    print(f"{len(plan)} launches, {sum(len(p['forms']) for p in plan)} forms, "
          f"{sum(p['size'] for p in plan) >> 20} MiB of results, "
          f"{offset >> 20} MiB of inputs")


if __name__ == "__main__":
    main()
