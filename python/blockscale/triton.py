# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels that a program launches through Triton, on the emulator, with the
program's own arguments. Triton must be installed; it is imported by `watch`."""

import ctypes
import math
import re
import sys
import time
from dataclasses import dataclass, field

import ml_dtypes
import numpy as np

from ._checks import flag, whole
from ._emulate import emulate
from ._errors import Hazard, Refused

__all__ = ["Launch", "Watch", "watch"]

# Types of a kernel's signature. Pointers are addresses of such.
SCALARS = {"i1": np.int8, "i8": np.int8, "i16": np.int16, "i32": np.int32,
           "i64": np.int64, "u1": np.uint8, "u8": np.uint8, "u16": np.uint16,
           "u32": np.uint32, "u64": np.uint64, "fp16": np.float16,
           "bf16": ml_dtypes.bfloat16, "fp32": np.float32, "f32": np.float32,
           "fp64": np.float64}
WARP = 32
CAPTURED = "blockscale.triton"


@dataclass
class Launch:
    """A launch that was watched.

    kernel, target: names. grid: programs; block: threads.
    why: why the emulator did not run it; empty if it did.
    findings: what the emulator found, as `Hazard.findings`.
    differences: elements of each array, by the argument's name, in which the
        device's result differs from the emulator's; NaNs are equal.
    counters: of the run. seconds: what it took.
    """

    kernel: str
    target: str = ""
    grid: tuple = ()
    block: int = 0
    why: str = ""
    findings: list = field(default_factory=list)
    differences: dict = field(default_factory=dict)
    counters: dict = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def ok(self):
        """Whether it ran without a finding and gave what the device gave."""
        return not (self.why or self.findings or any(self.differences.values()))

    def __str__(self):
        if self.why:
            return f"{self.kernel}: not run: {self.why}"
        words = [one["text"] for one in self.findings]
        words += [f"'{name}' differs from the device's in {count} elements"
                  for name, count in self.differences.items() if count]
        grid = "x".join(map(str, self.grid))
        return f"{self.kernel}, {self.target}, grid {grid}: " + (
            "; ".join(words) or "fine")


def watch(*, strict=True, compare=True, most_bytes=2**30, threads=0,
          on_launch=None):
    """Runs every kernel that Triton compiles and launches from now on on the
    emulator as well, with copies of the arguments: a `Watch`, which is a context
    manager.

    strict: look for missing order, fences and waits.
    compare: compare what the kernel wrote with what the device wrote.
    most_bytes: of all arrays of one launch; larger launches are named and not run.
    on_launch: called with each `Launch`; by default those that are not ok are
        printed to standard error.

    Raises Refused where Triton is not installed.
    """
    try:
        from triton import knobs
    except ImportError as error:
        raise Refused(f"triton is not installed: {error}") from error
    return Watch(knobs.runtime, flag("strict", strict), flag("compare", compare),
                 whole("most_bytes", most_bytes), whole("threads", threads),
                 on_launch or tell)


def tell(launch):
    if not launch.ok:
        print(f"blockscale: {launch}", file=sys.stderr)


class Watch:
    """What `watch` returns. launches: each `Launch` so far."""

    def __init__(self, runtime, strict, compare, most_bytes, threads, on_launch):
        self.launches = []
        self._runtime, self._on_launch = runtime, on_launch
        self._strict, self._compare = strict, compare
        self._most_bytes, self._threads = most_bytes, threads
        self._kernels, self._functions, self._running = {}, {}, []
        self._compiled_before = runtime.jit_post_compile_hook
        runtime.jit_post_compile_hook = self._compiled
        runtime.launch_enter_hook.add(self._enter)
        runtime.launch_exit_hook.add(self._exit)
        self._is_on = True

    def stop(self):
        """Triton's hooks as they were."""
        if not self._is_on:
            return
        self._is_on = False
        self._runtime.jit_post_compile_hook = self._compiled_before
        self._runtime.launch_enter_hook.remove(self._enter)
        self._runtime.launch_exit_hook.remove(self._exit)
        for function, metadata in self._functions.items():
            function.launch_metadata = metadata

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    @property
    def ok(self):
        return all(launch.ok for launch in self.launches)

    def __str__(self):
        return "\n".join(map(str, self.launches))

    # Triton's hooks -----------------------------------------------------------

    def _compiled(self, *, fn, compile, key, **others):
        """A kernel was compiled: its PTX is kept, and its launches tell their
        arguments."""
        function = fn.jit_function
        kernel = function.device_caches[compile["device"]][0].get(key)
        if kernel is not None and hasattr(kernel, "asm"):
            self._kernels[kernel.hash] = (kernel, dict(compile["signature"]))
        if function not in self._functions:
            before = self._functions[function] = function.launch_metadata
            function.launch_metadata = lambda grid, metadata, arguments: {
                **(before(grid, metadata, arguments) if before else {}),
                CAPTURED: (grid, metadata, arguments)}
        if self._compiled_before is not None:
            return self._compiled_before(fn=fn, compile=compile, key=key, **others)
        return None

    def _enter(self, metadata):
        facts = metadata.get()
        launch = Launch(str(facts.get("name", "?")))
        self.launches.append(launch)
        arrays = None
        try:
            if CAPTURED not in facts:
                raise Refused("it was compiled before watch() was called")
            arrays = self._run(launch, *facts[CAPTURED])
        except Refused as error:
            launch.why = str(error)
        self._running.append((launch, arrays))
        if arrays is None or not self._compare:
            self._on_launch(launch)

    def _exit(self, metadata):
        launch, arrays = self._running.pop()
        if arrays is None or not self._compare:
            return
        synchronize()
        for name, (memory, _, dtype) in arrays.items():
            launch.differences[name] = differing(memory.emulated, memory.read(),
                                                 dtype)
        self._on_launch(launch)

    def _run(self, launch, grid, metadata, arguments):
        """Emulates one launch; its arrays by the names of their arguments."""
        if metadata.hash not in self._kernels:
            raise Refused("it was compiled before watch() was called")
        kernel, signature = self._kernels[metadata.hash]
        ptx = kernel.asm.get("ptx")
        if not ptx:
            raise Refused("Triton has no PTX of it")
        ctas = getattr(metadata, "num_ctas", 1) or 1
        grid = (*(int(one) for one in grid), 1, 1)[:3]
        launch.grid, launch.block = grid, threads_of(ptx, metadata)
        launch.target = re.search(r"\.target\s+(\w+)", ptx)[1]
        if math.prod(grid) == 0:
            raise Refused("its grid is empty")
        synchronize()
        arrays, values = self._arguments(signature, arguments)
        for size, count in ((metadata, "global_scratch_size"),
                            (metadata, "profile_scratch_size")):
            per_program = getattr(size, count, 0) or 0
            values.append(np.zeros(max(1, per_program * math.prod(grid) * ctas),
                                   np.uint8))
        expected = parameters_of(ptx, metadata.name)
        if len(values) < expected:
            raise Refused(f"it has {expected} parameters, of which {len(values)} "
                          "are known")
        start = time.monotonic()
        try:
            report = emulate(
                ptx, values[:expected], kernel=metadata.name,
                grid=(grid[0] * ctas, grid[1], grid[2]), block=launch.block,
                cluster=(ctas, 1, 1) if ctas > 1 else None,
                shared_bytes=metadata.shared, strict=self._strict,
                threads=self._threads, progress=False)
            launch.counters = report["counters"]
        except Hazard as hazard:
            launch.findings = hazard.findings
        launch.seconds = time.monotonic() - start
        return arrays

    def _arguments(self, signature, arguments):
        arrays, values, total = {}, [], 0
        known = {}
        for name, kind in signature.items():
            value = arguments.get(name)
            if kind == "constexpr":
                continue
            if not isinstance(kind, str) or kind.lstrip("*k") not in SCALARS and \
                    not kind.startswith("*"):
                raise Refused(f"its argument '{name}' is of type '{kind}', which "
                              "is not taken: pointers and numbers are")
            if not kind.startswith("*"):
                values.append(np.asarray(value).astype(SCALARS[kind])[()])
                continue
            address = value.data_ptr() if hasattr(value, "data_ptr") else int(value)
            memory = memory_of(value, address, known)
            total += memory.size if memory.emulated is None else 0
            if total > self._most_bytes:
                raise Refused(f"its arrays have more than {self._most_bytes} bytes "
                              "(most_bytes)")
            memory.copy()
            dtype = np.dtype(SCALARS.get(kind.lstrip("*k"), np.uint8))
            arrays[name] = (memory, address - memory.address, dtype)
            values.append(memory.emulated[address - memory.address:])
        return arrays, values


def threads_of(ptx, metadata):
    """Of a CTA; workers of warp-specialised kernels count, too."""
    said = re.search(r"\.reqntid\s+(\d+)", ptx)
    return int(said[1]) if said else metadata.num_warps * WARP


def parameters_of(ptx, name):
    """How many parameters the entry has."""
    entry = re.search(rf"\.entry\s+{re.escape(name)}\s*\((.*?)\)", ptx, re.S)
    if entry is None:
        raise Refused(f"its PTX has no entry '{name}'")
    return entry[1].count(".param")


# Memory of the device -------------------------------------------------------


def driver():
    """The driver that the process has loaded."""
    return ctypes.CDLL("libcuda.so.1")


def check(result, what):
    if result:
        raise Refused(f"the driver cannot {what}: error {result}")


def synchronize():
    check(driver().cuCtxSynchronize(), "wait for the device")


class Memory:
    """An allocation of the device, and what the emulator makes of a copy."""

    def __init__(self, address, size):
        self.address, self.size, self.emulated = address, size, None

    def copy(self):
        if self.emulated is None:
            self.emulated = self.read()

    def read(self):
        host = np.empty(self.size, np.uint8)
        check(driver().cuMemcpyDtoH_v2(
            host.ctypes.data_as(ctypes.c_void_p), ctypes.c_uint64(self.address),
            ctypes.c_size_t(self.size)), "copy an array")
        return host


def memory_of(value, address, known):
    """What `value` lies in: a tensor's storage, or the driver's allocation. Arrays
    of one allocation share it."""
    if hasattr(value, "untyped_storage"):
        storage = value.untyped_storage()
        base, size = storage.data_ptr(), storage.nbytes()
    else:
        found, extent = ctypes.c_uint64(), ctypes.c_size_t()
        check(driver().cuMemGetAddressRange_v2(
            ctypes.byref(found), ctypes.byref(extent), ctypes.c_uint64(address)),
            f"say what memory {address:#x} is of")
        base, size = found.value, extent.value
    if base not in known:
        known[base] = Memory(base, size)
    return known[base]


def differing(found, expected, dtype):
    """In how many elements two memories differ."""
    whole_elements = len(found) // dtype.itemsize * dtype.itemsize
    x, y = (one[:whole_elements].view(dtype) for one in (found, expected))
    different = x != y
    if dtype.kind in "fV":
        with np.errstate(invalid="ignore"):
            different &= ~(np.isnan(x.astype(np.float64))
                           & np.isnan(y.astype(np.float64)))
    return int(different.sum())
