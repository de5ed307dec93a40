# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compiled products."""

import io
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path

import ml_dtypes
import numpy as np

from . import _core
from ._emulate import COMPLETIONS, run
from ._errors import Refused, diagnostic
from ._formats import Format
from ._scaled import Scaled
from ._spec import Spec

STAGES = ("tensor", "kernel", "assigned", "nvvm", "llvm")
DATA = ("exact", "random", "both")
CONDITIONS = ("plain", "harsh", "both")
TYPES = {"f32": np.dtype(np.float32), "f16": np.dtype(np.float16),
         "bf16": np.dtype(ml_dtypes.bfloat16), "i32": np.dtype(np.int32)}


@dataclass(frozen=True)
class Argument:
    """What a kernel reads as A or B: `quantize(x, like=...)` makes it."""

    name: str
    format: Format
    layout: str


@dataclass(frozen=True)
class Verdict:
    """What `Kernel.verify` found.

    ok: whether every run agreed with the reference and found no hazard.
    runs: a list of dictionaries, one for each run.
    """

    ok: bool
    text: str
    runs: list

    def __bool__(self):
        return self.ok

    def __str__(self):
        return self.text


class Kernel:
    """The kernels of one module for one chip.

    target: the chip. ptx: text. cubin: bytes, empty unless asked for.
    plan, report: dictionaries, of docs/launch-plan.md and docs/ptx.md.
    launcher: C++ that launches them with cuda.h alone.
    warnings: diagnostics of the compiler.
    """

    def __init__(self, target, ptx, cubin, plan, report, report_text, launcher,
                 source="", warnings=()):
        self.target, self.ptx, self.cubin = target, ptx, cubin
        self._plan_text, self._report_text = plan, report
        self.plan, self.report = json.loads(plan), json.loads(report)
        self.report_text, self.launcher = report_text, launcher
        self.source, self.warnings = source, tuple(warnings)

    @property
    def names(self):
        return [kernel["name"] for kernel in self.plan["kernels"]]

    def _planned(self, name=None):
        kernels = self.plan["kernels"]
        if name is None:
            if len(kernels) != 1:
                raise Refused(f"there are {len(kernels)} kernels; name one: "
                              f"{', '.join(self.names)}")
            return kernels[0]
        for kernel in kernels:
            if kernel["name"] == name:
                return kernel
        raise Refused(f"no kernel '{name}'; there are {', '.join(self.names)}")

    def arg(self, operand, kernel=None):
        """Format and layout of operand "a" or "b"."""
        planned = self._planned(kernel)
        data = [one for one in planned["data"] if one["operand"] == operand]
        if not data:
            raise Refused(f"no operand '{operand}'; there are 'a' and 'b'")
        scales = [one for one in planned["scales"]
                  if one["operand"] == operand]
        tensor_scale = any(one["operand"] == operand
                           for one in planned["tensorScales"])
        if not scales:
            return Argument(operand, Format(data[0]["format"]), "plain")
        return Argument(operand, Format(data[0]["format"], scales[0]["format"],
                                        scales[0]["block"], tensor_scale),
                        scales[0]["layout"])

    def layout(self, operand, kernel=None):
        """Layout of the scales of "a" or "b"."""
        return self.arg(operand, kernel).layout

    def mlir(self, stage, **options):
        """The module at a stage: tensor, kernel, assigned, nvvm or llvm."""
        if stage not in STAGES:
            raise Refused(f"no stage '{stage}'; there are {', '.join(STAGES)}")
        options.setdefault("target", self.target)
        return _core.lower(self.source, "", STAGES.index(stage),
                           compile_options(**options))

    def save(self, path):
        """Writes PTX, cubin, plan, report and source into one zip file."""
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in self._files().items():
                archive.writestr(name, content)

    def _files(self):
        return {"target": self.target, "kernel.ptx": self.ptx,
                "kernel.cubin": self.cubin, "plan.json": self._plan_text,
                "report.json": self._report_text,
                "report.txt": self.report_text, "launcher.h": self.launcher,
                "source.mlir": self.source}

    def emulate(self, a, b, *, c=None, bias=None, alpha=1.0, beta=1.0,
                kernel=None, num_sms=None, **options):
        """Runs the kernel on the emulator; D as an array.

        a, b: `Scaled` tensors in the format and layout of the arguments; their
            sizes are the launch's.
        c: M x N values of f32 where there is a beta; bias: f32.
        options: strict (True: raise Hazard for missing order), completion,
            seed, threads, step_limit.
        """
        planned = self._planned(kernel)
        launch = _core.Launch(self.ptx, self._plan_text, planned["name"])
        sizes = self._sizes(planned, a, b)
        for name in (one["name"] for one in planned["sizes"]
                     if one["value"] is None):
            launch.set_size(name, sizes[name])
        if num_sms is not None:
            launch.set_size("num_sms", num_sms)
        self._set_operands(launch, planned, {"a": a, "b": b})
        factors = {"alpha": alpha, "beta": beta}
        for parameter in planned["parameters"]:
            if parameter["role"] in factors:
                launch.set_factor(parameter["role"],
                                  float(factors[parameter["role"]]))
        shapes = {"c": (sizes["batch"], sizes["M"], sizes["N"]), "bias": None}
        self._set_plain(launch, planned, {"c": c, "bias": bias}, shapes)
        result = next(one for one in planned["operands"]
                      if one["operand"] == "d")
        memory = np.zeros(launch.memory_size("d"), np.uint8)
        launch.set_memory("d", memory, True)
        run(launch, **options)
        d = memory.view(TYPES[result["type"]])
        d = d[:sizes["batch"] * sizes["M"] * sizes["N"]]
        lead = (sizes["batch"],) if a.data.ndim == 3 else ()
        return d.reshape(*lead, sizes["M"], sizes["N"])

    def _sizes(self, planned, a, b):
        for name, operand in (("a", a), ("b", b)):
            if not isinstance(operand, Scaled):
                raise Refused(f"'{name}' is a {type(operand).__name__}: "
                              "expected a blockscale.Scaled; "
                              "blockscale.quantize makes one")
            wanted = self.arg(name, planned["name"])
            if operand.format != wanted.format:
                raise Refused(f"'{name}' is in format '{operand.format}': the "
                              f"kernel reads '{wanted.format}'")
            if operand.scales is not None and operand.layout != wanted.layout:
                raise Refused(f"the scales of '{name}' are in layout "
                              f"'{operand.layout}': the kernel reads "
                              f"'{wanted.layout}'; convert them with "
                              f".to('{wanted.layout}')")
        if a.k != b.k or a.batch != b.batch or a.data.ndim != b.data.ndim:
            raise Refused(f"'a' is {'x'.join(map(str, a.shape))} and 'b' "
                          f"{'x'.join(map(str, b.shape))}: expected the same "
                          "K, the last size, and the same batch")
        sizes = {"M": a.rows, "N": b.rows, "K": a.k, "batch": a.batch}
        for one in planned["sizes"]:
            if one["value"] not in (None, sizes[one["name"]]):
                raise Refused(f"{one['name']} is {sizes[one['name']]}: the "
                              f"kernel is for {one['value']}")
        return sizes

    def _set_operands(self, launch, planned, operands):
        for data in planned["data"]:
            operand = operands[data["operand"]]
            if data["order"] != "k_major":
                raise Refused(f"'{data['operand']}' is stored along its rows: "
                              "such data are not packed here")
            if any(one["operand"] == data["operand"]
                   for one in planned["metadata"]):
                raise Refused(f"'{data['operand']}' is sparse: such data are "
                              "not packed here")
            role = data["operand"] + "_data"
            pitch = launch.memory_size(role) // (operand.batch * operand.rows)
            launch.set_memory(role, operand.packed(pitch), False)
            if operand.scales is not None:
                launch.set_memory(data["operand"] + "_scales", operand.scales,
                                  False)
            if operand.tensor_scale is not None:
                launch.set_memory(data["operand"] + "_tensor_scale",
                                  operand.tensor_scale.view(np.uint8), False)

    @staticmethod
    def _set_plain(launch, planned, given, shapes):
        for name, values in given.items():
            wanted = [one for one in planned["operands"]
                      if one["operand"] == name]
            if not wanted:
                if values is not None:
                    raise Refused(f"the kernel takes no '{name}'")
                continue
            if values is None:
                raise Refused(f"the kernel needs '{name}'")
            values = np.ascontiguousarray(values, TYPES[wanted[0]["type"]])
            if shapes[name] and values.size != np.prod(shapes[name]):
                raise Refused(f"'{name}' of shape {values.shape}: expected "
                              f"{shapes[name][1:]}")
            launch.set_memory(name, values.reshape(-1).view(np.uint8), False)

    def verify(self, M=(), N=(), K=(), batch=(), *, data="both",
               conditions="both", num_sms=0, clusters=0, seed=1, threads=0,
               completion="immediate"):
        """Runs all kernels with inputs of ours and compares them with a
        reference that shares no code with the compiler.

        M, N, K, batch: values of dynamic sizes to try, a number or several.
        data: "exact" (bit for bit), "random" (within a bound) or "both".
        """
        options = _core.VerifyOptions()
        for name, legal, value in (("data", DATA, data),
                                   ("conditions", CONDITIONS, conditions),
                                   ("completion", COMPLETIONS, completion)):
            if value not in legal:
                raise Refused(f"{name} = {value!r}: expected one of "
                              f"{', '.join(legal)}")
            setattr(options, name, legal.index(value))
        for name, value in (("m", M), ("n", N), ("k", K), ("batch", batch)):
            many = [value] if isinstance(value, (int, np.integer)) else value
            setattr(options, name, [int(one) for one in many])
        options.num_sms, options.sample_clusters = num_sms, clusters
        options.seed, options.threads = seed, threads
        passed, text, report = _core.verify(self.ptx, self._plan_text, options)
        return Verdict(passed, text, json.loads(report))

    def __repr__(self):
        return f"Kernel({', '.join(self.names)} for {self.target})"


def compile_options(target="", expected_rows=None, dense_fallback=False,
                    host_duties=False, cubin=False, ptxas=""):
    options = _core.CompileOptions()
    options.target, options.ptxas = target or "", str(ptxas)
    options.expected_rows = expected_rows
    options.dense_fallback = dense_fallback
    options.host_duties = host_duties
    options.with_cubin = cubin
    return options


def compile(spec, target="", **options):
    """Compiles a `Spec` or MLIR text: a Kernel, or a list of them where the
    module names several chips.

    target: the chip of what names none, "sm_100a" if it is empty.
    options: expected_rows (of a dynamic M or N, for the cost model),
        dense_fallback, host_duties, cubin (assemble with ptxas), ptxas (path).

    Raises CompileError, whose diagnostics say what is not legal and what is.
    """
    if isinstance(spec, (str, bytes)):
        from ._spec import parse
        spec = parse(spec)
    if not isinstance(spec, Spec):
        raise Refused(f"expected a Spec or MLIR text, found a "
                      f"{type(spec).__name__}")
    chips, warnings = _core.compile(spec.mlir, spec.name,
                                    compile_options(target, **options))
    warnings = [diagnostic(one) for one in warnings]
    kernels = [Kernel(*chip, spec.mlir, warnings) for chip in chips]
    if not kernels:
        raise Refused("there is no product to compile")
    return kernels[0] if len(kernels) == 1 else kernels


def load_kernel(path):
    """What `Kernel.save` wrote."""
    try:
        with zipfile.ZipFile(io.BytesIO(Path(path).read_bytes())) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        texts = [files[name].decode() for name in
                 ("target", "kernel.ptx", "plan.json", "report.json",
                  "report.txt", "launcher.h", "source.mlir")]
        target, ptx, plan, report, report_text, launcher, source = texts
        return Kernel(target, ptx, files["kernel.cubin"], plan, report,
                      report_text, launcher, source)
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise Refused(f"'{path}' is no saved kernel: {error}") from error
