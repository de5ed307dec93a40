# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from . import dask as dask
from . import explain as explain
from . import triton as triton

__version__: str
__all__ = ["Argument", "Busy", "CheckReport", "Checkpoint", "CheckpointError",
           "CompileError", "Device", "DeviceArray", "DeviceError",
           "DeviceScaled", "Diagnostic", "Error", "FORMATS", "Finding",
           "Format", "Hazard", "Imported", "InternalError", "Kernel", "Layout",
           "KernelChoice", "NkiKernels", "Outcome", "Parameter", "Prepared",
           "PreparedConversion", "PreparedDequantization", "PreparedQuantization",
           "Program", "Refused", "Scaled", "Spec", "Verdict", "check", "compile", "dask", "devices",
           "emulate", "emulate_without_card", "explain", "format_named",
           "from_jax", "from_mlir", "from_onnx", "from_torch", "layout",
           "layouts", "load_kernel", "matmul", "pack", "parse", "prune",
           "quantize", "read", "to_device", "triton"]

class _HasDlpack(Protocol):
    def __dlpack__(self, *, stream: Any = ...) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

class _HasCudaInterface(Protocol):
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...

class _HasCudaStream(Protocol):
    def __cuda_stream__(self) -> tuple[int, int]: ...

# Arrays of the host; torch's tensors and jax's arrays have DLPack.
_Array: TypeAlias = ArrayLike | _HasDlpack
_OnDevice: TypeAlias = DeviceArray | _HasDlpack | _HasCudaInterface
_Stream: TypeAlias = int | _HasCudaStream | Any | None
_Progress: TypeAlias = Callable[[int, int], object] | bool | None
_Size: TypeAlias = int | str | None
_Element: TypeAlias = Literal["e2m1", "e2m3", "e3m2", "e4m3", "e5m2", "f16",
                              "bf16", "tf32", "int8", "uint8", "int4", "uint4",
                              "uint3", "uint2", "e4m3b8fnuz", "e5m2b16fnuz", "cb81ie_int9",
                              "cb51ie_int7", "cb31ie_int5", "cb41f01_e2m2fnuz",
                              "cb41fi_e2m2fnuz", "cb42f1346_e2m3fnuz",
                              "cb42fe0123_e3m2fnuz"]
_Pattern: TypeAlias = Literal["2:4", "4:8 in pairs", "1:2"]
_Layout: TypeAlias = Literal["plain", "tiled_128x4", "tiled_128x16"]
_ScaledLayout: TypeAlias = _Layout | Literal["grouped"]
_KernelLayout: TypeAlias = _ScaledLayout | Literal["grouped_128x4"]
_Order: TypeAlias = Literal["k_major", "mn_major"]
_Completion: TypeAlias = Literal["immediate", "random", "latest"]
_Result: TypeAlias = Literal["f32", "f16", "bf16", "i32"]
_Rounding: TypeAlias = Literal["even", "away", "zero", "stochastic",
                                "stochastic_rs"]
_Rule: TypeAlias = Literal["floor", "round_up", "floor_plus_one", "ceil",
                           "mid_max", "rounded_max", "top_binade", "min_error"] | None
_Operand: TypeAlias = Literal["a", "b"]
_Part: TypeAlias = Literal["a", "b", "d"]

# Errors

@dataclass(frozen=True)
class Diagnostic:
    severity: str
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    notes: tuple[Diagnostic, ...] = ()

class Error(Exception):
    diagnostics: tuple[Diagnostic, ...]
    def __init__(self, message: str,
                 diagnostics: Iterable[Diagnostic] = ()) -> None: ...

class Refused(Error, ValueError): ...
class CompileError(Refused): ...

class CheckpointError(Refused):
    rule: str
    findings: tuple[Finding, ...]
    def __init__(self, message: str, rule: str = "",
                 findings: Iterable[Finding] = ()) -> None: ...

class Busy(Error): ...
class InternalError(Error): ...

class DeviceError(Error):
    code: str
    def __init__(self, message: str, code: str = "") -> None: ...

class Hazard(Error):
    findings: list[dict[str, Any]]
    def __init__(self, findings: list[dict[str, Any]]) -> None: ...

# Formats and operands

@dataclass(frozen=True)
class Format:
    element: _Element
    scale: Literal["ue8m0", "ue4m3", "ue5m3", "f32", "f16", "bf16", "e5m2",
                   "e4m3b8fnuz", "e5m2b16fnuz", "e4m3b11fnuz",
                   "e3m4"] | None = None
    block: int = 0
    tensor_scale: bool = False
    sparsity: _Pattern | None = None
    rows: int = 1
    zero: Literal["int8", "int16", "int32", "f32", "f16", "bf16"] | None = None
    subtile: int = 0
    row_subtile: int = 0
    def __post_init__(self) -> None: ...
    @property
    def is_codebook(self) -> bool: ...
    @property
    def has_real_zeros(self) -> bool: ...
    @property
    def covers_k(self) -> bool: ...
    @property
    def has_one_scale(self) -> bool: ...
    @property
    def by_epilogue(self) -> bool: ...
    @property
    def spec(self) -> str: ...
    def without_subtiles(self) -> Format: ...
    @property
    def bits(self) -> int: ...
    @property
    def unit(self) -> np.float32: ...
    @property
    def largest(self) -> np.float32: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def scale_dtype(self) -> np.dtype[Any] | None: ...
    @property
    def largest_scale(self) -> np.float32: ...
    @property
    def zero_dtype(self) -> np.dtype[Any] | None: ...
    def scale_values(self, scales: NDArray[Any]) -> NDArray[np.float32]: ...
    def sparse(self, pattern: _Pattern | None = None) -> Format: ...
    def beside_sparse(self) -> Format: ...

FORMATS: dict[str, Format]

def format_named(name: str | Format) -> Format: ...

@dataclass(frozen=True)
class Argument:
    name: str
    format: Format
    layout: _KernelLayout
    order: _Order = "k_major"
    scale_block: int = 0

class Scaled:
    format: Format
    layout: _ScaledLayout
    data: NDArray[Any]
    scales: NDArray[Any] | None
    tensor_scale: NDArray[np.float32] | None
    zeros: NDArray[Any] | None
    def __init__(self, data: _Array, scales: _Array | None = None,
                 tensor_scale: _Array | None = None, *, format: str | Format,
                 layout: _ScaledLayout = "plain", zeros: _Array | None = None
                 ) -> None: ...
    @property
    def spec(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def batch(self) -> int: ...
    @property
    def rows(self) -> int: ...
    @property
    def k(self) -> int: ...
    @property
    def blocks(self) -> int: ...
    @property
    def scale_rows(self) -> int: ...
    def to(self, layout: _Layout) -> Scaled: ...
    def repeated(self, block: int) -> NDArray[np.uint8]: ...
    def dequantize(self) -> NDArray[np.float32]: ...
    def packed(self, row_pitch: int = 0,
               order: _Order = "k_major",
               translated: tuple[int, Sequence[int]] | None = None
               ) -> NDArray[np.uint8]: ...
    def compressed(self, padding: int = 0x44) -> tuple[NDArray[np.uint8],
                                                       NDArray[np.uint8]]: ...

def prune(values: _Array, pattern: _Pattern | Format) -> NDArray[np.float32]: ...
def quantize(values: _Array, format: str | Format | None = None, *,
             like: Argument | None = None, rule: _Rule = None,
             rounding: _Rounding = "even", seed: int | None = None,
             tensor_scale: _Array | None = None,
             layout: _Layout | None = None) -> Scaled: ...

# Products and kernels

@dataclass(frozen=True)
class Spec:
    mlir: str | bytes
    name: str = ""

def parse(mlir: str | bytes, name: str = "<mlir>") -> Spec: ...
def matmul(M: _Size, N: _Size, K: _Size, a: str | Format, b: str | Format,
           out: _Result = "f32", batch: _Size = None, alpha: bool = False,
           beta: bool = False, bias: Literal["row", "column"] | None = None,
           activation: Literal["relu", "gelu", "silu"] | None = None,
           name: str = "matmul", a_order: _Order = "k_major",
           b_order: _Order = "k_major",
           layout: _Layout | None = None) -> Spec: ...

@dataclass(frozen=True)
class Verdict:
    ok: bool
    text: str
    runs: list[dict[str, Any]]
    def __bool__(self) -> bool: ...

class Kernel:
    target: str
    ptx: str
    cubin: bytes
    plan: dict[str, Any]
    plan_text: str
    report: dict[str, Any]
    report_text: str
    launcher: str
    source: str
    warnings: tuple[Diagnostic, ...]
    def __init__(self, target: str, ptx: str, cubin: bytes, plan: str,
                 report: str, report_text: str, launcher: str,
                 source: str = "",
                 warnings: Iterable[Diagnostic] = ()) -> None: ...
    @property
    def names(self) -> list[str]: ...
    def arg(self, operand: _Part, kernel: str | None = None) -> Argument: ...
    def layout(self, operand: _Part, kernel: str | None = None) -> str: ...
    def mlir(self, stage: Literal["tensor", "kernel", "assigned", "nvvm",
                                  "llvm"], **options: Any) -> str: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...
    def emulate(self, a: Scaled, b: Scaled, *, ends: _Array | None = None,
                rows: _Array | None = None, c: _Array | None = None,
                bias: _Array | None = None, alpha: float | None = None,
                beta: float | None = None,
                tensor_scale: _Array | None = None, kernel: str | None = None,
                num_sms: int | None = None, progress: _Progress = None,
                **options: Any) -> NDArray[Any] | Any: ...
    def verify(self, M: int | Sequence[int] = (), N: int | Sequence[int] = (),
               K: int | Sequence[int] = (), batch: int | Sequence[int] = (), *,
               data: Literal["exact", "random", "both"] = "both",
               conditions: Literal["plain", "harsh", "both"] = "both",
               num_sms: int = 0, clusters: int = 0, seed: int = 1,
               threads: int = 0, completion: _Completion = "immediate",
               progress: _Progress = None) -> Verdict: ...
    def prepare(self, *, M: int | None = None, N: int | None = None,
                K: int | None = None, batch: int | None = None,
                tokens: int | None = None, device: int = 0,
                kernel: str | None = None,
                overlap: bool | None = None) -> Prepared: ...
    def upload(self, name: _Operand, operand: Scaled, *,
               ends: _Array | None = None, rows: _Array | None = None,
               device: int = 0, kernel: str | None = None) -> DeviceScaled: ...
    def launch(self, a: Scaled | DeviceScaled, b: Scaled | DeviceScaled, *,
               ends: _Array | _OnDevice | None = None,
               rows: _Array | _OnDevice | None = None,
               out: NDArray[Any] | _OnDevice | DeviceScaled | None = None,
               c: _Array | _OnDevice | None = None,
               bias: _Array | _OnDevice | None = None,
               alpha: float | None = None, beta: float | None = None,
               tensor_scale: _Array | _OnDevice | None = None,
               kernel: str | None = None, device: int = 0,
               stream: _Stream = None) -> Any: ...
    def __call__(self, a: Scaled | DeviceScaled, b: Scaled | DeviceScaled, *,
                 ends: _Array | _OnDevice | None = None,
                 rows: _Array | _OnDevice | None = None,
                 out: NDArray[Any] | _OnDevice | DeviceScaled | None = None,
                 c: _Array | _OnDevice | None = None,
                 bias: _Array | _OnDevice | None = None,
                 alpha: float | None = None, beta: float | None = None,
                 tensor_scale: _Array | _OnDevice | None = None,
                 kernel: str | None = None, device: int = 0,
                 stream: _Stream = None) -> Any: ...
    def quantize(self, x: _Array | _OnDevice, *,
                 tensor_scale: _Array | _OnDevice | None = None,
                 out: DeviceScaled | tuple[DeviceScaled, DeviceScaled] | None = None,
                 kernel: str | None = None, device: int = 0,
                 stream: _Stream = None) -> Any: ...
    def emulate_quantize(self, x: _Array, *, tensor_scale: _Array | None = None,
                         kernel: str | None = None, num_sms: int | None = None,
                         progress: _Progress = None, **options: Any) -> Any: ...
    def prepare_quantize(self, *, M: int | None = None, K: int | None = None,
                         batch: int | None = None, device: int = 0,
                         kernel: str | None = None) -> PreparedQuantization: ...
    def dequantize(self, a: Scaled | DeviceScaled, *,
                   out: NDArray[Any] | _OnDevice | None = None,
                   kernel: str | None = None, device: int = 0,
                   stream: _Stream = None) -> Any: ...
    def emulate_dequantize(self, a: Scaled, *, kernel: str | None = None,
                           num_sms: int | None = None,
                           progress: _Progress = None,
                           **options: Any) -> NDArray[Any]: ...
    def prepare_dequantize(self, *, M: int | None = None, K: int | None = None,
                           batch: int | None = None, device: int = 0,
                           kernel: str | None = None) -> PreparedDequantization: ...
    def tile_sums(self, a: Scaled | DeviceScaled, *, kernel: str | None = None,
                  device: int = 0, stream: _Stream = None) -> Any: ...
    def emulate_tile_sums(self, a: Scaled, *, kernel: str | None = None,
                          num_sms: int | None = None, progress: _Progress = None,
                          **options: Any) -> NDArray[np.float32]: ...
    def prepare_tile_sums(self, *, M: int | None = None, K: int | None = None,
                          batch: int | None = None, device: int = 0,
                          kernel: str | None = None) -> PreparedDequantization: ...
    def convert(self, a: Scaled | DeviceScaled | _Array | _OnDevice, *,
                out: DeviceScaled | _OnDevice | None = None,
                kernel: str | None = None, device: int = 0,
                stream: _Stream = None) -> Any: ...
    def emulate_convert(self, a: Scaled | _Array, *, kernel: str | None = None,
                        num_sms: int | None = None, progress: _Progress = None,
                        **options: Any) -> Any: ...
    def prepare_convert(self, *, M: int | None = None, K: int | None = None,
                        batch: int | None = None, device: int = 0,
                        kernel: str | None = None) -> PreparedConversion: ...
    def as_torch_op(self, name: str, *, kernel: str | None = None) -> Any: ...

class KernelChoice:
    plan: dict[str, Any]
    plan_text: str
    launcher: str
    def __init__(self, kernels: Iterable[Kernel], plan: str,
                 launcher: str) -> None: ...
    @property
    def targets(self) -> list[str]: ...
    def __getitem__(self, target: str) -> Kernel: ...
    def __iter__(self) -> Iterator[Kernel]: ...
    def __len__(self) -> int: ...
    def on(self, device: int = 0) -> Kernel: ...
    def launch(self, a: Scaled | DeviceScaled, b: Scaled | DeviceScaled, *,
               device: int = 0, **options: Any) -> Any: ...
    def __call__(self, a: Scaled | DeviceScaled, b: Scaled | DeviceScaled, *,
                 device: int = 0, **options: Any) -> Any: ...
    def quantize(self, x: _Array | _OnDevice, *, device: int = 0,
                 **options: Any) -> Scaled | DeviceScaled: ...
    def dequantize(self, a: Scaled | DeviceScaled, *, device: int = 0,
                   **options: Any) -> Any: ...
    def tile_sums(self, a: Scaled | DeviceScaled, *, device: int = 0,
                  **options: Any) -> Any: ...
    def convert(self, a: Scaled | DeviceScaled | _Array | _OnDevice, *,
                device: int = 0, **options: Any) -> Any: ...
    def prepare(self, *, device: int = 0, **options: Any) -> Prepared: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...

class NkiKernels:
    target: str
    code: str
    plan: dict[str, Any]
    plan_text: str
    source: str
    warnings: tuple[Diagnostic, ...]
    def __init__(self, target: str, code: str, plan: str, source: str = "",
                 warnings: Iterable[Diagnostic] = ()) -> None: ...
    @property
    def names(self) -> list[str]: ...
    def mlir(self, stage: Literal["tensor", "kernel", "assigned"]) -> str: ...
    def save(self, folder: str | os.PathLike[str]) -> None: ...

def compile(spec: Imported | Spec | str | bytes,
            target: str | Sequence[str] = "", *,
            expected_rows: int | None = None,
            dispatch_rows: str | int | Sequence[int] = (),
            dense_fallback: bool = False, host_duties: bool = False,
            cubin: bool = False, ptxas: str | os.PathLike[str] = "") -> Any: ...

# Programs of others

@dataclass(frozen=True)
class Imported:
    name: str
    mlir: str
    inputs: tuple[str, ...]
    parameters: dict[str, Any] = ...
    sizes: tuple[tuple[Any, ...], ...] = ...
    limits: dict[str, tuple[int, int | None]] = ...
    written: str | bytes = ...
    def mlir_for(self, target: str) -> str: ...

def from_jax(lowered: Any, name: str = "<jax>", target: str = "") -> Imported: ...
def from_mlir(mlir: str | bytes, name: str = "<mlir>",
              target: str = "") -> Imported: ...
def from_onnx(model: Any, name: str = "main", target: str = "") -> Imported: ...
def from_torch(program: Any, name: str = "main") -> Imported: ...

@dataclass(frozen=True)
class Outcome:
    results: tuple[Any, ...]
    launches: list[dict[str, Any]]
    report: dict[str, Any]

class Program:
    imported: Imported | None
    spec: Spec
    target: str
    functions: list[dict[str, Any]]
    def __init__(self, source: Imported | Spec | str | bytes, target: str = "",
                 *, expected_rows: int | None = None,
                 dispatch_rows: str | int | Sequence[int] = (),
                 dense_fallback: bool = False,
                 quantize_on_device: bool = False) -> None: ...
    @property
    def names(self) -> list[str]: ...
    def __call__(self, *arrays: Any, **options: Any) -> Any: ...
    def run(self, *arrays: Any, function: str | None = None,
            strict: bool = False, completion: _Completion = "immediate",
            seed: int = 1, threads: int = 0,
            progress: _Progress = None) -> Outcome: ...
    def verify(self, M: int | Sequence[int] = (), N: int | Sequence[int] = (),
               K: int | Sequence[int] = (), batch: int | Sequence[int] = (), *,
               data: Literal["exact", "random", "both"] = "both",
               conditions: Literal["plain", "harsh", "both"] = "both",
               seed: int = 1, threads: int = 0,
               completion: _Completion = "immediate",
               progress: _Progress = None) -> Verdict: ...

# Kernels in files and PTX

def load_kernel(path: str | os.PathLike[str]) -> Any: ...
def emulate(ptx: str, args: Sequence[NDArray[Any] | np.generic], *,
            kernel: str | None = None, grid: int | Sequence[int] = 1,
            block: int | Sequence[int] = 1,
            cluster: int | Sequence[int] | None = None, shared_bytes: int = 0,
            strict: bool = True, completion: _Completion = "immediate",
            seed: int = 1, threads: int = 0, step_limit: int | None = None,
            advice: bool = False,
            progress: _Progress = None) -> dict[str, Any]: ...

# Layouts

class Layout:
    name: str
    size: int
    formula: str
    contents: dict[str, int]
    places: dict[str, int]
    def __init__(self, name: str, **sizes: int) -> None: ...
    def place(self, **contents: Any) -> Any: ...
    def offset(self, row: Any = 0, block: Any = 0, batch: Any = 0) -> Any: ...
    def content(self, **places: Any) -> Any: ...
    def picture(self, every_line: bool = False) -> str: ...

def layout(name: str, **sizes: int) -> Layout: ...
def layouts() -> dict[str, tuple[str, dict[str, int | None]]]: ...

# Models in files

@dataclass(frozen=True)
class Finding:
    rule: str
    grade: Literal["error", "warning", "note"]
    text: str
    parameter: str = ""

class CheckReport:
    parameters: dict[str, dict[str, Any]]
    findings: tuple[Finding, ...]
    text: str
    def __init__(self, parameters: Sequence[dict[str, Any]],
                 findings: Sequence[dict[str, Any]], text: str) -> None: ...
    @property
    def errors(self) -> list[Finding]: ...
    @property
    def warnings(self) -> list[Finding]: ...
    @property
    def ok(self) -> bool: ...
    def __bool__(self) -> bool: ...

class Parameter:
    name: str
    family: str
    kind: str
    shape: tuple[int, ...]
    spec: str
    layout: str | None
    block: tuple[int, ...] | None
    global_use: str | None
    def __init__(self, model: Checkpoint, number: int,
                 facts: dict[str, Any]) -> None: ...
    @property
    def is_quantized(self) -> bool: ...
    @property
    def interleaved_rows(self) -> bool: ...
    @property
    def tensors(self) -> dict[str, Any]: ...
    @property
    def stored_scales(self) -> Any: ...
    @property
    def format(self) -> Format | None: ...
    @property
    def findings(self) -> tuple[Finding, ...]: ...
    def require_sound(self, with_values: bool = False) -> None: ...
    @property
    def data(self) -> NDArray[Any]: ...
    @property
    def scales(self) -> NDArray[Any] | None: ...
    @property
    def global_scale(self) -> np.float32 | None: ...
    @property
    def input_scale(self) -> np.float32 | None: ...
    @property
    def tensor_scale(self) -> np.float32 | None: ...
    def scaled(self) -> Scaled: ...
    def to(self, layout: _Layout) -> Scaled: ...
    def dequantize(self, first: int = 0,
                   rows: int | None = None) -> NDArray[np.float32]: ...
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any: ...

class Checkpoint(Mapping[str, Parameter]):
    path: str
    trust: bool
    files: tuple[str, ...]
    metadata: dict[str, Any]
    tensors: dict[str, Any]
    def __init__(self, path: str | os.PathLike[str],
                 trust: bool = False) -> None: ...
    def __getitem__(self, name: str) -> Parameter: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def check(self, read_scales: bool = True, first: int = 0,
              count: int | None = None) -> CheckReport: ...

def read(path: str | os.PathLike[str], *, trust: bool = False) -> Checkpoint: ...
def check(path: str | os.PathLike[str], *,
          read_scales: bool = True) -> CheckReport: ...
def pack(source: str | os.PathLike[str], target: str | os.PathLike[str], *,
         progress: Callable[[int, int], object] | None = None,
         to: str | None = ..., names: str | None = ..., rule: str | None = ...,
         scales: str | None = ..., prune: str | None = ...,
         compress: bool = ..., tensors: str | Iterable[str] = ...,
         shard_size: str | None = ..., checksums: bool = ...,
         threads: int = ...,
         shard: int | None = ...) -> list[dict[str, Any]]: ...

# Devices

@dataclass(frozen=True)
class Device:
    ordinal: int
    name: str
    capability: tuple[int, int]
    sms: int
    emulated: bool

def devices() -> list[Device]: ...
def emulate_without_card(card: str = "B200", *,
                         library: str | os.PathLike[str] | None = None,
                         strict: bool = ..., completion: _Completion = ...,
                         seed: int = ..., threads: int = ...) -> Device: ...

class DeviceArray:
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    device: int
    nbytes: int
    def __init__(self, shape: int | Sequence[int],
                 dtype: DTypeLike = ..., device: int = 0) -> None: ...
    @property
    def address(self) -> int: ...
    @property
    def freed(self) -> bool: ...
    def free(self) -> None: ...
    def __enter__(self) -> DeviceArray: ...
    def __exit__(self, *_: type[BaseException] | BaseException |
                 TracebackType | None) -> None: ...
    def __del__(self) -> None: ...
    def write(self, values: ArrayLike) -> DeviceArray: ...
    def numpy(self) -> NDArray[Any]: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __dlpack__(self, *, stream: int | None = None,
                   max_version: tuple[int, int] | None = None,
                   dl_device: tuple[int, int] | None = None,
                   copy: bool | None = None) -> Any: ...

def to_device(values: ArrayLike, device: int = 0) -> DeviceArray: ...

class DeviceScaled:
    format: Format
    layout: str
    shape: tuple[int, ...]
    data: _OnDevice
    scales: _OnDevice | None
    metadata: _OnDevice | None
    tensor_scale: _OnDevice | None
    scale_block: int
    terms: _OnDevice | None
    zeros: _OnDevice | None
    def __init__(self, data: _OnDevice, scales: _OnDevice | None = None, *,
                 metadata: _OnDevice | None = None,
                 tensor_scale: _OnDevice | None = None,
                 terms: _OnDevice | None = None,
                 zeros: _OnDevice | None = None,
                 shape: Sequence[int], format: str | Format,
                 layout: _KernelLayout = "plain", scale_block: int = 0) -> None: ...
    @property
    def batch(self) -> int: ...
    @property
    def rows(self) -> int: ...
    @property
    def k(self) -> int: ...
    def parts(self) -> dict[str, _OnDevice]: ...
    def free(self) -> None: ...

class Prepared:
    kernel: Kernel
    name: str
    device: Device
    sizes: dict[str, int]
    grid: tuple[int, ...]
    cluster: tuple[int, ...]
    block: tuple[int, ...]
    def __init__(self, kernel: Kernel, name: str | None,
                 sizes: dict[str, int | None], device: int,
                 overlap: bool | None) -> None: ...
    def __call__(self, a: DeviceScaled, b: DeviceScaled, *,
                 out: _OnDevice | DeviceScaled,
                 ends: _OnDevice | None = None, rows: _OnDevice | None = None,
                 c: _OnDevice | None = None, bias: _OnDevice | None = None,
                 alpha: float | None = None, beta: float | None = None,
                 tensor_scale: _OnDevice | None = None,
                 stream: _Stream = None) -> Any: ...
    def empty_out(self) -> DeviceArray | DeviceScaled: ...
    def upload(self, name: _Operand, operand: Scaled,
               ends: _Array | None = None,
               rows: _Array | None = None) -> DeviceScaled: ...

class PreparedConversion:
    kernel: Kernel
    name: str
    device: Device
    sizes: dict[str, int]
    grid: tuple[int, ...]
    cluster: tuple[int, ...]
    block: tuple[int, ...]
    def __init__(self, kernel: Kernel, name: str | None,
                 sizes: dict[str, int | None], device: int) -> None: ...
    def __call__(self, a: DeviceScaled | _OnDevice, *,
                 out: DeviceScaled | _OnDevice,
                 stream: _Stream = None) -> DeviceScaled | _OnDevice: ...
    def empty_out(self, a: DeviceScaled | _OnDevice) -> DeviceScaled | DeviceArray: ...

class PreparedDequantization:
    kernel: Kernel
    name: str
    device: Device
    sizes: dict[str, int]
    grid: tuple[int, ...]
    cluster: tuple[int, ...]
    block: tuple[int, ...]
    def __init__(self, kernel: Kernel, name: str | None,
                 sizes: dict[str, int | None], device: int,
                 does: str = ...) -> None: ...
    def __call__(self, a: DeviceScaled, *, out: _OnDevice,
                 stream: _Stream = None) -> _OnDevice: ...
    def empty_out(self) -> DeviceArray: ...
    def upload(self, a: Scaled) -> DeviceScaled: ...

class PreparedQuantization:
    kernel: Kernel
    name: str
    device: Device
    sizes: dict[str, int]
    grid: tuple[int, ...]
    cluster: tuple[int, ...]
    block: tuple[int, ...]
    def __init__(self, kernel: Kernel, name: str | None,
                 sizes: dict[str, int | None], device: int) -> None: ...
    def __call__(self, x: _OnDevice, *, out: DeviceScaled,
                 tensor_scale: _OnDevice | None = None,
                 stream: _Stream = None) -> DeviceScaled: ...
    def empty_out(self) -> DeviceScaled: ...
