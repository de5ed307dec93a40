#!/usr/bin/env python3
"""Measures packing and checking of large files, and numpy beside it.

usage: packing.py PROGRAM WORKDIR [GIB]

Writes an array of GIB (default 8) GiB to WORKDIR and packs it with half a GiB of
address space; checks a checkpoint of 100 GB that is a hole behind its header;
quantises 128 MiB with numpy and ml_dtypes, for the ratio to what benchmarks/
Quantize.cpp prints. Removes what it wrote.
"""

import json
import os
import resource
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))
import packing_check  # noqa: E402

LIMIT = 512 << 20


def run(command):
    """Seconds, bytes read and largest resident set of a limited process."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
    start = time.perf_counter()
    process = subprocess.Popen(command, preexec_fn=limit,
                               stdout=subprocess.DEVNULL)
    read = 0
    while True:
        # What it read so far: the last look before it ends.
        try:
            text = Path(f"/proc/{process.pid}/io").read_text()
            read = max(read, int(text.split("rchar: ")[1].split()[0]))
        except (OSError, IndexError):
            pass
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        time.sleep(0.002)
    if status:
        raise SystemExit(f"{command}: status {status}")
    return time.perf_counter() - start, read, usage.ru_maxrss << 10


def pack_large(program, work, gib):
    rows, columns = gib << 14, 1 << 14
    source, target = work / "large.npy", work / "large.safetensors"
    part = np.random.default_rng(1).normal(0, 0.05, (1024, columns)).astype("f4")
    header = {"descr": "<f4", "fortran_order": False, "shape": (rows, columns)}
    with open(source, "wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        for i in range(rows // 1024):
            file.write((part * np.float32(1 + i % 7)).tobytes())
    for kind in ("nvfp4", "mxfp8"):
        seconds, _, resident = run([program, "pack", source, "-o", target,
                                    f"--to={kind}", "--scales=tiled",
                                    "--checksums"])
        print(f"pack {gib} GiB to {kind}: {seconds:.1f} s, "
              f"{resident / 2**20:.0f} MiB resident")
        target.unlink()
    source.unlink()


def check_large(program, work):
    """Layers of 512 MB in NVFP4, 100 GB in all."""
    header, end = {}, 0
    for i in range(174):
        shapes = {"weight": ("U8", [32768, 16384], 1),
                  "weight_scale": ("F8_E4M3", [32768, 2048], 1),
                  "weight_scale_2": ("F32", [], 4)}
        for name, (dtype, shape, width) in shapes.items():
            size = int(np.prod(shape)) * width
            header[f"layers.{i}.{name}"] = {
                "dtype": dtype, "shape": shape,
                "data_offsets": [end, end + size]}
            end += size
    text = json.dumps(header).encode()
    path = work / "hole.safetensors"
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for entry in header.values():
            if entry["dtype"] == "F32":
                file.seek(8 + len(text) + entry["data_offsets"][0])
                file.write(struct.pack("<f", 1e-4))
        file.truncate(8 + len(text) + end)
    for option in ("--headers-only", "--format=json"):
        seconds, read, resident = run([program, "check", path, option])
        print(f"check {end / 1e9:.0f} GB {option}: {seconds:.2f} s, "
              f"{read / 1e6:.1f} MB read, {resident / 2**20:.0f} MiB resident")
    path.unlink()


def numpy_rate():
    values = np.random.default_rng(1).normal(0, 0.05, (4096, 8192)).astype("f4")
    for name, rule in (("nvfp4", packing_check.quantize_nvfp4),
                       ("mxfp8", packing_check.quantize_mx)):
        best = 1e9
        for _ in range(3):
            start = time.perf_counter()
            _, scales, _ = rule(values, name)
            packing_check.tile(scales)
            best = min(best, time.perf_counter() - start)
        print(f"numpy and ml_dtypes, {name}: {values.nbytes / best / 1e9:.3f} "
              "GB/s of f32")


if __name__ == "__main__":
    program, work = sys.argv[1], Path(sys.argv[2])
    work.mkdir(parents=True, exist_ok=True)
    numpy_rate()
    check_large(program, work)
    pack_large(program, work, int(sys.argv[3]) if len(sys.argv) > 3 else 8)
