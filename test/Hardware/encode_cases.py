"""Parameters of the encoders of tensor maps, legal and not."""

import itertools

from tensors import TYPES

BASE = {"type": "f16", "dims": [256, 64], "strides": [512], "box": [64, 8],
        "steps": [1, 1]}


def tiled(**more):
    return {**BASE, **more}


def rank_of(count, **more):
    dims = [64, 16, 8, 4, 4, 2][:max(count, 1)]
    strides = [128, 2048, 16384, 65536, 262144][:max(count - 1, 1)]
    return tiled(**{"dims": dims, "strides": strides,
                    "box": [32, 4, 2, 2, 1, 1][:max(count, 1)],
                    "steps": [1] * max(count, 1), "rank": count, **more})


def basics():
    for rank in range(0, 7):
        yield rank_of(rank)
    for kind in list(TYPES) + [16, 17, 100, -1]:
        yield tiled(type=kind, dims=[256, 64], strides=[2048], box=[128, 8])
        yield tiled(type=kind, dims=[256, 64], strides=[2048], box=[16, 8])
        yield tiled(type=kind, dims=[256, 64], strides=[2048], box=[128, 8],
                    swizzle=3)
        yield tiled(type=kind, dims=[256, 64], strides=[2048], box=[16, 8], fill=1)
    for name in ("interleave", "swizzle", "promotion", "fill"):
        for value in range(-1, 9):
            yield tiled(**{name: value})
            yield tiled(**{name: value}, box=[8, 8])
            yield rank_of(3, **{name: value}, box=[8, 2, 2])
    for shift in (1, 2, 4, 8, 15, 16, 32, 64):
        yield tiled(shift=shift)
        yield rank_of(3, shift=shift, interleave=1)
        yield rank_of(3, shift=shift, interleave=2, swizzle=1, box=[16, 2, 2])
        yield tiled(type="u4a16", dims=[256, 64], box=[128, 8], strides=[2048],
                    shift=shift)
    yield tiled(null=True)
    for misplace in (1, 8, 16, 32):
        yield tiled(misplace=misplace)
    yield tiled(dims=None)
    yield tiled(strides=None)
    yield tiled(box=None)
    yield tiled(steps=None)
    yield rank_of(1, strides=None)


def sizes():
    for size in (0, 1, 2, 8, 255, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 32) + 1,
                 1 << 40):
        yield tiled(dims=[256, size])
        yield tiled(dims=[size, 64], strides=[1 << 36])
        yield tiled(dims=[size, 64], strides=[512])
        yield rank_of(1, dims=[size], type="u8")
    for stride in (0, 1, 2, 8, 15, 16, 24, 32, 48, 64, 256, 496, 504, 512, 520, 528,
                   1 << 35, (1 << 36) - 16, 1 << 36, (1 << 39), (1 << 40) - 16,
                   1 << 40, (1 << 40) + 16, 1 << 41):
        yield tiled(strides=[stride])
        yield rank_of(3, strides=[stride, 1 << 20])
        yield rank_of(3, strides=[512, stride])
        yield rank_of(3, strides=[512, stride], interleave=1, box=[8, 4, 2])
        yield rank_of(3, strides=[512, stride], interleave=2, swizzle=1,
                      box=[16, 4, 2])
    for first, second in ((128, 64), (256, 128), (512, 256), (512, 511)):
        yield rank_of(3, strides=[first, second])
    for box in (0, 1, 2, 3, 4, 7, 8, 9, 16, 24, 64, 65, 128, 200, 255, 256, 257, 512):
        yield tiled(box=[8, box])
        yield tiled(box=[box, 8], dims=[1024, 64], strides=[2048])
        yield tiled(box=[box, 8], type="u8")
        yield tiled(box=[box, 2], type="u64", strides=[1 << 13])
        for swizzle in (1, 2, 3, 4, 5, 6):
            yield tiled(box=[box, 8], type="u8", swizzle=swizzle)
            yield rank_of(3, box=[box, 2, 2], type="u8", swizzle=swizzle)
        for interleave, swizzle in itertools.product((1, 2), range(4)):
            yield rank_of(3, box=[box, 2, 2], type="u8", interleave=interleave,
                          swizzle=swizzle)
    # How many bytes a box may have.
    for box in ([256, 128, 5], [256, 128, 6], [256, 128, 7], [256, 227, 4],
                [256, 228, 4], [256, 229, 4], [256, 232, 4], [256, 240, 4],
                [256, 248, 4], [256, 255, 4], [128, 256, 8], [112, 256, 8],
                [208, 256, 4], [224, 256, 4], [240, 256, 4]):
        yield rank_of(3, box=box, type="u8", dims=[512, 512, 512],
                      strides=[512, 262144])
        yield rank_of(3, box=[box[0] // 4] + box[1:], type="f32", dims=[512] * 3,
                      strides=[2048, 1048576])
        yield rank_of(3, box=[128] + box[1:], type="u8", dims=[512, 512, 512],
                      strides=[512, 262144], swizzle=3)
        yield rank_of(3, box=[16] + box[1:], type="u8", dims=[512, 512, 512],
                      strides=[512, 262144], swizzle=3)
        yield rank_of(3, box=box, type="u8", dims=[512, 512, 512],
                      strides=[512, 262144], steps=[1, 2, 1])
    for box in ([256, 256], [128, 256], [64, 256], [256, 64], [256, 128]):
        yield tiled(box=box, type="u8")
        yield tiled(box=box, type="f32", dims=[512, 512], strides=[2048])
        yield rank_of(3, box=box + [256], type="u8")
        yield rank_of(5, box=[256, 256, 256, 256, 256], type="u8")
    for step in (0, 1, 2, 3, 4, 7, 8, 9, 16):
        yield tiled(steps=[1, step])
        yield tiled(steps=[step, 1])
        yield tiled(steps=[step, step], type="u8")
        yield rank_of(3, steps=[1, 1, step])
        yield rank_of(3, steps=[step, 1, 1], interleave=1, box=[8, 2, 2])
        yield tiled(steps=[1, step], box=[64, 3])
        yield tiled(steps=[1, step], box=[64, 256])
    for rank in range(1, 6):
        for interleave, swizzle in itertools.product(range(3), range(4)):
            yield rank_of(rank, interleave=interleave, swizzle=swizzle,
                          box=[8, 2, 2, 1, 1][:rank])
            yield rank_of(rank, interleave=interleave, swizzle=swizzle, type="u8",
                          box=[32, 2, 2, 1, 1][:rank])


def image(**more):
    rank = more.get("rank", 4)
    base = {"type": "f16", "dims": [64, 16, 12, 8, 4][:rank - 1] + [4],
            "strides": [128, 2048, 32768, 262144][:rank - 1], "steps": [1] * rank,
            "lower": [-1] * max(rank - 2, 1), "upper": [-1] * max(rank - 2, 1),
            "channels": 32, "pixels": 64, "rank": rank}
    return {**base, **more}


def images():
    for rank in range(1, 7):
        yield image(rank=rank)
        for corner in (-32769, -32768, -129, -128, -100, -17, -16, -9, -8, 0, 1, 7, 8,
                       15, 16, 127, 128, 32767, 32768):
            axes = max(rank - 2, 1)
            yield image(rank=rank, lower=[corner] * axes)
            yield image(rank=rank, upper=[corner] * axes)
            yield image(rank=rank, lower=[corner] * axes, upper=[corner] * axes)
    for channels in (0, 1, 2, 7, 8, 16, 24, 64, 128, 255, 256, 257, 512, 1024):
        yield image(channels=channels)
        yield image(channels=channels, type="u8")
        yield image(channels=channels, type="u8", dims=[1024, 16, 12, 4],
                    strides=[1024, 16384, 262144])
        for swizzle in (1, 2, 3, 4):
            yield image(channels=channels, swizzle=swizzle)
            yield image(channels=channels, type="u8", swizzle=swizzle)
        for interleave in (1, 2):
            yield image(channels=channels, interleave=interleave, swizzle=interleave - 1)
    for pixels in (0, 1, 63, 64, 255, 256, 257, 512, 1023, 1024, 1025, 4096):
        yield image(pixels=pixels)
        yield image(pixels=pixels, channels=64)
        yield image(pixels=pixels, channels=8)
    for step in (0, 1, 2, 7, 8, 9):
        yield image(steps=[1, step, 1, 1])
        yield image(steps=[1, 1, step, 1])
        yield image(steps=[1, 1, 1, step])
        yield image(steps=[step, 1, 1, 1])
    for kind in list(TYPES):
        yield image(type=kind, dims=[128, 16, 12, 4], strides=[1024, 16384, 262144],
                    channels=16)
        yield image(type=kind, dims=[128, 16, 12, 4], strides=[1024, 16384, 262144],
                    channels=128)
    yield image(lower=None)
    yield image(upper=None)


def cases():
    seen, result = set(), []
    for case in itertools.chain(basics(), sizes(), images()):
        key = repr(sorted(case.items(), key=lambda item: item[0]))
        if key not in seen:
            seen.add(key)
            result.append(case)
    return result


def launches():
    """Many at once; those with an array missing alone, which may end a process."""
    every = cases()
    missing = [case for case in every if None in case.values()]
    rest = [case for case in every if None not in case.values()]
    groups = [[case] for case in missing]
    groups += [rest[i:i + 250] for i in range(0, len(rest), 250)]
    for number, group in enumerate(groups):
        name = f"encoders {number}"
        yield {"special": "encode", "module": "encode", "kernel": "encode",
               "name": name, "cases": group, "size": 132 * len(group),
               "forms": [[name, 0, 132, len(group), "encode"]]}
