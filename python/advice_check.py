"""Checks `blockscale explain format` and `explain sparsity` with numpy.

usage: advice_check.py PROGRAM WORKDIR

Signal-to-noise ratios, largest errors and losses by pruning, computed from what
packing_check.py quantises, must agree with those that PROGRAM prints.
"""

import csv
import io
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np

import packing_check as packing

F64 = np.float64


def ask(program, topic, path):
    command = [program, "explain", topic, str(path), "--format=csv"]
    text = subprocess.run(command, check=True, capture_output=True,
                          text=True).stdout
    return list(csv.DictReader(io.StringIO(text)))


def dequantize(values, name):
    """What `values` become, in f64."""
    codes = {"nvfp4": ml_dtypes.float4_e2m1fn,
             "mxfp4": ml_dtypes.float4_e2m1fn,
             "mxfp8": ml_dtypes.float8_e4m3fn}[name]
    rule = packing.quantize_nvfp4 if name == "nvfp4" else packing.quantize_mx
    packed, scales, both = rule(values, name)
    if packed.shape[-1] != values.shape[-1]:
        packed = np.stack([packed & 15, packed >> 4], -1).reshape(values.shape)
    if name == "nvfp4":
        factor = scales.view(ml_dtypes.float8_e4m3fn).astype(F64) * both[1]
    else:
        factor = np.exp2(scales.astype(F64) - 127)
    block = 16 if name == "nvfp4" else 32
    spread = np.repeat(factor, block, -1)[..., :values.shape[-1]]
    return packed.view(codes).astype(F64) * spread


def check(program, work):
    rng = np.random.default_rng(8)
    values = rng.normal(0, 1, (96, 320)).astype(np.float32)
    values[:, 3] *= 20
    values[::3, ::2] = 0
    path = Path(work) / "w.npy"
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, values)
    wrong = 0
    signal = (values.astype(F64)**2).sum()
    rows = {row["format"]: row for row in ask(program, "format", path)}
    for name, pattern in (("nvfp4", ""), ("mxfp4", ""), ("mxfp8", ""),
                          ("nvfp4", ", 4:8"), ("mxfp4", ", 4:8"),
                          ("mxfp8", ", 2:4")):
        if pattern:
            stored, _, dense = packing.prune(values, pattern == ", 4:8")
            pruned = dense != 0
            # What pruning keeps may be zero as well, and then stays so.
            kept = dequantize(stored, name)
            became = np.zeros(values.shape)
            became[pruned] = kept[stored != 0]
        else:
            became = dequantize(values, name)
        error = np.abs(values - became)
        sqnr = 10 * np.log10(signal / (error**2).sum())
        row = rows[name + pattern]
        agrees = (abs(float(row["SQNR, dB"]) - sqnr) < 0.006 and
                  np.isclose(float(row["max error"]), error.max(), rtol=1e-3))
        wrong += not agrees
        if not agrees:
            print(f"{name + pattern}: {row}, expected {sqnr} {error.max()}")
    times = [float(row["microseconds"]) for row in rows.values()]
    wrong += times[:-1] != sorted(times[:-1])
    good = [row for row in rows.values() if row["SQNR, dB"] and
            float(row["SQNR, dB"]) >= 19]
    best = min(good, key=lambda row: float(row["microseconds"]))
    wrong += best["advice"] != "take"
    for row in ask(program, "sparsity", path):
        pairs = row["pattern"] != "2:4"
        _, _, dense = packing.prune(values, pairs)
        units = values.reshape(96, -1, 4, 2 if pairs else 1)
        used = (units != 0).any(-1).sum(-1)
        lost = 100 * (1 - (dense.astype(F64)**2).sum() / signal)
        agrees = (int(row["groups"]) == used.size and
                  int(row["conforming"]) == (used <= 2).sum() and
                  int(row["violating"]) == (used > 2).sum() and
                  abs(float(row["energy lost %"]) - lost) < 1e-3)
        wrong += not agrees
        if not agrees:
            print(f"{row}, expected {lost}")
    print(f"advice: {wrong} wrong")
    return wrong == 0


if __name__ == "__main__":
    sys.exit(0 if check(*sys.argv[1:]) else 1)
