"""The legality table as `blockscale explain legality --format=json` prints it.

docs/legality.md describes the form. The other scripts ask this one which chip
has which instruction, and know none of it themselves.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import functools
import json
import os
import subprocess

_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_program = os.path.join(_ROOT, "build/bin/blockscale")


def use(program):
    """The program to ask, in place of the one in build/."""
    global _program
    _program = program
    table.cache_clear()


@functools.lru_cache(maxsize=None)
def table():
    done = subprocess.run([_program, "explain", "legality", "--format=json"],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def rows(**fields):
    """The rows whose fields have these values, of which PTX is written."""
    return [row for row in table()["rows"] if row["written"]
            and all(row[name] == value for name, value in fields.items())]


def chips(letter="a", **fields):
    """The targets with this letter that have an instruction with the fields."""
    having = {target for row in rows(**fields) for target in row["targets"]}
    return [target for target in table()["targets"]
            if target in having and target.endswith(letter)]


def has_tensor_memory(target):
    return any(target in row["targets"] for row in rows(family="tcgen05.mma"))


def has(target, **fields):
    """Whether a target has an instruction with the fields; without scales only
    those of tcgen05, as mma.sync is not lowered there."""
    return any(target in row["targets"] for row in rows(**fields)
               if row["scale"] or row["family"] == "tcgen05.mma")
