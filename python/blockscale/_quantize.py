# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Arrays to quantised tensors: what `blockscale.quantize` computes, bit for bit."""

import ml_dtypes
import numpy as np

from ._arrays import numbers
from ._errors import Refused
from ._formats import FNUZ, INTEGERS, format_named, ue5m3_above
from ._quantize_zeros import largest_scale, with_zeros
from ._rounding import FLOAT_MAX, bound_of, rounds_up
from ._scaled import BY_GROUP, Scaled, encode, host_layout

RULES = ("floor", "round_up", "floor_plus_one", "ceil", "mid_max",
         "rounded_max", "top_binade", "min_error")
RULES_OF_INTEGERS = ("floor", "round_up", "floor_plus_one", "min_error")
ROUNDINGS = ("even", "away", "zero", "stochastic", "stochastic_rs")
# Those that the instruction of the last one has.
RANDOM_ELEMENTS = ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1")


def quantize(values, format=None, *, like=None, rule=None, rounding="even",
             seed=None, tensor_scale=None, layout=None):
    """Rounds an array to a format with scales, as `blockscale.quantize` does.

    values: rows x K, or batch x rows x K numbers; finite.
    format: a name of a format; or `like`: an argument of a kernel
        (`kernel.arg("a")`), which says format and layout.
    rule: of power-of-two scales, as the op has them: "floor" (the OCP rule, the
        default), "round_up", "floor_plus_one", "ceil" and "top_binade", under
        which nothing saturates, "mid_max", "rounded_max"; "min_error", also of
        e4m3 and other float scales, takes the one of two scales under which
        the squares of a block's errors sum to less. None for others.
    rounding: of elements, to the nearest: ties to "even" codes, "away" from zero
        or to "zero"; or "stochastic" with a seed, a 64-bit number, the same
        everywhere; or "stochastic_rs" with a seed, the same by the random bits
        that the instruction cvt.rs takes, for the floats of 8, 6 and 4 bits, and
        much cheaper in kernels of chips that have it. Others than "even" are for elements of at most 8 bits.
    tensor_scale: the factor of formats that have one, one per matrix; by
        default such that the largest value fits. Of formats with one scale for
        all of a matrix it is that scale, as static scales of activations are.
    layout: of the scales, "plain" by default.

    Values of a sparse format must hold its pattern (`prune`). Raises Refused for
    other shapes, what is not finite, and what is no number.
    """
    if (format is None) == (like is None):
        raise Refused("expected either a format or 'like'")
    if like is not None and not (hasattr(like, "format") and
                                 hasattr(like, "layout")):
        raise Refused(f"like is a {type(like).__name__}: expected an argument "
                      "of a kernel or a Scaled")
    format_ = format_named(like.format if like is not None else format)
    layout = layout or (host_layout(like.layout) if like is not None else "plain")
    if layout == BY_GROUP:
        raise Refused("layout 'grouped' has scales of each group along K, whose ends are "
                      "not known here: quantise the columns of each group, and give "
                      "Scaled all of their elements and the scales of each")
    if format_.is_codebook:
        raise Refused(f"elements of {format_.element}: there is no rule that chooses "
                      "their tables, so they are not quantised; a Scaled takes codes")
    values = checked(values)
    check_rounding(format_, rounding, seed)
    if format_.scale is None:
        if rule is not None:
            raise Refused(f"rule = {rule!r} is for scales, which '{format_}' has not")
        return Scaled(rounded(values, format_, rounding, seed), format=format_)
    check_rule(format_, rule)
    if format_.zero is not None:
        if tensor_scale is not None:
            raise Refused(f"format '{format_}' has no tensor scale")
        return with_zeros(values, format_, rounding, seed)
    if tensor_scale is not None and format_.has_one_scale:
        scales = given_scales(values, format_, tensor_scale, rule)
        return scaled(values, format_, None, rule, rounding, seed, scales).to(layout)
    factors = tensor_factors(values, format_, tensor_scale)
    return scaled(values, format_, factors, rule, rounding, seed).to(layout)


def checked(values):
    """As an array of f32, or Refused."""
    values = numbers(values)
    if values.ndim not in (2, 3) or 0 in values.shape:
        raise Refused(f"values of shape {values.shape}: expected rows x K or "
                      "batch x rows x K, none of them 0")
    if not np.isfinite(values).all():
        raise Refused("values that are not finite cannot be quantised")
    return values


def check_rule(format_, rule):
    """Raises Refused where the op would."""
    if rule == "min_error":
        if format_.zero is not None:
            raise Refused("rule = 'min_error' compares scales without zero points")
        if format_.scale == "ue5m3":
            raise Refused("rule = 'min_error': scales of ue5m3 are chosen by one "
                          "rule only")
        return
    if rule is not None and (rule not in RULES or format_.scale != "ue8m0"):
        raise Refused(f"rule = {rule!r}: expected one of {RULES} with scales "
                      "of ue8m0, and 'min_error' or none with others")
    if format_.element in INTEGERS and rule not in (None, *RULES_OF_INTEGERS):
        raise Refused(f"rule = {rule!r} looks at the fraction of a float: integers "
                      f"know {RULES_OF_INTEGERS}")


def check_rounding(format_, rounding, seed):
    """Raises Refused where the op would."""
    if rounding not in ROUNDINGS:
        raise Refused(f"rounding = {rounding!r}: expected one of {ROUNDINGS}")
    if rounding.startswith("stochastic") != (seed is not None):
        raise Refused(f"rounding = {rounding!r} with seed = {seed!r}: a seed is "
                      "for 'stochastic' and 'stochastic_rs', which need one")
    if rounding == "stochastic_rs" and format_.element not in RANDOM_ELEMENTS:
        raise Refused(f"rounding = {rounding!r} is that of an instruction for "
                      f"elements of {', '.join(RANDOM_ELEMENTS)}, but they are "
                      f"{format_.element}; 'stochastic' is for all of at most 8 bits")
    if seed is not None and (not isinstance(seed, (int, np.integer)) or
                             not -2 ** 63 <= seed < 2 ** 63):
        raise Refused(f"seed = {seed!r}: expected an integer of 64 bits")
    if rounding != "even" and format_.bits > 8:
        raise Refused(f"rounding = {rounding!r}: elements of {format_.element} "
                      "are rounded to even only, those of at most 8 bits by "
                      "any rule")


def scaled(values, format_, factors, rule=None, rounding="even", seed=None,
           scales=None):
    """A Scaled with plain scales. `factors`: what tensor_factors gives; `scales`: what
    given_scales does."""
    rows, k = values.shape[-2:]
    block = format_.block or k
    padding = -k % block
    padded = np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, padding)])
    tiles = padded.reshape(*values.shape[:-1], -1, block)
    magnitudes = shared_by_rows(np.abs(tiles).max(axis=-1), format_.rows)
    per_matrix = [None, None]
    if factors is not None:
        shape = (-1, 1, 1) if values.ndim == 3 else (1, 1)
        per_matrix = [factor.reshape(shape) for factor in factors]
    with np.errstate(over="ignore", divide="ignore"):
        def quotients_under(scales):
            stored = format_.scale_values(scales)
            steps = stored
            if factors is not None:
                steps = np.minimum(steps * per_matrix[1], FLOAT_MAX)
            inverses = np.where(stored == 0, np.float32(0),
                                np.minimum(np.float32(1) / steps, FLOAT_MAX))
            return tiles * spread(inverses, format_.rows, rows)[..., None]

        if scales is None:
            scales = scales_of(magnitudes, format_, per_matrix[0], rule)
        if rule == "min_error":
            others = scales_of(magnitudes, format_, per_matrix[0], rule, second=True)
            scales = less_erring(scales, others, quotients_under, format_)
        quotients = quotients_under(scales).reshape(padded.shape)[..., :k]
    codes = rounded(quotients, format_, rounding, seed)
    return Scaled(codes, scales, None if factors is None else factors[1],
                  format=format_)


def spread(of_tiles, tile_rows, rows):
    """What tiles have, for each of their rows."""
    return np.repeat(of_tiles, tile_rows or rows, axis=-2)[..., :rows, :]


def less_erring(first, second, quotients_under, format_):
    """Of two scales of each tile the one with the smaller sum of squared errors,
    counted as `blockscale.quantize` says, or the first."""
    top = format_.largest
    unit = np.float32(1)
    if format_.element not in INTEGERS:
        unit = np.exp2(np.ceil(np.log2(2.0 ** (np.floor(np.log2(top)) + 1) - top)))
    elif format_.scale == "ue8m0":
        unit = format_.unit
    ones = format_.scale_values(first)
    sums = []
    for scales in (first, second):
        exact = quotients_under(scales)
        codes = rounded(exact, format_, "even", None)
        nearest = codes.astype(np.float32) * np.float32(format_.unit)
        with np.errstate(invalid="ignore"):
            ratios = format_.scale_values(scales) / ones
            errors = np.abs(exact - nearest) * \
                spread(ratios, format_.rows, exact.shape[-3])[..., None]
        squares = np.fmin(np.square(errors / np.float32(unit)), np.float32(1))
        counts = np.floor(squares * np.float32(2 ** 20)).astype(np.int64)
        sums.append(shared_by_rows(counts.sum(axis=-1), format_.rows, np.sum))
    return np.where((sums[1] < sums[0]) | (ones == 0), second, first)


def shared_by_rows(magnitudes, rows, reduce=np.max):
    """The largest, or the sum, of each block over the rows that share a scale."""
    group = rows or magnitudes.shape[-2]
    padding = [(0, 0)] * magnitudes.ndim
    padding[-2] = (0, -magnitudes.shape[-2] % group)
    groups = np.pad(magnitudes, padding).reshape(
        *magnitudes.shape[:-2], -1, group, magnitudes.shape[-1])
    return reduce(groups, axis=-2)


#===------------------------------------------------------------------------===#
# Scales
#===------------------------------------------------------------------------===#


def tensor_factors(values, format_, given=None):
    """(what multiplies the data, what multiplies the result): one of each per
    matrix, or None for formats without a tensor scale."""
    if not format_.tensor_scale:
        if given is not None:
            raise Refused(f"format '{format_}' has no tensor scale")
        return None
    batch = values.shape[0] if values.ndim == 3 else 1
    if given is not None:
        factors = np.abs(numbers(given)).reshape(-1)
        if factors.size != batch or not (factors > 0).all() or \
                not np.isfinite(factors).all():
            raise Refused(f"expected {batch} tensor scales, finite and not 0")
        with np.errstate(over="ignore"):
            return np.minimum(np.float32(1) / factors, FLOAT_MAX), factors
    if format_.scale == "ue8m0" or format_.largest_scale >= 2.0 ** 127:
        ones = np.ones(batch, np.float32)
        return ones, ones
    product = format_.largest * format_.largest_scale
    top = np.abs(values.reshape(batch, -1)).max(axis=1)
    with np.errstate(over="ignore", divide="ignore"):
        factors = np.minimum(product / top, FLOAT_MAX)
    factors = np.where((factors > 0) & (top > 0), factors, np.float32(1))
    # Dividing twice must not carry the largest value past the end of f32.
    return factors, np.minimum(np.float32(1) / factors, bound_of(product))


def given_scales(values, format_, given, rule):
    """Scales of whole matrices that somebody gave: their magnitudes, to the nearest, or
    the next number up if that is smaller."""
    batch = values.shape[0] if values.ndim == 3 else 1
    magnitudes = np.abs(numbers(given)).reshape(-1)
    if magnitudes.size != batch or not np.isfinite(magnitudes).all():
        raise Refused(f"expected {batch} scales of matrices, finite")
    if rule not in (None, "floor"):
        raise Refused(f"rule = {rule!r} chooses a scale, but 'tensor_scale' gives that "
                      "of the matrix; 'floor' chooses nothing")
    if format_.scale == "ue8m0":
        fraction, exponent = np.frexp(magnitudes)
        exponent = np.where(magnitudes == 0, -127, exponent - (fraction == 0.5))
        codes = (np.clip(exponent, -127, 127) + 127).astype(np.uint8)
        scales = codes.view(format_.scale_dtype)
    elif format_.scale == "f32":
        scales = magnitudes
    elif format_.scale == "ue5m3":
        scales = ue5m3_above(magnitudes)
    else:
        scales = encode(format_.scale, magnitudes, format_.scale_dtype)
        less = scales.astype(np.float32) < \
            np.minimum(magnitudes, format_.largest_scale)
        word = np.dtype(f"u{scales.dtype.itemsize}")
        scales = (scales.view(word) + less.astype(word)).view(scales.dtype)
    return scales.reshape((batch, 1, 1) if values.ndim == 3 else (1, 1))


def scales_of(magnitudes, format_, factor, rule, second=False):
    """Of tiles with those largest magnitudes; `factor` multiplies the data. Of the
    rule "min_error" one of the scales that it compares."""
    top = format_.largest
    if format_.scale == "ue8m0":
        if factor is not None:
            magnitudes = magnitudes * factor
        if rule == "min_error":
            rule = "floor_plus_one" if second else "floor"
        return power_of_two_scales(magnitudes, format_, rule or "floor")
    bound = largest_scale(format_)
    if second:
        top = second_largest(format_)
    if format_.scale == "ue5m3":
        return ue5m3_above(magnitudes / top)
    # The order of operations is part of NVFP4's published rule.
    wanted = magnitudes / top if factor is None else \
        magnitudes * (factor * (np.float32(1) / top))
    wanted = np.minimum(wanted, bound)
    return wanted if format_.scale == "f32" else \
        encode(format_.scale, wanted, format_.scale_dtype)


def second_largest(format_):
    """The element below the largest."""
    if format_.element in INTEGERS:
        return np.float32(format_.largest - format_.unit)
    magnitudes = magnitudes_of(format_)
    return np.float32(magnitudes[magnitudes < format_.largest].max())


def power_of_two_scales(largest_values, format_, rule):
    """2^(floor(log2 m) - emax), or twice that where the rule says so. Blocks of
    zeros get the smallest scale."""
    top = format_.largest
    fraction, exponent = np.frexp(largest_values)
    top_fraction, top_exponent = np.frexp(top)
    doubles = {
        "floor": lambda: 0,
        # m / max in (2^(e - 1), 2^e], computed without division.
        "round_up": lambda: fraction > top_fraction,
        "floor_plus_one": lambda: 1,
        "ceil": lambda: fraction > 0.5,
        "mid_max": lambda: fraction > top_fraction + half_step(format_.dtype),
        "rounded_max": lambda: fraction >= 1 - half_step(format_.dtype),
        "top_binade": lambda: fraction > top_fraction,
    }
    exponent = exponent - top_exponent + doubles[rule]()
    exponent = np.where(largest_values == 0, -127, exponent)
    # Finite data times a factor may be beyond f32.
    exponent = np.where(np.isinf(largest_values), 127, exponent)
    codes = (np.clip(exponent, -127, 127) + 127).astype(np.uint8)
    return codes.view(format_.scale_dtype)


def half_step(dtype):
    """Half the distance of two elements in [0.5, 1)."""
    return np.float32(2.0 ** -(ml_dtypes.finfo(dtype).nmant + 2))


#===------------------------------------------------------------------------===#
# Elements
#===------------------------------------------------------------------------===#


def rounded(values, format_, rounding, seed):
    """Codes of values, saturating."""
    if format_.element in INTEGERS and format_.scale is not None:
        # The most negative code is not made.
        top = format_.largest
        values = np.clip(values, -top, top) / format_.unit
    if rounding == "even":
        return encode(format_.element, values, format_.dtype)
    table = magnitudes_of(format_)
    magnitudes = np.minimum(np.abs(values).astype(np.float64), table[-1])
    if format_.element in INTEGERS:
        # All of the range, which has one number more below 0 than above.
        legal = ml_dtypes.iinfo(format_.dtype)
        magnitudes = np.abs(np.clip(values.astype(np.float64), legal.min,
                                    legal.max))
    below = np.searchsorted(table, magnitudes, side="right") - 1
    rest = magnitudes - table[below]
    step = table[np.minimum(below + 1, len(table) - 1)] - table[below]
    rest = np.where(rest == 0, 0, rest / np.where(step == 0, 1, step))
    codes = below + rounds_up(rest, rounding, seed, format_.bits)
    if format_.element in INTEGERS:
        return np.where(values < 0, -codes, codes).astype(format_.dtype)
    signs = np.signbit(values).astype(np.uint8) << (format_.bits - 1)
    if format_.element in FNUZ:
        # The place of a negative zero is that of NaN.
        signs = np.where(codes == 0, np.uint8(0), signs)
    return (codes.astype(np.uint8) | signs).view(format_.dtype)


def magnitudes_of(format_):
    """The numbers of the elements' format that are not negative, in order, as
    f64."""
    if format_.element in INTEGERS:
        legal = ml_dtypes.iinfo(format_.dtype)
        top = max(-int(legal.min), int(legal.max))
        return np.arange(top + 2, dtype=np.float64)
    codes = np.arange(1 << (format_.bits - 1), dtype=np.uint8)
    values = codes.view(format_.dtype).astype(np.float64)
    return values[np.isfinite(values)]
