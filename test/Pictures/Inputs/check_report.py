"""Opens reports of compilations in a browser.

    check_report.py FOLDER REPORT.json PAGE.html

The page loads nothing; its sections are visible; no text of a picture runs out of
its picture; the memory maps are to scale by the report's own numbers; the timeline
has the kernel's warps and bars; light and dark ground are what they should be.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import json
import re
import sys

import browser

SECTIONS = ["Epilogue", "Schedule", "Memory", "Time", "Parameters"]


def check_pictures(found):
    """Texts inside of their pictures, none over another."""
    texts = [f for f in found if f["picture"] is not None and f["tag"] == "text"]
    assert texts
    for f in texts:
        left, top, right, bottom = f["box"]
        frame = f["frame"]
        assert left >= frame[0] - 1 and right <= frame[2] + 1, f
        assert top >= frame[1] - 1 and bottom <= frame[3] + 1, f
        assert right > left and bottom > top, f
    marks = {}
    for f in texts:
        marks.setdefault((f["picture"], round(f["box"][1])), []).append(f)
    for line in marks.values():
        line.sort(key=lambda f: f["box"][0])
        for one, other in zip(line, line[1:]):
            assert one["box"][2] <= other["box"][0] + 1, (one, other)
    return len(texts)


def parts_of(found, title):
    """Rectangles of the picture with that title, by the name in their tip."""
    number = [f["picture"] for f in found
              if f["tag"] == "text" and f["text"] == title]
    assert len(number) == 1, (title, number)
    return [f for f in found if f["picture"] == number[0]]


def check_map(found, title, regions, whole):
    """The first rectangles of each part are as long as its size says."""
    shapes = parts_of(found, title)
    border = [f for f in shapes if f["tag"] == "rect" and "bs-border" in f["classes"]]
    assert len(border) == 1
    left, _, right, bar_bottom = border[0]["box"]
    scale = (right - left) / whole
    for index, region in enumerate(regions):
        hue = f"bs-h{index % 8}"
        boxes = [f["box"] for f in shapes if f["classes"] == hue
                 and f["box"][3] <= bar_bottom + 1]
        assert len(boxes) == region["copies"], (region, boxes)
        size = region["size"] - (region["copies"] - 1) * region["stride"]
        for copy, box in enumerate(sorted(boxes)):
            start = left + (region["offset"] + copy * region["stride"]) * scale
            assert abs(box[0] - start) < 1, (region, box, start)
            assert abs(box[2] - box[0] - max(size * scale, 2)) < 1, (region, box)
        texts = [f["text"] for f in shapes if f["tag"] == "text"]
        assert region["name"] in texts
        assert f"{region['offset']} to {region['offset'] + region['size'] - 1}" in texts


def main(arguments):
    folder, report_file, page = arguments[1:]
    source = open(page, encoding="utf-8").read()
    # The name of SVG's own namespace is no place to load from.
    outside = [u for u in re.findall(r"https?://[^\"' <>)]+", source)
               if u != "http://www.w3.org/2000/svg"]
    assert not outside, outside
    assert not re.search(r"<(script|link|img|iframe|object)|@import|url\(", source)
    report = json.load(open(report_file, encoding="utf-8"))
    for width in (1200, 500):
        seen = browser.measure(page, folder, width)
        assert seen["loaded"] == [], seen["loaded"]
        # Wide pictures scroll in their own box, not the page.
        assert seen["width"] <= width, seen["width"]
        texts = check_pictures(seen["found"])
    seen = browser.measure(page, folder)
    found = seen["found"]
    headings = [f["text"] for f in found if f["tag"] in ("H2", "H3")
                and f["box"][3] > f["box"][1]]
    names = [kernel["name"] for kernel in report["kernels"]]
    assert [h for h in headings if h.startswith("Kernel ")] == [
        "Kernel " + name for name in names], headings
    for section in SECTIONS:
        assert headings.count(section) == len(names), (section, headings)
    if len(names) == 1:
        kernel = report["kernels"][0]
        check_map(found, "Shared memory of a CTA", kernel["shared_memory"],
                  kernel["shared_memory_limit_bytes"])
        if kernel["tensor_memory"]:
            check_map(found, "Tensor memory of a CTA", kernel["tensor_memory"], 512)
        values = {f["text"] for f in found if f["tag"] in ("DD", "TD")}
        assert "chosen" in values or "Nothing" in source or "already" in source
        tile = f"{kernel['tile_m']} x {kernel['tile_n']} x {kernel['tile_k']}"
        assert tile in values, (tile, values)
        bars = parts_of(found, "Timeline of the first cluster")
        lines = {f["text"] for f in bars if f["tag"] == "text"}
        assert any("stores" in line or "warp 0" in line for line in lines), lines
        filled = [f for f in bars if f["tag"] == "rect"
                  and re.fullmatch(r"bs-h\d", f["classes"])]
        assert len(filled) > 10
        frame = bars[0]["frame"]
        # They fill the time: the first begins left, the last ends right.
        assert min(f["box"][0] for f in filled) < (frame[0] + frame[2]) / 2
        assert max(f["box"][2] for f in filled) > frame[0] + 0.8 * (
            frame[2] - frame[0])
    for dark, ground in (False, (255, 255, 255)), (True, (22, 22, 22)):
        image = browser.screenshot(page, f"{folder}/shot.png", 1200, 2400, dark)
        assert image.at(3, 3) == ground, (dark, image.at(3, 3))
        colours = {image.at(x, y) for y in range(0, image.height, 7)
                   for x in range(0, image.width, 5)}
        assert len(colours) > 20, len(colours)
    print(f"{len(names)} kernels, {texts} texts in pictures")


if __name__ == "__main__":
    main(sys.argv)
