# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The CUDA driver, by cuda.bindings, and the devices that it has.

Nothing is imported or loaded before a device is asked for.
"""

import ctypes
import functools
import os
import threading
from dataclasses import dataclass
from pathlib import Path

from ._checks import whole
from ._errors import DeviceError, Refused

# The driver of the emulator, in this package where it was built.
EMULATED = Path(__file__).parent / "emulated" / "libcuda.so.1"
SETTINGS = {"strict": "BLOCKSCALE_STRICT", "seed": "BLOCKSCALE_SEED",
            "completion": "BLOCKSCALE_COMPLETION",
            "threads": "BLOCKSCALE_THREADS"}


@dataclass(frozen=True)
class Device:
    """A CUDA device.

    ordinal: its number for the driver.
    capability: compute capability, such as (10, 0).
    sms: streaming multiprocessors.
    emulated: whether it is the emulator's.
    """

    ordinal: int
    name: str
    capability: tuple
    sms: int
    emulated: bool


class Loaded:
    """What this process has of the driver."""

    lock = threading.Lock()
    bindings = None
    is_emulated = "BLOCKSCALE_RECORDS" in os.environ
    emulated_library = None


def bindings():
    """cuda.bindings.driver, initialised. Raises DeviceError without a driver,
    without a device, or without the package."""
    if Loaded.bindings is not None:
        return Loaded.bindings
    with Loaded.lock:
        try:
            from cuda.bindings import driver
        except ImportError as error:
            raise DeviceError(
                "launching needs NVIDIA's package 'cuda-bindings', version 13: "
                f"pip install 'blockscale[cuda]' ({error})") from error
        try:
            code, = driver.cuInit(0)
        except Exception as error:  # what it raises without libcuda.so.1
            raise DeviceError(
                f"there is no CUDA driver: {error}; run the program with "
                "'blockscale emulate --cuda', or call "
                "blockscale.emulate_without_card() first") from error
        if code != 0:
            raise DeviceError(f"the CUDA driver does not start: {code.name}",
                              code.name)
        Loaded.bindings = driver
    return driver


def call(name, *arguments):
    """Calls a function of the driver; what it returns beside its status."""
    driver = bindings()
    code, *results = getattr(driver, name)(*arguments)
    if code != 0:
        fail(name, code)
    return results[0] if len(results) == 1 else tuple(results)


def fail(name, code, more=""):
    """Raises what a status of the driver means."""
    _, words = bindings().cuGetErrorString(code)
    words = words.decode() if words else ""
    raise DeviceError(f"{name} returned {code.name}: {words}{more}", code.name)


@functools.cache
def device(ordinal=0):
    """The device with a number. Raises DeviceError if there is none."""
    driver = bindings()
    count = call("cuDeviceGetCount")
    if whole("device", ordinal) >= count:
        raise DeviceError(f"there is no device {ordinal}: the driver has {count}")
    handle = call("cuDeviceGet", ordinal)
    kind = driver.CUdevice_attribute
    major, minor, sms = (call("cuDeviceGetAttribute", one, handle) for one in (
        kind.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
        kind.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
        kind.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT))
    name = call("cuDeviceGetName", 256, handle).split(b"\0")[0].decode()
    return Device(ordinal, name, (major, minor), sms, Loaded.is_emulated)


def devices():
    """The CUDA devices, none where there is no driver."""
    try:
        bindings()
    except DeviceError:
        return []
    return [device(i) for i in range(call("cuDeviceGetCount"))]


def has_card():
    """Whether a driver of NVIDIA's with a device is installed. Looks for it by
    itself, because a driver without a device can still be let go here."""
    import _ctypes
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int(0)
    found = library.cuInit(0) == 0 and \
        library.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0
    if not found:
        _ctypes.dlclose(library._handle)
    return found


def emulate_without_card(card="B200", *, library=None, **settings):
    """Device 0: the card of this machine, or one of the emulated driver where
    there is none. To be called before anything uses CUDA.

    card: what is emulated: "B200", "B300", "RTX5090", ... as in `blockscale
        emulate --device`.
    library: the emulated libcuda.so.1, by default that of this package.
    settings: strict, completion ("immediate", "random", "latest"), seed,
        threads; what is wrong with a kernel is printed, and its launch fails.

    Raises Refused where CUDA is in use without a device, or nothing emulated is
    there.
    """
    if Loaded.bindings is None and Loaded.emulated_library is None and \
            not Loaded.is_emulated and not has_card():
        load_emulated(card, Path(library or EMULATED), settings)
    return device(0)


def load_emulated(card, library, settings):
    unknown = set(settings) - set(SETTINGS)
    if unknown:
        raise Refused(f"no setting '{min(unknown)}'; there are "
                      f"{', '.join(SETTINGS)}")
    if not library.exists():
        raise Refused(f"no emulated driver at '{library}': this package was "
                      "built without one (it needs the headers of CUDA 13); "
                      "run the program with 'blockscale emulate --cuda'")
    os.environ["BLOCKSCALE_DEVICE"] = card
    for name, value in settings.items():
        value = int(value) if isinstance(value, bool) else value
        os.environ[SETTINGS[name]] = str(value)
    # Whoever looks for libcuda.so.1 from now on finds this one loaded.
    Loaded.emulated_library = ctypes.CDLL(str(library), ctypes.RTLD_GLOBAL)
    Loaded.is_emulated = True


def stream_handle(stream):
    """The handle of a stream: an int, torch's, cuda.core's, whatever has
    `__cuda_stream__`; None for the default stream."""
    if stream is None:
        return 0
    if isinstance(stream, int) and not isinstance(stream, bool):
        return stream
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    if hasattr(stream, "cuda_stream"):
        return int(stream.cuda_stream)
    if type(stream).__name__ == "CUstream":
        return int(stream)
    raise Refused(f"stream is a {type(stream).__name__}: expected an int, None "
                  "or an object with '__cuda_stream__'")


def sms_of(stream):
    """SMs of the green context that a stream is of, of the default stream that of
    the current context; None if it is of none, or the driver knows of none."""
    driver = bindings()
    if not hasattr(driver, "cuStreamGetGreenCtx"):
        return None
    code, green = driver.cuStreamGetGreenCtx(stream)
    if code != 0 or not int(green):
        return None
    return call("cuGreenCtxGetDevResource", green,
                driver.CUdevResourceType.CU_DEV_RESOURCE_TYPE_SM).sm.smCount


def order_of(stream):
    """A key of the launches that follow each other: of a stream, of a thread's
    own default stream, of a graph that is captured. Launches with different keys
    may run at the same time."""
    driver = bindings()
    status, number, *_ = call("cuStreamGetCaptureInfo", stream)
    active = driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE
    own = stream == int(driver.CU_STREAM_PER_THREAD)
    return (stream, threading.get_ident() if own else None,
            int(number) if status == active else None)


class Context:
    """The primary context of a device, kept for the life of the process."""

    def __init__(self, ordinal):
        self.ordinal = ordinal
        self.handle = call("cuDevicePrimaryCtxRetain",
                           call("cuDeviceGet", ordinal))
        self.address = int(self.handle)

    def current(self):
        """Makes it current in a `with`, unless one of the same device is."""
        return Current(self)


class Current:
    __slots__ = ("context", "pushed")

    def __init__(self, context):
        self.context, self.pushed = context, False

    def __enter__(self):
        # Of the device only where there is a context: without one asking for it is an
        # error, which tools such as compute-sanitizer report.
        now = int(call("cuCtxGetCurrent"))
        if now == self.context.address:
            return
        if not now or int(call("cuCtxGetDevice")) != self.context.ordinal:
            call("cuCtxPushCurrent", self.context.handle)
            self.pushed = True

    def __exit__(self, *_):
        if self.pushed:
            call("cuCtxPopCurrent")


@functools.cache
def context(ordinal):
    device(ordinal)
    return Context(ordinal)
