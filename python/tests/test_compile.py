# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Specs, kernels and what the compiler says."""

import subprocess
import sys
import threading

import numpy as np
import pytest

import blockscale as bs


def test_matmul_is_text():
    spec = bs.matmul(M="M", N=256, K=512, a="nvfp4", b="nvfp4_one_level", out="bf16",
                     alpha=True, beta=True, bias="column", activation="silu",
                     name="layer")
    assert spec.mlir == '''\
!a = !blockscale.tensor<?x512xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!b = !blockscale.tensor<256x512xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @layer(%a: !a, %b: !b, %alpha: f32, %beta: f32, %c: tensor<?x256xf32>, %bias: tensor<256xf32>) -> tensor<?x256xbf16> {
  %d = blockscale.matmul %a, %b alpha(%alpha) beta(%beta) c(%c) bias(%bias) activation(silu) : !a, !b, tensor<?x256xf32>, tensor<256xf32> -> tensor<?x256xbf16>
  return %d : tensor<?x256xbf16>
}
'''


def test_layout_of_scales():
    """By default where kernels read them, else as the caller says."""
    sizes = {"M": 8, "N": 8, "K": 64}
    spec = bs.matmul(**sizes, a="nvfp4", b="fp8")
    assert '"multi_float32_e4m3fn_t16">' in spec.mlir
    spec = bs.matmul(**sizes, a="nvfp4", b="fp8", layout="tiled_128x4")
    assert '"multi_float32_e4m3fn_t16", layout = tiled_128x4>' in spec.mlir


@pytest.mark.parametrize("change, words", [
    ({"a": "nvfp5"}, "no format 'nvfp5'; there are nvfp4, "),
    ({"out": "f64"}, "out = 'f64': expected one of 'f32', "),
    ({"M": 0}, "M = 0: expected at least 1"),
    ({"N": "M"}, "a dynamic size is written N='N' or None"),
    ({"bias": "rows"}, "bias = 'rows': expected one of None, 'row', "),
    ({"activation": "swish"}, "expected one of None, 'relu', 'gelu', 'silu'"),
    ({"name": "a b"}, "expected a C identifier"),
])
def test_wrong_specs(change, words):
    with pytest.raises(bs.Refused, match=None) as caught:
        bs.matmul(**{**dict(M=8, N=8, K=32, a="mxfp8", b="mxfp8"), **change})
    assert words in str(caught.value)


@pytest.fixture(scope="module")
def kernel():
    return bs.compile(bs.matmul(M="M", N=256, K=512, a="nvfp4", b="nvfp4"))


def test_outputs(kernel):
    assert kernel.target == "sm_100a" and kernel.names == ["matmul"]
    assert "tcgen05.mma" in kernel.ptx and ".target sm_100a" in kernel.ptx
    assert kernel.plan["target"] == "sm_100a"
    assert kernel.cubin == b""
    assert "matmul" in kernel.report_text
    assert "cuTensorMapEncodeTiled" in kernel.launcher
    assert kernel.arg("b") == bs.Argument("b", bs.FORMATS["nvfp4"],
                                          "tiled_128x4")


def test_scales_of_blocks_of_k():
    """DeepSeek's: the epilogue has them, of each block and row another."""
    kernel = bs.compile(bs.matmul(M="M", N=144, K="K", a="fp8_1x128",
                                  b="fp8_128x128", out="f32"))
    assert kernel.arg("a") == bs.Argument("a", bs.FORMATS["fp8_1x128"], "plain")
    assert kernel.arg("b") == bs.Argument("b", bs.FORMATS["fp8_128x128"], "plain")
    rng = np.random.default_rng(5)
    values = [rng.standard_normal((rows, 400)) * rng.uniform(1, 9, (rows, 1)) *
              np.repeat([1, 7, 0.2, 3], [128, 128, 128, 16]) for rows in (37, 144)]
    a, b = (bs.quantize(one, like=kernel.arg(side))
            for one, side in zip(values, "ab"))
    assert len(np.unique(a.scales)) == 37 * 4 and len(np.unique(b.scales)) == 2 * 4
    x, y = (one.dequantize().astype(np.float64) for one in (a, b))
    found = kernel.emulate(a, b)
    assert (np.abs(found - x @ y.T) <= np.abs(x) @ np.abs(y).T * 2.0 ** -20).all()
    assert kernel.verify(M=37, K=400)
    with pytest.raises(bs.Refused, match="'b' is in format 'fp8_1x128'"):
        kernel.emulate(a, bs.quantize(values[1], "fp8_1x128"))


@pytest.mark.parametrize("stage, op", [
    ("tensor", "blockscale.matmul"), ("kernel", "blockscale.mma"),
    ("assigned", "sfa_id"), ("nvvm", "nvvm.tcgen05.mma"),
    ("llvm", "llvm.func")])
def test_stages(kernel, stage, op):
    assert op in kernel.mlir(stage)


def test_cubin():
    kernel = bs.compile(bs.matmul(M=128, N=128, K=512, a="mxfp8", b="mxfp8"),
                        "sm_103a", cubin=True)
    assert kernel.target == "sm_103a"
    assert kernel.cubin[:4] == b"\x7fELF"


def test_several_chips():
    both = '''
    !a = !blockscale.tensor<128x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
    func.func @one(%a: !a, %b: !a) -> tensor<128x128xf32> {
      %d = blockscale.matmul %a, %b {blockscale.target = #blockscale.target<sm_100a>} : !a, !a -> tensor<128x128xf32>
      return %d : tensor<128x128xf32>
    }
    func.func @two(%a: !a, %b: !a) -> tensor<128x128xf32> {
      %d = blockscale.matmul %a, %b {blockscale.target = #blockscale.target<sm_120a>} : !a, !a -> tensor<128x128xf32>
      return %d : tensor<128x128xf32>
    }'''
    kernels = bs.compile(both)
    assert sorted((one.target, *one.names) for one in kernels) == [
        ("sm_100a", "one"), ("sm_120a", "two")]


def test_diagnostics_of_the_compiler():
    text = bs.matmul(M=128, N=128, K=512, a="nvfp4", b="nvfp4").mlir
    with pytest.raises(bs.CompileError) as caught:
        bs.compile(bs.parse(text.replace("t16", "t24"), "mine.mlir"))
    first = caught.value.diagnostics[0]
    assert first.severity == "error" and first.file == "mine.mlir"
    assert first.line >= 1 and first.column >= 1
    assert str(first).startswith(f"mine.mlir:{first.line}:{first.column}: error")


def test_wrong_text_and_targets():
    with pytest.raises(bs.CompileError, match="custom op 'nonsense'"):
        bs.compile("nonsense")
    with pytest.raises(bs.Refused, match="sm_999"):
        bs.compile(bs.matmul(M=8, N=8, K=64, a="mxfp8", b="mxfp8"), "sm_999")
    with pytest.raises(bs.Refused, match="holds no 'blockscale.matmul'"):
        bs.compile("func.func private @f()")
    with pytest.raises(bs.Refused, match="Spec or MLIR text, found a int"):
        bs.compile(7)


def test_save_and_load(kernel, tmp_path):
    kernel.save(tmp_path / "k.bsk")
    loaded = bs.load_kernel(tmp_path / "k.bsk")
    assert loaded.ptx == kernel.ptx and loaded.plan == kernel.plan
    assert loaded.target == kernel.target
    assert loaded.mlir("tensor") == kernel.mlir("tensor")
    (tmp_path / "bad.bsk").write_bytes((tmp_path / "k.bsk").read_bytes()[:99])
    with pytest.raises(bs.Refused, match="is no saved kernel"):
        bs.load_kernel(tmp_path / "bad.bsk")


def test_threads_compile_side_by_side():
    texts = {}

    def work(n):
        texts[n] = bs.compile(
            bs.matmul(M=128, N=n, K=512, a="mxfp8", b="mxfp8")).ptx

    threads = [threading.Thread(target=work, args=(128 + 64 * i,))
               for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for n, ptx in texts.items():
        assert ptx == bs.compile(
            bs.matmul(M=128, N=n, K=512, a="mxfp8", b="mxfp8")).ptx
    assert len(set(texts.values())) == 4


def test_import_brings_no_framework():
    script = ("import sys, blockscale; print([name for name in ('torch', 'jax',"
              " 'cuda', 'triton') if name in sys.modules])")
    done = subprocess.run([sys.executable, "-c", script], check=True,
                          capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_verify(kernel):
    verdict = kernel.verify(M=[1, 129], data="exact", clusters=1)
    assert verdict and verdict.ok and "pass" in str(verdict)
    assert {run["kernel"] for run in verdict.runs} == {"matmul"}
    with pytest.raises(bs.Refused, match="data = 'all': expected one of 'exact'"):
        kernel.verify(data="all")


def test_verify_takes_no_size_that_no_kernel_has(kernel):
    with pytest.raises(bs.Refused, match="N is 3, but no kernel here has a dynamic N: "
                       "it is 256"):
        kernel.verify(M=40, N=3)
    with pytest.raises(bs.Refused, match="batch is 2, but no kernel here has a dynamic "
                       "batch"):
        kernel.verify(M=40, batch=[2])
    assert kernel.verify(M=40, N=256, data="exact")


def test_verify_finds_an_edit(kernel):
    edited = bs.Kernel("sm_100a", kernel.ptx.replace("st.global", "//", 1), b"",
                       kernel.plan_text, kernel._report_text, "", "")
    assert not edited.verify(M=128, data="exact", clusters=1)


def test_explain():
    answer = bs.explain.legality(target="sm_100a", kind="mxf4nvf4", m=64)
    assert not answer and "nearest legal" in str(answer)
    assert bs.explain.legality(target="sm_100a", kind="mxf4nvf4", m=128)
    rows = bs.explain.instructions("sm_103a")
    assert any(row.get("k") == 96 for row in rows["rows"])
    assert "hazard" in bs.explain.hazards().lower()
    with pytest.raises(bs.Refused, match="sm_42"):
        bs.explain.legality(target="sm_42")
