# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compiled products."""

import json
import zipfile
from dataclasses import dataclass, field

import numpy as np

from . import _core
from . import _operands as operands
from . import _quantized_result as quantized_result
from ._checks import choice, text, whole
from ._compiler_calls import bytes_of, compile_options, compiler
from ._conversions import Conversions
from ._emulate import COMPLETIONS, run
from ._errors import Refused
from ._formats import Format
from ._operands import TYPES
from ._progress import watching
from ._scaled import BY_GROUP, Scaled, host_layout

STAGES = ("tensor", "kernel", "assigned", "nvvm", "llvm")
DATA = ("exact", "random", "both")
CONDITIONS = ("plain", "harsh", "both")
CONVERSIONS = {"dequantize": "dequantises", "relayout": "converts",
               "prune": "converts", "compress": "converts", "densify": "converts",
               "tile_sums": "adds up tiles"}
# Sizes for which what was prepared is kept.
KEPT_LAUNCHES = 16


@dataclass(frozen=True)
class Argument:
    """What a kernel reads as A or B: `quantize(x, like=...)` makes it.

    layout: of the scales; "grouped_128x4" starts anew with each group of rows, and a
        `Scaled` has layout "plain" then. order: "k_major", or "mn_major" where rows run along
        M or N; `Scaled` has the same shape in both. scale_block: elements along K for
        each of which the kernel's memory has a scale, those of longer blocks again; 0
        where it has none by block.
    """

    name: str
    format: Format
    layout: str
    order: str = "k_major"
    scale_block: int = field(default=0, compare=False)


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


def _work_of(planned):
    """What the kernel of a plan does."""
    if "conversion" in planned:
        return CONVERSIONS[planned["conversion"]["op"]]
    if "quantization" not in planned:
        return "multiplies"
    return "fuses" if "type" in planned["quantization"] else "quantises"


def _whose_work(planned):
    """What a kernel that is not the wanted one does, and what runs it."""
    return f"kernel '{planned['name']}' " + {
        "multiplies": "multiplies: 'launch' runs it, and 'emulate'",
        "quantises": "quantises: 'quantize' runs it, and 'emulate_quantize'",
        "dequantises": "dequantises: 'dequantize' runs it, and 'emulate_dequantize'",
        "adds up tiles": "adds up tiles: 'tile_sums' runs it, and 'emulate_tile_sums'",
        "converts": "converts: 'convert' runs it, and 'emulate_convert'",
        "fuses": "quantises its product: 'launch' runs it, and 'emulate'",
    }[_work_of(planned)]


class Kernel(Conversions):
    """The kernels of one module for one chip.

    target: the chip. ptx: text. cubin: bytes, empty unless asked for.
    plan, report: dictionaries, of docs/launch-plan.md and docs/ptx.md.
    launcher: C++ that launches them with cuda.h alone.
    warnings: diagnostics of the compiler.
    """

    def __init__(self, target, ptx, cubin, plan, report, report_text, launcher,
                 source="", warnings=()):
        self.target, self.ptx, self.cubin = target, ptx, cubin
        self.plan_text, self._report_text = plan, report
        self.plan, self.report = json.loads(plan), json.loads(report)
        self.report_text, self.launcher = report_text, launcher
        self.source, self.warnings = source, tuple(warnings)
        self._code, self._launches = {}, {}

    @property
    def names(self):
        return [kernel["name"] for kernel in self.plan["kernels"]]

    def _planned(self, name=None, does=("multiplies", "fuses")):
        """The plan of a kernel that does one of these: multiplies, quantises,
        fuses both, dequantises, or converts."""
        kernels = self.plan["kernels"]
        if name is not None:
            found = [one for one in kernels if one["name"] == text("kernel", name)]
            if not found:
                raise Refused(
                    f"no kernel '{name}'; there are {', '.join(self.names)}")
            if _work_of(found[0]) in does:
                return found[0]
            raise Refused(_whose_work(found[0]))
        whole = [one for one in kernels if "variantOf" not in one]
        fitting = [one for one in whole if _work_of(one) in does]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            raise Refused(f"there are {len(fitting)} kernels; name one: "
                          f"{', '.join(one['name'] for one in fitting)}")
        raise Refused(f"there is no kernel that {does[0]}" +
                      (f"; {_whose_work(whole[0])}" if len(whole) == 1 else ""))

    def _for_rows(self, planned, rows):
        """What a launch with so many rows takes: a kernel or a variant of it."""
        variants = [one for one in self.plan["kernels"]
                    if one.get("variantOf") == planned["name"]
                    and rows <= operands.most_rows(one)]
        return min(variants, key=operands.most_rows, default=planned)

    def arg(self, operand, kernel=None):
        """Format and layout of operand "a" or "b"; of a kernel that quantises of
        its result, "d", and of that for the transpose, "transposed"."""
        planned = self._planned(kernel, ("quantises", "fuses")
                                if operand in ("d", "transposed")
                                else ("multiplies", "fuses", "dequantises",
                                      "adds up tiles"))
        data = operands.of(planned["data"], operand)
        if data is None:
            raise Refused(
                f"no operand '{operand}'; there are "
                f"{' and '.join(repr(one['operand']) for one in planned['data'])}")
        scales = operands.of(planned["scales"], operand)
        metadata = operands.of(planned["metadata"], operand)
        pattern = metadata["pattern"] if metadata else None
        two_levels = operands.of(planned["tensorScales"], operand) is not None
        element = data.get("source", data)["format"]
        vector = operands.of(planned.get("vectorScales", ()), operand)
        if vector is not None:
            return Argument(operand, Format(
                element, vector["format"], vector.get("block", 0), two_levels, pattern,
                rows=vector["rows"], zero=operands.zero_of(planned, data)),
                operands.layout_of_factors(planned, vector), data["order"])
        if scales is None:
            return Argument(operand, Format(element, sparsity=pattern),
                            "plain", data["order"])
        block = scales.get("elements", scales["block"])
        return Argument(operand, Format(element, scales["format"], block,
                                        two_levels, pattern,
                                        scales.get("rows", 1)),
                        scales["layout"], data["order"], scales["block"])

    def layout(self, operand, kernel=None):
        """Layout of the scales of "a" or "b"."""
        return self.arg(operand, kernel).layout

    def mlir(self, stage, **options):
        """The module at a stage: tensor, kernel, assigned, nvvm or llvm."""
        if stage not in STAGES:
            raise Refused(f"no stage '{stage}'; there are {', '.join(STAGES)}")
        options.setdefault("target", self.target)
        return compiler().lower(bytes_of(self.source), "", STAGES.index(stage),
                                compile_options(**options))

    def __getstate__(self):
        # What was loaded into this process's driver is no part of it.
        return {**self.__dict__, "_code": {}, "_launches": {}}

    def save(self, path):
        """Writes PTX, cubin, plan, report and source into one zip file."""
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in self._files().items():
                archive.writestr(name, content)

    def _files(self):
        return {"target": self.target, "kernel.ptx": self.ptx,
                "kernel.cubin": self.cubin, "plan.json": self.plan_text,
                "report.json": self._report_text,
                "report.txt": self.report_text, "launcher.h": self.launcher,
                "source.mlir": self.source}

    def emulate(self, a, b, *, ends=None, rows=None, c=None, bias=None, alpha=None,
                beta=None, tensor_scale=None, kernel=None, num_sms=None,
                progress=None, **options):
        """Runs the kernel on the emulator; D as an array, M x N or batch x M x
        N, in its own type, or as a `Scaled` if the kernel quantises it.

        a, b: `Scaled` tensors in the format and layout of the arguments; their
            sizes are the launch's.
        ends: of a product of groups, the row of `a` behind each group: whole numbers,
            one for each matrix of `b`. Rows of D behind the last one are 0. Of a
            product of groups along K the element of K behind each. Of a product that
            has a matrix of `a` for each group how many of its rows are there.
        rows: of groups whose rows are gathered, the row of `a` that each row of D is
            of; other numbers mean zeros. `ends` count these rows.
        c: M x N values of f32 where there is a beta; bias: f32 per m or n, per
            group and n of groups.
        alpha, beta: factors, 1 unless given, where the kernel has them.
        tensor_scale: one number for each matrix, where the kernel quantises its
            product with one.
        num_sms: SMs of the device, by default those of the chip's usual card.
        progress: called with how many clusters have run and how many there are;
            True for a bar, None for one on terminals.
        options: strict (True: raise Hazard for missing order), completion,
            seed, threads, step_limit.

        Raises Hazard for what the emulator finds, Refused for operands that do
        not fit. An interrupt ends the run.
        """
        planned = self._planned(kernel)
        for name, operand in (("a", a), ("b", b)):
            self._check_operand(planned, name, operand)
        operands.check_ends(planned, ends, rows)
        sizes = operands.check_sizes(planned, a, b, ends, rows)
        ends, rows, memory = operands.checked_numbers(planned, ends, rows, sizes)
        planned = self._for_rows(planned, sizes["M"])
        launch = operands.new_launch(self, planned, sizes, num_sms=num_sms)
        _, parameters = operands.describe(launch)
        for name, operand in (("a", a), ("b", b)):
            memory.update(
                operands.parts(planned, name, operand, parameters, ends, rows))
        for name, values in (("c", c), ("bias", bias)):
            values = operands.plain(planned, name, values, sizes)
            if values is not None:
                memory[name] = values
        factors = operands.check_factors(planned, {"alpha": alpha,
                                                   "beta": beta})
        shape = operands.shape_for(
            planned, operands.shape_of(planned, "d", sizes), a)
        scales = operands.tensor_scales(planned, tensor_scale, sizes)
        if scales is not None:
            memory["tensor_scale"] = scales.view(np.uint8)
        results = {role: parameters[role]["bytes"]
                   for role in quantized_result.roles(planned) or ["d"]}
        results = self._run(launch, memory, factors, results, progress, options)
        if operands.quantizes(planned):
            return quantized_result.scaled_of(self.arg("d", planned["name"]),
                                              results, parameters, shape, ends)
        d = results["d"].view(TYPES[operands.of(planned["operands"], "d")["type"]])
        return d.reshape(shape)

    @staticmethod
    def _run(launch, memory, factors, results, progress, options):
        """Runs a launch with memory by role; what it writes, by role, of which
        `results` says the bytes."""
        for role, content in memory.items():
            launch.set_memory(role, content, False)
        for name, value in factors.items():
            launch.set_factor(name, value)
        written = {role: np.zeros(size, np.uint8) for role, size in results.items()}
        for role, content in written.items():
            launch.set_memory(role, content, True)
        run(launch, progress=progress, **options)
        return written

    def _check_operand(self, planned, name, operand):
        if not isinstance(operand, Scaled):
            raise Refused(f"'{name}' is a {type(operand).__name__}: expected a "
                          "blockscale.Scaled; blockscale.quantize makes one")
        wanted = self.arg(name, planned["name"])
        operands.check_format(name, operand, wanted)
        operands.check_layout(name, operand, host_layout(wanted.layout))

    def prepare(self, *, M=None, N=None, K=None, batch=None, tokens=None, device=0,
                kernel=None, overlap=None):
        """Loads the kernel on a CUDA device and computes tensor maps, grid and
        parameters for these sizes once: a `Prepared`, to be called.

        M, N, K, batch, and tokens, the rows of `a` where rows are gathered: the
            dynamic ones have to be given.
        device: ordinal of a device of the kernel's chip.
        overlap: let a launch begin while the kernel before it in the stream
            ends, which is for kernels that wait for it themselves ("dependentLaunch"
            of the plan); None where they do.

        Raises DeviceError without a driver or with another chip, Refused for
        sizes that the kernel is not for.
        """
        from ._launch import Prepared
        sizes = {"M": M, "N": N, "K": K, "batch": batch, "tokens": tokens}
        return Prepared(self, kernel, sizes, device, overlap)

    def upload(self, name, operand, *, ends=None, rows=None, device=0, kernel=None):
        """A `Scaled` operand "a" or "b" on a CUDA device, packed as the kernel
        reads it: a DeviceScaled, for launches of any sizes that fit it.

        ends, rows: of "a" of a product of groups whose scales lie by groups.
        """
        planned = self._planned(kernel)
        self._check_operand(planned, name, operand)
        # Of the sizes that the operand does not have any will do.
        sizes = {"M": 256, "N": 256, "K": operand.k, "batch": operand.batch,
                 "M" if name == "a" else "N": operand.rows}
        if operands.is_gathered(planned):
            sizes.update(M=256 if rows is None else np.size(rows), tokens=operand.rows)
        if ends is not None and (name == "a" or operands.is_along_k(planned)):
            sizes["batch"] = np.size(ends)
        if operand.layout == BY_GROUP:
            sizes["batch"] = len(operand.scales)
        sizes.update({one["name"]: one["value"] for one in planned["sizes"]
                      if one["value"] is not None})
        return self._prepared(planned["name"], sizes, device).upload(
            name, operand, ends, rows)

    def launch(self, a, b, *, ends=None, rows=None, out=None, c=None, bias=None,
               alpha=None, beta=None, tensor_scale=None, kernel=None, device=0,
               stream=None):
        """Runs the kernel on a CUDA device.

        a, b: `Scaled` operands, which are copied to the device for this launch,
            or `DeviceScaled` ones, which lie there.
        ends: of a product of groups, the row of `a` behind each group: whole numbers
            of the host, or i32 on the device, where what ran before may have written
            them. Rows of D behind the last one are not written.
        rows: the row of `a` that each row of D is of, where they are gathered; likewise.
        out: a numpy array for D, or memory of the device; by default what is
            returned is new: a numpy array if both operands are `Scaled`, else a
            DeviceArray. Of a kernel that quantises its product a `DeviceScaled`, and
            by default a `Scaled` in place of an array.
        c, bias: arrays of the host or the device, where the kernel reads them.
        alpha, beta: factors, 1 unless given, where the kernel has them.
        tensor_scale: one number for each matrix, of the host or (f32) the device,
            where the kernel quantises its product with one.
        stream: as torch, cuda.core or the driver have it; None for the default.
            The call waits for it only if something was copied.

        What is prepared is kept for the next launch of the same sizes. Raises
        DeviceError without a driver, with another chip, for memory of another
        device and what the driver says; Refused for what does not fit.
        """
        from ._launch import launch
        return launch(self, a, b, ends=ends, rows=rows, out=out, c=c, bias=bias,
                      alpha=alpha, beta=beta, tensor_scale=tensor_scale,
                      kernel_name=kernel, device=device, stream=stream)

    __call__ = launch

    def quantize(self, x, *, tensor_scale=None, out=None, kernel=None, device=0,
                 stream=None):
        """Runs a kernel that quantises on a CUDA device.

        x: an array of the host, rows x K or batch x rows x K, which is rounded to
            the kernel's type; or numbers of that type on the device.
        tensor_scale: one number for each matrix, of the host or (f32) the device,
            where the kernel reads it.
        out: a `DeviceScaled` for the result; by default what is returned is new: a
            `Scaled` if `x` is the host's, else a `DeviceScaled`. Of a kernel that
            quantises the transpose too it is a tuple of two.
        stream: as torch, cuda.core or the driver have it; None for the default.
            The call waits for it only if something was copied.

        The result is what `quantize` of the module says, bit for bit, and can be
        `a` or `b` of a launch whose kernel reads such an operand. Raises DeviceError
        and Refused as `launch` does.
        """
        from ._launch_quantize import quantize
        return quantize(self, x, tensor_scale, out, kernel, device, stream)

    def emulate_quantize(self, x, *, tensor_scale=None, kernel=None, num_sms=None,
                         progress=None, **options):
        """Runs a kernel that quantises on the emulator: a `Scaled`, or a tuple of
        two.

        x, tensor_scale: arrays of the host, as `quantize` takes them.
        num_sms, progress, options: as in `emulate`.
        """
        from ._quantize_kernel import emulate
        return emulate(self, x, tensor_scale, kernel, num_sms, progress, options)

    def prepare_quantize(self, *, M=None, K=None, batch=None, device=0,
                         kernel=None):
        """Loads a kernel that quantises on a CUDA device and computes grid and
        parameters for these sizes once: a `PreparedQuantization`, to be called.

        M, K, batch: the dynamic ones have to be given.
        """
        from ._launch_quantize import PreparedQuantization
        return PreparedQuantization(self, kernel,
                                    {"M": M, "K": K, "batch": batch}, device)

    def as_torch_op(self, name, *, kernel=None):
        """The kernel as an operator of PyTorch, which must be imported.

        name: "namespace::operator". The operator takes a tensor for each memory
            of the plan (a_data, a_scales, a_metadata, a_tensor_scale, a_terms,
            those of b, c, bias), packed as the kernel reads it, of any type of the right
            size, and a float for each of alpha and beta; it returns D, new.
            Tensors of a CUDA device are launched there on the current stream,
            those of the host run on the emulator. It has a fake kernel, so that
            torch.compile and torch.export take it.

        Raises Refused without torch and for operands along M or N.
        """
        from ._torch import torch_op
        return torch_op(self, name, kernel)

    def _loaded(self, name):
        from ._launch import Loaded
        if name not in self._code:
            self._code[name] = Loaded(self, name)
        return self._code[name]

    def _prepared(self, name, sizes, device):
        from ._launch import Prepared
        return self._kept(name, sizes, device, lambda: Prepared(
            self, name, sizes, device, None))

    def _prepared_quantization(self, name, sizes, device):
        from ._launch_quantize import PreparedQuantization
        return self._kept(name, sizes, device, lambda: PreparedQuantization(
            self, name, sizes, device))

    def _kept(self, name, sizes, device, make):
        """What was prepared before for these sizes."""
        key = (name, device, *sorted(sizes.items()))
        if key not in self._launches:
            while len(self._launches) >= KEPT_LAUNCHES:
                self._launches.pop(next(iter(self._launches)))
            self._launches[key] = make()
        return self._launches[key]

    def verify(self, M=(), N=(), K=(), batch=(), *, data="both",
               conditions="both", num_sms=0, clusters=0, seed=1, threads=0,
               completion="immediate", progress=None):
        """Runs all kernels with inputs of ours and compares them with a
        reference that shares no code with the compiler.

        M, N, K, batch: values of dynamic sizes to try, a number or several.
        data: "exact" (bit for bit), "random" (within a bound) or "both".
        conditions: "plain"; "harsh" for least alignment, every legal padding and
            NaNs; "both" for harsh ones with random data.
        clusters: how many to run, spread over the grid; 0 for all.
        progress: as in `emulate`. Inputs are made, the kernel runs, the
            reference is computed: each step of each run counts anew. If it has
            a method `begin`, this is called before with the step and what it
            counts: begin("gemm, inputs", "rows"). Steps that are over at once
            are left out.

        Raises Refused for sizes that no kernel is for, and where all kernels have
        another number in place of a dynamic size. An interrupt ends the runs.
        """
        self._check_dynamic({"M": M, "N": N, "K": K, "batch": batch})
        return self._verify(M, N, K, batch, data=data, conditions=conditions,
                            num_sms=num_sms, clusters=clusters, seed=seed,
                            threads=threads, completion=completion,
                            progress=progress)

    def _check_dynamic(self, given):
        for name, values in given.items():
            known = {one["value"] for kernel in self.plan["kernels"]
                     for one in kernel["sizes"] if one["name"] == name}
            other = [one for one in np.ravel(values) if one not in known]
            if other and None not in known:
                raise Refused(
                    f"{name} is {other[0]}, but no kernel here has a dynamic {name}" +
                    (f": it is {' or '.join(map(str, sorted(known)))}"
                     if known else ""))

    def _verify(self, M, N, K, batch, *, data, conditions, num_sms=0, clusters=0,
                seed, threads, completion, progress):
        options = _core.VerifyOptions()
        for name, legal, value in (("data", DATA, data),
                                   ("conditions", CONDITIONS, conditions),
                                   ("completion", COMPLETIONS, completion)):
            setattr(options, name, legal.index(choice(name, value, legal)))
        for name, value in (("M", M), ("N", N), ("K", K), ("batch", batch)):
            many = value if isinstance(value, (tuple, list)) else [value]
            setattr(options, name.lower(),
                    [whole(name, one, 1) for one in many])
        options.num_sms = whole("num_sms", num_sms)
        options.sample_clusters = whole("clusters", clusters)
        options.seed = whole("seed", seed)
        options.threads = whole("threads", threads, 0, 2**16)
        with watching(progress, "verify") as watch:
            passed, text, report = _core.verify(self.ptx, self.plan_text,
                                                options, watch)
        return Verdict(passed, text, json.loads(report))

    def __repr__(self):
        return f"Kernel({', '.join(self.names)} for {self.target})"
