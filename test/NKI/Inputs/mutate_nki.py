"""Every single edit of an emitted kernel of NKI, or of its host plan, is noticed.

usage: mutate_nki.py PRODUCT.mlir KERNELS.nki.py PLAN.json

Edits: each number up, down and doubled; each step, bound and truth value; each
type and memory replaced; operands and their scales exchanged; each call dropped;
each packing formula of the plan replaced. An edit is noticed by an error, a wrong
bit of the result, or a difference from the plan.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import ast
import copy
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), *[".."] * 3, "python"))

import nki_check  # pylint: disable=wrong-import-position
from nki_memory import NKIError  # pylint: disable=wrong-import-position

# What is put in place of a name of nki.language.
REPLACEMENTS = {
    "float8_e4m3fn_x4": ["float8_e5m2_x4", "float4_e2m1fn_x4", "uint32"],
    "float8_e5m2_x4": ["float8_e4m3fn_x4"],
    "float4_e2m1fn_x4": ["uint16", "float8_e4m3fn_x4"],
    "uint8": ["uint16"],
    "uint32": ["uint16"],
    "float32": ["bfloat16"],
    "bfloat16": ["float16", "float32"],
    "float16": ["bfloat16"],
    "sbuf": ["psum", "private_hbm"],
    "psum": ["sbuf"],
    "shared_hbm": ["sbuf"],
    "multiply": ["add"],
    "add": ["multiply"],
    "maximum": ["add"],
}
EXCHANGES = [("stationary", "moving"), ("stationary_scale", "moving_scale"),
             ("stationary", "stationary_scale"), ("moving", "moving_scale"), ("dst", "src")]


def irrelevant(tree):
    """Numbers that mean nothing: the step of a pattern's dimension of size 1."""
    found = set()
    for node in ast.walk(tree):
        if (isinstance(node, ast.List) and len(node.elts) == 2
                and isinstance(node.elts[1], ast.Constant) and node.elts[1].value == 1):
            found.add(node.elts[0])
    return found


def range_edits(call):
    """Bounds by whole steps: less would be the same turns."""
    lower, upper, step = (a.value for a in call.args)
    for values in ((lower + step, upper, step), (lower, upper - step, step),
                   (lower, upper + step, step), (lower, upper, 2 * step)):
        yield values


def edits(tree):
    """Pairs of a description and a function that edits the tree and gives the undo."""
    skipped = irrelevant(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "range":
            skipped.update(node.args)
            for values in range_edits(node):
                yield (f"line {node.lineno}: range{values}",
                       lambda node=node, values=values: setattr(
                           node, "args", [ast.Constant(v) for v in values]))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node not in skipped:
            old = node.value
            if isinstance(old, bool):
                new = [not old]
            elif isinstance(old, int):
                new = [v for v in (old + 1, old - 1, 2 * old) if v >= 0 and v != old]
            elif isinstance(old, float):
                new = [old + 1.0]
            else:
                continue
            for value in new:
                yield (f"line {node.lineno}: {old} becomes {value}",
                       lambda node=node, value=value: setattr(node, "value", value))
        elif isinstance(node, ast.Attribute) and node.attr in REPLACEMENTS:
            for name in REPLACEMENTS[node.attr]:
                yield (f"line {node.lineno}: {node.attr} becomes {name}",
                       lambda node=node, name=name: setattr(node, "attr", name))
        elif isinstance(node, ast.Compare):
            for op in (ast.GtE(), ast.Lt(), ast.NotEq() if isinstance(node.ops[0], ast.Eq)
                       else ast.Eq()):
                yield (f"line {node.lineno}: comparison becomes {type(op).__name__}",
                       lambda node=node, op=op: setattr(node, "ops", [op]))
        elif isinstance(node, ast.Call):
            keywords = {k.arg: k for k in node.keywords}
            for one, two in EXCHANGES:
                if one in keywords and two in keywords:
                    yield (f"line {node.lineno}: {one} and {two} exchanged",
                           lambda a=keywords[one], b=keywords[two]: exchange(a, b))
            for name in ("tile_position", "tile_size"):
                if name in keywords:
                    rest = [k for k in node.keywords if k.arg != name]
                    yield (f"line {node.lineno}: no {name}",
                           lambda node=node, rest=rest: setattr(node, "keywords", rest))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        for i, statement in enumerate(body):
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
                rest = body[:i] + [ast.Pass()] + body[i + 1:]
                yield (f"line {statement.lineno}: dropped",
                       lambda node=node, rest=rest: setattr(node, "body", rest))


def exchange(one, two):
    one.value, two.value = two.value, one.value


def noticed(problem, code):
    """Whether a run of the edited code is seen to be wrong."""
    try:
        results, machine = problem.run(code)
    except (NKIError, TypeError, ValueError, AttributeError, IndexError,
            NameError, OverflowError, MemoryError):
        return True
    return bool(problem.compare(results) or problem.disagreement(machine))


def plan_edits(plan):
    """Packing formulas that put elements or scales elsewhere."""
    for i, parameter in enumerate(plan["kernels"][0]["parameters"]):
        packing = parameter["packing"]
        rows = parameter["shape"][0]
        changes = []
        if packing["form"] == "packed":
            # The map of AWS's guide, neighbours exchanged, nibbles reversed.
            changes = [("k", f"r + {rows} * q"), ("k", "4 * r + 3 - q"), ("k", "4 * r + q + 4"),
                       ("k", "q"), ("row", "c + 1")]
        elif packing["form"] == "scales":
            changes = [("block", "r + 1"), ("block", "r - r % 2"), ("row", "c + 1")]
        for key, formula in changes:
            edited = copy.deepcopy(plan)
            edited["kernels"][0]["parameters"][i]["packing"][key] = formula
            yield f"plan: {parameter['name']} {key} = {formula}", edited


def main():
    source_path, kernels_path, plan_path = sys.argv[1:4]
    text, problems = nki_check.load(source_path, kernels_path, plan_path, 1)
    if len(problems) != 1:
        raise SystemExit("one kernel at a time")
    problem = problems[0]
    code = compile(text, kernels_path, "exec")
    if noticed(problem, code):
        raise SystemExit("the kernel is wrong before it is edited")
    total = missed = 0
    count = sum(1 for _ in edits(ast.parse(text)))
    for i in range(count):
        # A fresh tree for each edit: edits are made in the same order each time.
        tree = ast.parse(text)
        description, edit = next(e for j, e in enumerate(edits(tree)) if j == i)
        edit()
        total += 1
        if not noticed(problem, compile(ast.fix_missing_locations(tree), kernels_path, "exec")):
            missed += 1
            print(f"missed: {description}")
    with open(plan_path, encoding="utf-8") as file:
        plan = json.load(file)
    with open(source_path, encoding="utf-8") as file:
        source = nki_check.Source(file.read(), problem.kernel["sourceFunction"])
    for description, edited in plan_edits(plan):
        total += 1
        try:
            packed = nki_check.Problem(edited, edited["kernels"][0], source, 1)
        except IndexError:
            continue
        if not noticed(packed, code):
            missed += 1
            print(f"missed: {description}")
    print(f"missed {missed} of {total} edits")


if __name__ == "__main__":
    main()
