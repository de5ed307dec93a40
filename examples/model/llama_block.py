"""A Llama-style transformer block in MXFP8 by torchao, exported by torch.export.

    python examples/model/llama_block.py

torchao quantises the weights of all linear layers to MXFP8 and puts the quantisation of
activations into the program; torch.export traces it. What arrives here becomes kernels,
which the emulator runs, and code of the CPU for the rest: embedding, RMS norms, rotary
positions, attention with fewer heads of keys than of queries, SwiGLU, the quantisation.
The logits are compared with those that PyTorch computes on the CPU, where torchao
dequantises and multiplies in bf16. Without torch what it exported before is taken from
fixtures/.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import importlib.util
import sys

import numpy as np

import blockscale as bs
import common
import traced

TOKENS, WIDTH, HEADS, GROUPS, HIDDEN, WORDS = 48, 64, 4, 2, 128, 96
# What is rounded to bf16 otherwise is 2^-8 of itself away, and may become its
# neighbour among the codes of e4m3, of which as many are averaged out.
BOUND, CLOSE = 2.0 ** -5, 2.0 ** -8
WHY = ("Both sum in f32 and round each result to bf16, 2^-8 of itself; sums in another order "
       "round\notherwise now and then, and what is a tie of rounding to e4m3 for one need "
       "not be for the\nother. The bound is four such steps of the largest logit, and one "
       "for nine of ten.")


def block(torch):
    """The block as a module, from a seed."""
    F, nn = torch.nn.functional, torch.nn

    class Norm(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(1 + torch.randn(WIDTH) * 0.1)

        def forward(self, x):
            wide = x.float()
            wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
            return self.weight * wide.to(x.dtype)

    def turned(x, cos, sin):
        first, second = x.chunk(2, -1)
        return x * cos + torch.cat([-second, first], -1) * sin

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            head = WIDTH // HEADS
            self.table = nn.Embedding(WORDS, WIDTH)
            self.before, self.between, self.after = Norm(), Norm(), Norm()
            self.q = nn.Linear(WIDTH, WIDTH, bias=False)
            self.k = nn.Linear(WIDTH, GROUPS * head, bias=False)
            self.v = nn.Linear(WIDTH, GROUPS * head, bias=False)
            self.o = nn.Linear(WIDTH, WIDTH, bias=False)
            self.gate = nn.Linear(WIDTH, HIDDEN, bias=False)
            self.up = nn.Linear(WIDTH, HIDDEN, bias=False)
            self.down = nn.Linear(HIDDEN, WIDTH, bias=False)
            self.words = nn.Linear(WIDTH, WORDS, bias=False)
            powers = 10000.0 ** (-torch.arange(0, head, 2) / head)
            self.register_buffer("powers", powers, persistent=False)

        def attention(self, x):
            batch, tokens, _ = x.shape

            def heads(y):
                return y.view(batch, tokens, -1, WIDTH // HEADS).transpose(1, 2)

            angles = torch.arange(tokens)[:, None] * self.powers.float()
            angles = torch.cat([angles, angles], -1)
            cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
            q, k = (turned(heads(one), cos, sin) for one in (self.q(x), self.k(x)))
            mixed = F.scaled_dot_product_attention(
                q, k, heads(self.v(x)), is_causal=True, enable_gqa=True)
            return self.o(mixed.transpose(1, 2).reshape(batch, tokens, WIDTH))

        def forward(self, tokens):
            x = self.table(tokens)
            x = x + self.attention(self.before(x))
            y = self.between(x)
            x = x + self.down(F.silu(self.gate(y)) * self.up(y))
            return self.words(self.after(x))

    torch.manual_seed(20261122)
    return Block().to(torch.bfloat16).eval()


def quantised(torch, how):
    """The block with torchao's layers. how: by which way they multiply."""
    import warnings
    warnings.simplefilter("ignore")
    from torchao.prototype.mx_formats import MXDynamicActivationMXWeightConfig
    from torchao.quantization import quantize_
    from torchao.quantization.quantize_.common import KernelPreference
    model = block(torch)
    quantize_(model, MXDynamicActivationMXWeightConfig(
        kernel_preference=KernelPreference[how]))
    return model


def exported():
    """The program, its input and PyTorch's own logits."""
    import torch
    torch.set_num_threads(1)
    tokens = torch.from_numpy(np.random.default_rng(7).integers(
        0, WORDS, (1, TOKENS)))
    with torch.no_grad():
        expected = quantised(torch, "EMULATED")(tokens)
        program = torch.export.export(quantised(torch, "AUTO"), (tokens,))
        return program.run_decompositions({}), tokens.numpy(), expected


def program(options):
    """What from_torch makes, the input and PyTorch's logits."""
    if options.fixture or not importlib.util.find_spec("torchao"):
        print("PyTorch's program from fixtures/" + (
            "" if options.fixture else ", since torchao is not installed"))
        arrays = common.load_arrays("llama_block")
        tokens, expected = arrays.pop("tokens"), arrays.pop("expected")
        graph = traced.read(common.FIXTURES / "llama_block.json", arrays)
        return bs.from_torch(graph), tokens, expected
    print("PyTorch's program, exported now")
    graph, tokens, expected = exported()
    imported = bs.from_torch(graph)
    expected = common.array_of(expected)
    if options.write_fixture:
        traced.write(common.FIXTURES / "llama_block.json", graph)
        named = {name: common.array_of(one)
                 for name, one in imported.parameters.items()}
        common.save_arrays("llama_block",
                           {**named, "tokens": tokens, "expected": expected})
    return imported, tokens, expected


def words(found, expected):
    same = (found.argmax(-1) == expected.argmax(-1)).sum()
    print(f"The most likely word is the same for {same} of {TOKENS} tokens.")


def main():
    options = common.arguments(__doc__.splitlines()[0], "PyTorch").parse_args()
    imported, tokens, expected = program(options)
    return 0 if common.run_both(imported, [tokens], options.target, "logits",
                                expected, BOUND, WHY, CLOSE, words) else 1


if __name__ == "__main__":
    sys.exit(main())
