"""Checks `blockscale pack` with numpy and ml_dtypes alone.

usage: packing_check.py PROGRAM WORKDIR

Quantises arrays with PROGRAM and by the published rules in numpy, compares every
byte, converts between all names and layouts and back, and reads what came out
with checkpoint_reader.py. Then: checksums, pruning and compression, full disks
and interrupts. Prints a line for each part.
"""

import json
import resource
import shutil
import signal
import subprocess
import sys
import time
import zlib
from pathlib import Path

import ml_dtypes
import numpy as np

import checkpoint_reader as reader

E2M1, E4M3 = ml_dtypes.float4_e2m1fn, ml_dtypes.float8_e4m3fn
# Type, largest value and bits of an element.
MX = {"mxfp8": (E4M3, 448, 8), "mxfp8-e5m2": (ml_dtypes.float8_e5m2, 57344, 8),
      "mxfp6-e2m3": (ml_dtypes.float6_e2m3fn, 7.5, 6),
      "mxfp6-e3m2": (ml_dtypes.float6_e3m2fn, 28, 6), "mxfp4": (E2M1, 6, 4)}
F32 = np.float32


def blocks_of(values, block):
    """Rows of whole blocks, padded with zeros."""
    k = values.shape[-1]
    padding = [(0, 0)] * (values.ndim - 1) + [(0, -k % block)]
    return np.pad(values, padding).reshape(*values.shape[:-1], -1, block)


def pack_bits(codes, bits):
    """A little-endian stream of each row's codes."""
    stream = (codes[..., None] >> np.arange(bits, dtype=np.uint8) & 1)
    return np.packbits(stream.reshape(*codes.shape[:-1], -1).astype(np.uint8),
                       axis=-1, bitorder="little")


def quantize_mx(values, name):
    """The power of two not below amax / largest, and elements to nearest."""
    dtype, largest, bits = MX[name]
    blocks = blocks_of(values, 32)
    quotient = (np.abs(blocks).max(-1) / F32(largest)).astype(F32)
    mantissa, exponent = np.frexp(quotient)
    exponent = exponent - (mantissa == 0.5)
    scales = np.clip(exponent + 127, 0, 254).astype(np.uint8)
    scales[quotient == 0] = 0
    factor = np.ldexp(F32(1), 127 - scales.astype(int)).astype(F32)
    codes = (blocks * factor[..., None]).astype(dtype).view(np.uint8)
    codes = codes.reshape(*values.shape[:-1], -1)[..., :values.shape[-1]]
    return pack_bits(codes, bits), scales, None


def quantize_nvfp4(values, _):
    """As NVIDIA's libraries: all in f32 and in this order."""
    blocks = blocks_of(values, 16)
    encode = F32(2688) / np.abs(values).max()
    decode = F32(1) / encode
    wanted = np.abs(blocks).max(-1) * (encode * (F32(1) / F32(6)))
    scales = np.minimum(wanted, F32(448)).astype(E4M3)
    with np.errstate(divide="ignore"):
        factor = F32(1) / (scales.astype(F32) * decode)
    factor[scales == 0] = 0
    scaled = np.clip(blocks * factor[..., None], -6, 6)
    codes = scaled.astype(E2M1).view(np.uint8)
    codes = codes.reshape(*values.shape[:-1], -1)[..., :values.shape[-1]]
    return pack_bits(codes, 4), scales.view(np.uint8), (encode, decode)


def tile(plain, padding=0):
    """128 x 4 atoms of each matrix."""
    *lead, rows, columns = plain.shape
    padded = np.full((*lead, -(-rows // 128) * 128, -(-columns // 4) * 4),
                     padding, np.uint8)
    padded[..., :rows, :columns] = plain
    split = padded.reshape(*lead, -1, 4, 32, padded.shape[-1] // 4, 4)
    n = len(lead)
    return split.transpose(*range(n), n, n + 3, n + 2, n + 1, n + 4)


def tile_metadata(plain):
    """Tiles of 128 rows by 16 bytes, rows first; 0x44 says nothing."""
    rows, width = plain.shape
    padded = np.full((-(-rows // 128) * 128, -(-width // 16) * 16), 0x44,
                     np.uint8)
    padded[:rows, :width] = plain
    return padded.reshape(padded.shape[0] // 128, 128, -1, 16).transpose(
        2, 0, 1, 3)


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


def model(tool):
    """A model of several matrices, vectors and a scalar."""
    rng = np.random.default_rng(3)
    path = tool.work / "model.safetensors"
    tensors = {f"layers.{i}.{part}.weight":
               rng.normal(0, 0.05, (64 + 32 * i, 160)).astype(F32)
               for i in range(6) for part in ("up_proj", "down_proj")}
    tensors |= {f"layers.{i}.norm.weight": rng.normal(0, 1, 160).astype(F32)
                for i in range(6)}
    tensors["empty.weight"] = np.zeros((0, 32), F32)
    tensors["step"] = np.zeros((), F32)
    write_safetensors(path, tensors)
    return path, tensors


def write_safetensors(path, tensors):
    header, data = {}, b""
    for key, array in tensors.items():
        raw = np.ascontiguousarray(array).tobytes()
        header[key] = {"dtype": {"f": "F32", "u": "U8"}[array.dtype.kind],
                       "shape": list(array.shape),
                       "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def read_shards(folder):
    """Tensors by the index of a folder, and their files. The index is written
    last: without it, all shards that there are."""
    path = folder / "m.safetensors.index.json"
    if not path.exists():
        files = {file.name: reader.load(file)[0]
                 for file in folder.glob("*.safetensors")}
        return ({key: array for one in files.values()
                 for key, array in one.items()},
                {key: name for name, one in files.items() for key in one})
    index = json.loads(path.read_text())
    tensors = {}
    for name in set(index["weight_map"].values()):
        tensors |= reader.load(folder / name)[0]
    total = sum(array.nbytes for array in tensors.values())
    assert total == index["metadata"]["total_size"], total
    assert set(tensors) == set(index["weight_map"])
    return tensors, index["weight_map"]


def check_shards(tool):
    """Shards hold what one file holds, and parameters are never torn."""
    source, _ = model(tool)
    whole = tool.pack(source, tool.work / "whole.safetensors", "--to=nvfp4",
                      "--checksums")
    expected, sums = reader.load(whole)
    folder = tool.work / "shards"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    out = folder / "m.safetensors"
    tool.pack(source, out, "--to=nvfp4", "--checksums", "--shard-size=30KB")
    found, places = read_shards(folder)
    tool.expect("tensors of shards", set(found) == set(expected))
    for key, array in expected.items():
        tool.same(f"{key} of shards", found[key], array)
    for key, place in places.items():
        if key.endswith(".weight_scale"):
            tool.expect(f"{key} is beside its elements",
                        place == places[key.removesuffix("_scale")])
        tool.expect(f"checksum of {key}", reader.load(folder / place)[1][
            f"crc32.{key}"] == sums[f"crc32.{key}"])
    files = sorted(path.name for path in folder.glob("*.safetensors"))
    count = len(files)
    tool.expect(f"names of shards: {files}", count > 2 and files == [
        f"m-{i + 1:05}-of-{count:05}.safetensors" for i in range(count)])
    large = [path for path in folder.glob("*.safetensors")
             if path.stat().st_size > 30000 + 4096]
    tool.expect(f"sizes of shards: {large}", not large)
    tool.pack(folder, tool.work / "joined.safetensors", "--to=f32")
    tool.pack(whole, tool.work / "direct.safetensors", "--to=f32")
    tool.expect("shards are read as one", (
        tool.work / "joined.safetensors").read_bytes() == (
        tool.work / "direct.safetensors").read_bytes())
    # One file of a model would be taken in place of its shards.
    for first, second in (([], ["--shard-size=30KB"]),
                          (["--shard-size=30KB"], [])):
        shutil.rmtree(folder)
        folder.mkdir()
        tool.pack(source, out, "--to=mxfp4", *first)
        before = sorted(folder.iterdir())
        result = subprocess.run(
            [tool.program, "pack", source, "-o", out, "--to=mxfp4", *second],
            capture_output=True, text=True)
        tool.expect(f"mistaken: {result.stderr}", result.returncode == 1 and
                    "remove it first" in result.stderr and
                    sorted(folder.iterdir()) == before)
    print(f"shards: {len(expected)} tensors in {count} files")


def is_whole(tool, folder):
    result = subprocess.run(
        [tool.program, "check", folder, "--format=json", "--headers-only"],
        capture_output=True, text=True)
    return result.returncode == 0 and len(
        json.loads(result.stdout)["tensors"])


def check_kills(tool):
    """Killed at any time, a model is whole or is refused."""
    source, _ = model(tool)
    folder = tool.work / "killed"
    command = [tool.program, "pack", source, "-o", folder / "m.safetensors",
               "--to=mxfp8", "--shard-size=12KB"]
    states = set()
    for first in (False, True):
        for attempt in range(24):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            if first:
                # A model of another format is there already.
                subprocess.run([*command[:5], "--to=mxfp4",
                                "--shard-size=12KB"], check=True,
                               stdout=subprocess.DEVNULL)
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            while process.poll() is None and attempt % 2 and not list(
                    folder.glob("*.tmp")):
                pass
            time.sleep(0.0005 * (attempt // 2))
            process.kill()
            process.wait()
            count = is_whole(tool, folder)
            states.add(count)
            formats = {np.dtype(array.dtype) for name, array in
                       read_shards(folder)[0].items()
                       if "proj.weight" in name and "scale" not in name} \
                if count else {None}
            tool.expect(f"whole after a kill: {count}, {formats}",
                        len(formats) == 1 and count in (0, 20))
    tool.expect(f"kills found it unfinished: {states}", 0 in states)
    print("killed at any time: whole or refused")


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


def prune(values, pairs):
    """What stays of each group, ties to the lower index."""
    group, width = (8, 2) if pairs else (4, 1)
    units = values.astype(np.float64).reshape(values.shape[0], -1, 4, width)
    weight = (units**2).sum(-1)
    order = np.argsort(-weight, -1, kind="stable")[..., :2]
    kept = np.sort(order, -1)
    assert group == 4 * width
    stored = np.take_along_axis(units, kept[..., None], 2)
    nibbles = (kept[..., 0] | kept[..., 1] << 2).astype(np.uint8)
    metadata = nibbles[:, ::2] | nibbles[:, 1::2] << 4
    dense = np.zeros_like(units)
    np.put_along_axis(dense, kept[..., None], stored, 2)
    return (stored.reshape(values.shape[0], -1).astype(F32), metadata,
            dense.reshape(values.shape).astype(F32))


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


def run_limited(tool, source, out, size):
    """Packs where no file may be larger than `size` bytes."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return subprocess.run(
        [tool.program, "pack", source, "-o", out, "--to=nvfp4"],
        preexec_fn=limit, capture_output=True, text=True)


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


def check_full(tool):
    """A file system of a megabyte, where this user may make one."""
    folder = tool.work / "small"
    folder.mkdir(exist_ok=True)
    script = f'''
mount -t tmpfs -o size=1m none {folder} || exit 77
{tool.program} pack {tool.work}/tail.npy -o {folder}/x.safetensors --to=f32
echo "status $?"
{tool.program} pack {tool.work}/tail.npy -o {folder}/x.safetensors --to=f32 \
  --shard-size=300KB
echo "status $?"
ls {folder}
'''
    result = subprocess.run(["unshare", "-rm", "sh", "-c", script],
                            capture_output=True, text=True)
    if result.returncode == 77 or "unshare" in result.stderr:
        print("full file system: not allowed to mount one")
        return
    tool.expect(f"full file system: {result}",
                result.stdout == "status 1\nstatus 1\n" and
                result.stderr.count("No space left on device") == 2)
    print("full file system: nothing is left behind")


def check_failures(tool):
    source = tool.work / "tail.npy"
    out = tool.work / "full" / "x.safetensors"
    out.parent.mkdir(exist_ok=True)
    result = run_limited(tool, source, out, 4096)
    tool.expect("no room", result.returncode == 1 and
                "cannot write" in result.stderr and
                not list(out.parent.iterdir()))
    # A file with a hole: large to read, small to make.
    large = tool.work / "large.npy"
    header = np.lib.format.header_data_from_array_1_0(np.zeros(1, F32))
    header["shape"] = (1 << 15, 1 << 15)
    with open(large, "wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        file.truncate(file.tell() + (1 << 32))
    for number in (signal.SIGINT, signal.SIGTERM):
        process = subprocess.Popen(
            [tool.program, "pack", large, "-o", out, "--to=nvfp4"],
            stderr=subprocess.PIPE, text=True)
        while process.poll() is None and not list(out.parent.iterdir()):
            time.sleep(0.01)
        time.sleep(0.05)
        process.send_signal(number)
        error = process.communicate()[1]
        tool.expect(f"{number.name}: {error}", process.returncode == 1 and
                    "interrupted" in error and not list(out.parent.iterdir()))
    large.unlink()
    print("full disk and interrupts: nothing is left behind")


if __name__ == "__main__":
    tool = Tool(*sys.argv[1:])
    for check in (check_quantize, check_conversions, check_families,
                  check_producers, check_sparse, check_checksums, check_shards,
                  check_tiling, check_full, check_failures, check_kills):
        check(tool)
    print(f"{tool.failures} wrong")
    sys.exit(1 if tool.failures else 0)
