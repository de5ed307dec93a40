# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What from_torch says of programs that contradict themselves, without torch: of a
traced program it needs no more than what these few classes have."""

from dataclasses import dataclass, field
from types import SimpleNamespace

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
    (product([((512,), E8M0)], [4], [1]), "'BlockWise1x128', which no kernel"),
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
