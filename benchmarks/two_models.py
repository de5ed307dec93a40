#!/usr/bin/env python3
"""The formula by which schedules are chosen against the timeline, for real layers.

usage: two_models.py BLOCKSCALE [--formats=NVFP4,MXFP8] [--parts=B200,B300]
                     [--rows=1,16,64,128,512,4096] [--log=FILE] [--known]
                     [--worst=1] [--above=20]

Asks `blockscale explain schedule --replay=1` for the layers of workload_times.py, one
after the other, those first that take least: the schedule that the formula takes,
compiled, run on the emulator for its first cluster and put on the timeline. Prints by
operands, part and rows how far the two are apart, and where most, and the products that
are --above so many percent. By two models of ours, nothing is measured. All of it takes
an hour or two; --log keeps what is known, a line of JSON for each product, so that a
later run goes on there, and --known prints no more than that.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import argparse
import itertools
import json
import statistics
import subprocess
import tempfile
from pathlib import Path

import workload_times
from workload_times import FORMATS, LAYERS, PARTS, ROWS

GOAL = 30
TILE_ROWS = 128


def ask(program, format_name, part, layer, rows):
    """What both models have for the schedule that the formula takes, in
    microseconds, and what the formula says that the product waits for."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "layer.mlir"
        path.write_text(workload_times.module(format_name, [layer], [rows]))
        text = subprocess.run(
            [program, "explain", "schedule", str(path), "--replay=1",
             f"--target={PARTS[part][0]}", "--format=json"],
            check=True, capture_output=True, text=True).stdout
    first = json.loads(text)[0]["schedules"][0]
    return {"formula": first["microseconds"],
            "timeline": first["timeline_microseconds"],
            "limit": first["limit"], "schedule": first["schedule"]}


class Known:
    """Answers by format, part, layer and rows, in a file if one is named."""

    def __init__(self, path):
        self.path, self.answers = path, {}
        if path and Path(path).exists():
            for line in Path(path).read_text().splitlines():
                key, answer = json.loads(line)
                self.answers[tuple(key)] = answer

    def add(self, key, answer):
        self.answers[key] = answer
        if self.path:
            with open(self.path, "a") as file:
                file.write(json.dumps([key, answer]) + "\n")


def work(key):
    """What emulating the first cluster of a product goes with."""
    format_name, _, layer, rows = key
    n, k = LAYERS[layer]
    return max(rows, TILE_ROWS) * n * k * FORMATS[format_name][2]


def difference(answer):
    """Of the formula from the timeline in percent, with its sign."""
    return 100 * (answer["formula"] / answer["timeline"] - 1)


def words(answer):
    return (f"{answer['formula']:.2f} against {answer['timeline']:.2f}, "
            f"{answer['limit']}")


def print_summary(what, answers, worst):
    """Answers by key, one line."""
    off = sorted(answers, key=lambda key: -abs(difference(answers[key])))
    sizes = [abs(difference(answers[key])) for key in off]
    most = "; ".join(f"{key[2]}: {words(answers[key])}" for key in off[:worst])
    print(f"| {what} | {statistics.median(sizes):.1f} % | {sizes[0]:.1f} % | "
          f"{sum(size > GOAL for size in sizes)} of {len(sizes)} | {most} |")


def print_above(answers, percent):
    off = [key for key in answers if abs(difference(answers[key])) > percent]
    print(f"\n{len(off)} of {len(answers)} above {percent} %:")
    for key in sorted(off, key=lambda key: -abs(difference(answers[key]))):
        format_name, part, layer, rows = key
        print(f"{difference(answers[key]):+.1f} %  {format_name}, {part}, {layer}, "
              f"M = {rows}: {words(answers[key])}, {answers[key]['schedule']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program")
    parser.add_argument("--formats", default=",".join(FORMATS))
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--rows", default=",".join(map(str, ROWS)))
    parser.add_argument("--log")
    parser.add_argument("--known", action="store_true")
    parser.add_argument("--worst", type=int, default=1)
    parser.add_argument("--above", type=float, default=20)
    options = parser.parse_args()
    known = Known(options.log)
    groups = list(itertools.product(options.formats.split(","),
                                    options.parts.split(","),
                                    map(int, options.rows.split(","))))
    keys = [(format_name, part, layer, rows)
            for format_name, part, rows in groups for layer in LAYERS]
    for key in sorted(keys, key=work):
        if key not in known.answers and not options.known:
            known.add(key, ask(options.program, *key))
    everything = {key: known.answers[key] for key in keys if key in known.answers}
    print("| operands, part | M | median difference | largest | "
          f"above {GOAL} % | where most |\n" + "| --- " * 6 + "|")
    for group in groups:
        answers = {key: answer for key, answer in everything.items()
                   if (key[0], key[1], key[3]) == group}
        if answers:
            print_summary(f"{group[0]}, {group[1]} | {group[2]}", answers,
                          options.worst)
    print_summary("all |", everything, options.worst)
    print_above(everything, options.above)


if __name__ == "__main__":
    main()
