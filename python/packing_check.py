"""Checks `blockscale pack` with numpy and ml_dtypes alone.

usage: packing_check.py PROGRAM WORKDIR

Quantises arrays with PROGRAM and by the published rules in numpy
(packing_rules.py), compares every byte, converts between all names and layouts
and back, and reads what came out with checkpoint_reader.py. Then: checksums,
pruning and compression, shards, full disks and interrupts (packing_files.py).
Prints a line for each part.
"""

import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np

import checkpoint_reader as reader
from packing_files import (check_failures, check_full, check_kills,
                           check_shards)
from packing_rules import (E4M3, F32, MX, prune, quantize_mx, quantize_nvfp4,
                           tile, tile_metadata)


def arrays():
    rng = np.random.default_rng(11)
    shapes = {"odd": (130, 200), "stack": (3, 40, 96), "long": (140, 40008),
              "row": (1, 64), "tail": (257, 2084), "even": (130, 256)}
    for name, shape in shapes.items():
        values = rng.normal(0, 0.05, shape).astype(F32)
        values *= np.exp2(rng.integers(-6, 6, (*shape[:-1], 1))).astype(F32)
        values.reshape(-1)[:16] = 0
        yield name, values


class Tool:
    def __init__(self, program, work):
        self.program, self.work, self.failures = program, Path(work), 0
        self.work.mkdir(parents=True, exist_ok=True)

    def pack(self, source, target, *options):
        command = [self.program, "pack", str(source), "-o", str(target),
                   *options]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return target

    def expect(self, what, is_so):
        if not is_so:
            self.failures += 1
            print(f"wrong: {what}")

    def same(self, what, found, expected):
        found, expected = np.asarray(found), np.asarray(expected)
        self.expect(what, found.size == expected.size and np.array_equal(
            found.reshape(-1).view(np.uint8),
            np.ascontiguousarray(expected).reshape(-1).view(np.uint8)))


def check_quantize(tool):
    """Every byte of every format, in rows and in atoms."""
    count = 0
    for name, values in arrays():
        source = tool.work / f"{name}.npy"
        np.save(source, values)
        for kind in ("nvfp4", *MX):
            rule = quantize_nvfp4 if kind == "nvfp4" else quantize_mx
            elements, scales, both = rule(values, kind)
            for layout in ("rows", "tiled"):
                out = tool.work / "q.npy"
                tool.pack(source, out, f"--to={kind}", f"--scales={layout}")
                what = f"{name} {kind} {layout}"
                tool.same(f"elements of {what}",
                          np.load(tool.work / "q.data.npy"), elements)
                tool.same(f"scales of {what}",
                          np.load(tool.work / "q.scales.npy"),
                          scales if layout == "rows" else tile(scales))
                if both:
                    tool.same(f"tensor scale of {what}",
                              np.load(tool.work / "q.tensor_scale.npy"),
                              both[1])
                count += 1
    print(f"quantise: {count} outputs")


def values_of(path, name):
    tensors, metadata = reader.load(path)
    return reader.read_weight(tensors, metadata, name)


def check_conversions(tool):
    """All names and layouts, there and back, and what they mean to numpy."""
    count = 0
    for name, values in arrays():
        if values.ndim != 2 or name == "long":
            continue
        for kind in ("nvfp4", "mxfp8", "mxfp4"):
            first = tool.work / "first.safetensors"
            tool.pack(tool.work / f"{name}.npy", first, f"--to={kind}")
            expected = values_of(first, name)
            original, _ = reader.load(first)
            for names in ("modelopt", "compressed-tensors", "torchao"):
                for layout in ("rows", "tiled"):
                    there = tool.work / "there.safetensors"
                    tool.pack(first, there, f"--names={names}",
                              f"--scales={layout}")
                    what = f"{name} {kind} as {names}, {layout}"
                    if names == "torchao" or layout == "rows":
                        found = values_of(there, name)
                        # A divisor is rounded once more than a factor.
                        close = 1e-6 if names == "compressed-tensors" else 0
                        tool.expect(f"values of {what}", np.allclose(
                            found, expected, rtol=close, atol=0))
                    back = tool.work / "back.safetensors"
                    tool.pack(there, back)
                    again, _ = reader.load(back)
                    tool.expect(f"names of {what}",
                                set(again) == set(original))
                    for key in original:
                        if not key.endswith("_scale_2"):
                            tool.same(f"{key} of {what}", again[key],
                                      original[key])
                    count += 1
            flat = tool.pack(first, tool.work / "f.npy", "--to=f32")
            del flat
            found = np.load(tool.work / "f.values.npy")
            tool.expect(f"numbers of {name} {kind}",
                        np.allclose(found, expected, rtol=2e-7, atol=0))
        count += check_fp6(tool, name, values)
    print(f"convert: {count} round trips")


def quantize_tiles(values, powers):
    """128 x 128 tiles: s = max(amax, 1e-4) / 448, rounded up to a power of two
    or not, and elements x * (1 / s) to nearest."""
    *lead, rows, columns = values.shape
    down, across = -(-rows // 128), -(-columns // 128)
    padded = np.zeros((*lead, down * 128, across * 128), F32)
    padded[..., :rows, :columns] = values
    tiles = padded.reshape(*lead, down, 128, across, 128)
    scales = np.maximum(np.abs(tiles).max((-3, -1)), F32(1e-4)) / F32(448)
    if powers:
        fraction, exponent = np.frexp(scales)
        scales = np.ldexp(F32(1), exponent - (fraction == 0.5)).astype(F32)
    factor = (F32(1) / scales)[..., :, None, :, None]
    codes = np.clip(tiles * factor, -448, 448).astype(E4M3)
    codes = codes.reshape(padded.shape)[..., :rows, :columns]
    return codes.view(np.uint8), scales


# Other names for the same bytes.
PARTNERS = {"nvfp4": "modelopt", "mxfp4": "compressed-tensors",
            "fp8-blocks": "compressed-tensors",
            ("fp8-blocks", "compressed-tensors"): "deepseek",
            ("fp8-blocks-ue8m0", "deepseek-v4"): "deepseek",
            "fp8-blocks-ue8m0": "compressed-tensors"}


def check_families(tool):
    """Names that only some formats have: every byte, and the way back."""
    count = 0
    for name, values in arrays():
        source, out = tool.work / f"{name}.npy", tool.work / "f.safetensors"
        nvfp4, mxfp4 = quantize_nvfp4(values, ""), quantize_mx(values, "mxfp4")
        plain, powers = (quantize_tiles(values, x) for x in (False, True))
        swapped = nvfp4[0] << 4 | nvfp4[0] >> 4
        split = (*values.shape[:-1], -1, 16)
        exponents = (np.log2(powers[1]) + 127).astype(np.uint8)
        cases = {
            ("nvfp4", "comfyui"): {
                ".weight": swapped, ".weight_scale": tile(nvfp4[1]),
                ".weight_scale_2": nvfp4[2][1],
                ".comfy_quant": np.frombuffer(b'{"format": "nvfp4"}', "u1")},
            ("mxfp4", "deepseek-v4"): {".weight": mxfp4[0], ".scale": mxfp4[1]},
            ("fp8-blocks-ue8m0", "deepseek-v4"): {
                ".weight": powers[0], ".scale": exponents},
            ("fp8-blocks-ue8m0", "deepseek"): {
                ".weight": powers[0], ".weight_scale_inv": powers[1]},
            ("fp8-blocks", "deepseek"): {
                ".weight": plain[0], ".weight_scale_inv": plain[1]},
            ("fp8-blocks", "compressed-tensors"): {
                ".weight": plain[0], ".weight_scale": plain[1]}}
        if values.shape[-1] % 32 == 0:
            blocks = mxfp4[0].reshape(split)
            cases["mxfp4", "gpt-oss"] = {
                "_blocks": blocks, "_scales": mxfp4[1]}
            cases["mxfp4", "gpt-oss-original"] = {
                ".blocks": blocks, ".scales": mxfp4[1]}
        for (kind, names), expected in cases.items():
            tool.pack(source, out, f"--to={kind}", f"--names={names}")
            found, metadata = reader.load(out)
            what = f"{name} {kind} of {names}"
            tool.expect(f"names of {what}: {sorted(found)}", set(found) == {
                name + key for key in expected})
            for key, array in expected.items():
                tool.same(f"{key} of {what}", found[name + key], array)
                if key in ("_blocks", ".blocks", ".weight_scale_inv"):
                    tool.expect(f"shape of {key} of {what}",
                                found[name + key].shape == array.shape)
            count += 1
            # What it means to us, and without our reader.
            tool.pack(out, tool.work / "f.npy", "--to=f32")
            numbers = np.load(tool.work / "f.values.npy")
            if values.ndim == 2 or "blocks" in kind:
                means = reader.read_blocks(found, name) if "gpt" in names \
                    else reader.read_weight(found, metadata, name)
                tool.expect(f"values of {what}", np.allclose(
                    numbers, means, rtol=2e-7, atol=0))
            partner = PARTNERS.get((kind, names), PARTNERS.get(kind))
            there = tool.pack(out, tool.work / "there.safetensors",
                              f"--names={partner}")
            back = tool.pack(there, tool.work / "back.safetensors",
                             f"--names={names}")
            tool.expect(f"{what} as {partner} and back",
                        back.read_bytes() == out.read_bytes())
    print(f"names of others: {count} outputs")


def check_fp6(tool, name, values):
    """Of compressed-tensors, and as safetensors' own type."""
    if values.shape[1] % 32:
        return 0
    paths = [tool.work / f"fp6-{names}.safetensors"
             for names in ("compressed-tensors", "modelopt")]
    for path in paths:
        names = path.stem.split("-", 1)[1]
        tool.pack(tool.work / f"{name}.npy", path, "--to=mxfp6-e2m3",
                  f"--names={names}")
    found = values_of(paths[0], name)
    tool.pack(paths[1], tool.work / "six.npy", "--to=f32")
    tool.same(f"mxfp6 of {name}", np.load(tool.work / "six.values.npy"), found)
    tool.pack(paths[1], tool.work / "again.safetensors",
              "--names=compressed-tensors")
    tool.expect(f"mxfp6 of {name}, renamed",
                (tool.work / "again.safetensors").read_bytes() ==
                paths[0].read_bytes())
    return 2


def check_producers(tool):
    """What the libraries of others wrote, as numbers."""
    count = 0
    for path in sorted(Path(__file__).parent.parent.glob(
            "test/Driver/Inputs/checkpoints/*.safetensors")):
        out = tool.work / "numbers.safetensors"
        tool.pack(path, out, "--to=f32", "--tensors=layers.*",
                  "--tensors=model.layers.*")
        found, _ = reader.load(out)
        for key, expected in reader.load(path)[0].items():
            if key.startswith("expected."):
                count += 1
                tool.expect(f"{path.name} {key}", np.allclose(
                    found[key[len("expected."):]], expected, rtol=2e-7,
                    atol=0))
    print(f"read: {count} parameters of others")


def check_sparse(tool):
    rng = np.random.default_rng(5)
    values = rng.normal(0, 1, (200, 1056)).astype(F32)
    values[:, ::7] = 0
    source = tool.work / "sparse.npy"
    np.save(source, values)
    for kind, pattern in (("mxfp8", "2:4"), ("nvfp4", "4:8"),
                          ("mxfp4", "4:8"), ("mxfp6-e3m2", "2:4")):
        stored, metadata, dense = prune(values, pattern == "4:8")
        rule = quantize_nvfp4 if kind == "nvfp4" else quantize_mx
        for layout in ("rows", "tiled"):
            tool.pack(source, tool.work / "s.npy", f"--to={kind}",
                      f"--prune={pattern}", "--compress",
                      f"--scales={layout}")
            elements, scales, _ = rule(stored, kind)
            what = f"{kind} {pattern} {layout}"
            tool.same(f"elements of {what}",
                      np.load(tool.work / "s.data.npy"), elements)
            tool.same(f"scales of {what}",
                      np.load(tool.work / "s.scales.npy"),
                      scales if layout == "rows" else tile(scales))
            tool.same(f"metadata of {what}",
                      np.load(tool.work / "s.metadata.npy"), metadata
                      if layout == "rows" else tile_metadata(metadata))
        tool.pack(source, tool.work / "d.npy", "--to=f32",
                  f"--prune={pattern}")
        tool.same(f"pruned {pattern}", np.load(tool.work / "d.values.npy"),
                  dense)
    print("prune and compress: 4 formats")


def check_checksums(tool):
    source = tool.work / "odd.npy"
    for threads in (1, 3):
        out = tool.work / "sum.safetensors"
        tool.pack(source, out, "--to=nvfp4", "--scales=tiled", "--checksums",
                  f"--threads={threads}")
        tensors, metadata = reader.load(out)
        for key, array in tensors.items():
            tool.expect(f"checksum of {key}", metadata[f"crc32.{key}"] ==
                        f"{zlib.crc32(array.tobytes()):08x}")
    print("checksums: agree with zlib")


def check_tiling(tool):
    """Arrays of scales and metadata alone, there and back."""
    rng = np.random.default_rng(9)
    for shape in ((130, 13), (2, 3, 200, 40), (128, 16), (1, 1)):
        plain = rng.integers(0, 256, shape, np.uint8)
        path = tool.work / "bytes.npy"
        np.save(path, plain)
        for what in ("scales", "metadata"):
            tiled, back = tool.work / "tiled.npy", tool.work / "plain.npy"
            tool.pack(path, tiled, f"--tile={what}")
            matrices = plain.reshape(-1, *shape[-2:])
            expected = np.stack([
                tile(x) if what == "scales" else tile_metadata(x)
                for x in matrices])
            found = np.load(tiled)
            tool.same(f"{what} of {shape}", found, expected)
            tool.expect(f"shape of {what} of {shape}", found.shape ==
                        shape[:-2] + expected.shape[1:])
            tool.pack(tiled, back, f"--untile={what}",
                      f"--shape={shape[-2]},{shape[-1]}")
            tool.same(f"{what} of {shape} back", np.load(back), plain)
    print("tile and untile: 8 arrays")


if __name__ == "__main__":
    tool = Tool(*sys.argv[1:])
    for check in (check_quantize, check_conversions, check_families,
                  check_producers, check_sparse, check_checksums,
                  check_shards, check_tiling, check_full, check_failures,
                  check_kills):
        check(tool)
    print(f"{tool.failures} wrong")
    sys.exit(1 if tool.failures else 0)
