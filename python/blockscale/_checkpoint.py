# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Quantised models in files: what their tensors are, and their numbers."""

import difflib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from . import _core
from ._errors import CheckpointError, Refused
from ._formats import ELEMENTS, FACTORS, FORMATS, SCALES, Format
from ._scaled import Scaled

# Types of safetensors that numpy and ml_dtypes have, one element to a number.
# Of others (F4, F6_E2M3, F6_E3M2) the bytes are given.
DTYPES = {
    "BOOL": np.bool_, "U8": np.uint8, "I8": np.int8, "U16": np.uint16,
    "I16": np.int16, "U32": np.uint32, "I32": np.int32, "U64": np.uint64,
    "I64": np.int64, "F16": np.float16, "F32": np.float32, "F64": np.float64,
    "C64": np.complex64, "BF16": ml_dtypes.bfloat16,
    "F8_E4M3": ml_dtypes.float8_e4m3fn, "F8_E5M2": ml_dtypes.float8_e5m2,
    "F8_E8M0": ml_dtypes.float8_e8m0fnu,
    "F8_E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "F8_E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
}
# Kinds of integers, which mean themselves under their scales, by their elements; those
# of 4 bits are stored with an offset.
WHOLE_NUMBERS = {"INT4": "int4", "INT8 with a scale for a row": "int8",
                 "INT8 with one scale": "int8"}
INT4_OFFSET = 8
LAYOUTS = {"rows": "plain", "128x4 atoms": "tiled_128x4"}


@dataclass(frozen=True)
class Finding:
    """What contradicts a convention, or is easily got wrong.

    rule: its name in docs/checkpoints.md, such as "reciprocal-global-scale".
    grade: "error", "warning" or "note".
    parameter: whose it is; empty for the model's as a whole.
    """

    rule: str
    grade: str
    text: str
    parameter: str = ""

    def __str__(self):
        place = f"{self.parameter}: " if self.parameter else ""
        return f"{place}{self.grade}: {self.text} [{self.rule}]"


def findings_of(entries, parameter=""):
    return tuple(Finding(one["rule"], one["grade"], one["text"], parameter)
                 for one in entries)


class CheckReport:
    """What `blockscale check` says of a model.

    ok: whether there is no error. True and false as this is.
    findings: of all parameters and of the model, a tuple of `Finding`.
    parameters: a dictionary of dictionaries by name, as
        `blockscale check --format=json` has them.
    """

    def __init__(self, parameters, findings, text):
        self.parameters = {one["name"]: one for one in parameters}
        self.findings = tuple(
            finding for one in parameters
            for finding in findings_of(one["findings"], one["name"])
        ) + findings_of(findings)
        self.text = text

    @property
    def errors(self):
        return [one for one in self.findings if one.grade == "error"]

    @property
    def warnings(self):
        return [one for one in self.findings if one.grade == "warning"]

    @property
    def ok(self):
        return not self.errors

    def __bool__(self):
        return self.ok

    def __str__(self):
        return self.text

    def __repr__(self):
        return (f"CheckReport({len(self.parameters)} parameters, "
                f"{len(self.errors)} errors, {len(self.warnings)} warnings)")


@dataclass(frozen=True)
class TensorEntry:
    """A tensor as a file has it. `dtype` is the name of safetensors."""

    name: str
    dtype: str
    shape: tuple
    file: str
    offset: int
    bytes: int

    def map(self):
        """The tensor as an array over the file, which is read where it is
        touched. What numpy has no type for is bytes."""
        shape = self.shape
        dtype = DTYPES.get(self.dtype)
        if dtype is None:
            dtype, shape = np.uint8, (self.bytes,)
        if self.bytes == 0:
            return np.zeros(shape, dtype)
        mapped = np.memmap(self.file, np.uint8, "r", self.offset,
                           (self.bytes,))
        return mapped.view(dtype).reshape(shape)


class Parameter:
    """One parameter of a model, quantised or not; read where it is used.

    name: as the model calls it.
    family: whose names they are: "ModelOpt", "compressed-tensors", "gpt-oss",
        "DeepSeek", "torchao", ...; "none" for what is not quantised.
    kind: "NVFP4", "MXFP8", "FP8 in blocks", ...; the type of what is not
        quantised.
    shape: of the elements; the last dimension is K.
    spec: the scale spec as MLIR spells it; empty without scales, and for
        scales that no spec has.
    layout: of the scales, "plain" or "tiled_128x4"; None without scales, and
        where it is not known.
    block: rows and columns that share a scale, 0 being all; None without.
    global_use: whether the global scale is a "factor" or a "divisor".
    """

    def __init__(self, model, number, facts):
        self._model, self._number, self._facts = model, number, facts
        self._findings = None
        self.name = facts["name"]
        self.family, self.kind = facts["family"], facts["format"]
        self.shape = tuple(facts["shape"])
        self.spec = facts["spec"]
        self.layout = LAYOUTS.get(facts.get("layout"))
        self.block = tuple(facts["block"]) if "block" in facts else None
        self.global_use = facts.get("globalScale", {}).get("use")

    @property
    def is_quantized(self):
        return self._facts["quantized"]

    @property
    def interleaved_rows(self):
        """Whether rows of the gate and of the up projection alternate."""
        return self._facts["interleavedRows"]

    @property
    def tensors(self):
        """The tensors that it is made of: a dictionary of `TensorEntry`."""
        return {name: self._model.tensors[name]
                for name in self._facts.get("parts", ())}

    @property
    def stored_scales(self):
        """The `TensorEntry` of the block scales; None without."""
        return self._model.tensors.get(self._facts.get("scales"))

    @property
    def format(self):
        """The `Format` of elements and scales; None where there is none."""
        if not self.is_quantized:
            names = {"F16": "f16", "BF16": "bf16"}
            return FORMATS.get(names.get(self.kind))
        element = WHOLE_NUMBERS.get(self.kind, self._facts.get("element"))
        scale = self._scale_type
        rows, columns = self.block or (0, 0)
        if element not in ELEMENTS or scale not in FACTORS:
            return None
        try:
            return Format(element, scale, columns, "globalScale" in self._facts,
                          rows=rows)
        except Refused:
            return None

    @property
    def _scale_type(self):
        """The name of the scales' type in formats, None if it has none."""
        if "scale" in self._facts or self.stored_scales is None:
            return self._facts.get("scale")
        return {"F32": "f32", "F16": "f16",
                "BF16": "bf16"}.get(self.stored_scales.dtype)

    @property
    def findings(self):
        """What `check` says of it, with its scales read."""
        if self._findings is None:
            report = self._model.check(first=self._number, count=1)
            self._findings = tuple(
                one for one in report.findings if one.parameter)
        return self._findings

    def require_sound(self, with_values=False):
        """Raises CheckpointError if its convention is contradicted or, with
        `with_values`, these cannot be read."""
        errors = [one for one in self.findings if one.grade == "error"]
        if errors and not self._model.trust:
            raise CheckpointError(str(errors[0]), rule=errors[0].rule,
                                  findings=self.findings)
        if with_values and "whyNot" in self._facts:
            rule = errors[0].rule if errors else ""
            raise CheckpointError(self._facts["whyNot"], rule=rule,
                                  findings=self.findings)

    def _matrices(self):
        """How many there are, and their rows and columns."""
        rows = self.shape[-2] if len(self.shape) > 1 else 1
        columns = self.shape[-1] if self.shape else 1
        return int(np.prod(self.shape[:-2], dtype=np.int64)), rows, columns

    @property
    def data(self):
        """The elements in their own type, one to a number of numpy: those of
        packed formats are unpacked, others an array over the file. Integers
        are as they are stored, without their offset."""
        self.require_sound()
        stored = self._model.tensors[self._facts["elements"]]
        if not self.is_quantized or (
                self._facts["packed"] == 1 and stored.dtype in DTYPES and
                stored.dtype != "U8"):
            return stored.map()
        self.require_sound(with_values=True)
        batch, rows, columns = self._matrices()
        codes = np.empty(self.shape, np.uint8)
        flat = codes.reshape(batch, rows * columns)
        for i in range(batch):
            self._model.core.read_codes(self.name, i, 0, rows, flat[i])
        element = self._facts.get("element")
        return codes.view(ELEMENTS[element][2]) if element else codes

    @property
    def scales(self):
        """The block scales as an array over the file: in rows with their own
        type where the layout is "plain", else bytes. None without."""
        self.require_sound()
        if "scales" not in self._facts:
            return None
        stored = self._model.tensors[self._facts["scales"]]
        scales = stored.map()
        scale = self._facts.get("scale")
        if scale in SCALES:
            scales = scales.view(SCALES[scale][1])
        if self.layout != "plain":
            return scales.reshape(-1).view(np.uint8)
        rows, columns = self.block
        across = -(-self.shape[-1] // columns) if columns else 1
        if len(self.shape) == 1:
            return scales.reshape(across)
        down = -(-self.shape[-2] // rows) if rows else 1
        if scales.size == 1:
            return scales.reshape(())
        return scales.reshape(*self.shape[:-2], down, across)

    def _single(self, key):
        if key not in self._facts:
            return None
        stored = self._model.tensors[self._facts[key]["name"]]
        return np.float32(stored.map().reshape(-1)[0])

    @property
    def global_scale(self):
        """The scale of the whole tensor as it is stored: see `global_use`."""
        return self._single("globalScale")

    @property
    def input_scale(self):
        """That of the layer's input, in the same sense; None without."""
        return self._single("inputScale")

    @property
    def tensor_scale(self):
        """The scale of the whole tensor as a factor, rounded once where a
        divisor is stored; None without."""
        number = self.global_scale
        if number is None:
            return None
        return np.float32(1) / number if self.global_use == "divisor" \
            else number

    def scaled(self):
        """As `Scaled`, which kernels take: for formats whose scales a kernel reads
        or multiplies by. Integers are less their offset."""
        format_ = self.format
        if format_ is None or not self.is_quantized:
            raise Refused(f"'{self.name}' is {self.kind} of {self.family}, "
                          "which no kernel reads as it is; quantise its "
                          "values anew, or take 'data' and 'scales'")
        batch, rows, columns = self._matrices()
        shape = (rows, columns) if len(self.shape) < 3 else \
            (batch, rows, columns)
        scales = self.scales
        if self.layout == "plain":
            across = scales.shape[-1] if scales.ndim else 1
            scales = scales.reshape(*shape[:-2], -1, across)
        factor = self.tensor_scale
        if factor is not None:
            factor = np.full(batch, factor)
        data = self.data.reshape(shape)
        if self.kind == "INT4":
            data = (data.astype(np.int8) - INT4_OFFSET).astype(format_.dtype)
        return Scaled(data, scales, factor, format=format_, layout=self.layout)

    def to(self, layout):
        """`scaled()` with its scales in another layout."""
        return self.scaled().to(layout)

    def dequantize(self, first=0, rows=None):
        """The values in f32: element times block scale, rounded, times (or
        over) the global scale. Of matrices, those of `rows` rows from `first`
        on; numbers that are not quantised are given as f32 too."""
        self.require_sound(with_values=True)
        batch, height, columns = self._matrices()
        rows = height - first if rows is None else rows
        if first < 0 or rows < 0 or first + rows > height:
            raise Refused(f"rows {first} to {first + rows} of '{self.name}', "
                          f"which has {height}")
        shape = (*self.shape[:-2], rows, self.shape[-1]) \
            if len(self.shape) > 1 else self.shape
        values = np.empty(shape, np.float32)
        flat = values.reshape(batch, rows * columns)
        for i in range(batch):
            self._model.core.read_values(self.name, i, first, rows, flat[i])
        return values

    def __array__(self, dtype=None, copy=None):
        return self.dequantize().astype(dtype or np.float32)

    def __repr__(self):
        what = f"{self.kind} of {self.family}" if self.is_quantized \
            else self.kind
        return f"Parameter('{self.name}', {what}, {list(self.shape)})"


class Checkpoint(Mapping):
    """The parameters of a model by name; see `read`.

    files: paths of what was opened.
    metadata: `__metadata__` of all files.
    tensors: a dictionary of `TensorEntry`: what the files hold.
    """

    def __init__(self, path, trust=False):
        self.path = os.fsdecode(path)
        self.trust = trust
        self.core = _core.Checkpoint(self.path)
        facts = json.loads(self.core.describe())
        self.files = tuple(facts["files"])
        self.metadata = facts["metadata"]
        self.tensors = {
            one["name"]: TensorEntry(
                one["name"], one["dtype"], tuple(one["shape"]),
                self.files[one["file"]], one["offset"], one["bytes"])
            for one in facts["tensors"]}
        self._parameters = {
            one["name"]: Parameter(self, number, one)
            for number, one in enumerate(facts["parameters"])}

    def __getitem__(self, name):
        for each in (name, f"{name}.weight"):
            if each in self._parameters:
                return self._parameters[each]
        near = difflib.get_close_matches(str(name), self._parameters, 3, 0.6)
        hint = f"; near it are {', '.join(map(repr, near))}" if near else ""
        raise KeyError(f"'{self.path}' has no parameter {name!r}{hint}")

    def __iter__(self):
        return iter(self._parameters)

    def __len__(self):
        return len(self._parameters)

    def check(self, read_scales=True, first=0, count=None):
        """What contradicts the conventions: a `CheckReport`. Without
        `read_scales` from headers and single numbers alone. `first` and
        `count` choose parameters by their number."""
        _, text, facts = self.core.check(
            read_scales, first, 2**64 - 1 if count is None else count)
        facts = json.loads(facts)
        return CheckReport(facts["tensors"], facts["findings"], text)

    def __repr__(self):
        quantized = sum(one.is_quantized for one in self.values())
        return (f"Checkpoint('{self.path}', {len(self)} parameters, "
                f"{quantized} quantised)")


def read(path, *, trust=False):
    """Opens a model: a .safetensors file, the index of several, their folder,
    or a .npy array. Only headers are read; data when they are asked for.

        weight = bs.read("model.safetensors")["layers.0.mlp.up_proj"]
        weight.spec, weight.layout, weight.dequantize()

    Where a parameter contradicts the convention that its names promise, its
    data raise CheckpointError, whose `rule` says which; `trust=True` takes the
    names at their word.
    """
    return Checkpoint(path, trust)


def check(path, *, read_scales=True):
    """What `blockscale check` says of a model: a `CheckReport`."""
    return Checkpoint(path).check(read_scales)


def pack_options(to=None, names=None, rule=None, scales=None, prune=None,
                 compress=False, tensors=(), shard_size=None, checksums=False,
                 threads=0, shard=None):
    """Options of the library from those of `pack`."""
    options = _core.PackOptions()
    for name, value in (("to", to), ("names", names), ("rule", rule),
                        ("scales", scales), ("prune", prune),
                        ("shard_size", shard_size)):
        setattr(options, name, "" if value is None else str(value))
    options.compress, options.checksums = compress, checksums
    options.tensors = [tensors] if isinstance(tensors, str) else list(tensors)
    options.threads = threads
    options.shard = -1 if shard is None else shard
    return options


def pack(source, target, *, progress=None, **options):
    """Quantises, prunes, compresses, tiles and renames the parameters of a
    model, or an array, piece by piece: as `blockscale pack` (docs/packing.md).

    source: as for `read`.
    target: a .safetensors file, or NAME.npy for NAME.data.npy and so on.
    to, names, rule, scales, prune, compress, tensors, shard_size, checksums,
    threads: as the options of the command.
    progress: is called with bytes done and to be done, by any thread.

    Returns a list of what was written: dictionaries with "name", "dtype",
    "shape" and, with checksums, "crc32".
    """
    return json.loads(_core.Checkpoint(os.fspath(source)).pack(
        os.fspath(target), pack_options(**options), progress))
