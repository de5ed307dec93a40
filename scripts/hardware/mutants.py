#!/usr/bin/env python3
"""Adds kernels with a mistake to a bundle, in its folder `mutants`.

usage: mutants.py FOLDER

Each is a kernel of the bundle with one edit. The emulator's strict mode has to find it;
what it says is kept, so that compute-sanitizer's verdict can be put beside it.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import json
import pickle
import re
import sys
import tempfile
import zipfile
from pathlib import Path

import blockscale as bs
from bundle import kernel_of, run
from hardware_cases import emulated, inputs
from retarget import retarget

ALWAYS = r"setp.eq.b32 \1, 0, 0;"
# Kernel, what is replaced by what, and whose place it is of those that match.
MUTANTS = {
    "no_barrier_turned": ("quantize_turned_f8E4M3FN_e8m0_t32_bf16", r"bar\.sync\s+0;", "", 0),
    "no_barrier_tall": ("quantize_f8E4M3FN_e8m0_t128_t128_bf16", r"bar\.sync\s+0;", "", 0),
    "no_barrier_tile": ("quantize_f8E4M3FN_e8m0_t64_t32_bf16", r"bar\.sync\s+0;", "", 0),
    # The second wait of the PTX is that of the first warp that multiplies.
    "no_wait_product": ("product_bf16_133",
                        r"mbarrier\.try_wait\.parity\.shared\.b64 (%p\d+), [^;]*;", ALWAYS, 1),
    "no_wait_deepseek": ("product_deepseek_133",
                         r"mbarrier\.try_wait\.parity\.shared\.b64 (%p\d+), [^;]*;", ALWAYS, 1),
    "all_rows": ("quantize_f8E4M3FN_e8m0_t32_bf16",
                 r"setp\.ge\.u32\s+(%p\d+), [^;]*;", r"setp.ne.b32 \1, 0, 0;", 0),
    "odd_address": ("prune_2_of_4_bf16", r"ld\.global\.v4\.b32\s+(\{[^}]*\}), \[(%rd\d+)\];",
                    r"ld.global.v4.b32 \1, [\2+2];", 0),
}


def edited(ptx, pattern, replacement, at):
    places = list(re.finditer(pattern, ptx))
    if at >= len(places):
        raise SystemExit(f"no place {at} of {pattern}")
    one = places[at]
    return ptx[:one.start()] + one.expand(replacement) + ptx[one.end():]


def verdict(case, kernel):
    arguments, more = inputs(bs, case, kernel)
    try:
        emulated(case, kernel, arguments, more, threads=1, completion="latest")
    except bs.Hazard as why:
        return str(why).splitlines()[0][:300]
    except bs.Error as why:
        return f"{type(why).__name__}: {why}"[:300]
    return "nothing found"


def main():
    folder = Path(sys.argv[1])
    (folder / "mutants").mkdir(exist_ok=True)
    said = {}
    for name, (source, *edit) in MUTANTS.items():
        with zipfile.ZipFile(folder / f"{source}.zip") as file:
            files = {one: file.read(one) for one in file.namelist()}
        ptx = edited(files["kernel.ptx"].decode(), *edit)
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / "k.ptx"
            path.write_text(retarget(ptx))
            run(["ptxas", "-arch=sm_90a", path, "-o", path.with_suffix(".cubin")])
            files["kernel.cubin"] = path.with_suffix(".cubin").read_bytes()
        case = pickle.loads(files["case.pickle"])
        said[name] = verdict(case, kernel_of(ptx, files["plan.json"].decode()))
        print(f"{name}: {said[name]}", flush=True)
        with zipfile.ZipFile(folder / "mutants" / f"{name}.zip", "w") as file:
            for one, content in files.items():
                file.writestr(one, content)
    (folder / "mutants" / "strict.json").write_text(json.dumps(said, indent=1))


if __name__ == "__main__":
    main()
