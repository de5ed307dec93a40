# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels for AWS's chips."""

import json
from pathlib import Path

from ._checks import choice
from ._compiler_calls import bytes_of, compile_options, compiler

# Those of all stages that know no chip of NVIDIA's.
STAGES = ("tensor", "kernel", "assigned")


class NkiKernels:
    """The kernels of one module for one of AWS's chips: docs/nki.md.

    target: "trn3", ... code: a Python program that imports nki.
    plan: a dictionary, what the host packs. warnings: diagnostics of the
    compiler.
    """

    def __init__(self, target, code, plan, source="", warnings=()):
        self.target, self.code, self.source = target, code, source
        self.plan_text, self.plan = plan, json.loads(plan)
        self.warnings = tuple(warnings)

    @property
    def names(self):
        return [kernel["name"] for kernel in self.plan["kernels"]]

    def mlir(self, stage):
        """The module at a stage: tensor, kernel or assigned."""
        choice("stage", stage, STAGES)
        return compiler().lower(bytes_of(self.source), "", STAGES.index(stage),
                                compile_options(self.target))

    def save(self, folder):
        """Writes kernels.nki.py and kernels.plan.json, as the command does."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "kernels.nki.py").write_text(self.code)
        (folder / "kernels.plan.json").write_text(self.plan_text)

    def __repr__(self):
        return f"NkiKernels({', '.join(self.names)} for {self.target})"
