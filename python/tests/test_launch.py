# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Launches through the CUDA driver: on a card, or on the emulated one."""

import subprocess
import sys
import threading

import ml_dtypes
import numpy as np
import pytest
from conftest import exact_product, holding, integers, is_rounded

import blockscale as bs

FORMATS = bs.FORMATS


def operands(kernel, rng, m, n, k, lead=()):
    x, w = integers(rng, (*lead, m, k)), integers(rng, (*lead, n, k))
    a, b = kernel.arg("a"), kernel.arg("b")
    return (bs.quantize(holding(x, a), like=a), bs.quantize(holding(w, b), like=b))


@pytest.fixture(scope="module")
def kernel(device):
    return bs.compile(bs.matmul(M="M", N=72, K=288, a="mxfp8", b="mxfp4",
                                out="bf16", alpha=True, bias="column"))


@pytest.mark.parametrize("a, b, options", [
    ("mxfp8", "mxfp6_e2m3", {}),
    ("mxfp8", "mxfp8_e5m2", {"a_order": "mn_major", "b_order": "mn_major"}),
    (FORMATS["mxfp4"].sparse(), FORMATS["mxfp4"].beside_sparse(), {}),
    (FORMATS["f16"].sparse(), "f16", {}), ("bf16", "bf16", {}),
    (FORMATS["mxfp8"].beside_sparse(), FORMATS["mxfp8"].sparse(), {}),
    ("mxint4", "mxint4", {}),
    (FORMATS["mxint4"].sparse(), FORMATS["mxfp8"].beside_sparse(), {}),
    (FORMATS["int8"].sparse(), "uint8", {"out": "i32"})])
def test_products_on_the_device(device, a, b, options):
    rng = np.random.default_rng(11)
    kernel = bs.compile(bs.matmul(M="M", N=72, K=256, a=a, b=b, **options))
    x, w = operands(kernel, rng, 37, 72, 256)
    d = kernel.launch(x, w)
    expected = exact_product(x, w)
    assert d.shape == (37, 72) and np.count_nonzero(expected) > d.size // 2
    assert (d == expected.astype(d.dtype)).all()


def test_dynamic_sizes_batches_and_epilogue(device):
    rng = np.random.default_rng(12)
    kernel = bs.compile(bs.matmul(
        M="M", N="N", K="K", batch="batch", a="mxfp8", b="mxfp8", alpha=True,
        beta=True, bias="row", activation="relu"))
    for batch, m, n, k in ((1, 33, 40, 64), (3, 130, 24, 160)):
        x, w = operands(kernel, rng, m, n, k, (batch,))
        c = rng.integers(-9, 10, (batch, m, n)).astype(np.float32)
        bias = np.arange(m, dtype=np.float32) - 7
        d = kernel.launch(x, w, c=c, bias=bias, alpha=0.5, beta=2.0)
        expected = np.maximum(0.5 * exact_product(x, w) + 2 * c +
                              bias[:, None], 0)
        assert d.shape == (batch, m, n) and (d == expected).all()
        assert np.count_nonzero(d) > d.size // 4


def test_two_levels_and_clusters(device):
    """Tensor scales of their own per operand, and pairs of CTAs."""
    rng = np.random.default_rng(13)
    text = bs.matmul(M=300, N=520, K=512, a="nvfp4", b="nvfp4").mlir
    kernel = bs.compile(text.replace(
        "%a, %b :", "%a, %b schedule(#blockscale.schedule<cta_group = 2>) :"))
    x = bs.quantize(rng.standard_normal((300, 512)), like=kernel.arg("a"))
    w = bs.quantize(3 * rng.standard_normal((520, 512)), like=kernel.arg("b"))
    prepared = kernel.prepare()
    assert np.prod(prepared.cluster) > 1
    d = kernel.launch(x, w)
    assert is_rounded(d, x, w) and (d == kernel.emulate(x, w)).all()


def test_tensor_maps_of_results(device):
    """D that TMA stores, and C that it loads, are memory of their own type."""
    rng = np.random.default_rng(17)
    text = bs.matmul(M="M", N=256, K=256, a="mxfp8", b="mxfp8", beta=True,
                     out="bf16").mlir
    kernel = bs.compile(text.replace(
        " : !a", " schedule(#blockscale.schedule<stores = tma, c_loads = tma, "
        "swap_operands = false>) : !a"))
    x, w = operands(kernel, rng, 133, 256, 256)
    c = rng.integers(-9, 10, (133, 256)).astype(np.float32)
    d = kernel.launch(x, w, c=c, beta=2.0)
    assert d.dtype == ml_dtypes.bfloat16
    assert (d == kernel.emulate(x, w, c=c, beta=2.0)).all()
    with pytest.raises(bs.Refused, match="'c' is of i32: the kernel has f32"):
        kernel.launch(x, w, c=bs.to_device(c.astype(np.int32)), beta=2.0)


@pytest.mark.parametrize("a, b", [("fp8_row", "fp8_tensor"),
                                  ("int8_tensor", "int8_row")])
def test_scales_of_all_of_k(device, a, b):
    rng = np.random.default_rng(16)
    kernel = bs.compile(bs.matmul(M="M", N=72, K=256, a=a, b=b, batch=2,
                                  out="bf16"))
    x = bs.quantize(rng.standard_normal((2, 37, 256)), like=kernel.arg("a"))
    w = bs.quantize(rng.standard_normal((2, 72, 256)), like=kernel.arg("b"))
    assert (kernel.launch(x, w) == kernel.emulate(x, w)).all()
    there = kernel.upload("b", w)
    assert (kernel.launch(x, there).numpy() == kernel.emulate(x, w)).all()


def test_prepared_launches(kernel):
    rng = np.random.default_rng(14)
    prepared = kernel.prepare(M=37)
    assert prepared.sizes == {"M": 37, "N": 72, "K": 288, "batch": 1}
    bias = rng.standard_normal(72).astype(np.float32)
    bias_there = bs.to_device(bias)
    x1, w = operands(kernel, rng, 37, 72, 288)
    x2, _ = operands(kernel, rng, 37, 72, 288)
    weights = kernel.upload("b", w)
    out = prepared.empty_out()
    assert out.shape == (37, 72) and out.dtype == ml_dtypes.bfloat16
    for x, alpha in ((x1, 1.0), (x2, 0.25), (x1, 0.25)):
        there = prepared.upload("a", x)
        assert prepared(there, weights, out=out, bias=bias_there,
                        alpha=alpha) is out
        expected = kernel.emulate(x, w, bias=bias, alpha=alpha)
        assert (out.numpy() == expected).all()
    # Weights that were uploaded serve launches of other sizes.
    x3, _ = operands(kernel, rng, 5, 72, 288)
    d = kernel.launch(x3, weights, bias=bias)
    assert isinstance(d, bs.DeviceArray)
    assert (d.numpy() == kernel.emulate(x3, w, bias=bias)).all()


def test_workspace_of_a_split_k(device):
    text = bs.matmul(M="M", N=72, K=768, a="mxfp8", b="mxfp8").mlir
    split = text.replace(
        "blockscale.matmul %a, %b",
        "blockscale.matmul %a, %b schedule(#blockscale.schedule<split_k = 3, cluster_k = 1>)")
    assert split != text
    kernel = bs.compile(split)
    rng = np.random.default_rng(15)
    prepared = kernel.prepare(M=37)
    out = prepared.empty_out()
    # Twice: a launch leaves the workspace as the next one needs it.
    for _ in range(2):
        x, w = operands(kernel, rng, 37, 72, 768)
        prepared(prepared.upload("a", x), prepared.upload("b", w), out=out)
        expected = exact_product(x, w).astype(out.dtype)
        assert (out.numpy() == expected).all()
        assert (kernel.emulate(x, w) == expected).all()


def test_workspaces_of_graphs_and_streams(device):
    # Launches that may run at the same time need different workspaces, and the
    # memory of one cannot be an allocation that a graph makes.
    from blockscale._driver import bindings, call, context
    driver = bindings()
    kernel = bs.compile(bs.matmul(M=37, N=72, K=768, a="mxfp8", b="mxfp8").mlir
                        .replace("matmul %a, %b", "matmul %a, %b schedule("
                                 "#blockscale.schedule<split_k = 3, cluster_k = 1>)"))
    rng = np.random.default_rng(16)
    x, w = operands(kernel, rng, 37, 72, 768)
    expected = exact_product(x, w)
    prepared = kernel.prepare(M=37)
    a, b = prepared.upload("a", x), prepared.upload("b", w)
    outs = [prepared.empty_out() for _ in range(3)]
    prepared(a, b, out=outs[0])

    def capture(stream, out):
        mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
        call("cuStreamBeginCapture", stream, mode)
        prepared(a, b, out=out, stream=stream)
        graph = call("cuStreamEndCapture", stream)
        assert call("cuGraphGetNodes", graph, 8)[1] == 1
        return call("cuGraphInstantiate", graph, 0)

    with context(0).current():
        flag = driver.CUstream_flags.CU_STREAM_NON_BLOCKING
        stream, beside = (call("cuStreamCreate", flag) for _ in range(2))
        prepared(a, b, out=outs[0], stream=beside)
        graphs = [capture(stream, out) for out in outs[1:]]
        for graph in graphs + graphs:
            call("cuGraphLaunch", graph, beside)
        call("cuCtxSynchronize")
    for out in outs:
        assert (out.numpy() == expected.astype(out.dtype)).all()
    # Two streams and two graphs.
    assert len({one.address for one in prepared._workspaces.values()}) == 4


def test_results_in_memory_of_the_caller(kernel):
    rng = np.random.default_rng(15)
    x, w = operands(kernel, rng, 4, 72, 288)
    bias = np.zeros(72, np.float32)
    expected = kernel.emulate(x, w, bias=bias)
    out = np.empty((4, 72), ml_dtypes.bfloat16)
    assert kernel.launch(x, w, bias=bias, out=out) is out
    assert (out == expected).all()
    there = bs.DeviceArray((4, 72), ml_dtypes.bfloat16)
    assert kernel.launch(x, w, bias=bias, out=there) is there
    assert (there.numpy() == expected).all()
    for wrong, words in (
            (np.empty((4, 71), ml_dtypes.bfloat16), "shape (4, 71): expected"),
            (np.empty((4, 72), np.float32), "of float32: the kernel writes"),
            (bs.DeviceArray((4, 72), np.float32), "'d' has 1152 bytes"),
            (bs.DeviceArray((4, 72), np.float16), "'d' is of f16"),
            ("there", "'d' is a str: expected memory of a CUDA device")):
        with pytest.raises(bs.Refused) as caught:
            kernel.launch(x, w, bias=bias, out=wrong)
        assert words in str(caught.value)
    out.flags.writeable = False
    with pytest.raises(bs.Refused, match="read-only"):
        kernel.launch(x, w, bias=bias, out=out)


class Interface:
    """Memory of another library's, by `__cuda_array_interface__`."""

    def __init__(self, array, **changes):
        self.fields = {**array.__cuda_array_interface__, **changes}
        self.array = array

    @property
    def __cuda_array_interface__(self):
        return self.fields


class Exporter:
    """Memory of another library's, by DLPack of before 1.0."""

    def __init__(self, array, device=None):
        self.array = array
        self.device = device or array.__dlpack_device__()
        self.streams = []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, *, stream=None):
        self.streams.append(stream)
        return self.array.__dlpack__()


def test_memory_of_others(kernel):
    rng = np.random.default_rng(16)
    x, w = operands(kernel, rng, 9, 72, 288)
    bias = np.arange(72, dtype=np.float32)
    expected = kernel.emulate(x, w, bias=bias)
    prepared = kernel.prepare(M=9)
    a, b = prepared.upload("a", x), prepared.upload("b", w)
    bias_there, out = bs.to_device(bias), prepared.empty_out()
    wrapped = bs.DeviceScaled(
        Interface(a.data), Exporter(a.scales), shape=(9, 288), format="mxfp8",
        layout="tiled_128x4")
    exporter = Exporter(out)
    for bias_of_others in (Interface(bias_there), Exporter(bias_there)):
        out.write(np.zeros((9, 72), ml_dtypes.bfloat16))
        prepared(wrapped, b, out=exporter, bias=bias_of_others, stream=0)
        assert (out.numpy() == expected).all()
    assert set(exporter.streams) == {1}
    # torch and cuda.core name a stream in their ways; 1 is the default one.
    for stream in (1, type("Stream", (), {"__cuda_stream__": lambda self:
                                          (0, 1)})(),
                   type("Stream", (), {"cuda_stream": 1})()):
        prepared(a, b, out=out, bias=bias_there, stream=stream)
    with pytest.raises(bs.Refused, match="stream is a str"):
        prepared(a, b, out=out, bias=bias_there, stream="1")


def test_wrong_memory(kernel):
    rng = np.random.default_rng(17)
    x, w = operands(kernel, rng, 9, 72, 288)
    prepared = kernel.prepare(M=9)
    a, b = prepared.upload("a", x), prepared.upload("b", w)
    out, bias = prepared.empty_out(), bs.to_device(np.ones(72, np.float32))
    good, other = dict(out=out, bias=bias), bs.to_device(bias.numpy())
    prepared(a, b, **good)
    wrong = [
        (dict(bias=None), bs.Refused, "the kernel needs 'bias'"),
        (dict(c=bias), bs.Refused, "the kernel takes no 'c'"),
        (dict(beta=2.0), bs.Refused, "the kernel takes no 'beta'"),
        (dict(bias=np.ones(72, np.float32)), bs.DeviceError,
         "'bias' does not lie on a CUDA device"),
        (dict(bias=Interface(bias, strides=(8,))), bs.Refused,
         "'bias' is not contiguous"),
        (dict(bias=Exporter(other, (2, 1))), bs.DeviceError,
         "'bias' lies on device 1, the kernel runs on device 0"),
        (dict(out=Interface(bs.DeviceArray(324, np.float32))), bs.Refused,
         "'d' is of f32: the kernel has bf16"),
        (dict(bias=Interface(bias, data=(16, False))), bs.DeviceError,
         "0x10 is no address of device memory"),
        (dict(bias=Interface(bias, data=(bias.address + 2, False))),
         bs.Refused, "expected a multiple of 4"),
    ]
    for change, error, words in wrong:
        with pytest.raises(error) as caught:
            prepared(a, b, **{**good, **change})
        assert words in str(caught.value), str(caught.value)
    readonly = Interface(bs.DeviceArray(9 * 144))
    readonly.fields["data"] = (readonly.array.address, True)
    with pytest.raises(bs.Refused, match="'d' is read-only"):
        prepared(a, b, **{**good, "out": readonly})
    prepared(a, b, **good)


def test_freed_memory(kernel):
    rng = np.random.default_rng(18)
    x, w = operands(kernel, rng, 9, 72, 288)
    prepared = kernel.prepare(M=9)
    a, b = prepared.upload("a", x), prepared.upload("b", w)
    out, bias = prepared.empty_out(), bs.to_device(np.ones(72, np.float32))
    prepared(a, b, out=out, bias=bias)
    a.scales.free()
    with pytest.raises(bs.DeviceError, match="'a_scales' was freed"):
        prepared(a, b, out=out, bias=bias)
    a.free()
    with pytest.raises(bs.DeviceError, match="was freed"):
        prepared(a, b, out=out, bias=bias)
    with out:
        assert not out.freed
    assert out.freed and "freed" in repr(out)
    out.free()
    for use in (out.numpy, lambda: out.address, lambda: out.write(out),
                lambda: out.__dlpack__(), lambda: prepared(
                    prepared.upload("a", x), b, out=out, bias=bias)):
        with pytest.raises((bs.DeviceError, bs.Refused)):
            use()


def test_wrong_operands(kernel):
    rng = np.random.default_rng(19)
    x, w = operands(kernel, rng, 9, 72, 288)
    prepared = kernel.prepare(M=9)
    a, b = prepared.upload("a", x), prepared.upload("b", w)
    bias, out = bs.to_device(np.ones(72, np.float32)), prepared.empty_out()
    parts = dict(data=a.data, scales=a.scales, shape=(9, 288))
    wrong = [
        (x, "'a' is a Scaled: expected a blockscale.DeviceScaled"),
        (b, "'a' is in format 'mxfp4': the kernel reads 'mxfp8'"),
        (bs.DeviceScaled(**parts, format="mxfp8"), "are in layout 'plain'"),
        (bs.DeviceScaled(**{**parts, "shape": (8, 288)}, format="mxfp8",
                         layout="tiled_128x4"), "M of 'a' is 8: the launch was "
         "prepared for 9"),
        (bs.DeviceScaled(**{**parts, "data": a.scales}, format="mxfp8",
                         layout="tiled_128x4"), "'a_data' has "),
    ]
    for operand, words in wrong:
        with pytest.raises(bs.Refused) as caught:
            prepared(operand, b, out=out, bias=bias)
        assert words in str(caught.value)
    # What failed half way leaves nothing behind.
    expected = kernel.emulate(x, w, bias=np.ones(72))
    prepared(a, b, out=out, bias=bias)
    other = prepared.upload("a", bs.quantize(np.ones((9, 288)), "mxfp8",
                                             layout="tiled_128x4"))
    with pytest.raises(bs.Refused, match="'a_scales' has"):
        prepared(bs.DeviceScaled(other.data, other.data, shape=(9, 288),
                                 format="mxfp8", layout="tiled_128x4"), b,
                 out=out, bias=bias)
    prepared(a, b, out=out, bias=bias)
    assert (out.numpy() == expected).all()
    with pytest.raises(bs.Refused, match="format 'mxfp8' needs scales"):
        bs.DeviceScaled(a.data, shape=(9, 288), format="mxfp8")
    with pytest.raises(bs.Refused, match="format 'fp8' has no scales"):
        bs.DeviceScaled(a.data, a.scales, shape=(9, 288), format="fp8")
    with pytest.raises(bs.Refused, match="in layout 'plain'"):
        kernel.launch(x.to("plain"), w, bias=np.ones(72))
    with pytest.raises(bs.Refused, match="a' is 9x288: the launch was prepared"):
        kernel.prepare(M=8).upload("a", x)


def test_wrong_launches(device, kernel):
    with pytest.raises(bs.Refused, match="M is dynamic: the launch has to say"):
        kernel.prepare()
    with pytest.raises(bs.Refused, match="N is 71: the kernel is for 72"):
        kernel.prepare(M=4, N=71)
    with pytest.raises(bs.Refused, match="M = 0: expected at least 1"):
        kernel.prepare(M=0)
    with pytest.raises(bs.Refused, match="does not wait for the kernel before"):
        bs.compile(bs.matmul(M=4, N=64, K=64, a="mxfp8", b="mxfp8").mlir.replace(
            "%a, %b :", "%a, %b schedule(#blockscale.schedule<dependent_launch = false>"
            ") :")).prepare(overlap=True)
    with pytest.raises(bs.Refused, match="overlap is a str: expected True or False"):
        kernel.prepare(M=4, overlap="always")
    with pytest.raises(bs.DeviceError, match="there is no device 99"):
        kernel.prepare(M=4, device=99)
    other = bs.compile(bs.matmul(M=64, N=64, K=64, a="mxfp8", b="mxfp8"),
                       "sm_120a")
    with pytest.raises(bs.DeviceError, match=r"for sm_120a \(compute capability "
                       r"12\.0\); device 0, '.*', has 10\.0"):
        other.prepare()
    sparse = bs.compile(bs.matmul(M="M", N=64, K="K", b="f16",
                                  a=FORMATS["f16"].sparse()))
    with pytest.raises(bs.Refused,
                       match="needs K % 8 == 0, but M is 64, K is 36"):
        sparse.prepare(M=64, K=36)
    broken = bs.Kernel("sm_100a", "no PTX", b"", kernel.plan_text, "{}", "", "")
    with pytest.raises(bs.DeviceError, match="cuLibraryLoadData returned CUDA"):
        broken.prepare(M=4)


HAZARD = """
import numpy as np
import blockscale as bs
device = bs.emulate_without_card()
kernel = bs.compile(bs.matmul(M=4, N=16, K=64, a="mxfp8", b="mxfp8"))
edited = bs.Kernel("sm_100a", kernel.ptx.replace("tcgen05.wait::ld", "// ", 1),
                   b"", kernel.plan_text, "{}", "", "")
x, w = (bs.quantize(np.ones((rows, 64)), like=kernel.arg(name))
        for name, rows in (("a", 4), ("b", 16)))
try:
    edited.launch(x, w)
except bs.DeviceError as error:
    print(device.emulated, error.code)
"""


def test_a_hazard_fails_the_launch(device):
    """In a process of its own: what failed so leaves no context behind."""
    if not device.emulated:
        pytest.skip("a card does not look for hazards")
    done = subprocess.run([sys.executable, "-c", HAZARD], check=True,
                          capture_output=True, text=True)
    assert done.stdout.split() == ["True", "CUDA_ERROR_LAUNCH_FAILED"]
    assert "tcgen05" in done.stderr


def test_threads_launch_side_by_side(kernel):
    rng = np.random.default_rng(21)
    _, w = operands(kernel, rng, 1, 72, 288)
    weights, bias = kernel.upload("b", w), np.zeros(72, np.float32)
    wrong = []

    def work(m):
        x, _ = operands(kernel, np.random.default_rng(m), m, 72, 288)
        expected = kernel.emulate(x, w, bias=bias)
        for _ in range(3):
            d = kernel.launch(x, weights, bias=bias).numpy()
            if not (d == expected).all():
                wrong.append(m)

    threads = [threading.Thread(target=work, args=(m,)) for m in (3, 20, 40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_device_arrays(device):
    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    there = bs.to_device(values)
    assert (there.numpy() == values).all()
    assert there.__cuda_array_interface__["shape"] == (3, 4)
    assert there.__dlpack_device__() == (2, 0)
    assert "dltensor_versioned" in repr(there.__dlpack__(max_version=(1, 0)))
    narrow = bs.to_device(values.astype(ml_dtypes.float8_e4m3fn))
    with pytest.raises(AttributeError, match="take the array by DLPack"):
        narrow.__cuda_array_interface__
    narrow.__dlpack__()
    with pytest.raises(BufferError):
        there.__dlpack__(copy=True)
    with pytest.raises(bs.Refused, match="16 bytes for a device array of 48"):
        there.write(values[0])
    with pytest.raises(bs.Refused):
        bs.DeviceArray((-1, 4))
    assert device in bs.devices()


def test_grid_of_a_green_context(device):
    # A persistent kernel starts no more CTAs than the stream's SMs hold.
    from blockscale._driver import bindings, call, context
    driver = bindings()
    if not hasattr(driver, "cuGreenCtxStreamCreate"):
        pytest.skip("cuda-bindings without green contexts")
    kernel = bs.compile(bs.matmul(M="M", N=1024, K=128, a="mxfp8", b="mxfp8")
                        .mlir.replace("matmul %a, %b", "matmul %a, %b schedule("
                                      "#blockscale.schedule<tile_n = 64, "
                                      "cta_group = 1, cluster_m = 1, "
                                      "cluster_n = 1>)"))
    rng = np.random.default_rng(17)
    x, w = operands(kernel, rng, 200, 1024, 128)
    prepared = kernel.prepare(M=200)
    tiles = prepared.grid[0]
    assert tiles > 8
    out = prepared.empty_out()
    a, b = prepared.upload("a", x), prepared.upload("b", w)
    with context(0).current():
        kind = driver.CUdevResourceType.CU_DEV_RESOURCE_TYPE_SM
        whole = call("cuDeviceGetDevResource", call("cuDeviceGet", 0), kind)
        parts, *_ = call("cuDevSmResourceSplitByCount", 1, whole, 0, 8)
        described = call("cuDevResourceGenerateDesc", parts, 1)
        green = call("cuGreenCtxCreate", described, call("cuDeviceGet", 0),
                     driver.CUgreenCtxCreate_flags.CU_GREEN_CTX_DEFAULT_STREAM)
        stream = call("cuGreenCtxStreamCreate", green,
                      driver.CUstream_flags.CU_STREAM_NON_BLOCKING, 0)
        prepared(a, b, out=out, stream=stream)
        call("cuStreamSynchronize", stream)
        assert prepared.grid[0] == 8
        expected = exact_product(x, w).astype(out.dtype)
        assert (out.numpy() == expected).all()
        prepared(a, b, out=out)
        assert prepared.grid[0] == tiles
        call("cuStreamDestroy", stream)
        call("cuGreenCtxDestroy", green)
    assert (out.numpy() == expected).all()


def test_overlap_with_the_kernel_before(kernel):
    rng = np.random.default_rng(13)
    a, b = operands(kernel, rng, 5, 72, 288)
    bias = rng.standard_normal(72).astype(np.float32)
    expected = kernel.emulate(a, b, bias=bias)
    clusters = kernel.prepare(M=5).cluster != (1, 1, 1)
    for overlap, attributes in ((None, 1), (True, 1), (False, 0)):
        prepared = kernel.prepare(M=5, overlap=overlap)
        assert prepared._config.numAttrs == attributes + clusters
        out = prepared.empty_out()
        prepared(prepared.upload("a", a), prepared.upload("b", b), out=out,
                 bias=bs.to_device(bias))
        assert (out.numpy() == expected).all()


def test_asks_no_context_that_is_not_there(kernel, monkeypatch):
    """Without one the question for its device is an error, which compute-sanitizer
    reports of programs that are right."""
    from cuda.bindings import driver
    codes, found = [], []
    a, b = operands(kernel, np.random.default_rng(1), 4, 72, 288)
    ask = driver.cuCtxGetDevice

    def asked():
        codes.append(ask())
        return codes[-1]

    monkeypatch.setattr(driver, "cuCtxGetDevice", asked)
    thread = threading.Thread(target=lambda: found.append(
        kernel.launch(a, b, bias=np.zeros(72, np.float32))))
    thread.start()
    thread.join()
    assert len(found) == 1 and all(code == 0 for code, _ in codes)


def test_leaves_clusters_of_one_out(device):
    """A card starts the CTAs of such a grid more slowly."""
    made = bs.compile("""!q = !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @q(%x: tensor<?x128xbf16>) -> !q {
  %0 = blockscale.quantize %x : tensor<?x128xbf16> to !q
  return %0 : !q
}""")
    prepared = made.prepare_quantize(M=4)
    assert prepared.cluster == (1, 1, 1) and prepared._config.numAttrs == 0
