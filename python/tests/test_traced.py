# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What from_torch says of programs that contradict themselves, without torch: of a
traced program it needs no more than what these few classes have."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest

import blockscale as bs


@dataclass(frozen=True)
class Tensor:
    shape: tuple
    dtype: str


@dataclass(eq=False)
class Node:
    op: str
    target: str
    args: tuple = ()
    kwargs: dict = field(default_factory=dict)
    meta: dict = field(default_factory=dict)
    name: str = ""
    users: tuple = ()


def tensor(name, shape, dtype):
    return Node("placeholder", name, name=name, meta={"val": Tensor(shape, dtype)})


def program(nodes, result):
    nodes = [*nodes, Node("output", "output", ((result,),), name="output")]
    return SimpleNamespace(graph=SimpleNamespace(nodes=nodes),
                           graph_signature=SimpleNamespace(input_specs=[]),
                           state_dict={}, constants={})


def product(scale_a, recipes, swizzles, k=128):
    x, w = tensor("x", (48, k), "torch.float8_e4m3fn"), tensor(
        "w", (64, k), "torch.float8_e4m3fn")
    s = [tensor(f"s{i}", *one) for i, one in enumerate(scale_a)]
    t = tensor("t", (512,), "torch.float8_e8m0fnu")
    wt = Node("call_function", "aten.t.default", (w,), name="wt",
              meta={"val": Tensor((k, 64), w.meta["val"].dtype)})
    y = Node("call_function", "aten._scaled_mm_v2.default",
             (x, wt, s, recipes, swizzles, [t], [3], [1]), name="y",
             meta={"val": Tensor((48, 64), "torch.bfloat16")})
    wt.users = (y,)
    return program([x, w, *s, t, wt, y], y)


E8M0 = "torch.float8_e8m0fnu"


def test_a_right_one_is_taken():
    imported = bs.from_torch(product([((512,), E8M0)], [3], [1]))
    assert imported.inputs == ("x", "w", "s0", "t") and not imported.parameters
    assert "aten" not in imported.mlir
    assert bs.compile(imported.mlir, host_duties=True).verify().ok


@pytest.mark.parametrize("traced, words", [
    (42, "what torch.export.export returns, found a int"),
    (SimpleNamespace(graph=3, graph_signature=4),
     "what torch.export.export returns, found a SimpleNamespace"),
    (product([((500,), E8M0)], [3], [1]),
     "a has 500 scales; 48 rows of 4 blocks in tiles of 128 x 4 are 512"),
    (product([((512,), E8M0)], [3], [2]), "the swizzle 2 of a is not known"),
    (product([((512,), E8M0)], [4], [1]), "is scaled 'BlockWise1x128' and has the "
     "swizzle 1; such scales have none"),
    (product([((48, 4), E8M0)], [4], [0]), "scaled BlockWise1x128 and BlockWise1x32"),
    (product([((512,), E8M0)], [3, 0], [1]), "1 scales of a and 2 recipes"),
    (product([((512,), E8M0)] * 2, [3, 3], [1, 1]), "two block scales"),
    (product([((512,), E8M0)], [2], [1]),
     "scales of a are f8E8M0FNU; BlockWise1x16 has f8E4M3FN"),
    (product([((48, 3), E8M0)], [3], [0]),
     "tensor<48x3xf8E8M0FNU>; in order there are 4 for each row"),
    (product([((512,), E8M0)], [3], [1], k=120),
     "K = 120 of a is no multiple of the block, 32"),
    (product([((512,), E8M0), ((48,), "torch.float32")], [3, 0], [1]),
     "tensor<48xf32> is no single factor"),
    (product([((512,), "torch.complex64")], [3], [1]),
     "'s0' has elements of complex64; taken are"),
])
def test_contradictions_are_named(traced, words):
    with pytest.raises(bs.Refused) as caught:
        bs.from_torch(traced)
    assert words in str(caught.value)


def test_an_op_that_nothing_takes_is_named_with_its_place():
    """And all ops that are taken."""
    x = f32("x", 4, 8)
    y = call("cumsum.default", (x, 0), 4, 8)
    y.meta["stack_trace"] = ('  File "layer.py", line 12, in forward\n'
                             "    return x.cumsum(0)\n")
    with pytest.raises(bs.Refused) as caught:
        bs.from_torch(program([x, y], y))
    assert str(caught.value).startswith(
        "'cumsum' (File \"layer.py\", line 12, in forward): nothing takes "
        "'aten.cumsum.default'; taken are aten.__and__.Scalar, ")
    assert "aten._scaled_mm.default" in str(caught.value)


# Sizes that a call tells ------------------------------------------------------


class SymInt:
    """As PyTorch's, of which only the text is asked."""

    def __init__(self, text):
        self.text = text

    def __str__(self):
        return self.text


def f32(name, *shape):
    return tensor(name, tuple(SymInt(one) if isinstance(one, str) else one
                              for one in shape), "torch.float32")


def call(op, args, *shape, **kwargs):
    shape = tuple(SymInt(one) if isinstance(one, str) else one for one in shape)
    return Node("call_function", f"aten.{op}", args, kwargs, name=op.split(".")[0],
                meta={"val": Tensor(shape, "torch.float32")})


def of_sizes(*limits):
    """y with its dimensions exchanged, and twice as many ones as it has elements;
    x has two rows for each of y."""
    x, y = f32("x", "2*half", 8), f32("y", "half", "wide")
    flat = call("view.default", (y,), "wide", "half")
    ones = call("full.default", ([SymInt("2*half*wide")], 1.0), "2*half*wide")
    pairs = call("view.default", (x,), "half", 16)
    made = program([x, y, flat, ones, pairs], None)
    made.graph.nodes[-1].args = ((flat, ones, pairs),)
    made.range_constraints = {name: SimpleNamespace(lower=least, upper=most)
                              for name, least, most in limits}
    return made


def test_sizes_are_computed_from_those_of_arguments():
    layer = bs.Program(bs.from_torch(of_sizes()))
    for half, wide in ((3, 5), (4, 2)):
        x = np.arange(16 * half, dtype=np.float32).reshape(2 * half, 8)
        y = np.arange(half * wide, dtype=np.float32).reshape(half, wide)
        flat, ones, pairs = layer(x, y)
        assert np.array_equal(flat, y.reshape(wide, half))
        assert np.array_equal(ones, np.ones(2 * half * wide))
        assert np.array_equal(pairs, x.reshape(half, 16))


@pytest.mark.parametrize("x, y, words", [
    ((7, 8), (3, 5), "'x' has size 7 along dimension 0, expected 2*half = 6"),
    ((6, 8), (4, 5), "'y' has size 4 along dimension 0, expected half = 3"),
    ((6, 9), (3, 5), "'x' has size 9 along dimension 1, expected 8"),
    ((6, 8, 1), (3, 5), "'x' has 3 dimensions, expected 2"),
    ((6, 8), (3, 1), "the size 'wide' is 1; the program was made for 2 to any"),
    ((20, 8), (10, 4), "the size 'half' is 10; the program was made for 0 to 9"),
])
def test_sizes_that_contradict_each_other_are_refused(x, y, words):
    layer = bs.Program(bs.from_torch(of_sizes(("wide", "2", "int_oo"),
                                              ("half", "-int_oo", "9"))))
    with pytest.raises(bs.Refused) as caught:
        layer(np.zeros(x, np.float32), np.zeros(y, np.float32))
    assert words in str(caught.value)


def test_a_size_that_no_argument_tells_is_named():
    made = of_sizes()
    made.graph.nodes[3].meta["val"] = Tensor((SymInt("other"),), "torch.float32")
    with pytest.raises(bs.Refused, match="'full': no argument has the size 'other'"):
        bs.from_torch(made)
    made.graph.nodes[3].meta["val"] = Tensor((SymInt("f(half)"),), "torch.float32")
    with pytest.raises(bs.Refused, match=r"the size 'f\(half\)' is no expression"):
        bs.from_torch(made)
