#!/usr/bin/env python3
"""Runs the kernels of a bundle through the CUDA driver and compares every byte.

usage: check.py FOLDER [--only REGEX] [--jobs N] [--emulated] [--out FILE]
       check.py FOLDER --worker NAME...      (what it starts, also under compute-sanitizer)

Each case runs in a worker process: one that hangs, or whose context a kernel breaks, is
ended, and the next cases go on in another. With --emulated the kernels as compiled run
on the emulated driver, to test this script where there is no card.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import argparse
import io
import json
import os
import pickle
import queue
import re
import subprocess
import sys
import threading
import time
import traceback
import zipfile
from pathlib import Path

import numpy as np

import blockscale as bs
import hardware_cases as cases

# Seconds without a word after which a worker hangs.
PATIENCE = 20


def files_of(path):
    with zipfile.ZipFile(path) as file:
        return {one: file.read(one) for one in file.namelist()}


def kernel_for(files, capability=None):
    """The kernel as it was compiled, or for another capability than that of its chip with
    the code that was made for it."""
    plan = json.loads(files["plan.json"])
    is_other = capability and capability not in plan["devices"]
    if is_other:
        plan["devices"] = [capability]
    return bs.Kernel(plan["target"], files["kernel.ptx"].decode(),
                     files["kernel.cubin"] if is_other else b"", json.dumps(plan), "{}",
                     "", "")


def loaded(folder, name, capability=None):
    """A case, its kernel, and what is kept of the emulator's results."""
    files = files_of(folder / f"{name}.zip")
    return (pickle.loads(files["case.pickle"]), kernel_for(files, capability),
            dict(np.load(io.BytesIO(files["expected.npz"]))))


def told_by_numpy(case, kernel, arguments, more, result):
    """Agreement with the package's numpy: whether, or the largest relative error."""
    expected = cases.reference(bs, case, kernel, arguments, more)
    if expected is not None:
        return not cases.differences(cases.bytes_of(result),
                                     cases.sums_of(cases.bytes_of(expected)))
    names = set(more) - {"ends", "rows"}
    if case.does != "launch" or names or not isinstance(result, np.ndarray) or \
            "activation" in case.source or "epilogue" in case.source:
        return None
    wanted = cases.product_of(case, arguments, more)
    # Rows of D behind the last group are not written.
    last = case.ends[-1] if case.ends and "along_k" not in case.name else None
    found, wanted = result.astype(np.float64)[..., :last, :], wanted[..., :last, :]
    if np.array_equal(found, wanted):
        return True
    return float(np.abs(found - wanted).max() / np.abs(wanted).max())


def one_case(folder, name, device):
    capability = ".".join(map(str, device.capability))
    case, kernel, expected = loaded(folder, name, capability)
    arguments, more = cases.inputs(bs, case, kernel)
    result = cases.launched(case, kernel, arguments, more)
    words = cases.differences(cases.bytes_of(result), expected, cases.written_share(case))
    return {"name": name, "same": not words, "words": words,
            "numpy": told_by_numpy(case, kernel, arguments, more, result)}


def worker(folder, names, is_emulated):
    if is_emulated:
        bs.emulate_without_card("RTX5090")
    device = bs.devices()[0]
    for name in names:
        begin = time.time()
        try:
            answer = one_case(folder, name, device)
        except Exception as why:
            answer = {"name": name, "same": False, "numpy": None,
                      "words": f"{type(why).__name__}: {why}"[:600]}
            if not isinstance(why, bs.Error):
                answer["trace"] = traceback.format_exc()[-800:]
        answer["seconds"] = round(time.time() - begin, 3)
        print(json.dumps(answer), flush=True)
        if "CUDA_ERROR" in answer["words"] or "DeviceError" in answer["words"]:
            os._exit(3)  # the context may be gone


def attend(process, answers):
    """Reads a worker's answers; whether it ended by itself."""
    lines = queue.Queue()

    def read():
        for line in process.stdout:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    while True:
        try:
            line = lines.get(timeout=PATIENCE)
        except queue.Empty:
            process.kill()
            return False
        if line is None:
            process.wait()
            return True
        answers.append(json.loads(line))


def run_all(folder, names, is_emulated, sink):
    """All of these names, by as many workers one after the other as it takes."""
    while names:
        answers = []
        process = subprocess.Popen(
            [sys.executable, __file__, str(folder), "--worker", *names,
             *(["--emulated"] if is_emulated else [])],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        ended = attend(process, answers)
        done = {one["name"] for one in answers}
        left = [one for one in names if one not in done]
        if left and (not answers or "CUDA_ERROR" not in answers[-1]["words"]
                     and "DeviceError" not in answers[-1]["words"]):
            why = "hangs" if not ended else f"ends with {process.returncode}"
            errors = "" if not ended else process.stderr.read()[-600:]
            answers.append({"name": left[0], "same": False, "numpy": None,
                            "words": f"the worker {why} {errors}"})
        for one in answers:
            sink(one)
        done = {one["name"] for one in answers}
        names = [one for one in names if one not in done]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=6)
    parser.add_argument("--emulated", action="store_true")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--worker", nargs="+")
    arguments = parser.parse_args()
    if arguments.worker:
        worker(arguments.folder, arguments.worker, arguments.emulated)
        return 0
    names = sorted(one.stem for one in arguments.folder.glob("*.zip")
                   if re.search(arguments.only, one.stem))
    lock, all_answers = threading.Lock(), []
    out = arguments.out.open("w") if arguments.out else None

    def sink(answer):
        with lock:
            all_answers.append(answer)
            if out:
                print(json.dumps(answer), file=out, flush=True)
            if not answer["same"]:
                print(f"DIFFERS {answer['name']}: {answer['words']}", flush=True)

    jobs = [threading.Thread(target=run_all, args=(
        arguments.folder, names[i::arguments.jobs], arguments.emulated, sink))
        for i in range(arguments.jobs)]
    for one in jobs:
        one.start()
    for one in jobs:
        one.join()
    same = sum(one["same"] for one in all_answers)
    by_numpy = sum(one["numpy"] is True for one in all_answers)
    asked = sum(one["numpy"] is not None for one in all_answers)
    print(f"{same} of {len(names)} kernels like the emulator, byte for byte; "
          f"{by_numpy} of {asked} like numpy")
    return 0 if same == len(names) else 1


if __name__ == "__main__":
    sys.exit(main())
