# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Models that one machine is too small for: files and shards over dask.

    from dask.distributed import Client
    import blockscale as bs

    client = Client("tcp://scheduler:8786")   # or Client(n_workers=2)
    bs.dask.pack("model", "packed/model.safetensors", to="nvfp4",
                 shard_size="5GB")

Without a client dask's own threads do the work. All paths have to name the
same files for all workers. `pip install 'blockscale[dask]'` installs dask; only
the functions here need it.
"""

import importlib
import json
import os
import sys
from dataclasses import dataclass
from functools import partial

import numpy as np

from . import _quantize, _scaled
from ._arrays import numbers
from ._checkpoint import CheckReport, findings_of, pack_options, read
from ._errors import Error, Refused
from ._formats import format_named

__all__ = ["Quantized", "check", "pack", "quantize"]

# Bytes of scales that one task checks.
CHECK_BYTES = 1 << 28


def need_dask(module="dask"):
    """A module of dask, or why there is none."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"blockscale.dask needs '{error.name}', which is not installed; "
            "pip install 'blockscale[dask]' installs it") from error


def need_workers(client):
    """Raises ImportError if a worker lacks this package. Tasks that a worker
    cannot read would be waited for without end."""
    if client is None and "distributed" in sys.modules:
        try:
            client = sys.modules["distributed"].default_client()
        except ValueError:
            return
    if hasattr(client, "run"):
        client.run(exec, "import blockscale")


def compute(calls, client):
    """Runs calls without arguments as tasks; their results in order."""
    dask = need_dask()
    need_workers(client)
    tasks = [dask.delayed(call, pure=False)() for call in calls]
    options = {} if client is None else {"scheduler": client}
    return dask.compute(*tasks, **options)


def paths_of(source):
    """A list of paths, and whether it was given as one."""
    if isinstance(source, (str, os.PathLike)):
        return [os.fspath(source)], False
    return [os.fspath(one) for one in source], True


#===------------------------------------------------------------------------===#
# Checking
#===------------------------------------------------------------------------===#


def check_range(path, read_scales, first, count):
    """A task: what is found in some parameters of a model."""
    report = read(path).check(read_scales, first, count)
    return list(report.parameters.values()), report.text


def ranges_of(model):
    """Neighbouring parameters with some bytes of scales together."""
    ranges, first, size = [], 0, 0
    for number, parameter in enumerate(model.values()):
        stored = parameter.stored_scales
        size += stored.bytes if stored else 0
        if size >= CHECK_BYTES or number + 1 == len(model):
            ranges.append((first, number + 1 - first))
            first, size = number + 1, 0
    return ranges


def counted(count, what):
    return f"{count} {what}" + ("" if count == 1 else "s")


def merge(model, parts):
    """One report from those of ranges. What parameters contradict together is
    found by their headers and single numbers alone."""
    whole = model.check(read_scales=False)
    parameters, text = [], ""
    for found, words in parts:
        # All but the counts, which are those of a part.
        text += "".join(words.splitlines(keepends=True)[:-1])
        for one in found:
            others = [finding for finding in
                      whole.parameters[one["name"]]["findings"]
                      if finding["rule"] == "unequal-global-scales" and
                      finding not in one["findings"]]
            text += "".join(f"{finding}\n" for finding in
                            findings_of(others, one["name"]))
            one["findings"] = one["findings"] + others
            parameters.append(one)
    general = [one for one in whole.findings if not one.parameter]
    text += "".join(f"{one}\n" for one in general)
    report = CheckReport(parameters, [vars(one) for one in general], "")
    quantized = sum(one.is_quantized for one in model.values())
    report.text = text + (
        f"{counted(quantized, 'parameter')} quantised, "
        f"{len(model) - quantized} not; {counted(len(report.errors), 'error')}"
        f", {counted(len(report.warnings), 'warning')}\n")
    return report


def check(source, *, client=None, read_scales=True):
    """What `blockscale.check` says of a model, or of each of several files:
    then a dictionary by path. Scales are read by the workers."""
    need_dask()
    paths, is_list = paths_of(source)
    models = [read(path) for path in paths]
    ranges = [ranges_of(model) for model in models]
    calls = [partial(check_range, path, read_scales, *one)
             for path, some in zip(paths, ranges) for one in some]
    results = iter(compute(calls, client))
    reports = {path: merge(model, [next(results) for _ in some])
               for path, model, some in zip(paths, models, ranges)}
    return reports if is_list else reports[paths[0]]


#===------------------------------------------------------------------------===#
# Packing
#===------------------------------------------------------------------------===#


def pack_one(source, target, options):
    """A task: writes a file or a shard. What is wrong is returned, so that all
    tasks come to their end."""
    try:
        written = json.loads(read(source).core.pack(
            target, pack_options(**options), None))
        return written, None
    except (Error, OSError, MemoryError) as error:
        return None, error


def settle(results, paths):
    """What was written, in order. If a task failed, what others wrote is
    removed again."""
    errors = [error for _, error in results if error is not None]
    if not errors:
        return [written for written, _ in results]
    for (written, _), path in zip(results, paths):
        if written is not None and os.path.exists(path):
            os.unlink(path)
    raise errors[0]


def pack_files(sources, folder, client, options):
    folder = os.fspath(folder)
    targets = [os.path.join(folder, os.path.splitext(
        os.path.basename(os.path.normpath(one)))[0] + ".safetensors")
        for one in sources]
    for number, target in enumerate(targets):
        if target in targets[:number]:
            raise Refused(f"two files would be written as '{target}'")
        if os.path.exists(target) and any(
                os.path.samefile(target, one) for one in sources):
            raise Refused(f"'{target}' is read and written")
    os.makedirs(folder, exist_ok=True)
    results = compute([partial(pack_one, source, target, options)
                       for source, target in zip(sources, targets)], client)
    return dict(zip(targets, settle(results, targets)))


def pack(source, target, *, client=None, shard_size="5GB", threads=1,
         **options):
    """`blockscale.pack` with a task for each shard of a model; its index is
    written when all are there. Or, for a list of files, a task for each: then
    `target` is a folder, and the files keep their names.

    threads: of each task.

    Returns a dictionary by path of what was written, as `blockscale.pack` does.
    """
    need_dask()
    sources, is_list = paths_of(source)
    options = {**options, "threads": threads}
    if is_list:
        return pack_files(sources, target, client, options)
    target = os.fspath(target)
    options["shard_size"] = shard_size
    model = read(source).core
    shards = [one["path"] for one in json.loads(
        model.plan_shards(target, pack_options(**options)))]
    results = compute(
        [partial(pack_one, sources[0], target, {**options, "shard": number})
         for number in range(len(shards))], client)
    written = settle(results, shards)
    model.finish_shards(target, pack_options(**options))
    return dict(zip(shards, written))


#===------------------------------------------------------------------------===#
# Quantising
#===------------------------------------------------------------------------===#


@dataclass(frozen=True)
class Quantized:
    """Arrays of dask that are what `Scaled` has as arrays of numpy."""

    data: object
    scales: object
    tensor_scale: object
    format: object

    def compute(self, client=None):
        """As `Scaled`."""
        need_workers(client)
        options = {} if client is None else {"scheduler": client}
        arrays = need_dask().compute(
            self.data, self.scales, self.tensor_scale, **options)
        return _scaled.Scaled(*arrays, format=self.format)


def largest(values):
    """A task: the largest magnitude of a part."""
    return np.abs(numbers(values)).max(initial=np.float32(0))


def factor_of(parts, format_):
    """A task: the factors of the whole from the largest magnitudes of parts."""
    return _quantize.tensor_factors(np.array([[max(parts)]], np.float32),
                                    format_)


def quantize_part(values, factors, format_, rule):
    """A task: some rows."""
    part = _quantize.scaled(_quantize.checked(values), format_, factors, rule)
    return part.data, part.scales


def quantize(values, format, *, rule=None):
    """`blockscale.quantize` of an array of dask with two dimensions, rows x K,
    a task for each part of the rows. Returns `Quantized`; nothing is computed
    before that of its arrays is asked for."""
    dask, array = need_dask(), need_dask("dask.array")
    format_ = format_named(format)
    if values.ndim != 2 or format_.block == 0:
        raise Refused(f"an array of shape {values.shape} to '{format_}': "
                      "expected rows x K, and a format with block scales")
    _quantize.check_rule(format_, rule)
    values = values.rechunk({1: -1})
    parts = list(values.to_delayed().reshape(-1))
    factors = None
    if format_.tensor_scale:
        factors = dask.delayed(factor_of, nout=2)(
            [dask.delayed(largest)(part) for part in parts], format_)
    k = values.shape[1]
    blocks = -(-k // format_.block)
    data, scales = [], []
    for part, rows in zip(parts, values.chunks[0]):
        both = dask.delayed(quantize_part, nout=2)(part, factors, format_, rule)
        data.append(array.from_delayed(both[0], (rows, k), format_.dtype))
        scales.append(array.from_delayed(both[1], (rows, blocks),
                                         format_.scale_dtype))
    whole = None if factors is None else array.from_delayed(
        factors[1], (1,), np.float32)
    return Quantized(array.concatenate(data), array.concatenate(scales), whole,
                     format_)
