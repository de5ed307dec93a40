"""Programs of torch.export as JSON, so that what PyTorch exported can be imported where
it is not installed.

`write` takes an ExportedProgram; `read` gives what `blockscale.from_torch` asks of one:
nodes with their ops, arguments and types, and which of them are parameters, whose
values are stored elsewhere.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import json
from types import SimpleNamespace


def plain(value):
    """A value of the graph as JSON."""
    if hasattr(value, "op") and hasattr(value, "name"):
        return {"node": value.name}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return {"float": repr(value)}
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return {"dtype": str(value.dtype), "shape": [plain(one) for one in value.shape]}
    if type(value).__name__ == "SymInt":
        return {"size": str(value)}
    return {"other": str(value)}


def name_of(target):
    module = getattr(target, "__module__", "")
    return f"_operator.{target.__name__}" if module in ("_operator", "operator") \
        else str(target)


def write(path, program):
    nodes = [{"op": node.op, "name": node.name, "target": name_of(node.target),
              "args": plain(node.args),
              "kwargs": {key: plain(one) for key, one in node.kwargs.items()},
              "val": plain(node.meta.get("val"))} for node in program.graph.nodes]
    inputs = [[spec.arg.name, spec.target]
              for spec in program.graph_signature.input_specs]
    spans = {str(name): [str(span.lower), str(span.upper)]
             for name, span in program.range_constraints.items()}
    lines = ",\n".join(json.dumps(one) for one in nodes)
    path.write_text(f'{{"inputs": {json.dumps(inputs)},\n"spans": {json.dumps(spans)},'
                    f'\n"nodes": [\n{lines}]}}\n')


class SymInt:
    """A size with a name."""

    def __init__(self, text):
        self.text = text

    def __str__(self):
        return self.text


def meant(value, nodes):
    """The inverse of `plain`."""
    if isinstance(value, list):
        return [meant(one, nodes) for one in value]
    if not isinstance(value, dict):
        return value
    (kind, content), *rest = value.items()
    if rest:
        return SimpleNamespace(dtype=value["dtype"],
                               shape=tuple(meant(value["shape"], nodes)))
    return {"node": lambda: nodes[content], "float": lambda: float(content),
            "size": lambda: SymInt(content), "other": lambda: content}[kind]()


def nodes_in(value):
    if isinstance(value, Node):
        return [value]
    return [node for one in value for node in nodes_in(one)] \
        if isinstance(value, (list, tuple)) else []


def read(path, values):
    """values: those of parameters, by the names of their arguments."""
    stored = json.loads(path.read_text())
    nodes = {}
    for one in stored["nodes"]:
        target = one["target"].removeprefix("_operator.")
        made = SimpleNamespace(
            op=one["op"], name=one["name"], target=target, users=[],
            args=tuple(meant(one["args"], nodes)),
            kwargs={key: meant(value, nodes) for key, value in one["kwargs"].items()},
            meta={"val": meant(one["val"], nodes)})
        nodes[one["name"]] = Node(**vars(made))
        for argument in nodes_in([made.args, list(made.kwargs.values())]):
            argument.users.append(nodes[one["name"]])
    specs = [SimpleNamespace(arg=SimpleNamespace(name=name),
                             target=name if target else None)
             for name, target in stored["inputs"]]
    spans = {name: SimpleNamespace(lower=least, upper=most)
             for name, (least, most) in stored["spans"].items()}
    return SimpleNamespace(
        graph=SimpleNamespace(nodes=list(nodes.values())),
        graph_signature=SimpleNamespace(input_specs=specs, output_specs=()),
        state_dict=values, constants={}, range_constraints=spans)


class Node:
    """Known by itself, as a key, too."""

    def __init__(self, **fields):
        self.__dict__.update(fields)
