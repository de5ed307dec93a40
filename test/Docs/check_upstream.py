"""Checks that headers of upstream's are included where docs/compatibility.md says:
those of its first table by one file each.

usage: check_upstream.py SOURCE_ROOT
Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import pathlib
import re
import sys

# Beside the places of the second table.
EVERYWHERE = ("lib/InitAll", "lib/Pipelines")
COMMON = ("mlir/Dialect/Arith", "mlir/Dialect/Func", "mlir/Dialect/Math",
          "mlir/Dialect/Utils", "mlir/Dialect/Index")


def rows(page):
    """Pairs of headers' prefixes and the places that may include them: one file, or
    some places and those that include whatever they register or order."""
    isolates = False
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 5 and cells[1] == "upstream":
            isolates = cells[3] == "the file"
        headers = re.findall(r"`((?:mlir|llvm)/[^`]+)`", cells[2]) if len(
            cells) == 5 else []
        if headers:
            places = re.findall(r"`((?:lib|include|tools)[^`]*)`", cells[3])
            if isolates and (len(places) != 1 or "." not in places[0]):
                sys.exit(f"docs/compatibility.md: expected one file: {line}")
            yield headers, places, isolates


def is_below(path, places):
    return any(path == place or path.startswith(place + "/") for place in places)


def main():
    root = pathlib.Path(sys.argv[1])
    table = list(rows((root / "docs/compatibility.md").read_text(encoding="utf-8")))
    used = set()
    errors = []
    sources = [file for folder in ("lib", "include", "tools")
               for file in sorted((root / folder).rglob("*"))
               if file.suffix in (".cpp", ".h")]
    for file in sources:
        path = file.relative_to(root).as_posix()
        for header in re.findall(r'#include "((?:mlir|llvm)/[^"]+)"',
                                 file.read_text(encoding="utf-8")):
            known = is_below(header, COMMON)
            alone = [row for row in table if row[2] and is_below(header, row[0])]
            for headers, places, isolates in alone or table:
                if not is_below(header, headers):
                    continue
                known = True
                used.update((tuple(headers), place) for place in places
                            if is_below(path, [place]))
                allowed = list(places) + ([] if isolates else list(EVERYWHERE))
                if not is_below(path, allowed):
                    errors.append(f"{path}: includes {header}")
            if header.startswith("mlir/Dialect/") and not known:
                errors.append(f"{path}: {header} has no row")
    errors += [f"docs/compatibility.md: {place} includes nothing of "
               f"{', '.join(headers)}"
               for headers, places, _ in table for place in places
               if (tuple(headers), place) not in used]
    print("\n".join(errors) or f"{len(table)} rows hold")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
