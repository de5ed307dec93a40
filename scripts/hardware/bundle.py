#!/usr/bin/env python3
"""Makes the folder that a machine with a Hopper card checks kernels with.

usage: bundle.py FOLDER [--only REGEX] [--blockscale PATH] [--jobs N]

Compiles each case for sm_120a, and for sm_100a where nothing special is used, respells
the PTX for sm_90a (retarget.py), assembles it, runs the kernel on the emulator and
keeps code, plan and results. What sm_90a lacks is in `missing.txt`. Then, on the
machine with the card: `python3 FOLDER/check.py FOLDER`.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import argparse
import concurrent.futures
import io
import json
import pickle
import re
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path

import numpy as np

import blockscale as bs
from hardware_cases import bytes_of, emulated, inputs, reference, sums_of
from hardware_list import SANITIZED, all_cases
from retarget import retarget

CHIP = "sm_120a"
HERE = Path(__file__).resolve().parent
CARRIED = ("check.py", "check_runtime.py", "check_order.py", "hardware_cases.py", "hardware_times.py")


class Skipped(Exception):
    pass


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "error" in line]
        raise Skipped(re.sub(r"^.*?error *: ", "", (lines or [done.stderr])[0])[:160])


def compiled(blockscale, source, folder, chip=CHIP):
    """PTX, plan and the cubin of sm_90a of a module with one kernel."""
    (folder / "k.mlir").write_text(source)
    run([blockscale, "compile", folder / "k.mlir", f"--target={chip}", "--no-cubin", "-o",
         folder])
    ptx, plan = (folder / "k.ptx").read_text(), (folder / "k.plan.json").read_text()
    (folder / "k90.ptx").write_text(retarget(ptx))
    run(["ptxas", "-arch=sm_90a", folder / "k90.ptx", "-o", folder / "k.cubin"])
    return ptx, plan, (folder / "k.cubin").read_bytes()


def kernel_of(ptx, plan, cubin=b""):
    return bs.Kernel(json.loads(plan)["target"], ptx, cubin, plan, "{}", "", "")


def written(case, folder, blockscale):
    """Writes a case; what is to be said of it."""
    with tempfile.TemporaryDirectory() as scratch:
        ptx, plan, cubin = compiled(blockscale, case.source, Path(scratch))
    kernel = kernel_of(ptx, plan)
    arguments, more = inputs(bs, case, kernel)
    parts = bytes_of(emulated(case, kernel, arguments, more, threads=1))
    expected = reference(bs, case, kernel, arguments, more)
    agrees = "" if expected is None else all(
        np.array_equal(one, parts[name]) for name, one in bytes_of(expected).items())
    store = io.BytesIO()
    np.savez_compressed(store, **sums_of(parts))
    with zipfile.ZipFile(folder / f"{case.name}.zip", "w", zipfile.ZIP_STORED) as file:
        for name, content in (("kernel.ptx", ptx), ("kernel.cubin", cubin),
                              ("plan.json", plan), ("case.pickle", pickle.dumps(case)),
                              ("expected.npz", store.getvalue())):
            file.writestr(name, content)
    return f"numpy agrees: {agrees}" if expected is not None else "no numpy"


def attempt(case, folder, blockscale):
    try:
        return True, written(case, folder, blockscale)
    except Skipped as why:
        return False, str(why)
    except (bs.Error, ValueError, TypeError, KeyError, AttributeError) as why:
        return False, f"{type(why).__name__}: {why}"


def parsed(description):
    """The arguments of a script that adds to a bundle, whose folder there is then."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--blockscale", default="build/bin/blockscale")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    return arguments


def main():
    arguments = parsed(__doc__)
    folder = arguments.folder
    for name in CARRIED:
        if (HERE / name).exists():
            shutil.copy(HERE / name, folder)
    cases = [one for one in all_cases() if re.search(arguments.only, one.name)]
    missing = []
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        jobs = [pool.submit(attempt, one, folder, arguments.blockscale) for one in cases]
        for case, job in zip(cases, jobs):
            is_there, what = job.result()
            if not is_there:
                missing.append(f"{case.name}: {what}")
            print(f"{'kept' if is_there else 'left out'} {case.name}: {what}", flush=True)
    (folder / "sanitized.txt").write_text(" ".join(SANITIZED) + "\n")
    (folder / "missing.txt").write_text("\n".join(missing) + "\n")
    print(f"{len(cases) - len(missing)} of {len(cases)} kernels for sm_90a")


if __name__ == "__main__":
    main()
