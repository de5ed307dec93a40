# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Elements that are indices into tables: the tables of predefined data types.

An element here is a code: the number of its table above its index, of which the
highest bit is the sign and the others count the values of the table."""

import numpy as np

# Bits of an index; the values of each table from 0 upwards.
CODEBOOKS = {
    "cb81ie_int9": (8, [np.arange(128) / 64, np.arange(128) / 128]),
    "cb51ie_int7": (5, [np.arange(16) / 8, np.arange(16) / 16]),
    "cb31ie_int5": (3, [np.arange(4) / 2, np.arange(4) / 4]),
    "cb41f01_e2m2fnuz": (4, [[0, .75, 1.25, 1.75, 2.5, 3.5, 5, 7],
                             [0, .5, 1, 1.5, 2, 3, 4, 6]]),
    "cb41fi_e2m2fnuz": (4, [[0, .5, 1, 1.5, 2, 3, 4, 6],
                            [0, 1, 2, 3, 4, 5, 6, 7]]),
    "cb42f1346_e2m3fnuz": (4, [[0, .75, 1.25, 1.75, 2.5, 3.5, 5, 7],
                               [0, .5, 1, 1.5, 2, 3, 4, 6],
                               [0, .375, .875, 1.375, 1.875, 2.75, 3.75, 5.5],
                               [0, .125, .625, 1.125, 1.625, 2.25, 3.25, 4.5]]),
    "cb42fe0123_e3m2fnuz": (4, [np.array([0, 2, 4, 6, 8, 12, 16, 24]) / 2 ** i
                                for i in range(4)]),
}


def values_of(name):
    """The value of each code, as f32."""
    return np.concatenate([sign * np.asarray(table, np.float32)
                           for table in CODEBOOKS[name][1] for sign in (1, -1)])


def tables_of(name, codes):
    """The number of the table of each code."""
    return codes >> codes.dtype.type(CODEBOOKS[name][0])


def elements():
    """Codebooks as other elements are listed: how MLIR spells them, the bits of a
    code, their dtype."""
    listed = {}
    for name, (bits, tables) in CODEBOOKS.items():
        bits += (len(tables) - 1).bit_length()
        listed[name] = (f'!blockscale.codebook<"{name}">', bits,
                        np.uint8 if bits <= 8 else np.uint16)
    return listed


def join(name, indices, tables, subtile):
    """Codes of a codebook, which a Scaled has as its data.

    name: "cb51ie_int7".
    indices: (..., rows, K) of whole numbers.
    tables: (..., rows, ceil(K / subtile)): the number of the table of every subtile.
    subtile: elements along K that share a table.
    """
    bits = CODEBOOKS[name][0]
    dtype = elements()[name][2]
    indices = np.asarray(indices).astype(dtype)
    of_each = np.repeat(np.asarray(tables).astype(dtype), subtile, axis=-1)
    return of_each[..., :indices.shape[-1]] << dtype(bits) | indices
