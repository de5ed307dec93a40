"""Runs kernels of AWS NKI that blockscale emits, on numpy, and checks each call
against what NKI's public documents demand.

Written from those documents alone: it shares no code or table with the
compiler. A kernel is Python; it runs as it is, with modules `nki`, `nki.isa` and
`nki.language` that stand here. Every broken rule is an NKIError with the document
that states it. Bytes of SBUF and PSUM are modelled with their owners: reading what
no one wrote, or what another tile has overwritten since, is an error too.

What the documents leave open is fixed as follows: sums are exact within an
instruction, rounded once to float32, and added to PSUM in float32; quantize_mx
rounds elements to nearest, ties to even.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import math
import sys
import types

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


# ---------------------------------------------------------------------------
# Numbers
# ---------------------------------------------------------------------------


def unpack(values, dtype):
    """The four elements of each packed value, as float64 in a new last axis."""
    bits = 8 * dtype.size // 4
    codes = (values[..., None] >> (bits * np.arange(4, dtype=values.dtype))) & ((1 << bits) - 1)
    return codes.astype(np.uint8).view(dtype.element).astype(np.float64)


def pack(elements, dtype):
    """The inverse for 8-bit elements."""
    codes = np.ascontiguousarray(elements).view(np.uint8).astype(np.uint32)
    return sum(codes[..., q] << np.uint32(8 * q) for q in range(4)).astype(np.uint32)


def scale_rows(partitions):
    """Row of the scale tile for each partition: by quadrant, one for eight."""
    p = np.arange(partitions)
    return QUADRANT * (p // QUADRANT) + (p % QUADRANT) // 8


def scale_values(codes):
    """2^(byte - 127); 255 is NaN."""
    return np.where(codes == 255, np.nan, np.ldexp(1.0, codes.astype(np.int32) - 127))


# ---------------------------------------------------------------------------
# nki.isa
# ---------------------------------------------------------------------------


class Isa:
    """The instructions, as methods of one run."""

    def __init__(self, machine):
        self.machine = machine

    def _on_chip(self, tensor, name, source, psum=True):
        legal = ("sbuf", "psum") if psum else ("sbuf",)
        require(isinstance(tensor, Tensor) and tensor.memory in legal,
                f"{name} must be in {' or '.join(legal)}", source)

    def dma_copy(self, dst, src):
        source = "nki.isa.dma_copy"
        self.machine.count("dma_copy")
        for name, tensor in (("dst", dst), ("src", src)):
            require(isinstance(tensor, Tensor) and tensor.memory in ("hbm", "sbuf"),
                    f"{name} must be in hbm or sbuf", source)
        require(dst.dtype is src.dtype, f"dst {dst.dtype}, src {src.dtype}", source)
        require(dst.shape == src.shape, f"dst {dst.shape}, src {src.shape}", source)
        dst.write(src.read())

    def memset(self, dst, value):
        source = "nki.isa.memset"
        self.machine.count("memset")
        self._on_chip(dst, "dst", source)
        require(dst.dtype.element is None or value == 0, f"value {value} of packed elements",
                source)
        dst.write(np.full(dst.shape, value, dst.dtype.storage))

    def tensor_copy(self, dst, src):
        self.machine.count("tensor_copy")
        self._elementwise("nki.isa.tensor_copy", dst, src)
        dst.write(src.read().astype(np.float32).astype(dst.dtype.storage))

    def _elementwise(self, source, *tensors):
        for tensor in tensors:
            self._on_chip(tensor, "operand", source)
            require(tensor.dtype.name in FLOATS, f"operand of {tensor.dtype}", source)
            require(tensor.shape == tensors[0].shape,
                    f"tiles {tensor.shape} and {tensors[0].shape}", source)
            require(tensor.first == tensors[0].first,
                    f"partitions from {tensor.first} and from {tensors[0].first}", source)

    def _operator(self, op, source):
        functions = {"add": np.add, "multiply": np.multiply, "maximum": np.maximum}
        require(op in functions, f"operator {op!r}", source)
        return functions[op]

    def tensor_tensor(self, dst, data1, data2, op):
        source = "nki.isa.tensor_tensor"
        self.machine.count("tensor_tensor")
        self._elementwise(source, dst, data1, data2)
        require(not (data1.memory == data2.memory == "psum"), "both inputs in psum", source)
        result = self._operator(op, source)(data1.read().astype(np.float32),
                                            data2.read().astype(np.float32))
        dst.write(result.astype(dst.dtype.storage))

    def tensor_scalar(self, dst, data, op0, operand0):
        source = "nki.isa.tensor_scalar"
        self.machine.count("tensor_scalar")
        self._elementwise(source, dst, data)
        if isinstance(operand0, Tensor):
            self._on_chip(operand0, "operand0", source)
            require(operand0.shape == (data.shape[0], 1) and operand0.first == data.first,
                    f"operand0 of shape {operand0.shape} for {data.shape}", source)
            operand0 = operand0.read().astype(np.float32)
        else:
            require(isinstance(operand0, float), f"operand0 {operand0!r}", source)
            operand0 = np.float32(operand0)
        result = self._operator(op0, source)(data.read().astype(np.float32), operand0)
        dst.write(result.astype(dst.dtype.storage))

    def activation(self, dst, op, data):
        source = "nki.isa.activation"
        self.machine.count("activation")
        self._elementwise(source, dst, data)
        x = data.read().astype(np.float64)
        if op == "gelu":
            erf = np.vectorize(math.erf, otypes=[np.float64])
            result = 0.5 * x * (1 + erf(x / math.sqrt(2)))
        else:
            require(op == "silu", f"function {op!r}", source)
            with np.errstate(over="ignore"):
                result = x / (1 + np.exp(-x))
        dst.write(result.astype(np.float32).astype(dst.dtype.storage))

    # -- block scaling ------------------------------------------------------

    def _check_scale(self, scale, data, name):
        layout = "nki.isa.quantize_mx, Layout"
        legal = ("uint8", "float8_e8m0fnu") if self.machine.revision >= "2026-07" else ("uint8",)
        require(scale.dtype.name in legal, f"{name} of {scale.dtype}",
                "nki.isa.nc_matmul_mx, Data types")
        self._on_chip(scale, name, "nki.isa.nc_matmul_mx, Memory types", psum=False)
        require(len(scale.shape) == 2 and scale.shape[1] == data.shape[1],
                f"{name} of shape {scale.shape} for data {data.shape}", layout)
        # The documents show no other sizes.
        shown = (4, data.partitions) if data.partitions == QUADRANT else (data.partitions,)
        require(scale.partitions in shown, f"{name} of {scale.partitions} partitions",
                "MXFP guide, Scale Tensor")
        require(scale.first - data.first in (0, 4, 8, 12),
                f"{name} from partition {scale.first} for data from {data.first}", layout)

    def _check_rows(self, stationary, tile_position, tile_size):
        source = "nki.isa.nc_matmul_mx, Tiling mode"
        require((tile_position is None) == (tile_size is None),
                "tile_position and tile_size go together", source)
        rows, columns = tile_size or (128, 128)
        start, column = tile_position or (0, 0)
        require(rows in (32, 64, 128) and columns == 128, f"tile_size ({rows}, {columns})",
                source)
        require(column == 0 and start % rows == 0 and 0 <= start and start + rows <= 128,
                f"tile_position ({start}, {column}) of tiles of {rows}", source)
        require(stationary.partitions <= rows, f"P = {stationary.partitions} in {rows} rows",
                source)
        # Legal by the text, but rows that a neighbour needs.
        require(tile_size is None or rows == 32 or stationary.partitions > rows // 2,
                f"P = {stationary.partitions} leaves half of {rows} rows idle", source)
        require(stationary.first == start,
                f"operands from partition {stationary.first} in rows from {start}", source)

    def _check_matmul(self, dst, stationary, moving):
        memory = "nki.isa.nc_matmul_mx, Memory types"
        size = "nki.isa.nc_matmul_mx, Tile size"
        kinds = "nki.isa.nc_matmul_mx, Data types"
        require(isinstance(dst, Tensor) and dst.memory == "psum", "dst must be in psum", memory)
        for name, tile in (("stationary", stationary), ("moving", moving)):
            self._on_chip(tile, name, memory, psum=False)
            require(tile.dtype.element is not None, f"{name} of {tile.dtype}", kinds)
            require(len(tile.shape) == 2, f"{name} of shape {tile.shape}", size)
            require(tile.partitions % 32 == 0, f"P = {tile.partitions} of {name}", size)
        require(dst.dtype.name in ("float32", "bfloat16"), f"dst of {dst.dtype}", kinds)
        require(stationary.partitions == moving.partitions
                and stationary.first == moving.first, "P of the operands differs", size)
        m, n = stationary.shape[1], moving.shape[1]
        require(m % 2 == 0 and m <= 128, f"M = {m}", size)
        limit = MOVING_COLUMNS[self.machine.revision][dst.dtype.name == "bfloat16"]
        require(n <= limit, f"N = {n}", size)
        require(dst.shape == (m, n) and dst.first == 0, f"dst of shape {dst.shape} for {m} by {n}",
                "nki.isa.nc_matmul_mx, Layout")

    def _adds(self, dst, flag, accumulate):
        """Whether the instruction adds to what is in dst."""
        source = "nki.isa.nc_matmul_mx, Parameters"
        revision, tile = self.machine.revision, dst.root
        require(flag is None or revision == "2025-12-01", "psum_accumulate_flag", source)
        require(accumulate is None or revision >= "2026-04", "accumulate", source)
        there = tile.written(dst)
        require(there.all() or not there.any(), "dst is partly written", source)
        there = bool(there.all())
        if revision == "2025-12-01":
            flag = 3 if flag is None else flag
            require(flag in (0, 1, 2, 3, 4, 6), f"psum_accumulate_flag {flag}", source)
            first = flag & 5 != 0 or flag == 6
            require(first != tile.open,
                    "first instruction of a group inside one" if first
                    else "instruction of a group that was not opened", source)
            tile.open = flag & 2 == 0
            adds = flag not in (1, 3)
        elif accumulate is None:
            adds = there
        else:
            adds = accumulate
        require(not adds or there, "adds to a PSUM tile that was never written", source)
        require(adds or not tile.unread, "overwrites a sum that was not read", source)
        return adds

    def nc_matmul_mx(self, dst, stationary, moving, stationary_scale, moving_scale,
                     tile_position=None, tile_size=None, psum_accumulate_flag=None,
                     accumulate=None):
        self.machine.count("nc_matmul_mx")
        self._check_matmul(dst, stationary, moving)
        self._check_scale(stationary_scale, stationary, "stationary_scale")
        self._check_scale(moving_scale, moving, "moving_scale")
        self._check_rows(stationary, tile_position, tile_size)
        values = []
        for tile, scale in ((stationary, stationary_scale), (moving, moving_scale)):
            rows = scale_rows(tile.partitions)
            # Only the rows that hold scales are read.
            codes = np.stack([scale[r:r + 1, 0:scale.shape[1]].read()[0]
                              for r in np.unique(rows)])
            lookup = np.searchsorted(np.unique(rows), rows)
            values.append(unpack(tile.read(), tile.dtype)
                          * scale_values(codes)[lookup][..., None])
        left = values[0].transpose(0, 2, 1).reshape(-1, values[0].shape[1])
        right = values[1].transpose(0, 2, 1).reshape(-1, values[1].shape[1])
        product = (left.T @ right).astype(np.float32)
        adds = self._adds(dst, psum_accumulate_flag, accumulate)
        if adds:
            was_open, dst.root.open = dst.root.open, False
            product = dst.read().astype(np.float32) + product
            dst.root.open = was_open
        dst.write(product.astype(dst.dtype.storage))
        dst.root.unread = True

    def quantize_mx(self, dst, src, dst_scale):
        source = "nki.isa.quantize_mx"
        self.machine.count("quantize_mx")
        for name, tile in (("src", src), ("dst", dst), ("dst_scale", dst_scale)):
            self._on_chip(tile, name, source + ", Memory types", psum=False)
        require(src.dtype.name in ("float16", "bfloat16"), f"src of {src.dtype}",
                source + ", Data types")
        require(dst.dtype.name in ("float8_e4m3fn_x4", "float8_e5m2_x4"),
                f"dst of {dst.dtype}", source + ", Data types")
        size = source + ", Tile size"
        require(len(src.shape) == 2 and src.shape[1] % 4 == 0, f"src of shape {src.shape}", size)
        require(src.partitions % 32 == 0, f"P = {src.partitions}", size)
        require(dst.shape == (src.partitions, src.shape[1] // 4) and dst.first == src.first,
                f"dst of shape {dst.shape} for src {src.shape}", size)
        self._check_scale(dst_scale, dst, "dst_scale")
        x = src.read().astype(np.float64)
        groups = x.reshape(src.partitions // 8, 8, -1, 4)
        largest = np.abs(groups).max(axis=(1, 3))
        require(np.isfinite(largest).all(), "NaN or infinity, which the documents leave open",
                source)
        emax = 8 if dst.dtype.name == "float8_e4m3fn_x4" else 15
        exponent = np.frexp(np.where(largest == 0, 1, largest))[1] - 1
        codes = np.clip(exponent - (emax - 1) + 127, 0, 254)
        codes = np.where(largest == 0, 0, codes).astype(np.uint8)
        scaled = groups / scale_values(codes)[:, None, :, None]
        # Exact in float32: 16-bit values times a power of two, within range.
        elements = scaled.astype(np.float32).astype(dst.dtype.element)
        dst.write(pack(elements.reshape(src.partitions, -1, 4), dst.dtype))
        rows = np.unique(scale_rows(src.partitions))
        for row, group in zip(rows, codes):
            dst_scale[int(row):int(row) + 1, 0:dst_scale.shape[1]].write(group[None])


# ---------------------------------------------------------------------------
# Modules and runs
# ---------------------------------------------------------------------------


def make_modules(machine):
    """`nki`, `nki.isa` and `nki.language` for one run."""
    nki, isa, nl = (types.ModuleType(name) for name in ("nki", "nki.isa", "nki.language"))
    instructions = Isa(machine)
    for name in dir(Isa):
        if not name.startswith("_"):
            setattr(isa, name, getattr(instructions, name))
    for dtype in DTYPES.values():
        setattr(nl, dtype.name, dtype)
    for name in ("sbuf", "psum", "shared_hbm", "private_hbm", "add", "multiply", "maximum",
                 "gelu", "silu"):
        setattr(nl, name, name)
    nl.ds = DynamicSlice

    def ndarray(shape, dtype, buffer="sbuf", address=None):
        require(isinstance(dtype, DType), f"dtype {dtype!r}", "nki.language.ndarray")
        if buffer in ("shared_hbm", "private_hbm"):
            require(address is None, "address in HBM", "nki.language.ndarray")
            tensor = HbmTensor(shape, dtype, once=True)
            machine.temporaries.append(tensor)
            return tensor.whole()
        require(buffer in ("sbuf", "psum"), f"buffer {buffer!r}", "nki.language.ndarray")
        require(address is None or machine.revision >= "2026-04", "address",
                "nki.language.ndarray")
        tile = Tile(machine, shape, dtype, getattr(machine, buffer), address)
        machine.allocated.append(tile)
        return tile.whole()

    def jit(function=None, platform_target=None):
        if platform_target is not None:
            require(platform_target == "trn3", f"platform_target {platform_target!r}",
                    "nki.jit; nc_matmul_mx is of NeuronCore-v4 and newer")
        return function if function else lambda inner: inner

    nl.ndarray, nki.jit, nki.isa, nki.language = ndarray, jit, isa, nl
    return {"nki": nki, "nki.isa": isa, "nki.language": nl}


def run_kernel(code, name, inputs, revision):
    """Runs `name` of the compiled file `code`.

    `inputs` are pairs of a numpy array and the name of its NKI type. Returns the
    results as numpy arrays and the Machine.
    """
    machine = Machine(revision)
    modules = make_modules(machine)
    saved = {module: sys.modules.get(module) for module in modules}
    sys.modules.update(modules)
    try:
        scope = {}
        exec(code, scope)  # pylint: disable=exec-used
        arguments = [HbmTensor(array.shape, DTYPES[kind], array).whole()
                     for array, kind in inputs]
        results = scope[name](*arguments)
    finally:
        for module, old in saved.items():
            if old is None:
                del sys.modules[module]
            else:
                sys.modules[module] = old
    results = results if isinstance(results, tuple) else (results,)
    arrays = []
    for result in results:
        require(isinstance(result, Tensor) and result.memory == "hbm"
                and not result.root.read_only, "result outside of HBM", "nki.jit")
        arrays.append(result.root.values.reshape(result.root.shape))
    for tensor in machine.temporaries:
        require(tensor.written.all(), "tensor in HBM with elements that were not written",
                "one store for each element")
    for tile in machine.allocated:
        require(not tile.open, "accumulation group that is not closed",
                "nki.isa.nc_matmul_mx, Parameters")
        require(not tile.unread, "sum in PSUM that nothing read", "one use of each sum")
    return arrays, machine
