"""Section entries of ask.py: names that the driver is asked for, by version.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import re
from pathlib import Path

from common import *


def names():
    """Names and versions of Entries.def, or of a copy beside this file."""
    here = Path(__file__).resolve().parent
    for folder in (here, here.joinpath("..", "..", "..", "..", "lib", "CudaDriver")):
        if (folder / "Entries.def").exists():
            text = (folder / "Entries.def").read_text()
            return [(entry, int(version), symbol)
                    for entry, version, symbol in re.findall(r"^ENTRY\((\w+), (\d+), (\w+)\)", text, re.M)]
    raise FileNotFoundError("Entries.def")


def get(label, name, version, flags=0, with_status=True):
    pointer, status = Pointer(), Int(-1)
    code = cu.cuGetProcAddress_v2(name.encode(), ref(pointer), version, U64(flags), ref(status) if with_status else None)
    known = {C.cast(getattr(cu, symbol), Pointer).value: symbol for entry, _, symbol in names() if entry == name and hasattr(cu, symbol)}
    say(label, name, version, error(code), status.value, known.get(pointer.value, "another") if pointer.value else "null")


def error(code):
    text = C.c_char_p()
    return text.value.decode().replace("CUDA_ERROR_", "") if cu.cuGetErrorName(code, ref(text)) == 0 else str(code)


def entries():
    say("before cuInit")
    get("uninitialised", "cuMemAlloc", 13000)
    retained()
    for label, name, version in (("", "cuMemAlloc", 13000), ("old", "cuMemAlloc", 2000), ("", "cuMemAlloc", 3020), ("symbol", "cuMemAlloc_v2", 13000),
                                 ("unknown", "cuNothing", 13000), ("empty", "", 13000), ("old", "cuGreenCtxCreate", 12000), ("newer", "cuMemAlloc", 13010), ("newer", "cuMemAlloc", 14000),
                                 ("0", "cuMemAlloc", 0), ("negative", "cuMemAlloc", -1), ("1000", "cuMemAlloc", 1000)):
        get(label, name, version)
        get(label + " without status", name, version, with_status=False)
    for flags in (1, 2, 3, 4, 8):
        get(f"flags {flags}", "cuMemcpy", 13000, flags)
        get(f"flags {flags}", "cuMemAlloc", 13000, flags)
        get(f"flags {flags}", "cuStreamQuery", 7000, flags)
    pointer = Pointer()
    for name, version in (("cuMemAlloc", 12000), ("cuNothing", 12000), ("cuGreenCtxCreate", 12000)):
        ask(f"{name} {version}", "cuGetProcAddress", name.encode(), ref(pointer), version, U64(0), show=lambda: bool(pointer.value))
    for entry, version, _ in names():
        for wanted in (version - 1, version, 13000):
            get("each", entry, wanted)
