# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels on CUDA devices, as their launch plans say."""

import struct
import sys
import threading
import weakref

import numpy as np

from . import _driver as cuda
from . import _groups as groups
from . import _operands as operands
from . import _quantized_result as quantized_result
from ._checks import flag, real, whole
from ._device import (DeviceArray, device_of, memory_of, to_device,
                      zeros_on_device)
from ._device_scaled import DeviceScaled
from ._errors import DeviceError, Refused
from ._scaled import GROUPED, Scaled
from ._slots import Slot

ALIGNMENT = 128
LOG_BYTES = 8192


def check_capability(plan, device):
    """Refuses a device that does not run the plan's code. Plans of before do not
    say which do: the driver refuses then."""
    have = capability(device)
    devices = plan.get("devices", [have])
    if have not in devices:
        raise DeviceError(
            f"the kernel is for {plan['target']} (compute capability "
            f"{', '.join(devices)}); device {device.ordinal}, "
            f"'{device.name}', has {have}")


def capability(device):
    """As plans write it."""
    return "{}.{}".format(*device.capability)


class Loaded:
    """The code of a kernel in the driver; for all devices."""

    def __init__(self, kernel, name):
        driver = cuda.bindings()
        self.library = load(driver, kernel)
        self.kernel = cuda.call("cuLibraryGetKernel", self.library,
                                name.encode())

    def __del__(self):
        # The module itself may be gone at the end.
        if hasattr(self, "library") and sys and not sys.is_finalizing():
            cuda.bindings().cuLibraryUnload(self.library)


def load(driver, kernel):
    """The cubin, or the PTX where there is none that the driver takes."""
    if kernel.cubin:
        code, library = driver.cuLibraryLoadData(kernel.cubin, [], [], 0, [],
                                                 [], 0)
        if code == 0:
            return library
        if code.name != "CUDA_ERROR_NO_BINARY_FOR_GPU":
            cuda.fail("cuLibraryLoadData", code)
    option, log = driver.CUjit_option, bytearray(LOG_BYTES)
    code, library = driver.cuLibraryLoadData(
        kernel.ptx.encode() + b"\0",
        [option.CU_JIT_ERROR_LOG_BUFFER,
         option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES], [log, LOG_BYTES], 2,
        [], [], 0)
    if code != 0:
        words = bytes(log).split(b"\0")[0].decode(errors="replace").strip()
        cuda.fail("cuLibraryLoadData", code, f"\n{words}" if words else "")
    return library


# Parameters to memory of others whose numbers have to be of the kernel's type.
TYPED = ("d", "c", "bias", "offsets", "k_offsets", "row_counts",
         "row_numbers", "x", "tensor_scale")

# CU_SHARED_MEMORY_MODE_ALLOW_OVERSIZED_SHARED_MEMORY.
ALLOW_OVERSIZED_SHARED_MEMORY = 3


class Bound:
    """A kernel with its sizes on a device, and the parameters of a launch."""

    def __init__(self, kernel, planned, sizes, device, overlap):
        self.sizes = all_sizes(planned, sizes)
        planned = kernel._for_rows(planned, self.sizes["M"])
        self.kernel, self.name = kernel, planned["name"]
        self.device = cuda.device(device)
        check_capability(kernel.plan, self.device)
        self._planned, self._lock = planned, threading.Lock()
        self._context = cuda.context(device)
        with self._context.current():
            self._loaded = kernel._loaded(self.name)
            self._configure(overlap)

    def _configure(self, overlap):
        driver, planned = cuda.bindings(), self._planned
        handle, ordinal = self._loaded.kernel, self.device.ordinal
        shared = planned["sharedMemoryBytes"]
        attribute = driver.CUfunction_attribute
        number = cuda.call("cuDeviceGet", ordinal)
        if planned.get("oversizedSharedMemory"):
            # Of CUDA 13.4: the size is not asked for then.
            if not hasattr(attribute, "CU_FUNC_ATTRIBUTE_SHARED_MEMORY_MODE"):
                raise DeviceError(
                    f"'{self.name}' takes {shared} bytes of shared memory, "
                    "which cuda-bindings of 13.4 or newer can ask for")
            cuda.call("cuKernelSetAttribute",
                      attribute.CU_FUNC_ATTRIBUTE_SHARED_MEMORY_MODE,
                      ALLOW_OVERSIZED_SHARED_MEMORY, handle, number)
        else:
            cuda.call("cuKernelSetAttribute",
                      attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                      shared, handle, number)
        if np.prod(planned["cluster"]) > 8:
            cuda.call("cuKernelSetAttribute", attribute.
                      CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1,
                      handle, number)
        self.cluster, self.block = (tuple(planned["cluster"]),
                                    tuple(planned["block"]))
        cluster = [self._cluster_attribute(driver)]
        attributes = self._attributes(driver, overlap)
        # A grid of clusters of one CTA starts its CTAs more slowly than one without
        # clusters does (docs/hardware.md).
        if self.cluster != (1, 1, 1):
            attributes = cluster + attributes
        self._config = self._configuration(shared, attributes)
        # Only of clusters the driver counts how many run at once.
        self._question = self._configuration(shared, cluster)
        question = self._question
        question.gridDimX, question.gridDimY, question.gridDimZ = self.cluster
        self._sms = None
        self._allocate(self._suit_grid(0))

    def _suit_grid(self, stream):
        """Sets the grid for the SMs that launches on the stream have: those of the
        device, or of a green context. The parameters of a launch, if it is new."""
        sms = cuda.sms_of(stream) or self.device.sms
        if sms == self._sms:
            return None
        config = self._config
        self._question.hStream = stream
        clusters = cuda.call("cuOccupancyMaxActiveClusters",
                             self._loaded.kernel, self._question)
        if clusters < 1:
            raise DeviceError(
                f"device {self.device.ordinal}, '{self.device.name}', holds no "
                f"cluster of {np.prod(self.cluster)} CTAs of '{self.name}'"
                + (f" in {sms} SMs" if sms != self.device.sms else ""))
        launch = operands.new_launch(self.kernel, self._planned, self.sizes,
                                     num_sms=sms, max_clusters=clusters)
        description, self._parameters = operands.describe(launch)
        self.grid = tuple(description["grid"])
        config.gridDimX, config.gridDimY, config.gridDimZ = self.grid
        self._sms = sms
        return description["parameters"]

    def _configuration(self, shared, attributes):
        config = cuda.bindings().CUlaunchConfig()
        config.blockDimX, config.blockDimY, config.blockDimZ = self.block
        config.sharedMemBytes = shared
        if attributes:
            config.attrs = attributes
        config.numAttrs = len(attributes)
        return config

    def _cluster_attribute(self, driver):
        cluster = driver.CUlaunchAttribute()
        cluster.id = \
            driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        value = driver.CUlaunchAttributeValue()
        (value.clusterDim.x, value.clusterDim.y,
         value.clusterDim.z) = self.cluster
        cluster.value = value
        return cluster

    def _attributes(self, driver, overlap):
        """Those of a launch beside its cluster."""
        attributes = []
        if self._planned.get("cooperative"):
            together = driver.CUlaunchAttribute()
            together.id = \
                driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
            value = driver.CUlaunchAttributeValue()
            value.cooperative = 1
            together.value = value
            attributes.append(together)
        waits = self._planned["dependentLaunch"]
        if not (waits if overlap is None else flag("overlap", overlap)):
            return attributes
        if not waits:
            raise Refused(f"'{self.name}' does not wait for the kernel before "
                          "it, so they cannot overlap")
        serial = driver.CUlaunchAttribute()
        serial.id = driver.CUlaunchAttributeID.\
            CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
        value = driver.CUlaunchAttributeValue()
        value.programmaticStreamSerializationAllowed = 1
        serial.value = value
        return attributes + [serial]

    def _allocate(self, parameters):
        """Memory for the parameters, and the list of their addresses that the
        driver reads."""
        room = 8 * len(parameters) + ALIGNMENT
        starts = []
        for one in parameters:
            room = -(-room // ALIGNMENT) * ALIGNMENT
            starts.append(room)
            room += one["size"]
        self._bytes = np.zeros(room + ALIGNMENT, np.uint8)
        base = self._bytes.__array_interface__["data"][0]
        skip = -base % ALIGNMENT
        self._list = base + skip
        view = memoryview(self._bytes)[skip:]
        self._slots, self._factors = {}, {}
        self._workspaces = {}
        for i, (one, start) in enumerate(zip(parameters, starts)):
            view[8 * i:8 * i + 8] = (self._list + start).to_bytes(8, "little")
            storage = view[start:start + one["size"]]
            if one["kind"] != "scalar":
                described = operands.of(self._planned["operands"], one["role"])
                self._slots[one["role"]] = Slot(
                    one, self._list + start, storage,
                    described["type"] if described else None)
            elif one["type"] == "i32":
                storage[:] = struct.pack("<i", one["value"])
            else:
                fixed = one["value"]
                self._factors[one["role"]] = (storage, fixed)
                storage[:] = f32(1.0 if fixed is None else fixed)

    def _set_memory(self, role, value, stream, writes=False):
        """Points a parameter to device memory that fits it."""
        slot = self._slots[role]
        memory = memory_of(role, value, stream)
        if memory.nbytes != slot.bytes:
            raise Refused(f"'{role}' has {memory.nbytes} bytes, expected "
                          f"{slot.bytes}")
        if slot.role in TYPED and memory.type not in (None, slot.type):
            raise Refused(f"'{role}' is of {memory.type}: the kernel has "
                          f"{slot.type}")
        if writes and memory.readonly:
            raise Refused(f"'{role}' is read-only")
        if memory.address != slot.address:
            place = memory.device if memory.device is not None else \
                device_of(memory.address)
            if place != self.device.ordinal:
                raise DeviceError(f"'{role}' lies on device {place}, the kernel "
                                  f"runs on device {self.device.ordinal}")
        slot.set(memory.address)
        return memory

    def _set_workspace(self, stream):
        """Points the workspace, if the kernel has one, to memory that no launch
        uses which may run at the same time. A launch leaves it as the next one
        needs it."""
        slot = self._slots.get("workspace")
        if slot is None:
            return
        order = cuda.order_of(stream)
        memory = self._workspaces.get(order)
        if memory is None:
            memory = zeros_on_device(slot.bytes, self.device.ordinal)
            self._workspaces[order] = memory
        slot.set(memory.address)

    def _launch(self, stream):
        """Launches on the stream with the parameters as they are."""
        self._suit_grid(stream)
        self._config.hStream = stream
        code, = cuda.bindings().cuLaunchKernelEx(
            self._config, int(self._loaded.kernel), self._list, 0)
        if code != 0:
            cuda.fail("cuLaunchKernelEx", code)


class Prepared(Bound):
    """A kernel with its sizes on a device: `prepared(a, b, out=d)` launches it.

    Made by `Kernel.prepare`. device: a Device. sizes: M, N, K, batch. grid,
    cluster, block. A launch can be captured into a CUDA graph.
    """

    def __init__(self, kernel, name, sizes, device, overlap):
        super().__init__(kernel, kernel._planned(name), sizes, device, overlap)
        # Operands that were looked at, and those that parameters point to.
        self._known = {name: weakref.WeakKeyDictionary() for name in "ab"}
        self._last = {}

    def _set_operand(self, name, value, stream):
        """Points the parameters of A or B to an operand. What is ours lies still
        and is looked at once; memory of others may move."""
        known = self._known[name].get(value) if isinstance(
            value, DeviceScaled) else None
        if known is not None and value is self._last.get(name):
            for slot, one in known:
                if one._address is None:
                    raise DeviceError(f"'{slot.role}' was freed")
            return
        # If this fails, parameters point to some of both.
        self._last[name] = None
        if known is None:
            known = self._look_at(name, value, stream)
        for slot, one in known:
            slot.set(one.address)
        self._last[name] = value if known else None

    def _look_at(self, name, value, stream):
        """Refuses an operand that does not fit; otherwise sets its memory, and
        gives back what is ours of it, if all is."""
        if not isinstance(value, DeviceScaled):
            raise Refused(f"'{name}' is a {type(value).__name__}: expected a "
                          "blockscale.DeviceScaled; Kernel.upload makes one")
        wanted = self.kernel.arg(name, self.name)
        operands.check_format(name, value, wanted)
        operands.check_layout(name, value, wanted.layout)
        operands.check_scale_block(name, value, wanted)
        found = {"K": value.k, "batch": value.batch,
                 operands.rows_size(self._planned, name): value.rows}
        if name == "a" and operands.is_grouped(self._planned):
            found["batch"] = self.sizes["batch"] if len(value.shape) == 2 else None
        if operands.is_along_k(self._planned) and len(value.shape) == 2:
            found["batch"] = self.sizes["batch"]
        for size, extent in found.items():
            if extent != self.sizes[size]:
                raise Refused(f"{size} of '{name}' is {extent}: the launch was "
                              f"prepared for {self.sizes[size]}")
        parts = value.parts()
        has_terms = name + "_terms" in self._slots
        if has_terms != ("_terms" in parts):
            raise Refused(f"'{name}' has {'no ' if has_terms else ''}terms of zero points: "
                          f"the kernel {'needs them' if has_terms else 'takes none'}; "
                          "its own Kernel.upload makes what it reads")
        if "_zeros" in parts:
            raise Refused(f"'{name}' has zero points beside its elements: the kernel "
                          "takes these less zero points; its own Kernel.upload makes "
                          "what it reads")
        for suffix, one in parts.items():
            self._set_memory(name + suffix, one, stream)
        if not all(isinstance(one, DeviceArray) for one in parts.values()):
            return ()
        known = tuple((self._slots[name + suffix], one)
                      for suffix, one in parts.items())
        self._known[name][value] = known
        return known

    def _set_factor(self, name, value):
        if name not in self._factors:
            if value is not None:
                raise Refused(f"the kernel takes no '{name}'")
            return
        storage, fixed = self._factors[name]
        if fixed is not None:
            if value is not None and real(name, value) != fixed:
                raise Refused(f"'{name}' is {fixed} in the source, not {value}")
            return
        storage[:] = f32(1.0 if value is None else real(name, value))

    def __call__(self, a, b, *, out, ends=None, rows=None, c=None, bias=None,
                 alpha=None, beta=None, tensor_scale=None, stream=None):
        """Launches the kernel and returns `out`; work goes on behind it.

        a, b: `DeviceScaled` operands of the prepared sizes.
        out: memory for D on the device, of a kernel that quantises its product a
            `DeviceScaled`; ends, rows (i32), c, bias: likewise, where the kernel reads
            them. Those of others are taken by DLPack or
            `__cuda_array_interface__`.
        alpha, beta: factors, 1 unless given.
        tensor_scale: one f32 for each matrix on the device, where the kernel
            quantises its product with one.
        stream: as torch, cuda.core or the driver have it; None for the default.

        Raises Refused for what does not fit, DeviceError for memory of another
        device, freed memory, and what the driver says.
        """
        handle = cuda.stream_handle(stream)
        operands.check_ends(self._planned, ends, rows)
        with self._lock, self._context.current():
            self._set_operand("a", a, handle)
            self._set_operand("b", b, handle)
            for role, value in ((operands.ends_role(self._planned), ends),
                                ("row_numbers", rows)):
                if value is not None:
                    self._set_memory(role, value, handle)
            for name, value in (("c", c), ("bias", bias)):
                if (value is not None) != (name in self._slots):
                    raise Refused(f"the kernel takes no '{name}'"
                                  if value is not None else
                                  f"the kernel needs '{name}'")
                if value is not None:
                    self._set_memory(name, value, handle)
            quantized_result.set_tensor_scale(self, tensor_scale, handle)
            if "d" in self._slots:
                self._set_memory("d", out, handle, writes=True)
            else:
                quantized_result.set_out(self, out, handle)
            self._set_workspace(handle)
            self._set_factor("alpha", alpha)
            self._set_factor("beta", beta)
            self._launch(handle)
        return out

    def empty_out(self):
        """A DeviceArray for D, or a DeviceScaled if the kernel quantises its product:
        batch x M x N, or M x N of one matrix."""
        if "d" not in self._slots:
            return quantized_result.empty(self)
        shape = operands.shape_of(self._planned, "d", self.sizes)
        whole_shape = shape[0] > 1 or operands.is_along_k(self._planned)
        return DeviceArray(shape if whole_shape else shape[1:],
                           operands.TYPES[self._slots["d"].type],
                           self.device.ordinal)

    def upload(self, name, operand, ends=None, rows=None):
        """A `Scaled` operand "a" or "b" on the device, packed as the kernel reads it.
        ends, rows: of "a" of a product of groups whose scales lie by groups."""
        self.kernel._check_operand(self._planned, name, operand)
        count = self.sizes[operands.rows_size(self._planned, name)]
        grouped = operands.is_grouped(self._planned)
        rows = None if rows is None else groups.checked_rows(rows)
        if ends is not None:
            operands.check_ends(self._planned, ends, rows)
            ends = operands.checked_ends(self._planned, ends, self.sizes)
        is_one = grouped and name == "a" or operands.is_along_k(self._planned)
        matrices = 1 if is_one else self.sizes["batch"]
        if (operand.batch, operand.rows, operand.k) != (
                matrices, count, self.sizes["K"]):
            raise Refused(f"'{name}' is {'x'.join(map(str, operand.shape))}: the"
                          f" launch was prepared for {self.sizes}")
        parts = operands.parts(self._planned, name, operand, self._parameters, ends,
                               rows)
        wanted = self.kernel.arg(name, self.name)
        return DeviceScaled(
            shape=operand.shape, format=operand.format,
            layout=wanted.layout if wanted.layout == GROUPED else operand.layout,
            scale_block=wanted.scale_block,
            **{role.removeprefix(name + "_"):
               to_device(content, self.device.ordinal)
               for role, content in parts.items()})


def f32(value):
    """The bytes of a number rounded to f32."""
    with np.errstate(over="ignore"):
        return np.float32(value).tobytes()


def all_sizes(planned, given):
    """Values of M, N, K and batch; those that are dynamic have to be given."""
    sizes = {}
    for one in planned["sizes"]:
        value = given.get(one["name"])
        if value is None and one["value"] is None:
            raise Refused(f"{one['name']} is dynamic: the launch has to say it")
        if value is not None:
            value = whole(one["name"], value, 1)
        if value is not None and one["value"] not in (None, value):
            raise Refused(f"{one['name']} is {value}: the kernel is for "
                          f"{one['value']}")
        sizes[one["name"]] = int(one["value"] if value is None else value)
    return sizes


def launch(kernel, a, b, *, ends=None, rows=None, out=None, c=None, bias=None, alpha=None,
           beta=None, tensor_scale=None, kernel_name=None, device=0, stream=None):
    """See Kernel.launch."""
    planned = kernel._planned(kernel_name)
    for name, value in (("a", a), ("b", b)):
        if not isinstance(value, (Scaled, DeviceScaled)):
            kernel._check_operand(planned, name, value)
    operands.check_ends(planned, ends, rows)
    sizes = operands.check_sizes(planned, a, b, ends, rows)
    if ends is not None and is_on_host(ends):
        ends = operands.checked_ends(planned, ends, sizes)
    if rows is not None and is_on_host(rows):
        rows = groups.checked_rows(rows)
    prepared = kernel._prepared(planned["name"], sizes, device)
    host_ends = ends if ends is not None and is_on_host(ends) else None
    # Without the ends of groups nobody finds their scales.
    on_host = isinstance(a, Scaled) and isinstance(b, Scaled) and not (
        quantized_result.is_by_groups(planned) and host_ends is None)
    passing = []  # copies for this launch alone

    def sent(name, value):
        if not isinstance(value, Scaled):
            return value
        has_ends = name == "a" or operands.is_along_k(planned)
        passing.append(prepared.upload(name, value, *(
            one if has_ends and is_on_host(one) else None for one in (ends, rows))))
        return passing[-1]

    def sent_numbers(values):
        if values is None or not is_on_host(values):
            return values
        passing.append(to_device(values, device))
        return passing[-1]

    def sent_plain(name, value):
        if value is None or not is_on_host(value):
            return value
        content = operands.plain(planned, name, value, sizes)
        passing.append(to_device(content.view(operands.TYPES[
            operands.of(planned["operands"], name)["type"]]), device))
        return passing[-1]

    def sent_tensor_scale():
        if tensor_scale is not None and not is_on_host(tensor_scale):
            return tensor_scale
        factors = operands.tensor_scales(planned, tensor_scale, sizes)
        if factors is not None:
            passing.append(to_device(factors, device))
        return None if factors is None else passing[-1]

    quantizes = operands.quantizes(planned)
    host_out = out if isinstance(out, np.ndarray) and not quantizes else None
    if host_out is not None:
        check_host_out(host_out, prepared)
    target = out
    if quantizes and out is None:
        shape = operands.shape_of(planned, "d", sizes)
        target = quantized_result.empty(
            prepared, operands.shape_for(planned, shape, a))
    elif out is None or host_out is not None:
        target = prepared.empty_out()
    try:
        prepared(sent("a", a), sent("b", b), out=target, ends=sent_numbers(ends),
                 rows=sent_numbers(rows), c=sent_plain("c", c),
                 bias=sent_plain("bias", bias), alpha=alpha, beta=beta,
                 tensor_scale=sent_tensor_scale(), stream=stream)
        if passing or on_host or host_out is not None:
            with prepared._context.current():
                cuda.call("cuStreamSynchronize", cuda.stream_handle(stream))
    finally:
        for one in passing:
            one.free()
    if host_out is None and (out is not None or not on_host):
        return target
    if quantizes:
        return quantized_result.to_host(prepared, target, host_ends)
    values = target.numpy()
    target.free()
    if host_out is None:
        shape = operands.shape_of(planned, "d", sizes)
        return values.reshape(operands.shape_for(planned, shape, a))
    host_out[...] = values.reshape(host_out.shape)
    return host_out


def is_on_host(value):
    if isinstance(value, DeviceArray) or hasattr(value,
                                                 "__cuda_array_interface__"):
        return False
    if hasattr(value, "__dlpack_device__"):
        return value.__dlpack_device__()[0] == 1
    return True


def check_host_out(out, prepared):
    shape = operands.shape_of(prepared._planned, "d", prepared.sizes)
    dtype = operands.TYPES[prepared._slots["d"].type]
    if out.shape not in (shape, shape[1:] if shape[0] == 1 else shape):
        raise Refused(f"'out' of shape {out.shape}: expected {shape}")
    if out.dtype != dtype:
        raise Refused(f"'out' of {out.dtype}: the kernel writes {dtype}")
    if not out.flags.writeable:
        raise Refused("'out' is read-only")
