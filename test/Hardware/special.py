"""What modules of whole kernels need of the build."""

import numpy as np

from values import PLAIN, Pool, random_of

BYTES = 1 << 18


def settle(text, path, check, refused):
    """Writes the module without the kernels in which 'check' finds something."""
    pieces = text.split(".visible .entry ")
    head, kernels = pieces[0], pieces[1:]
    while True:
        lines, owners = head.count("\n") + 1, []
        for kernel in kernels:
            owners.append((lines, kernel.split("(")[0]))
            lines += kernel.count("\n")
        with open(path, "w") as file:
            file.write(".visible .entry ".join([head, *kernels]))
        bad = check(path)
        if not bad:
            return
        names = {}
        for line, reason in bad.items():
            name = [name for first, name in owners if first <= line][-1]
            names[name] = reason
        refused.update(names)
        kernels = [k for k in kernels if k.split("(")[0] not in names]


def numbers(kind, count, rng):
    """'count' bytes of random values of a kind."""
    if kind in ("f16", "bf16", "f32", "f64"):
        size = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}[kind]
        return Pool(kind).randoms(count // size, rng).astype(f"<u{size}").tobytes()
    if kind in PLAIN:
        return PLAIN[kind](count // 4, rng).astype("<u4").tobytes()
    return rng.words(count // 8).tobytes()


def make(key):
    """The bytes of an input that a special launch names."""
    rng = random_of(key)
    parts = key.split(".")
    if parts[0] == "wgmma":
        kind = ".".join(parts[1:-1])
        kind = kind if kind in PLAIN else "any32"
        image = numbers(kind, 65536, rng)
        # Of each thread 32 bytes, whose first word is its metadata.
        words = np.zeros((128, 8), np.uint32)
        words[:, 0] = PLAIN[parts[-1]](128, rng)
        return image + words.tobytes()
    if parts[0] == "sums":
        kind = ".".join(parts[1:])
        return numbers(kind if kind in PLAIN else "any32", 65536, rng)
    kind = ".".join(parts[1:]).replace("ftz", "")
    return numbers({"tf32": "f32"}.get(kind, kind), BYTES, rng)


def add_inputs(plan, inputs):
    for launch in plan:
        for argument in launch.get("arguments", []):
            key = None
            if argument[0] == "in":
                key = argument[1]
            elif argument[0] == "out" and len(argument) > 2:
                key = argument[2]
            if key and key not in inputs:
                inputs[key] = make(key)
