#!/usr/bin/env python3
"""Measures kernels of a bundle on the card: microseconds and fractions of a copy.

usage: hardware_times.py FOLDER [--only REGEX] [--launches N] [--out FILE] [--emulated]

Each line has the bytes that a kernel must move, its time (the mean of many launches
between two events), the bandwidth that comes to over that of a copy on the same card in
the same run, and what the formula of benchmarks/elementwise.py says for this card. With
--launches=1 nothing is launched before, for profilers.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import argparse
import json
import re
import sys
import time
import traceback
from pathlib import Path

import ml_dtypes
import numpy as np

import blockscale as bs
from blockscale import _driver as cuda
from blockscale._launch import Bound
from check import files_of, kernel_for

LAUNCHES, WARM = 20, 3
ISSUED = 4


class Clock:
    def __init__(self):
        self.events = [cuda.call("cuEventCreate", 0) for _ in range(2)]

    def microseconds(self, launch, count=LAUNCHES):
        for _ in range(WARM if count > 1 else 0):
            launch()
        cuda.call("cuCtxSynchronize")
        cuda.call("cuEventRecord", self.events[0], 0)
        for _ in range(count):
            launch()
        cuda.call("cuEventRecord", self.events[1], 0)
        cuda.call("cuEventSynchronize", self.events[1])
        return 1e3 * cuda.call("cuEventElapsedTime", *self.events) / count


class Memory:
    """Device memory with numbers as a kernel may find them, made once for each kind."""

    def __init__(self):
        self.rng, self.made = np.random.default_rng(5), {}
        self.normal = self.rng.standard_normal(1 << 22, dtype=np.float32)

    def block(self, kind):
        if kind in ("bf16", "f16", "f32"):
            type_ = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32}[kind]
            return self.normal.astype(type_).view(np.uint8)
        if kind == "powers":
            return self.rng.integers(118, 130, 1 << 22, dtype=np.uint8)
        if kind == "ones":
            return np.ones(1 << 20, np.float32).view(np.uint8)
        codes = self.rng.integers(0, 256, 1 << 22, dtype=np.uint8)
        return codes & 0xbf  # no NaNs of e4m3 or e5m2, in ranges that a sum holds

    def of(self, kind, count, role):
        key = (kind, count, role)
        if key not in self.made:
            array = bs.DeviceArray(count, np.uint8)
            block = bs.to_device(self.block(kind))
            for at in range(0, count, block.nbytes):
                cuda.call("cuMemcpyDtoD", array.address + at, block.address,
                          min(block.nbytes, count - at))
            cuda.call("cuCtxSynchronize")
            self.made[key] = array
        return self.made[key]


def kind_of(planned, slot):
    """What a parameter's memory is filled with."""
    if slot.kind == "tensorMap":
        formats = {one["operand"]: one["format"] for one in planned["data"]}
        name = formats.get(slot.role.removesuffix("_data"))
    elif slot.role.endswith("_scales"):
        name = "powers" if slot.type == "i8" else "ones"
    elif slot.role.endswith("tensor_scale"):
        name = "ones"
    else:
        name = slot.type
    return name if name in ("bf16", "f16", "f32", "powers", "ones") else "codes"


def bound(kernel, planned, sizes, memory):
    """A kernel with memory for all parameters."""
    found = Bound(kernel, planned, sizes, 0, None)
    for role, slot in found._slots.items():
        if role != "workspace":
            kind = kind_of(planned, slot)
            slot.set(memory.of(kind, max(slot.bytes, 1), role).address)
    found._set_workspace(0)
    return found


def copy_bandwidth(clock, memory):
    """Terabytes a second that a copy reads and writes, of 512 MiB."""
    count = 1 << 29
    one, two = bs.DeviceArray(count), bs.DeviceArray(count)
    time_ = clock.microseconds(lambda: cuda.call("cuMemcpyDtoDAsync", two.address,
                                                 one.address, count, 0))
    return 2 * count / time_ / 1e6


def measure(path, clock, memory, copy, card, launches, rows):
    files = files_of(path)
    facts = json.loads(files["facts.json"])
    kernel = kernel_for(files, ".".join(map(str, card.capability)))
    planned = kernel.plan["kernels"][0]
    facts["rows"] = rows or facts["rows"]
    sizes = {name: facts["rows"] if name == "M" else None for name in ("M", "N", "K", "batch")}
    run = bound(kernel, planned, sizes, memory)
    found = clock.microseconds(lambda: run._launch(0), launches)
    answer = {**facts, "us": found}
    if "bytes" in facts:
        answer["of_copy"] = facts["bytes"] / found / 1e6 / copy
        issued = facts["instructions"] / (card.sms * ISSUED * facts["clock"] * 1e3)
        moved = facts["bytes"] / copy / 1e6
        answer.update(us_of_bytes=moved, us_of_instructions=issued,
                      predicted=max(moved, issued) / moved, measured=found / moved)
    if "flops" in facts:
        answer["tflops"] = facts["flops"] / found / 1e6
    return answer


def of_torch(facts, launches):
    """The same product by torch, where it is."""
    import torch
    m, n, k = facts["rows"], facts["n"], facts["k"]
    def timed(call):
        for _ in range(WARM):
            call()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(launches):
            call()
        end.record()
        torch.cuda.synchronize()
        return 1e3 * begin.elapsed_time(end) / launches
    x = torch.randn(m, k, device="cuda", dtype=torch.bfloat16)
    w = torch.randn(n, k, device="cuda", dtype=torch.bfloat16)
    if facts["kind"] == "bf16":
        return timed(lambda: x @ w.T)
    if facts["kind"] == "int8":
        x8, w8 = (one.clamp(-1, 1).mul(100).to(torch.int8) for one in (x, w))
        return timed(lambda: torch._int_mm(x8, w8.T))
    x8, w8 = (one.to(torch.float8_e4m3fn) for one in (x, w))
    one = torch.ones((), device="cuda")
    return timed(lambda: torch._scaled_mm(x8, w8.T, one, one, out_dtype=torch.bfloat16))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--emulated", action="store_true")
    parser.add_argument("--launches", type=int, default=LAUNCHES)
    parser.add_argument("--rows", type=int, help="others than the kernels are timed with")
    parser.add_argument("--seconds", type=float, default=60)
    arguments = parser.parse_args()
    begin = time.time()
    if arguments.emulated:
        bs.emulate_without_card("RTX5090")
    card = bs.devices()[0]
    out = arguments.out.open("w") if arguments.out else sys.stdout
    with cuda.context(0).current():
        clock, memory = Clock(), Memory()
        copy = 1.0 if arguments.emulated else copy_bandwidth(clock, memory)
        print(f"copy of {card.name}: {copy:.3f} TB/s", flush=True)
        print(json.dumps({"card": card.name, "copy": copy}), file=out, flush=True)
        for path in sorted(arguments.folder.glob("*.time")):
            if not re.search(arguments.only, path.stem):
                continue
            if time.time() - begin > arguments.seconds:
                print("out of time before", path.stem, flush=True)
                break
            try:
                answer = measure(path, clock, memory, copy, card, arguments.launches,
                                 arguments.rows)
                if "flops" in answer and not arguments.emulated:
                    try:
                        answer["torch_us"] = of_torch(answer, arguments.launches)
                    except Exception as why:
                        answer["torch"] = f"{type(why).__name__}: {why}"[:200]
            except Exception as why:
                answer = {"name": path.stem, "error": f"{type(why).__name__}: {why}"[:400],
                          "trace": traceback.format_exc()[-500:]}
            print(json.dumps(answer), file=out, flush=True)
            print(path.stem, {name: round(answer[name], 3) for name in
                              ("us", "of_copy", "measured", "predicted", "tflops", "torch_us")
                              if name in answer}, answer.get("error", ""), flush=True)
            if "CUDA_ERROR" in answer.get("error", ""):
                break


if __name__ == "__main__":
    main()
