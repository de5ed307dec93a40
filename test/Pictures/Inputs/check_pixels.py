"""Looks at rendered pictures of layouts.

    check_pixels.py FOLDER

Each box has the fill of its instruction, its text is there, is dark enough to be
read and does not run over the box; the colours keep their distance for people who
do not see red or green.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import pathlib
import re
import subprocess
import sys

import picture
import png

BOX_HEIGHT = 16
# The first fills on light ground, as the style names them.
LIGHT = ["a9d8f5", "f5cb7a", "7fcdb5", "f7f0a6", "8ab4d6", "eba57f", "e3b7cf",
         "b0b0b0"]
PICTURES = {
    "1X": ["--operand=b"],
    "K96": ["--operand=b", "--n=256", "--kind=mxf4nvf4", "--k=96",
            "--cta-group=2"],
    "registers": ["--memory=registers", "--operand=b", "--kind=mxf4"],
    "metadata": ["--operand=metadata"],
}
# Vienot, Brettel and Mollon 1999, for linear RGB.
BLINDNESS = {"protan": ((0.11238, 0.88762, 0), (0.11238, 0.88762, 0),
                        (0.00401, -0.00401, 1)),
             "deutan": ((0.29275, 0.70725, 0), (0.29275, 0.70725, 0),
                        (-0.02234, 0.02234, 1)),
             "none": ((1, 0, 0), (0, 1, 0), (0, 0, 1))}


def rgb(text):
    return tuple(int(text[i:i + 2], 16) for i in (0, 2, 4))


def hexadecimal(pattern, style):
    """The colour that the style names, of three digits or six."""
    digits = re.search(pattern, style)[1]
    return rgb(digits if len(digits) == 6 else "".join(2 * d for d in digits))


def linear(colour):
    return [c / 3294.6 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4
            for c in colour]


def luminance(colour):
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear(colour)))


def contrast(x, y):
    """WCAG's ratio."""
    low, high = sorted((luminance(x), luminance(y)))
    return (high + 0.05) / (low + 0.05)


def lab(colour, seen_by):
    r, g, b = (sum(m * c for m, c in zip(row, linear(colour)))
               for row in BLINDNESS[seen_by])
    x = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047
    y = 0.2126 * r + 0.7152 * g + 0.0722 * b
    z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883
    x, y, z = (max(t, 0) ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116
               for t in (x, y, z))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def distance(x, y, seen_by):
    return sum((a - b) ** 2 for a, b in
               zip(lab(x, seen_by), lab(y, seen_by))) ** 0.5


def check_style(svg):
    """Both grounds: readable texts, and fills that differ."""
    light, dark = svg.split("@media(prefers-color-scheme:dark)")
    for name, style in ("light", light), ("dark", dark):
        text = hexadecimal(r"\.bs-picture text\{.*?fill:#(\w+)\}", style)
        faint = hexadecimal(r"\.bs-faint\{fill:#(\w+)\}", style)
        ground = hexadecimal(r"\.bs-ground\{fill:#(\w+)\}", style)
        empty = hexadecimal(r"\.bs-empty\{fill:#(\w+)\}", style)
        hues = [rgb(h) for h in re.findall(r"\.bs-h\d\{fill:#(\w+)\}", style)]
        assert len(hues) == 8, style
        for fill in [ground, empty, *hues]:
            assert contrast(text, fill) >= 4.5, (name, fill)
        for fill in (ground, empty):
            assert contrast(faint, fill) >= 4.5, (name, fill)
        for i, fill in enumerate(hues):
            following = hues[(i + 1) % len(hues)]
            for seen_by in BLINDNESS:
                assert distance(fill, following, seen_by) >= 8, (
                    name, seen_by, i, distance(fill, following, seen_by))


def check_boxes(image, drawn):
    width = int(drawn.box_width)
    for byte in drawn.bytes:
        left, top = byte.x - width / 2, byte.y + 4 - BOX_HEIGHT
        wanted = rgb("f0f0f0" if byte.fill == "bs-empty"
                     else LIGHT[int(byte.fill[-1])])
        inside = [[image.at(left + x, top + y) for x in range(1, width - 1)]
                  for y in range(2, BOX_HEIGHT - 1)]
        for line in inside:
            # A text of any colour would show at the edge if it ran over it.
            assert line[0] == line[-1] == wanted, (byte, line[0], line[-1])
        ink = sum(luminance(p) < luminance(wanted) / 3 for line in inside
                  for p in line)
        assert ink >= 10, (byte, ink)
    return len(drawn.bytes)


def main(arguments):
    folder = pathlib.Path(arguments[1])
    boxes = 0
    for name, options in PICTURES.items():
        svg = picture.draw(*options)
        source, target = folder / f"{name}.svg", folder / f"{name}.png"
        source.write_text(svg)
        subprocess.run(["rsvg-convert", source, "-o", target], check=True)
        check_style(svg)
        image, drawn = png.Image(target), picture.Picture(svg)
        assert drawn.bytes
        for text in drawn.texts:
            assert 0 <= text.x <= image.width and 0 < text.y < image.height, text
        boxes += check_boxes(image, drawn)
        # Nothing is cut off at the right.
        assert all(image.at(image.width - 2, y) == (255, 255, 255)
                   for y in range(image.height)), name
    print(f"{len(PICTURES)} pictures, {boxes} boxes as they should be")


if __name__ == "__main__":
    main(sys.argv)
