# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Programs that torch.export has traced, as MLIR. torch itself is not imported: the
program brings what is asked of it."""

from . import _torch_ops as ops
from ._errors import Refused
from ._imported import Imported
from ._mlir_text import Function, tensor_type


def from_torch(program, name="main"):
    """What `torch.export.export` returned, with products that are block-scaled.

    program: an `ExportedProgram`. Taken are `aten._scaled_mm` and
        `aten._scaled_mm_v2` with what surrounds them: changes of shape,
        elementwise arithmetic, reductions, softmax and ordinary products.
        Whatever else there is, is refused by name.

    Returns an `Imported`. Parameters come first, as torch.export orders them.

    `_scaled_mm` says nothing of how scales lie: one dimension of e8m0 or e4m3 is
    read as CUDA reads it, in tiles of 128 x 4; two are in order. `_scaled_mm_v2`
    says it (`swizzle_a`, `swizzle_b`).
    """
    graph = getattr(program, "graph", None)
    signature = getattr(program, "graph_signature", None)
    if not hasattr(graph, "nodes") or not hasattr(signature, "input_specs"):
        raise Refused("expected what torch.export.export returns, found a "
                      f"{type(program).__name__}")
    kinds = {spec.arg.name: spec for spec in signature.input_specs
             if hasattr(spec.arg, "name")}
    function = Function(name)
    values, parameters, order = {}, {}, []
    for node in graph.nodes:
        if node.op == "placeholder":
            order.append(node.name)
            spec = kinds.get(node.name)
            if spec is not None and spec.target is not None:
                parameters[node.name] = parameter(program, spec.target)
            values[node] = argument(function, node)
        elif node.op == "call_function":
            values[node] = ops.build(function, node, values)
        elif node.op == "output":
            results = node.args[0]
            function.returns([values[one] for one in results
                              if one is not None])
        else:
            raise Refused(f"'{node.name}': a traced program has no '{node.op}'")
    return Imported(name, function.text(), tuple(order), parameters)


def parameter(program, target):
    for place in (program.state_dict, program.constants):
        if target in place:
            return place[target]
    raise Refused(f"the program has no value for its parameter '{target}'")


def argument(function, node):
    value = node.meta.get("val")
    if not hasattr(value, "dtype"):
        raise Refused(f"'{node.name}' is no tensor but a "
                      f"{type(value).__name__}: numbers are constants of the "
                      "traced program")
    return function.argument(node.name, tensor_type(value, node.name))
