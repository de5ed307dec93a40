# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Anybody's PTX on the emulator."""

import json

import numpy as np

from . import _core
from ._arrays import host_array
from ._checks import choice, flag, text, whole
from ._errors import Hazard, Refused
from ._progress import watching

COMPLETIONS = ("immediate", "random", "latest")


def run(launch, *, strict=True, completion="immediate", seed=1, threads=0,
        step_limit=None, advice=False, progress=None):
    """Runs a prepared launch; its report. Raises Hazard for what was found."""
    choice("completion", completion, COMPLETIONS)
    flags = flag("strict", strict), flag("advice", advice)
    limits = [whole("threads", threads, 0, 2**16), whole("seed", seed)]
    if step_limit is not None:
        step_limit = whole("step_limit", step_limit, 1)
    with watching(progress, "emulate") as watch:
        report = json.loads(launch.run(
            limits[0], COMPLETIONS.index(completion), limits[1], step_limit,
            *flags, watch))
    if not report["clean"]:
        raise Hazard(report["findings"])
    return report


def triple(what, value):
    value = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(value) <= 3:
        raise Refused(f"{what} = {value}: expected one to three extents")
    return (*(whole(what, one, 1, 2**31 - 1) for one in value), 1, 1)[:3]


def emulate(ptx, args, *, kernel=None, grid=1, block=1, cluster=None,
            shared_bytes=0, **options):
    """Runs a kernel of PTX text once.

    args: in the order of the kernel's parameters; an array is global memory
        (written in place where the array is writable), a scalar of numpy its
        bytes. Python's own numbers have no size and are refused.
    kernel: its name; needed where there are several.
    grid, block, cluster: one to three extents; the grid counts CTAs.
    options: strict, completion ("immediate", "random", "latest"), seed,
        threads, step_limit, advice, progress (as in `Kernel.emulate`).

    Returns the report: counters, advice, open points. Raises Hazard with the
    PTX line, CTA, warp and lane of each finding, Refused for bad input.
    """
    launch = _core.Launch(text("ptx", ptx), None,
                          text("kernel", kernel or only_kernel(ptx)))
    launch.set_grid(*triple("grid", grid))
    launch.set_block(*triple("block", block))
    if cluster is not None:
        launch.set_cluster(*triple("cluster", cluster))
    launch.set_shared_bytes(whole("shared_bytes", shared_bytes, 0, 2**31))
    for i, value in enumerate(args):
        if isinstance(value, np.ndarray):
            value = host_array(value)
            if value.dtype.hasobject:
                raise Refused(f"argument {i} is an array of Python's objects")
        if isinstance(value, np.ndarray) and value.ndim:
            if not value.flags.c_contiguous:
                raise Refused(f"argument {i} is not contiguous; copy it with "
                              "numpy.ascontiguousarray")
            launch.add_memory(value.reshape(-1).view(np.uint8),
                              value.flags.writeable)
        elif isinstance(value, (np.generic, np.ndarray)):
            launch.add_scalar(value.tobytes())
        else:
            raise Refused(f"argument {i} is a {type(value).__name__}: expected "
                          "a numpy array, or a numpy scalar such as "
                          "numpy.int32(7), which has a size")
    return run(launch, **options)


def only_kernel(ptx):
    import re
    names = re.findall(r"\.entry\s+([\w$%]+)", ptx)
    if len(names) != 1:
        raise Refused(f"the PTX has {len(names)} kernels; name one with "
                      f"'kernel'" + (f": {', '.join(names)}" if names else ""))
    return names[0]
