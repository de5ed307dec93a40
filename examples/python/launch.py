#!/usr/bin/env python3
"""A linear layer in NVFP4 on a Blackwell card, or on the emulated driver where
there is none; the same program either way.

usage: launch.py [rows]
"""
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import sys

import numpy as np

import blockscale as bs

rows = int(sys.argv[1]) if len(sys.argv) > 1 else 37
device = bs.emulate_without_card("B200")
print(f"{device.name}{', emulated' if device.emulated else ''}")

rng = np.random.default_rng(0)
x, w = rng.standard_normal((rows, 512)), rng.standard_normal((256, 512))
kernel = bs.compile(bs.matmul(M="M", N=256, K=512, a="nvfp4", b="nvfp4",
                              out="bf16", bias="column", activation="silu"))

# Weights and bias lie on the device; what is prepared serves many launches.
weights = kernel.upload("b", bs.quantize(w, like=kernel.arg("b")))
bias = bs.to_device(np.linspace(-1, 1, 256, dtype=np.float32))
prepared = kernel.prepare(M=rows)
out = prepared.empty_out()
for turn in range(3):
    quantised = bs.quantize(x + turn, like=kernel.arg("a"))
    prepared(prepared.upload("a", quantised), weights, out=out, bias=bias)

expected = kernel.emulate(quantised, bs.quantize(w, like=kernel.arg("b")),
                          bias=bias.numpy())
print("as the emulator:", np.array_equal(out.numpy(), expected))
