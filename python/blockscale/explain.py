# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What the hardware allows, and where bytes lie."""

import json
from dataclasses import dataclass

from . import _core
from ._checks import choice, text

_FORMS = ("text", "json", "svg")
_FORMATS = ("markdown", "csv", "json")


@dataclass(frozen=True)
class Answer:
    """`legal`, and a sentence with the rule and the nearest legal choice."""

    legal: bool
    text: str

    def __bool__(self):
        return self.legal

    def __str__(self):
        return self.text


def legality(**fields):
    """Whether there is such an instruction.

    fields: target, kind, a, b, scale, family, block, m, n, k, cta_group,
        sparse, a_major, b_major, sfa_id, sfb_id, as in `blockscale explain
        legality`; what is not given is chosen.
    """
    return Answer(*_core.explain_legality(_words(fields)))


def layout(form="text", **fields):
    """Where the scales or the metadata of an instruction lie, or one byte of
    them: a sentence for each memory with "text", data with "json", a picture of
    one memory with "svg".

    fields: memory ("shared", "tensor", "registers"), operand ("a", "b",
        "metadata"), kind, block_size, m, n, k, cta_group, sparse, sfa_id, sfb_id,
        thread_id, row and block of the byte, blocks of the whole operand, as in
        `blockscale explain layout`. Formulas are `blockscale.layout`'s.
    """
    answer = _core.explain_layout(_words(fields),
                                  _FORMS.index(choice("form", form, _FORMS)))
    return json.loads(answer) if form == "json" else answer


def _words(fields):
    """Fields as the command line spells them."""
    return [(name.replace("_", "-"), str(value).lower()
             if isinstance(value, bool) else str(value))
            for name, value in fields.items() if value is not None]


def instructions(target="", format="json"):
    """All instructions of a chip, or of all chips: data with "json", text with
    "markdown" and "csv"."""
    choice("format", format, _FORMATS)
    words = _core.explain_instructions(text("target", target),
                                       _FORMATS.index(format))
    return json.loads(words) if format == "json" else words


def table(name, questions):
    """Answers CSV questions about layouts and encodings, row by row."""
    return _core.explain_table(text("name", name), text("questions", questions))


def hazards():
    """The catalogue of what strict mode finds, in Markdown."""
    return _core.explain_hazards()
