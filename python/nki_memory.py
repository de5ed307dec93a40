"""Element types and memories of NKI, for nki_interpreter.py: bytes of SBUF and PSUM
with their owners, tensors in HBM, and views of both.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import math

import ml_dtypes
import numpy as np

PARTITIONS = 128
QUADRANT = 32
SBUF_BYTES = 32 * 1024 * 1024 // PARTITIONS
PSUM_BANK_BYTES = 2048
PSUM_BYTES = 8 * PSUM_BANK_BYTES

# Columns of the moving tile by revision of the documents: float32, bfloat16.
MOVING_COLUMNS = {
    "2025-12-01": (512, 1024),
    "2025-12-19": (512, 1024),
    "2026-04": (512, 1024),
    "2026-07": (4096, 8192),
}


class NKIError(Exception):
    """A rule of the documents that a kernel breaks."""


def require(condition, message, source):
    if not condition:
        raise NKIError(f"{message} ({source})")


class DType:
    """An element type of nki.language; `pack` elements of `element` in one value."""

    def __init__(self, name, storage, element=None):
        self.name, self.storage, self.element = name, np.dtype(storage), element

    @property
    def size(self):
        return self.storage.itemsize

    def __repr__(self):
        return f"nl.{self.name}"


DTYPES = {
    t.name: t
    for t in (
        DType("uint8", np.uint8),
        DType("uint16", np.uint16),
        DType("uint32", np.uint32),
        DType("float16", np.float16),
        DType("float32", np.float32),
        DType("bfloat16", ml_dtypes.bfloat16),
        DType("float8_e8m0fnu", np.uint8),
        DType("float8_e4m3fn_x4", np.uint32, ml_dtypes.float8_e4m3fn),
        DType("float8_e5m2_x4", np.uint32, ml_dtypes.float8_e5m2),
        DType("float4_e2m1fn_x4", np.uint16, ml_dtypes.float4_e2m1fn),
    )
}
FLOATS = ("float16", "float32", "bfloat16")


class Memory:
    """The bytes of SBUF or PSUM, and which tile wrote each of them last."""

    def __init__(self, name, capacity):
        self.name, self.capacity = name, capacity
        self.bytes = np.zeros((PARTITIONS, 0), np.uint8)
        self.owner = np.zeros((PARTITIONS, 0), np.int32)
        self.next_free = 0

    def grow(self, end):
        missing = end - self.bytes.shape[1]
        if missing > 0:
            missing = (missing + 4095) // 4096 * 4096
            pad = ((0, 0), (0, missing))
            # Old views would go stale: tiles hold offsets, not views.
            self.bytes = np.pad(self.bytes, pad)
            self.owner = np.pad(self.owner, pad)


class Machine:
    """One run of one kernel."""

    def __init__(self, revision):
        self.revision = revision
        self.sbuf = Memory("sbuf", SBUF_BYTES)
        self.psum = Memory("psum", PSUM_BYTES)
        self.tiles = 0
        self.allocated = []
        self.temporaries = []
        self.counts = {}

    def count(self, name):
        self.counts[name] = self.counts.get(name, 0) + 1


class Tensor:
    """An HBM tensor, a tile, or a view of one.

    `index` holds, for each element of the view, its number in the whole tensor
    (HBM) or in a partition (SBUF, PSUM; the same in all partitions).
    """

    def __init__(self, root, index, first=0, partitions=None, dtype=None):
        self.root, self.index = root, index
        self.first, self.partitions = first, partitions
        self.dtype = dtype or root.dtype

    @property
    def memory(self):
        return self.root.memory

    @property
    def shape(self):
        if self.memory == "hbm":
            return self.index.shape
        return (self.partitions,) + self.index.shape

    def __getitem__(self, key):
        key = key if isinstance(key, tuple) else (key,)
        require(len(key) == len(self.shape), f"index {key} of a tensor of shape {self.shape}",
                "NKI language guide, tensor indexing")
        bounds = []
        for part, size in zip(key, self.shape):
            if isinstance(part, DynamicSlice):
                start, stop = part.start, part.start + part.size
            else:
                require(isinstance(part, slice) and part.step is None, f"index {part!r}",
                        "NKI language guide, tensor indexing")
                start = 0 if part.start is None else part.start
                stop = size if part.stop is None else part.stop
            require(0 <= start < stop <= size, f"elements {start} to {stop} of {size}",
                    "NKI language guide, tensor indexing")
            bounds.append(slice(start, stop))
        if self.memory == "hbm":
            return Tensor(self.root, self.index[tuple(bounds)], dtype=self.dtype)
        rows = bounds[0]
        return Tensor(self.root, self.index[tuple(bounds[1:])], self.first + rows.start,
                      rows.stop - rows.start, self.dtype)

    def ap(self, pattern, offset=0, dtype=None):
        source = "NKI Access Patterns, ap"
        require(self.memory == "hbm", "access pattern over a tile", source)
        whole = self.root
        dtype = dtype or self.dtype
        require(dtype.size == self.dtype.size,
                f"{self.dtype} read as {dtype} of another width", source)
        require(isinstance(offset, int) and offset >= 0, f"offset {offset!r}", source)
        index = np.asarray(offset)
        for step, count in pattern:
            require(count >= 1, f"count {count} in a pattern", source)
            index = index[..., None] + step * np.arange(count)
        require(index.min() >= 0 and index.max() < whole.size,
                f"pattern reaches element {index.max()} of {whole.size}", source)
        return Tensor(whole, index, dtype=dtype)

    def reshape(self, shape):
        source = "NKI API reference, NkiTensor.reshape"
        require(self.memory != "hbm" and shape[0] == self.partitions,
                f"reshape {self.shape} to {shape}", source)
        require(math.prod(shape) == math.prod(self.shape),
                f"reshape {self.shape} to {shape}", source)
        return Tensor(self.root, self.index.reshape(shape[1:]), self.first, self.partitions,
                      self.dtype)

    def read(self):
        return self.root.read(self)

    def write(self, values):
        require(values.shape == self.shape, f"{values.shape} written to {self.shape}",
                "NKI API reference, shapes of operands")
        self.root.write(self, values.astype(self.dtype.storage, copy=False))


class HbmTensor:
    """A tensor in HBM."""

    memory = "hbm"

    def __init__(self, shape, dtype, values=None, once=False):
        self.shape, self.dtype, self.size = tuple(shape), dtype, math.prod(shape)
        self.read_only = values is not None
        self.once = once
        self.values = (np.zeros(self.size, dtype.storage) if values is None
                       else np.array(values, dtype.storage).reshape(-1))
        self.written = np.full(self.size, self.read_only)

    def whole(self):
        return Tensor(self, np.arange(self.size).reshape(self.shape))

    def read(self, view):
        require(self.written[view.index].all(), "reads HBM that nothing was written to",
                "program order")
        return self.values[view.index]

    def write(self, view, values):
        require(not self.read_only, "writes a parameter", "NKI API reference, nki.jit")
        require(np.unique(view.index).size == view.index.size, "writes an element twice",
                "NKI Access Patterns")
        require(not (self.once and self.written[view.index].any()),
                "writes a result twice", "one store for each element")
        self.values[view.index] = values
        self.written[view.index] = True


class Tile:
    """A tile of SBUF or PSUM."""

    def __init__(self, machine, shape, dtype, store, address):
        source = "NKI API reference, nki.language.ndarray"
        require(len(shape) >= 2 and all(isinstance(s, int) and s >= 1 for s in shape),
                f"tile of shape {shape}", source)
        require(shape[0] <= PARTITIONS, f"{shape[0]} partitions of 128",
                "Trainium3 architecture guide")
        machine.tiles += 1
        self.number, self.store, self.memory = machine.tiles, store, store.name
        self.shape, self.dtype = tuple(shape), dtype
        self.bytes = math.prod(shape[1:]) * dtype.size
        if address is None:
            # Left to NKI's allocator: room that nothing else has.
            bank = PSUM_BANK_BYTES if store.name == "psum" else 1
            begin = (store.next_free + bank - 1) // bank * bank
            store.next_free = begin + self.bytes
        else:
            require(isinstance(address, tuple) and len(address) == 2 and address[0] == 0,
                    f"address {address!r}", source)
            begin = address[1]
            require(0 <= begin and begin + self.bytes <= store.capacity,
                    f"bytes {begin} to {begin + self.bytes} of {store.capacity}",
                    "Trainium3 architecture guide")
        self.begin = begin
        if store.name == "psum":
            require(begin // PSUM_BANK_BYTES == (begin + self.bytes - 1) // PSUM_BANK_BYTES,
                    f"tile of bytes {begin} to {begin + self.bytes} crosses a PSUM bank",
                    "Trainium3 architecture guide")
        store.grow(begin + self.bytes)
        # An accumulation group that is not closed; whether its sum was read.
        self.open, self.unread = False, False

    def whole(self):
        free = self.shape[1:]
        return Tensor(self, np.arange(math.prod(free)).reshape(free), 0, self.shape[0])

    def _bytes(self, view):
        rows = np.arange(view.first, view.first + view.partitions)
        columns = self.begin + view.index[..., None] * self.dtype.size + np.arange(
            self.dtype.size)
        return (rows.reshape((-1,) + (1,) * columns.ndim), columns[None])

    def written(self, view):
        """Whether each element was last written through this tile."""
        return (self.store.owner[self._bytes(view)] == self.number).all(axis=-1)

    def read(self, view):
        require(not self.open, "reads a sum whose accumulation group is open",
                "nki.isa.nc_matmul_mx, Parameters")
        require(self.written(view).all(),
                "reads bytes that were not written, or that another tile has overwritten",
                "program order")
        self.unread = False
        raw = np.ascontiguousarray(self.store.bytes[self._bytes(view)])
        return raw.view(self.dtype.storage)[..., 0]

    def write(self, view, values):
        raw = np.ascontiguousarray(values).view(np.uint8).reshape(values.shape + (-1,))
        self.store.bytes[self._bytes(view)] = raw
        self.store.owner[self._bytes(view)] = self.number


class DynamicSlice:
    """nl.ds."""

    def __init__(self, start, size):
        self.start, self.size = start, size
