# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Programs that torch.export has traced, as MLIR. torch itself is not imported: the
program brings what is asked of it."""

from . import _torch_ops as ops
from ._errors import Refused
from ._imported import Imported, import_products
from ._mlir_text import Function, tensor_type


def from_torch(program, name="main"):
    """What `torch.export.export` returned, with products that are block-scaled.

    program: an `ExportedProgram`. Taken are `aten._scaled_mm`,
        `aten._scaled_grouped_mm`, both with `_v2`, `aten._grouped_mm`, and what
        surrounds them: changes of shape, elementwise arithmetic, reductions, softmax,
        attention, embeddings and ordinary products; torchao's MX layers with their quantisation. If there
        are ops that are not taken, the program's `run_decompositions` is asked.
        Whatever is left then, is refused by name.

    Returns an `Imported`. Parameters come first, as torch.export orders them.
    Sizes with names stay unknown until a call; a `Program` checks at each call that
    they are those which the program was exported for.

    `_scaled_mm` says nothing of how scales lie: one dimension of e8m0 or e4m3 is
    read as CUDA reads it, in tiles of 128 x 4; two are in order if there are as many
    for each row as K has blocks, and such tiles otherwise or where they could be
    both. `_scaled_mm_v2` says it (`swizzle_a`, `swizzle_b`).
    """
    check(program)
    # What writes to tensors is gone after the first; the second decomposes all that
    # PyTorch does not count among its core.
    for tables in (({},), ()):
        if (needs_decomposition(program) or has_wrapped(program)) and \
                hasattr(program, "run_decompositions"):
            program = program.run_decompositions(*tables)
    signature = program.graph_signature
    kinds = {spec.arg.name: spec for spec in signature.input_specs
             if hasattr(spec.arg, "name")}
    function = Function(name)
    values, parameters, order = {}, {}, []
    for node in program.graph.nodes:
        if node.op == "placeholder":
            order.append(node.name)
            spec = kinds.get(node.name)
            if spec is not None and spec.target is not None:
                parameters[node.name] = parameter(program, spec.target)
            values[node] = argument(function, node)
        elif node.op == "call_function":
            values[node] = ops.build(function, node, values)
        elif node.op == "output":
            function.returns(outputs(node, signature, values))
        else:
            raise Refused(f"'{node.name}': a traced program has no '{node.op}'")
    # What follows products becomes part of their kernels.
    written = function.text()
    return Imported(name, import_products(written, name, ""), tuple(order), parameters,
                    tuple(one.type.shape for one in function.arguments),
                    limits_of(program), written)


def check(program):
    graph = getattr(program, "graph", None)
    signature = getattr(program, "graph_signature", None)
    if not hasattr(graph, "nodes") or not hasattr(signature, "input_specs"):
        raise Refused("expected what torch.export.export returns, found a "
                      f"{type(program).__name__}")


def needs_decomposition(program):
    """Whether there are ops that are not taken as they are."""
    return any(node.op == "call_function" and not ops.is_number(node) and
               ops.name_of(node) not in ops.CHECKS and
               ops.builder_of(ops.name_of(node)) is None
               for node in program.graph.nodes)


def has_wrapped(program):
    """Whether parameters are tensors of several, such as codes with their scales, whose
    meaning only a decomposition tells."""
    return any(hasattr(value, "__tensor_flatten__") for place in
               (program.state_dict, program.constants) for value in place.values())


def outputs(node, signature, values):
    """What the program gives; what it writes to its buffers is refused."""
    results = [values[one] if hasattr(one, "op") else one for one in node.args[0]
               if one is not None]
    for spec in getattr(signature, "output_specs", ()):
        kind = getattr(spec.kind, "name", str(spec.kind))
        if kind != "USER_OUTPUT":
            raise Refused(f"the program writes to '{spec.target}' ({kind}); only "
                          "programs without state are taken")
    for one in results:
        if not hasattr(one, "type"):
            raise Refused("the program gives a number; only tensors are taken")
    return results


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


def limits_of(program):
    """The least and the largest of each size with a name, of what the program
    says."""
    found = {}
    for symbol, span in getattr(program, "range_constraints", {}).items():
        least, most = (bound_of(getattr(span, one)) for one in ("lower", "upper"))
        found[str(symbol)] = (least or 0, most)
    return found


def bound_of(bound):
    """None for what has no end."""
    try:
        return int(bound)
    except (AttributeError, TypeError, ValueError, OverflowError):
        return None
