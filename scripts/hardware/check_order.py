#!/usr/bin/env python3
"""Launches that follow or accompany each other: streams, graphs, parts of the card.

usage: check_order.py FOLDER [--emulated]

With kernels of a bundle: one that quantises and a product that may begin before it has
ended, many times; the same captured into a graph; products that split K on two streams;
a product in a green context of a part of the SMs; a product as an operator of torch.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import argparse
import sys
import traceback
from pathlib import Path

import numpy as np

import blockscale as bs
import hardware_cases as cases
from blockscale import _driver as cuda
from check import loaded

QUANTISES = "quantize_f8E4M3FN_float32_t128_plain_bf16"
WAITS = "product_deepseek_dependent"
SPLITS = "product_bf16_split"
TURNS = 60


class Check:
    def __init__(self, folder, is_emulated):
        self.folder, self.turns = folder, 3 if is_emulated else TURNS
        self.device = bs.emulate_without_card("RTX5090") if is_emulated else bs.devices()[0]
        self.is_emulated = is_emulated
        self.stream = 0

    def of(self, name):
        case, kernel, sums = loaded(self.folder, name, "{}.{}".format(*self.device.capability))
        return case, kernel, sums, cases.inputs(bs, case, kernel)

    def chain(self):
        """The kernels, their operands on the device, and what must come out."""
        case, quantises, _, ((x,), _) = self.of(QUANTISES)
        _, multiplies, _, ((_, w), _) = self.of(WAITS)
        rng = np.random.default_rng(3)
        values = [(rng.standard_normal(x.shape) * scale).astype(x.dtype)
                  for scale in (1, 2, 5)]
        wanted = []
        for one in values:
            wanted.append(multiplies.emulate(quantises.emulate_quantize(one), w))
        first = quantises.prepare_quantize(M=x.shape[0])
        second = multiplies.prepare(M=x.shape[0])
        made, out = first.empty_out(), second.empty_out()
        weights = multiplies.upload("b", w)
        there = [bs.to_device(one) for one in values]

        def launch(at, stream):
            first(there[at], out=made, stream=stream)
            second(made, weights, out=out, stream=stream)

        return launch, out, wanted

    def test_dependent_launches(self):
        launch, out, wanted = self.chain()
        for turn in range(self.turns):
            launch(turn % 3, self.stream)
            launch((turn + 1) % 3, self.stream)
            cuda.call("cuStreamSynchronize", self.stream)
            if not self.near(out.numpy(), wanted[(turn + 1) % 3]):
                return f"turn {turn} differs"
        return ""

    @staticmethod
    def near(found, wanted):
        """Sums in another order than the emulator's differ in their last bits."""
        found, wanted = found.astype(np.float64), wanted.astype(np.float64)
        return np.abs(found - wanted).max() <= 1e-5 * np.abs(wanted).max()

    def test_graph(self):
        launch, out, wanted = self.chain()
        launch(0, self.stream)
        cuda.call("cuStreamSynchronize", self.stream)
        mode = cuda.bindings().CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        cuda.call("cuStreamBeginCapture", self.stream, mode)
        for at in (2, 0, 1):
            launch(at, self.stream)
        graph = cuda.call("cuStreamEndCapture", self.stream)
        ready = cuda.call("cuGraphInstantiate", graph, 0)
        for _ in range(self.turns):
            cuda.call("cuGraphLaunch", ready, self.stream)
        cuda.call("cuStreamSynchronize", self.stream)
        return "" if self.near(out.numpy(), wanted[1]) else "the graph's result differs"

    def test_two_streams(self):
        case, kernel, sums, ((a, b), _) = self.of(SPLITS)
        prepared = kernel.prepare(M=a.rows)
        there = [kernel.upload(name, one) for name, one in (("a", a), ("b", b))]
        streams = [int(cuda.call("cuStreamCreate", 1)) for _ in range(2)]
        outs = [prepared.empty_out() for _ in streams]
        for _ in range(self.turns):
            for stream, out in zip(streams, outs):
                prepared(*there, out=out, stream=stream)
        cuda.call("cuCtxSynchronize")
        words = [cases.differences(cases.bytes_of(one.numpy()), sums) for one in outs]
        return "; ".join(one for one in words if one)

    def test_green_context(self):
        case, kernel, sums, ((a, b), _) = self.of(SPLITS)
        driver = cuda.bindings()
        kind = driver.CUdevResourceType.CU_DEV_RESOURCE_TYPE_SM
        number = cuda.call("cuDeviceGet", 0)
        whole = cuda.call("cuDeviceGetDevResource", number, kind)
        parts, _, _ = cuda.call("cuDevSmResourceSplitByCount", 1, whole, 0, 16)
        described = cuda.call("cuDevResourceGenerateDesc", parts[:1], 1)
        green = cuda.call("cuGreenCtxCreate", described, number, 1)
        stream = int(cuda.call("cuGreenCtxStreamCreate", green, 1, 0))
        prepared = kernel.prepare(M=a.rows)
        before, out = prepared.grid, prepared.empty_out()
        prepared(kernel.upload("a", a), kernel.upload("b", b), out=out, stream=stream)
        cuda.call("cuStreamSynchronize", stream)
        words = cases.differences(cases.bytes_of(out.numpy()), sums)
        print(f"grid {before} of the card, {prepared.grid} of {cuda.sms_of(stream)} SMs")
        return words

    def test_torch(self):
        import torch
        case, kernel, sums, ((a, b), _) = self.of("product_bf16_133")
        op = kernel.as_torch_op("blockscale_check::product")
        x, w = (torch.from_numpy(one.data.view(np.int16)).view(torch.bfloat16).cuda()
                for one in (a, b))
        found = op(x, w).cpu().numpy()
        again = torch.compile(lambda p, q: op(p, q), backend="eager")(x, w).cpu().numpy()
        return cases.differences(cases.bytes_of(found), sums) + \
            cases.differences(cases.bytes_of(again), sums)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--emulated", action="store_true")
    arguments = parser.parse_args()
    check = Check(arguments.folder, arguments.emulated)
    failed = 0
    with cuda.context(0).current():
        check.stream = int(cuda.call("cuStreamCreate", 1))
        for name in sorted(one for one in dir(check) if one.startswith("test_")):
            try:
                words = getattr(check, name)()
            except Exception as why:
                words = f"{type(why).__name__}: {why}\n{traceback.format_exc()[-500:]}"
            failed += bool(words)
            print(f"{name}: {words or 'as it should be'}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
