# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""How far a long call is: a function of the caller's, or a line on the terminal."""

import sys
import time
from contextlib import contextmanager

from ._errors import Refused

PATIENCE = 1.0  # seconds without a bar
WIDTH = 30


class Bar:
    """One line on standard error, taken back at the end."""

    def __init__(self, what, stream, unit="clusters"):
        self.what, self.stream, self.unit = what, stream, unit
        self.call = what
        self.start, self.drawn = time.monotonic(), ""

    def begin(self, step, unit):
        """The call has several steps, and this is the next."""
        self.what, self.unit = f"{self.call} {step}", unit

    def __call__(self, done, total):
        seconds = time.monotonic() - self.start
        if seconds < PATIENCE or not total:
            return
        filled = WIDTH * done // total
        line = (f"{self.what} [{'#' * filled}{'.' * (WIDTH - filled)}] "
                f"{done} of {total} {self.unit}, {seconds:.0f} s")
        if line != self.drawn:
            self.stream.write("\r" + line.ljust(len(self.drawn)))
            self.stream.flush()
            self.drawn = line

    def close(self):
        if self.drawn:
            self.stream.write("\r" + " " * len(self.drawn) + "\r")
            self.stream.flush()


@contextmanager
def watching(progress, what):
    """What the extension gets for the option `progress` of a long call: a
    function that it calls with what is done and what there is, now and then.

    progress: such a function, which may have a method `begin(step, unit)`: it is
        called before a step of a call of several; True for a bar on standard
        error, False for none; None for a bar if standard error is a terminal.
    """
    if progress is None:
        progress = bool(sys.stderr) and sys.stderr.isatty()
    if progress is False:
        yield None
    elif progress is True:
        bar = Bar(what, sys.stderr)
        try:
            yield bar
        finally:
            bar.close()
    elif callable(progress):
        yield progress
    else:
        raise Refused(f"progress is a {type(progress).__name__}: expected a "
                      "function of what is done and the whole, True, False or "
                      "None")
