# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels as operators of PyTorch, which has to be imported before."""

import sys

import numpy as np

from . import _operands as operands
from ._arrays import torch_array
from ._errors import Refused
from ._device_scaled import DeviceScaled

ORDER = ("a_data", "a_scales", "a_metadata", "a_tensor_scale", "a_terms", "b_data",
         "b_scales", "b_metadata", "b_tensor_scale", "b_terms", "c", "bias")


def torch_op(kernel, name, kernel_name):
    """See Kernel.as_torch_op."""
    torch = sys.modules.get("torch")
    if torch is None:
        raise Refused("import torch before: this package does not")
    if name.count("::") != 1:
        raise Refused(f"name = '{name}': expected 'namespace::operator'")
    op = Operator(torch, kernel, kernel._planned(kernel_name, ("multiplies",)))
    made = torch.library.custom_op(name, op.run, mutates_args=(),
                                   schema=op.schema())
    made.register_fake(op.fake)
    return made


class Operator:
    """What the operator does for tensors of the host and of devices."""

    def __init__(self, torch, kernel, planned):
        self.torch, self.kernel, self.planned = torch, kernel, planned
        if operands.ends_role(planned):
            raise Refused(f"kernel '{planned['name']}' multiplies groups: no operator "
                          "for that")
        roles = {one["role"]: one for one in planned["parameters"]}
        self.tensors = [role for role in ORDER if role in roles]
        self.factors = [role for role in ("alpha", "beta") if role in roles]
        wanted = operands.of(planned["operands"], "d")["type"]
        self.type = {"f32": torch.float32, "f16": torch.float16,
                     "bf16": torch.bfloat16, "i32": torch.int32}[wanted]
        self.args = {one: kernel.arg(one, planned["name"]) for one in "ab"}
        for one, argument in self.args.items():
            if argument.order != "k_major":
                raise Refused(f"'{one}' lies along its rows: no operator for "
                              "that")

    def schema(self):
        """One tensor for each memory that the kernel reads, in ORDER, and a
        float for each factor."""
        given = [f"Tensor {role}" for role in self.tensors]
        given += [f"float {role}=1.0" for role in self.factors]
        return f"({', '.join(given)}) -> Tensor"

    def named(self, values, factors):
        values = dict(zip(self.tensors + self.factors, values))
        values.update(factors)
        return ({role: values[role] for role in self.tensors},
                {role: values.get(role, 1.0) for role in self.factors})

    def shape(self, name, data):
        """Rows x K of an operand by its bytes in rows."""
        size = {one["name"]: one["value"] for one in self.planned["sizes"]}
        k = size["K"]
        if k is None:
            stored = data.shape[-1] * data.element_size() * 8
            k = stored // operands.of(self.planned["data"], name)["bits"]
            k *= 2 if self.args[name].format.sparsity else 1
        return (*data.shape[:-1], k)

    def sizes(self, tensors):
        a, b = (self.shape(one, tensors[one + "_data"]) for one in "ab")
        return {"M": a[-2], "N": b[-2], "K": a[-1],
                "batch": a[0] if len(a) == 3 else 1}

    def fake(self, *values, **factors):
        tensors, _ = self.named(values, factors)
        a, b = tensors["a_data"], tensors["b_data"]
        columns = b.shape[-2] // operands.sums_of_element(self.planned)
        return a.new_empty((*a.shape[:-1], columns), dtype=self.type)

    def run(self, *values, **factors):
        tensors, factors = self.named(values, factors)
        for role, tensor in tensors.items():
            if not tensor.is_contiguous():
                raise Refused(f"'{role}' is not contiguous")
        out = self.fake(*tensors.values())
        if out.device.type == "cuda":
            self.launch(tensors, factors, out)
            return out
        return self.emulate(tensors, factors, out)

    def launch(self, tensors, factors, out):
        a, b = (self.operand(one, tensors) for one in "ab")
        stream = self.torch.cuda.current_stream(out.device)
        prepared = self.kernel._prepared(
            self.planned["name"], self.sizes(tensors), out.device.index or 0)
        prepared(a, b, out=out, c=tensors.get("c"), bias=tensors.get("bias"),
                 stream=stream, **factors)

    def operand(self, name, tensors):
        wanted = self.args[name]
        given = {key: tensors.get(f"{name}_{key}")
                 for key in ("data", "scales", "metadata", "tensor_scale", "terms")}
        return DeviceScaled(
            shape=self.shape(name, given["data"]), format=wanted.format,
            layout=wanted.layout, **given)

    def emulate(self, tensors, factors, out):
        sizes = self.sizes(tensors)
        launch = operands.new_launch(self.kernel, self.planned, sizes)
        _, parameters = operands.describe(launch)
        memory = {}
        for role, tensor in tensors.items():
            content = np.ascontiguousarray(torch_array(
                tensor.view(self.torch.uint8))).reshape(-1)
            if content.nbytes != parameters[role]["bytes"]:
                raise Refused(f"'{role}' has {content.nbytes} bytes, expected "
                              f"{parameters[role]['bytes']}")
            memory[role] = content
        d = self.kernel._run(launch, memory, factors,
                             {"d": parameters["d"]["bytes"]}, False, {})["d"]
        shape = tuple(out.shape)
        return self.torch.from_dlpack(Bytes(d)).view(self.type).reshape(shape)


class Bytes:
    """Memory of numpy for torch, whatever numpy it was built with."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **options):
        return self.array.__dlpack__()
