"""Names of the driver's functions that programs use and the emulator lacks.

usage: check_names.py Entries.def Missing.def names.txt
"""
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import importlib.util
import pathlib
import re
import sys
import zlib

entries = set(re.findall(r"^ENTRY\((\w+),", pathlib.Path(sys.argv[1]).read_text(), re.M))
refused = set(re.findall(r"^MISSING\((\w+),", pathlib.Path(sys.argv[2]).read_text(), re.M))
assert len(entries) > 200 and len(refused) > 100


def report(where, names, known):
    missing = sorted(set(names) - known)
    print(f"missing in {where}: {' '.join(missing) or 'none'}")


def folder(package):
    spec = importlib.util.find_spec(package)
    return pathlib.Path(spec.origin).parent if spec and spec.origin else None


def strings(file):
    """The text in a library, what Cython has compressed included."""
    data = file.read_bytes()
    parts = [data]
    for found in re.finditer(rb"\x78[\x01\x5e\x9c\xda]", data):
        try:
            parts.append(zlib.decompressobj().decompress(data[found.start():]))
        except zlib.error:
            pass
    return b"\0".join(parts)


report("names.txt", pathlib.Path(sys.argv[3]).read_text().split(), entries)
triton = folder("triton")
if triton:
    # Calls, and names that are looked up.
    text = (triton / "backends/nvidia/driver.c").read_text()
    calls = re.findall(r"\b(cu[A-Z]\w+)\(", text)
    calls += re.findall(r'"(cu[A-Z]\w+)"', text)
    # Its own names of types and variables.
    report("Triton's driver.c", [name for name in calls if not name.endswith(("_t", "Handle"))],
           entries)
else:
    print("missing in Triton's driver.c: (not installed)")

# All of the driver that cuda.bindings asks for; interfaces of graphics aside.
graphics = re.compile("cu(GL|EGL|VDPAU|Graphics)|FromEGLSync")
bindings = folder("cuda.bindings")
asked = set()
if bindings:
    (library,) = bindings.glob("_internal/driver.*.so")
    asked = {name.decode() for name in re.findall(rb"\0(cu[A-Z][A-Za-z0-9]+)(?=\0)",
                                                  library.read_bytes())}
    assert len(asked) > 400
    report("cuda.bindings",
           [name for name in asked if not graphics.search(name)], entries | refused)
else:
    print("missing in cuda.bindings: (not installed)")

# Those of them that cuda.core names.
core = folder("cuda.core")
if core and asked:
    text = b"\0".join(strings(file) for file in
                      [*core.glob("cu13/**/*.so"), *core.glob("_resource_handles*.so")])
    used = {name.decode() for name in re.findall(rb"cu[A-Z][A-Za-z0-9]+", text)} & asked
    assert len(used) > 100
    report("cuda.core", [name for name in used if not graphics.search(name)], entries)
else:
    print("missing in cuda.core: (not installed)")
