# What the scripts share that edit kernels whose threads work each for itself: those that
# quantise, dequantise, change layouts or drop elements.
#
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import re

# A pattern and what takes its place: the first group stays in front.
REPLACED = [
    ("the other comparison", r"(setp\.)ge\.", r"\1gt."),
    ("the other comparison", r"(setp\.)gt\.", r"\1ge."),
    ("the other comparison", r"(setp\.)eq\.", r"\1ne."),
    ("the other comparison", r"(setp\.)ne\.", r"\1eq."),
    ("the other branch", r"(@)(%p\d+ bra)", r"\1!\2"),
    ("the other choice", r"(selp\.\S+\s+%\w+), (\S+), (\S+), ", r"\1, \3, \2, "),
    ("no sign", r"(\s)abs\.f32", r"\1neg.f32"),
    ("codes that are left out", r"(\s)or\.b(\d\d)(\s+%\w+), (%\w+), %\w+;",
     r"\1mov.b\2\3, \4;"),
    ("codes that are left out", r"(\s)or\.b(\d\d)(\s+%\w+), %\w+, (%\w+);",
     r"\1mov.b\2\3, \4;"),
    ("the words exchanged",
     r"(st\.global\.v\d\.b32\s+\[\S+\]), \{(%r\d+), (%r\d+)", r"\1, {\3, \2"),
    ("the words exchanged",
     r"(ld\.global\.v\d\.b32\s+)\{(%r\d+), (%r\d+)", r"\1{\3, \2"),
    ("the halves exchanged", r"(mov\.b32\s+)\{(%rs\d+), (%rs\d+)\}",
     r"\1{\3, \2}")]

# A number that is changed by so much.
COUNTED = [
    ("another shift", r"sh[lr]\.\w+\s+%\w+, %\w+, (\d+);", 1),
    ("another bound", r"setp\.\w+\.[usb]\d+\s+%p\d+, %\w+, (\d+);", -1),
    ("another sum", r"add\.s32\s+%r\d+, %\w+, (\d+);", 1),
    ("another factor", r"mul\.wide\.u32\s+%rd\d+, %\w+, (\d+);", 8),
    ("another pitch", r"mad\.lo\.s64\s+%rd\d+, %rd\d+, (\d+),", 16)]


class Edits:
    """Edits of a kernel: of the same kind `every` at most, from the first place to the
    last. Each is a name and the lines of the whole."""

    def __init__(self, ptx, every):
        self.ptx, self.every = ptx, every

    def spread(self, found):
        if len(found) <= self.every:
            return found
        return [found[i * (len(found) - 1) // (self.every - 1)]
                for i in range(self.every)]

    def named(self, name, at, lines):
        return f"{name}: {at}: {self.ptx.lines[at]}", lines

    def replaced(self, table):
        """Names, patterns and what takes their place."""
        for name, pattern, text in table:
            for at in self.spread(self.ptx.places(pattern)):
                yield self.named(name, at, self.ptx.replaced(at, pattern, text))

    def counted(self, table):
        """Names, patterns of a number, and by how much it changes."""
        for name, pattern, step in table:
            for at in self.spread(self.ptx.places(pattern)):
                yield self.named(name, at, self.ptx.added(at, pattern, step))

    def masked(self, digits):
        """Masks of so many digits without their lowest bit."""
        for at in self.spread(
                self.ptx.places(rf"and\.b32\s+%r\d+, %\w+, \d{digits};")):
            mask = int(re.search(r"(\d+);", self.ptx.lines[at])[1])
            yield self.named("a bit less", at, self.ptx.replaced(
                at, r"\d+;", f"{mask & (mask - 1)};"))

    def moved(self, found):
        """Loads and stores of what lies 16 bytes further on."""
        for at in self.spread(found):
            offset = re.search(r"\[%\w+(?:\+(-?\d+))?\]", self.ptx.lines[at])
            yield self.named("another address", at, self.ptx.replaced(
                at, r"(\[%\w+)(\+-?\d+)?\]",
                rf"\g<1>+{int(offset[1] or 0) + 16}]"))

    def left_out(self, name, found):
        for at in found:
            yield self.named(name, at, self.ptx.dropped(at))
