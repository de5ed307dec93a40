"""Checks `blockscale explain format` and `explain sparsity` with numpy.

usage: advice_check.py PROGRAM WORKDIR

Signal-to-noise ratios, largest errors and losses by pruning, computed from what
packing_rules.py quantises, must agree with those that PROGRAM prints. Of two
published models, what it advises must be what their recipes did.
"""

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np

import packing_rules as packing

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


def write(path, shapes):
    """A model in bf16 of normally distributed weights."""
    rng = np.random.default_rng(12)
    header, data = {}, b""
    for name, shape in shapes.items():
        raw = rng.normal(0, 0.02, shape).astype(ml_dtypes.bfloat16).tobytes()
        header[name] = {"dtype": "BF16", "shape": list(shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


# Two published models and what their configurations leave in 16 bits:
# "exclude_modules" of nvidia/Llama-3.1-8B-Instruct-FP4 (hf_quant_config.json,
# ["lm_head"]), and "ignore" of NVFP4 checkpoints of Qwen3-30B-A3B
# (config.json, ["lm_head", "re:.*mlp.gate$"]). Both quantise linear layers
# only, so that neither touches embeddings and norms.
RECIPES = {
    "llama": (["lm_head"], {
        **{f"model.layers.0.self_attn.{x}_proj.weight": (n, 1024)
           for x, n in (("q", 1024), ("k", 256), ("v", 256), ("o", 1024))},
        **{f"model.layers.0.mlp.{x}_proj.weight": (3584, 1024)
           for x in ("gate", "up")},
        "model.layers.0.mlp.down_proj.weight": (1024, 3584),
        "model.layers.0.input_layernorm.weight": (1024,),
        "model.embed_tokens.weight": (4096, 1024),
        "lm_head.weight": (4096, 1024)}),
    "qwen": (["lm_head", "re:.*mlp.gate$"], {
        **{f"model.layers.0.self_attn.{x}_proj.weight": (n, 1024)
           for x, n in (("q", 2048), ("k", 256), ("v", 256))},
        "model.layers.0.self_attn.o_proj.weight": (1024, 2048),
        "model.layers.0.self_attn.q_norm.weight": (128,),
        "model.layers.0.mlp.gate.weight": (128, 1024),
        **{f"model.layers.0.mlp.experts.{e}.{x}_proj.weight": (768, 1024)
           for e in (0, 1) for x in ("gate", "up")},
        **{f"model.layers.0.mlp.experts.{e}.down_proj.weight": (1024, 768)
           for e in (0, 1)},
        "model.embed_tokens.weight": (4096, 1024),
        "lm_head.weight": (4096, 1024)}),
}


def is_ignored(name, ignored):
    layer = name.removesuffix(".weight")
    return any(re.match(rule[3:], layer) if rule.startswith("re:")
               else rule == layer for rule in ignored)


def check_recipes(program, work):
    """What is advised is what was published."""
    wrong = 0
    for model, (ignored, shapes) in RECIPES.items():
        path = write(Path(work) / f"{model}.safetensors", shapes)
        advised = {row["parameter"]: row["format"]
                   for row in ask(program, "format", path)
                   if row["advice"].startswith("take")}
        for name, shape in shapes.items():
            if len(shape) < 2:
                wrong += name in advised
                continue
            is_left = is_ignored(name, ignored) or "embed" in name
            agrees = advised[name] == ("bf16" if is_left else "nvfp4")
            wrong += not agrees
            if not agrees:
                print(f"{model}: {name}: {advised[name]}")
    print(f"recipes: {wrong} wrong")
    return wrong == 0


if __name__ == "__main__":
    good = [check(*sys.argv[1:]), check_recipes(*sys.argv[1:])]
    sys.exit(0 if all(good) else 1)
