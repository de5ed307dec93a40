# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What the library and the emulator say when something is wrong."""

from dataclasses import dataclass

SEVERITIES = ("note", "remark", "warning", "error")


@dataclass(frozen=True)
class Diagnostic:
    """What is wrong, and where.

    severity: "note", "remark", "warning" or "error".
    file, line, column: empty and 0 where nobody knows; counted from 1.
    """

    severity: str
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    notes: tuple = ()

    def __str__(self):
        place = f"{self.file}:{self.line}:{self.column}: " if self.line else ""
        text = f"{place}{self.severity}: {self.message}"
        return "\n".join([text] + [f"  {note}" for note in self.notes])


class Error(Exception):
    """The base of all errors here. `diagnostics` may be empty."""

    def __init__(self, message, diagnostics=()):
        super().__init__(message)
        self.diagnostics = tuple(diagnostics)


class Refused(Error, ValueError):
    """The input is wrong: an array, sizes, PTX, a plan, a question."""


class CompileError(Refused):
    """The compiler refuses the product; `diagnostics` say why and where."""


class CheckpointError(Refused):
    """A model's tensors contradict their convention.

    rule: its name in docs/checkpoints.md, such as "missing-global-scale";
        empty where values are of a kind that is not read.
    findings: all that was found, a tuple of `Finding`.
    """

    def __init__(self, message, rule="", findings=()):
        super().__init__(message)
        self.rule, self.findings = rule, tuple(findings)


class Busy(Error):
    """Another thread uses the same object."""


class DeviceError(Error):
    """There is no device, it is another one than asked for, or its driver says
    no; `code` is the driver's name for it, such as "CUDA_ERROR_INVALID_VALUE",
    or empty."""

    def __init__(self, message, code=""):
        super().__init__(message)
        self.code = code


class InternalError(Error):
    """A mistake of ours."""


class Hazard(Error):
    """The emulator found something wrong with a kernel.

    findings: a list of dictionaries with "kind", "message", "line" of the PTX,
    "cta", "warp", "lane", "hazard" (number of docs/hazards.md) and "text".
    """

    def __init__(self, findings):
        words = [finding.get("text") or finding.get("message", "")
                 for finding in findings]
        super().__init__("\n".join(words))
        self.findings = findings

    def __reduce__(self):
        # By default the text would be taken for findings.
        return type(self), (self.findings,)


def diagnostic(fields):
    severity, message, file, line, column, notes = fields
    return Diagnostic(SEVERITIES[severity], message, file, line, column,
                      tuple(diagnostic(note) for note in notes))


# Numbers of BlockscaleStatus.
INVALID_ARGUMENT, INVALID_HANDLE, BUSY, REFUSED = 1, 2, 3, 4
OUT_OF_MEMORY = 6


def raise_error(status, message, fields):
    """Called by the extension; never returns."""
    diagnostics = [diagnostic(one) for one in fields]
    if status == OUT_OF_MEMORY:
        raise MemoryError(message)
    if status == BUSY:
        raise Busy(message)
    if diagnostics:
        text = "\n".join(str(one) for one in diagnostics)
        raise CompileError(text, diagnostics)
    if status in (INVALID_ARGUMENT, INVALID_HANDLE, REFUSED):
        raise Refused(message)
    raise InternalError(message)
