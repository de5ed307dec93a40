#!/usr/bin/env python3
"""Sums the results that scripts/test.sh left in a folder.

usage: count_tests.py RESULTS

RESULTS/ctest.xml       ctest's JUnit file: one entry per test program
RESULTS/gtest/*.json    one file per GoogleTest program that ran to its end
RESULTS/lit.json        lit's result file
RESULTS/checks.txt      if it is there: lines of a check's name and its result,
                        "passed" or "failed"

Prints the tests that were left out and why, and the failed cases, to stderr and,
as the last line of stdout,
"N passed, N failed". A program without a GoogleTest file (it crashed, or is no
GoogleTest) counts as one case. A missing ctest.xml or lit.json is a failure.
"""
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def gtest_cases(path):
    """Yields (name, passed) of each case that ran."""
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    for suite in report["testsuites"]:
        for case in suite["testsuite"]:
            if case.get("result") != "COMPLETED":
                continue
            yield f"{suite['name']}.{case['name']}", not case.get("failures")


def program_cases(results):
    """Yields (name, passed) of the test programs that ctest ran."""
    for entry in ElementTree.parse(results / "ctest.xml").iter("testcase"):
        name = entry.get("name")
        passed = entry.get("status") == "run"
        report = results / "gtest" / f"{name}.json"
        cases = []
        if report.exists():
            try:
                cases = list(gtest_cases(report))
            except ValueError:
                # A program that died while writing: counted as failed below.
                passed = False
        yield from ((f"{name}: {case}", good) for case, good in cases)
        # Also when the cases look well: a crash at exit is a failure.
        if not cases or (not passed and all(good for _, good in cases)):
            yield name, passed


def lit_cases(results):
    """Yields (name, passed) of lit's tests; skipped ones are left out."""
    with open(results / "lit.json", encoding="utf-8") as file:
        tests = json.load(file)["tests"]
    for test in tests:
        if test["code"] in ("UNSUPPORTED", "SKIPPED", "EXCLUDED"):
            continue
        yield test["name"], test["code"] in ("PASS", "FLAKYPASS", "XFAIL")


def left_out(results):
    """Yields (name, why) of lit's tests that need what is not here."""
    with open(results / "lit.json", encoding="utf-8") as file:
        tests = json.load(file)["tests"]
    for test in tests:
        if test["code"] in ("UNSUPPORTED", "SKIPPED"):
            words = (test.get("output") or "").splitlines()
            yield test["name"], words[-1] if words else "not for this build"


def check_cases(results):
    """Yields (name, passed) of each check."""
    path = results / "checks.txt"
    for line in path.read_text().splitlines() if path.exists() else []:
        name, result = line.split()
        yield name, result == "passed"


def main(arguments):
    if len(arguments) != 2:
        sys.exit("usage: count_tests.py RESULTS")
    results = pathlib.Path(arguments[1])
    passed = 0
    failed = []
    for what, cases in (("ctest", program_cases), ("lit", lit_cases),
                        ("checks", check_cases)):
        try:
            for name, good in cases(results):
                if good:
                    passed += 1
                else:
                    failed.append(name)
        except (OSError, ValueError, ElementTree.ParseError) as error:
            failed.append(f"no results of {what}: {error}")
    try:
        for name, why in left_out(results):
            print(f"left out: {name}: {why}", file=sys.stderr)
    except (OSError, ValueError):
        pass  # said above
    for name in failed:
        print(f"failed: {name}", file=sys.stderr)
    sys.stderr.flush()
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
