"""Launches with arguments of their own: tensor maps, images of shared memory."""

import ctypes
import struct

P = ctypes.c_void_p
TYPES = {"u8": (0, 8), "u16": (1, 16), "u32": (2, 32), "s32": (3, 32), "u64": (4, 64),
         "s64": (5, 64), "f16": (6, 16), "f32": (7, 32), "f64": (8, 64),
         "bf16": (9, 16), "f32ftz": (10, 32), "tf32": (11, 32), "tf32ftz": (12, 32),
         "u4a8": (13, 4), "u4a16": (14, 4), "u6a16": (15, 6)}


MEMORY = ("in", "out", "scratch")


class Refused(Exception):
    """The encoder of a tensor map says no; nothing was launched."""


def array(kind, values):
    return None if values is None else (kind * max(len(values), 1))(*values)


class MapMemory:
    """128 bytes at a multiple of 64."""

    def __init__(self, offset=0):
        self.raw = ctypes.create_string_buffer(128 + 64 + 64)
        begin = ctypes.addressof(self.raw)
        self.address = (begin + 63) // 64 * 64 + offset

    def argument(self):
        return (ctypes.c_ubyte * 128).from_address(self.address)

    def bytes(self):
        return ctypes.string_at(self.address, 128)


def code_of(kind):
    return TYPES[kind][0] if isinstance(kind, str) else kind


def encode(driver, case, address):
    """The driver's answer to one set of parameters, and the map."""
    memory = MapMemory(case.get("misplace", 0))
    if case.get("null"):
        address = 0
    address += case.get("shift", 0)
    rank = case["rank"] if "rank" in case else len(case["dims"] or [0, 0])
    u64, u32 = ctypes.c_uint64, ctypes.c_uint32
    strides = case.get("strides")
    head = [P(memory.address), code_of(case["type"]), u32(rank), P(address),
            array(u64, case["dims"]), array(u64, strides)]
    tail = [array(u32, case["steps"]), case.get("interleave", 0),
            case.get("swizzle", 0), case.get("promotion", 0), case.get("fill", 0)]
    if "lower" in case:
        lower, upper = (array(ctypes.c_int, case[x]) for x in ("lower", "upper"))
        result = driver.result("cuTensorMapEncodeIm2col", *head, lower, upper,
                               u32(case["channels"]), u32(case["pixels"]), *tail)
    else:
        result = driver.result("cuTensorMapEncodeTiled", *head,
                               array(u32, case["box"]), *tail)
    return result, memory


def run_encode(driver, launch):
    """Of each case the result as 4 bytes, then the 128 of its map."""
    buffer = driver.allocate(1 << 20)
    answer = b""
    for case in launch["cases"]:
        result, memory = encode(driver, case, buffer)
        answer += struct.pack("<I", result) + memory.bytes()
    return answer


def place(driver, argument, state, outputs):
    """The device memory of an argument that has some."""
    kind, value = argument[:2]
    if kind == "in":
        return state.input(value)
    address = driver.allocate(value)
    if len(argument) > 2:
        driver.write(address, state.bytes(argument[2])[:value])
    else:
        driver.fill(address, value)
    if kind == "out":
        outputs.append((address, value))
    return address


def prepare(driver, launch, state):
    """The arguments of a launch, its outputs and all its memory in order."""
    outputs, arguments = [], []
    buffers = [place(driver, argument, state, outputs)
               for argument in launch["arguments"] if argument[0] in MEMORY]
    at = iter(buffers)
    for argument in launch["arguments"]:
        if argument[0] in MEMORY:
            arguments.append(ctypes.c_uint64(next(at)))
        elif argument[0] == "u32":
            arguments.append(ctypes.c_uint32(argument[1] & 0xFFFFFFFF))
        else:
            result, memory = encode(driver, argument[1], buffers[argument[2]])
            if result:
                raise Refused(f"encode: {result}")
            arguments.append(memory.argument())
    return arguments, outputs, buffers


def run(driver, launch, state, options):
    if launch["special"] == "encode":
        return run_encode(driver, launch)
    module = state.module(launch["module"])
    function = driver.function(module, launch["kernel"])
    arguments, outputs, buffers = prepare(driver, launch, state)
    driver.launch(function, launch["grid"], launch["block"], arguments,
                  launch.get("shared", 0), launch.get("cluster", 1))
    data = b"".join(driver.read(*output) for output in outputs)
    for address, _ in outputs:
        driver.free(address)
    return data
