#!/usr/bin/env python3
"""Prints one table of the reports of compiled kernels.

usage: report_table.py DIR...

Reads each DIR/*.report.json, as `blockscale compile` writes it. A value that
a report does not have (registers, when ptxas was not there) shows as '-'.
"""
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import pathlib
import sys

# Title of the column, key in the report.
COLUMNS = (
    ("kernel", "name"),
    ("target", "target"),
    ("MMA/K tile", "mmas_per_k_tile"),
    ("copies/K tile", "copies_per_k_tile"),
    ("stages", "stages"),
    ("shared B", "shared_memory_bytes"),
    ("TMEM cols", "tensor_memory_columns"),
    ("registers", "registers"),
    ("spill B", "spill_store_bytes"),
)


def rows(directories):
    for directory in directories:
        for path in sorted(pathlib.Path(directory).glob("*.report.json")):
            with open(path, encoding="utf-8") as file:
                report = json.load(file)
            for kernel in report["kernels"]:
                values = {"target": report.get("target"), **kernel}
                yield [str(values[key]) if values.get(key) is not None else "-"
                       for _, key in COLUMNS]


def main(arguments):
    table = [[title for title, _ in COLUMNS], *rows(arguments[1:])]
    widths = [max(map(len, column)) for column in zip(*table)]
    for row in table:
        first, *others = (cell.ljust(width) if not index else cell.rjust(width)
                          for index, (cell, width) in enumerate(zip(row, widths)))
        print("  ".join([first, *others]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
