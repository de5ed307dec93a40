"""Shards, kills, full disks and interrupts: a file of `blockscale pack` is there
as a whole or not at all. Parts of packing_check.py."""

import json
import resource
import shutil
import signal
import subprocess
import time

import numpy as np

import checkpoint_reader as reader

F32 = np.float32


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


def run_limited(tool, source, out, size):
    """Packs where no file may be larger than `size` bytes."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return subprocess.run(
        [tool.program, "pack", source, "-o", out, "--to=nvfp4"],
        preexec_fn=limit, capture_output=True, text=True)


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
