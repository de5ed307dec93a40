"""Sections maps and im2col of ask.py.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

from common import *


def map_room():
    room = C.create_string_buffer(128 + 64)
    return room, Pointer((C.addressof(room) + 63) // 64 * 64)


def maps():
    retained()
    mem = allocated(1 << 20)

    def tiled(label, data_type=0, rank=2, address=0, dims=(256, 64), strides=(256,), box=(64, 8), steps=(1, 1), interleave=0, swizzle=0,
              promotion=0, fill=0, offset=0):
        room, at = map_room()
        ask(label, "cuTensorMapEncodeTiled", Pointer(at.value + offset), data_type, rank, Pointer(mem.value + address), array(U64, *dims),
            array(U64, *strides), array(U32, *box), array(U32, *steps), interleave, swizzle, promotion, fill)

    tiled("")
    for t in range(0, 18):
        for box in (16, 32, 128):
            tiled(f"type {t} box {box}", data_type=t, strides=(2048,), box=(box, 8))
        for s in (1, 2, 3, 4):
            tiled(f"type {t} swizzle {s}", data_type=t, strides=(2048,), box=(128 if t > 12 else 4, 8), swizzle=s)
    for t in (13, 14, 15):
        for label, values in {"address 16": {"address": 16}, "strides 48": {"strides": (2064,)}, "dims 192": {"dims": (192, 64)}, "dims 128": {"dims": (128, 64)},
                              "box 64": {"box": (64, 8)}, "box 256": {"box": (256, 8)}}.items():
            tiled(f"type {t} {label}", **{**dict(data_type=t, strides=(2048,), box=(128, 8)), **values})
    for s in range(0, 9):
        for b in (16, 32, 64, 128, 256):
            tiled(f"swizzle {s} box {b}", swizzle=s, box=(b, 8))
    for p in range(0, 5):
        tiled(f"promotion {p}", promotion=p)
    for f in range(0, 3):
        for t in range(0, 13):
            tiled(f"fill {f} type {t}", fill=f, data_type=t, box=(16, 8), strides=(2048,))
    for i in range(0, 4):
        for s in range(0, 4):
            tiled(f"interleave {i} swizzle {s}", interleave=i, swizzle=s, rank=3, dims=(16, 64, 4), strides=(1024, 65536), box=(16, 8, 1), steps=(1, 1, 1))
            tiled(f"interleave {i} swizzle {s} box 32", interleave=i, swizzle=s, rank=3, dims=(16, 64, 4), strides=(1024, 65536), box=(32, 8, 1), steps=(1, 1, 1))
    tiled("rank 0", rank=0)
    tiled("rank 1", rank=1)
    tiled("rank 5", rank=5, dims=(64, 4, 4, 4, 4), strides=(64, 256, 1024, 4096), box=(64, 1, 1, 1, 1), steps=(1,) * 5)
    tiled("rank 6", rank=6, dims=(64,) * 6, strides=(64,) * 6, box=(16,) * 6, steps=(1,) * 6)
    tiled("address 8", address=8)
    tiled("address 16", address=16)
    tiled("no address", address=-mem.value)
    tiled("host address", address=0x1000 - mem.value)
    tiled("map at 8", offset=8)
    tiled("map at 32", offset=32)
    tiled("stride 8", strides=(264,))
    tiled("stride small", strides=(128,))
    tiled("stride zero", strides=(0,))
    tiled("stride 2^40", strides=(1 << 40,))
    tiled("stride below 2^40", strides=((1 << 40) - 16,))
    tiled("strides fall", rank=3, dims=(64, 64, 4), strides=(4096, 64), box=(64, 8, 1), steps=(1, 1, 1))
    tiled("strides of no multiple", rank=3, dims=(64, 64, 4), strides=(64, 4096 + 16), box=(64, 8, 1), steps=(1, 1, 1))
    tiled("dim 0", dims=(0, 64))
    tiled("dim 2^32", dims=(1 << 32, 64), strides=(1 << 32,))
    tiled("dim above 2^32", dims=((1 << 32) + 1, 64), strides=((1 << 32) + 16,))
    tiled("box 0", box=(0, 8))
    tiled("box 257", box=(64, 257))
    tiled("box 256", box=(64, 256))
    tiled("box of 256 KiB", box=(256, 256), data_type=2, strides=(1024,))
    tiled("box bigger than the tensor", box=(256, 128), dims=(128, 64))
    tiled("box 24 bytes", box=(24, 8))
    tiled("box 8 bytes", box=(8, 8))
    tiled("step 0", steps=(0, 1))
    for step in (2, 8, 9):
        tiled(f"step {step}", steps=(1, step))
        tiled(f"step {step} in x", steps=(step, 1))
    tiled("step 2 with swizzle", steps=(2, 1), swizzle=3, box=(64, 8))
    tiled("box rounds", steps=(3, 1), box=(48, 8))
    room, at = map_room()
    ask("address", "cuTensorMapReplaceAddress", at, Pointer(mem.value + 16))
    ask("address 8", "cuTensorMapReplaceAddress", at, Pointer(mem.value + 8))
    ask("map at 8", "cuTensorMapReplaceAddress", Pointer(at.value + 8), mem)


def im2col():
    retained()
    mem = allocated(1 << 20)

    def images(label, data_type=7, rank=4, dims=(32, 10, 10, 2, 2), strides=(128, 1280, 12800, 25600), lower=(-1, -1, 0), upper=(-1, -1, 0), channels=32,
               pixels=64, steps=(1,) * 5, interleave=0, swizzle=3, fill=0, address=0):
        room, at = map_room()
        ask(label, "cuTensorMapEncodeIm2col", at, data_type, rank, Pointer(mem.value + address), array(U64, *dims), array(U64, *strides),
            array(Int, *lower), array(Int, *upper), channels, pixels, array(U32, *steps), interleave, swizzle, 0, fill)

    images("")
    for rank in (2, 3, 5, 6):
        images(f"rank {rank}", rank=rank)
    for corner in (-128, -129, 127, 128):
        images(f"lower {corner}", lower=(corner, -1, 0))
        images(f"upper {corner}", upper=(corner, -1, 0))
    for corner in (-32768, -32769, 32767, 32768):
        images(f"rank 3 lower {corner}", rank=3, lower=(corner,), upper=(-1,))
    for corner in (-16, -17, 15, 16):
        images(f"rank 5 lower {corner}", rank=5, lower=(corner, 0, 0))
    for channels in (0, 1, 4, 256, 257):
        images(f"channels {channels}", channels=channels, swizzle=0)
    images("channels 64 swizzle 3", channels=64)
    for pixels in (0, 1, 1024, 1025):
        images(f"pixels {pixels}", pixels=pixels)
    for step in (0, 2, 8, 9):
        images(f"step {step}", steps=(1, step, 1, 1, 1))
        images(f"step {step} in c", steps=(step, 1, 1, 1, 1))
    images("lower above upper", lower=(5, 5, 0), upper=(-8, -8, 0))
    images("fill 1", fill=1)
    images("type 13", data_type=13, channels=128)
    images("interleave 1", interleave=1)
    images("swizzle 7", swizzle=7)
    images("address 8", address=8)
    for mode in (0, 1, 2):
        for swizzle in (0, 1, 2, 3):
            room, at = map_room()
            ask(f"mode {mode} swizzle {swizzle}", "cuTensorMapEncodeIm2colWide", at, 7, 4, mem, array(U64, 32, 10, 10, 2), array(U64, 128, 1280, 12800), -1, -1, 32, 62,
                array(U32, 1, 1, 1, 1), 0, mode, swizzle, 0, 0)
