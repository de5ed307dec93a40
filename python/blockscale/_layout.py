# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Where things lie, by the names of layouts."""

import json

import numpy as np

from . import _core
from ._checks import text, whole
from ._errors import Refused

_NOTHING = np.uint64(2**64 - 1)


class Layout:
    """A layout of operands of certain sizes: what `layout` makes.

    name: of the layout. size: places, padding included; bytes of memory.
    formula: how a place is computed, a line for each term; registers the other
        way round.
    contents, places: names and extents of the coordinates of what lies, and of
        where: {"batch": 1, "row": 130, "block": 5} and {"offset": 2048}.
    """

    def __init__(self, name, **sizes):
        self._sizes = {size: whole(size, value)
                       for size, value in sizes.items()}
        self._layout = _core.Layout(text("name", name),
                                    list(self._sizes.items()))
        facts = json.loads(self._layout.describe())
        self.name, self.size = facts["name"], facts["size"]
        self.formula = facts["formula"]
        self.contents, self.places = (
            {axis["name"]: axis["extent"] for axis in facts[side]}
            for side in ("contents", "places"))

    def place(self, **contents):
        """Where something lies: an int for a layout with one coordinate of
        places, else a tuple.

        contents: its coordinates, 0 unless given; ints, or arrays that
            broadcast, for arrays of the places.

        Raises Refused outside of the extents.
        """
        return self._find(self._layout.places, contents, self.contents,
                          self.places)

    def offset(self, row=0, block=0, batch=0):
        """The byte of a row's block in memory: `place` of memory's layouts."""
        if "offset" not in self.places:
            raise Refused(f"layout '{self.name}' has no offsets; its places are "
                          f"{', '.join(self.places)}")
        return self.place(row=row, block=block, batch=batch)

    def content(self, **places):
        """What lies at a place, a tuple in the order of `contents`; None where
        it is padding or not used. Of arrays of places: arrays, -1 there."""
        found = self._find(self._layout.contents, places, self.places,
                           self.contents)
        if isinstance(found[0], np.ndarray):
            return found
        return None if found[0] < 0 else found

    def picture(self, every_line=False):
        """An SVG picture of what lies where; of large layouts the beginning."""
        return self._layout.draw(bool(every_line))

    def _find(self, function, given, axes, result_axes):
        for name in given:
            if name not in axes:
                raise Refused(f"layout '{self.name}' has no coordinate '{name}' "
                              f"there, legal are {', '.join(axes)}")
        coordinates = [np.asarray(given.get(name, 0)) for name in axes]
        for name, values in zip(axes, coordinates):
            if values.dtype.kind not in "iu" and values.size:
                raise Refused(f"{name} of {values.dtype}: expected whole "
                              "numbers")
            if values.size and values.min() < 0:
                raise Refused(f"{name} = {values.min()}: expected at least 0")
        points = np.stack([one.astype(np.uint64) for one in
                           np.broadcast_arrays(*coordinates)], axis=-1)
        found = np.frombuffer(function(np.ascontiguousarray(points)),
                              np.uint64) if points.size else \
            np.zeros(0, np.uint64)
        found = found.reshape(*points.shape[:-1], len(result_axes))
        # There is nothing near 2^63: -1 stands for padding.
        found = np.where(found == _NOTHING, np.int64(-1),
                         found.astype(np.int64))
        parts = [found[..., axis] for axis in range(len(result_axes))]
        if points.ndim == 1:
            parts = [int(part) for part in parts]
        is_place = result_axes is self.places
        return parts[0] if is_place and len(parts) == 1 else tuple(parts)

    def __reduce__(self):
        return _again, (self.name, self._sizes)

    def __repr__(self):
        sizes = ", ".join(f"{name} {extent}"
                          for name, extent in self.contents.items())
        return f"Layout('{self.name}': {sizes})"


def _again(name, sizes):
    """The layout that another process had."""
    return Layout(name, **sizes)


def layout(name, **sizes):
    """The layout of a name: "tiled_128x4" with rows, blocks and batch, for
    example; `layouts` says what there is.

    Raises Refused for unknown names and sizes that there are not.
    """
    return Layout(name, **sizes)


def layouts():
    """All layouts by their names: a sentence, and the sizes that each needs,
    with what stands for one that is not given, or None."""
    return {one["name"]: (one["summary"],
                          {size["name"]: size.get("default")
                           for size in one["parameters"]})
            for one in json.loads(_core.layout_list())}
