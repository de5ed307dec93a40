# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Arguments that are numbers or one of a few words."""

import math

import numpy as np

from ._errors import Refused

MOST = 2**63 - 1
LARGEST = float(np.finfo(np.float32).max)


def whole(what, value, least=0, most=MOST):
    """An int from `least` to `most`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise Refused(f"{what} is a {type(value).__name__}: expected a whole "
                      "number")
    if not least <= value <= most:
        raise Refused(f"{what} = {value}: expected at least {least}"
                      if value < least else
                      f"{what} = {value}: expected at most {most}")
    return int(value)


def real(what, value):
    """A float that fits a float32; infinities and NaN are such."""
    if isinstance(value, bool) or not isinstance(
            value, (int, float, np.integer, np.floating)):
        raise Refused(f"{what} is a {type(value).__name__}: expected a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if abs(number) > LARGEST and not is_infinite(value):
        raise Refused(f"{what} = {value:.3g}: too large for a float32"
                      if isinstance(value, float) else
                      f"{what} is too large for a float32")
    return number


def is_infinite(value):
    return isinstance(value, (float, np.floating)) and np.isinf(value)


def choice(what, value, legal):
    """One of a few words."""
    # An array is equal to none of them, but does not say so.
    if not any(value is one or isinstance(value, str) and value == one
               for one in legal):
        names = ", ".join(repr(one) for one in legal)
        shown = repr(value) if isinstance(value, (str, int, type(None))) \
            else f"a {type(value).__name__}"
        raise Refused(f"{what} = {shown}: expected one of {names}")
    return value


def text(what, value):
    """A str."""
    if not isinstance(value, str):
        raise Refused(f"{what} is a {type(value).__name__}: expected text")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise Refused(f"{what} is no text of Unicode: {error}") from error
    return value


def flag(what, value):
    """A bool."""
    if not isinstance(value, (bool, np.bool_)):
        raise Refused(f"{what} is a {type(value).__name__}: expected True or "
                      "False")
    return bool(value)
