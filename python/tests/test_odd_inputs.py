# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What programs give by mistake, and what they do with objects of ours: copies,
other processes, threads."""

import copy
import json
import os
import pickle
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import blockscale as bs

BYTECODE = Path(__file__).parents[2] / "test/Compatibility/Inputs/bytecode-2"
EMPTY = (".version 8.8\n.target sm_100a\n.address_size 64\n"
         ".visible .entry k(.param .u64 p) { ret; }")


def hidden(shape):
    values = np.ma.array(np.ones(shape))
    values[..., 0] = np.ma.masked
    return values


# Numpy makes numbers of all of these, which nobody meant.
@pytest.mark.parametrize("values, words", [
    (hidden((4, 64)), "masked elements"),
    (np.full((4, 64), "1.5"), "found one of <U3"),
    (np.zeros((4, 64), "M8[s]"), "found one of datetime64"),
    (np.ones((4, 64), "m8[s]"), "found one of timedelta64"),
    (np.zeros((4, 64), [("a", "f4")]), "found one of"),
    (np.zeros((4, 64), "V4"), "found one of"),
    (np.full((4, 64), 1e300), "too large for float32"),
    (np.full((4, 64), 2**200), "too large for float32"),
    (np.full((4, 64), 10**400), "expected an array of numbers"),
    (np.full((4, 64), None), "expected an array of numbers"),
    (np.float32(1), "expected rows x K"), (b"bytes", "expected"),
    ([[1, 2], [3]], "expected an array of numbers")])
def test_what_is_no_array_of_numbers(values, words):
    with pytest.raises(bs.Refused, match=words):
        bs.quantize(values, "mxfp8")


@pytest.mark.parametrize("bias, words", [
    (hidden(16), "'bias': the array has masked"),
    (np.full(16, "1"), "'bias': expected an array of numbers"),
    (np.full(16, 1e300), "'bias': a number that is too large"),
    (np.ones(16, np.complex64), "'bias': expected real numbers")])
def test_what_is_no_bias(kernel, good, bias, words):
    with pytest.raises(bs.Refused, match=words):
        kernel.emulate(**{**good, "bias": bias})


@pytest.mark.parametrize("factor", [1e300, -1e39, 10**400])
def test_a_factor_that_no_float_holds(kernel, good, factor):
    with pytest.raises(bs.Refused, match="alpha.* too large for a float32"):
        kernel.emulate(**good, alpha=factor)


def test_factors_that_are_no_numbers_reach_the_kernel(kernel, good):
    assert (kernel.emulate(**good, alpha=float("inf")) == np.inf).all()
    assert np.isnan(kernel.emulate(**good, alpha=np.float16("nan"))).all()


def test_views_of_all_kinds(kernel):
    values = np.arange(256, dtype=np.float32).reshape(4, 64)
    expected = bs.quantize(values, "mxfp8")
    backwards = values[::-1, ::-1].copy()[::-1, ::-1]
    steps = np.repeat(values, 2, axis=1)[:, ::2]
    for view in (np.asfortranarray(values), backwards, steps, values.view(
            np.matrix), memoryview(values), np.ma.array(values),
            values.astype(object), values.astype(np.longdouble),
            values.tolist(), values.astype(">f8")):
        found = bs.quantize(view, "mxfp8")
        assert type(found.data) is np.ndarray
        assert (found.dequantize() == expected.dequantize()).all()
    again = bs.Scaled(np.asfortranarray(expected.data),
                      np.asfortranarray(expected.scales), format="mxfp8")
    assert (again.dequantize() == expected.dequantize()).all()


@pytest.mark.parametrize("fields, words", [
    (("e3m0",), "element = 'e3m0': expected one of"),
    (("e2m1", "ue6m3", 16), "scale = 'ue6m3': expected one of"),
    (("e2m1", "ue4m3", -16), "block = -16: expected at least 0"),
    (("e2m1", "ue4m3", 16.5), "block is a float"),
    (("e2m1", None, 16), "and 0 without"), ((["e2m1"],), "element = a list"),
    (("tf32", "ue8m0", 32), "elements of tf32 have no scales"),
    (("e2m1", "ue4m3", 16, 1), "tensor_scale is a int"),
    (("e2m1", "ue4m3", 16, False, "9:10"), "sparsity = '9:10'")])
def test_formats_that_there_are_not(fields, words):
    with pytest.raises(bs.Refused, match=words):
        bs.Format(*fields)


@pytest.mark.parametrize("call, words", [
    (lambda: bs.quantize(np.ones((4, 64)), like=3), "like is a int"),
    (lambda: bs.compile("\udc80"), "no text of Unicode"),
    (lambda: bs.matmul(8, 8, 64, "mxfp8", "mxfp8", name="\udc80"), "Unicode"),
    (lambda: bs.explain.instructions(3), "target is a int"),
    (lambda: bs.explain.instructions("sm_100a", "xml"), "expected one of"),
    (lambda: bs.explain.table("scale_layout", 3), "questions is a int"),
    (lambda: bs.emulate(EMPTY, [np.full(3, None)]), "Python's objects"),
    (lambda: bs.emulate(EMPTY, [hidden(3)]), "masked elements"),
    (lambda: bs.quantize(np.ones((4, 64)), "nvfp4", tensor_scale="a"),
     "expected an array of numbers"),
    (lambda: bs.quantize(np.ones((4, 64)), "nvfp4", tensor_scale=np.inf),
     "finite and not 0"),
    (lambda: bs.quantize(np.ones((4, 64)), "nvfp4", tensor_scale=1j),
     "expected real numbers")])
def test_other_mistakes(call, words):
    with pytest.raises(bs.Refused, match=words):
        call()


def test_bytecode_is_mlir(kernel, tmp_path):
    """It is read, and refused for what it says; half of it cannot be read."""
    source = next(BYTECODE.glob("*.mlirbc")).read_bytes()
    with pytest.raises(bs.CompileError, match="scales in layout 'plain'"):
        bs.compile(source)
    with pytest.raises(bs.Refused) as refused:
        bs.compile(bs.parse(source[:len(source) // 2], "half.mlirbc"))
    assert "in layout" not in str(refused.value)
    saved = copy.copy(kernel)
    saved.source = source
    saved.save(tmp_path / "k.bsk")
    assert bs.load_kernel(tmp_path / "k.bsk").source == source


def test_copies(kernel, good):
    expected = kernel.emulate(**good)
    for copied in (copy.copy, copy.deepcopy,
                   lambda one: pickle.loads(pickle.dumps(one))):
        others = {name: copied(one) for name, one in good.items()}
        assert (copied(kernel).emulate(**others) == expected).all()
        for one in (bs.FORMATS["nvfp4"], kernel.arg("a"), bs.parse("", "x")):
            assert copied(one) == one


@pytest.mark.parametrize("error", [
    bs.Hazard([{"kind": "race", "text": "a race", "line": 3}]),
    bs.DeviceError("words", "CUDA_ERROR_INVALID_VALUE"), bs.Busy("words"),
    bs.CheckpointError("words", "a-rule", (1, 2)),
    bs.CompileError("words", [bs.Diagnostic("error", "why", "x.mlir", 3, 4)])])
def test_errors_come_from_other_processes(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == str(error)
    assert vars(again) == vars(error)


def test_device_arrays_have_one_owner(device, kernel, good):
    array = bs.to_device(np.arange(6.0))
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied or pickled"):
            copied(array)
    assert (array.numpy() == np.arange(6.0)).all()
    kernel.launch(**good)  # leaves things of the driver behind
    assert (copy.deepcopy(kernel).launch(**good) == 65).all()
    with pytest.raises(bs.Refused, match="bytes = .*: expected at most"):
        bs.DeviceArray((2**40, 2**40), np.float32)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_after_a_fork(kernel, good):
    kernel.emulate(**good)
    child = os.fork()
    if child == 0:
        right = (kernel.emulate(**good) == 65).all() and bs.compile(
            bs.matmul(8, 8, 64, "mxfp8", "mxfp8")).verify(data="exact").ok
        os._exit(0 if right else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_a_callback_that_calls(kernel, good):
    found = []

    def progress(done, total):
        if len(found) < 2:
            found.append((kernel.emulate(**good, progress=False) == 65).all())

    big = bs.compile(bs.matmul(M="M", N=512, K=1024, a="mxfp8", b="mxfp8"))
    assert big.verify(M=2000, data="exact", progress=progress)
    assert found and all(found)


@pytest.mark.parametrize("raised", [SystemExit, KeyError, KeyboardInterrupt])
def test_what_a_method_for_steps_raises(raised):
    class Steps:
        def begin(self, step, unit):
            raise raised

        def __call__(self, done, total):
            pass

    big = bs.compile(bs.matmul(M="M", N=512, K=1024, a="mxfp8", b="mxfp8"))
    with pytest.raises(raised):
        big.verify(M=4000, data="exact", progress=Steps())


def test_threads_that_compile():
    results = {}

    def work(n):
        results[n] = bs.compile(bs.matmul(M="M", N=8 * n, K=64, a="mxfp8",
                                          b="mxfp8")).plan["kernels"][0]
    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for n, planned in results.items():
        sizes = {one["name"]: one["value"] for one in planned["sizes"]}
        assert sizes["N"] == 8 * n
    assert len(results) == 6


def places_of(tree, path=()):
    """The paths of all values of a tree of JSON."""
    yield path
    if isinstance(tree, (dict, list)):
        items = tree.items() if isinstance(tree, dict) else enumerate(tree)
        for key, value in items:
            yield from places_of(value, (*path, key))


def test_words_that_are_cut_in_a_character(kernel, tmp_path):
    """A message that quotes a byte of one is still a message."""
    plan = json.loads(kernel.plan_text)
    parameter = plan["kernels"][0]["parameters"][0]
    parameter["tensorMap"]["globalDim"][0] = "\u0080"
    with zipfile.ZipFile(tmp_path / "k.bsk", "w") as archive:
        for name, content in kernel._files().items():
            archive.writestr(name, json.dumps(plan) if name == "plan.json"
                             else content)
    with pytest.raises(bs.Refused, match="the plan"):
        bs.load_kernel(tmp_path / "k.bsk")


json_values = st.one_of(st.none(), st.booleans(), st.integers(-2**70, 2**70),
                        st.floats(), st.text(max_size=4), st.just([]),
                        st.just({}), st.just([{}]), st.just("remove"))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_plans_that_somebody_edited(kernel, good, tmp_path_factory, data):
    """A saved kernel whose plan has another value, or lacks one, is refused when
    it is loaded or runs as it says."""
    plan = json.loads(kernel.plan_text)
    *path, last = data.draw(st.sampled_from(
        [one for one in places_of(plan) if one]))
    parent = plan
    for key in path:
        parent = parent[key]
    value = data.draw(json_values)
    if value == "remove":
        del parent[last]
    else:
        parent[last] = value
    file = tmp_path_factory.getbasetemp() / "edited.bsk"
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in kernel._files().items():
            archive.writestr(name, json.dumps(plan) if name == "plan.json"
                             else content)
    try:
        bs.load_kernel(file).emulate(**good, step_limit=100_000)
    except bs.Error as error:
        assert str(error)
