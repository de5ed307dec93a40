"""Writes what the commands of docs/packing.md read: weights.npy, and a checkpoint of
two shards with its index.

    make_checkpoint.py FOLDER

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import json
import pathlib
import struct
import sys

import numpy as np


def write(path, tensors):
    header, data = {}, b""
    for name, array in tensors.items():
        header[name] = {"dtype": "F32", "shape": array.shape,
                        "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def main(arguments):
    folder = pathlib.Path(arguments[1])
    rng = np.random.default_rng(1)
    np.save(folder / "weights.npy", rng.standard_normal((96, 64), np.float32))
    shards = {"model-1.safetensors": ["q_proj.weight", "norm.weight"],
              "model-2.safetensors": ["down_proj.weight"]}
    for shard, names in shards.items():
        write(folder / shard, {
            name: rng.standard_normal((48, 64) if "proj" in name else (64,),
                                      np.float32) for name in names})
    index = {"weight_map": {name: shard for shard, names in shards.items()
                            for name in names}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


if __name__ == "__main__":
    main(sys.argv)
