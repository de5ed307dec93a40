"""Checks that every command of the documentation is run by a test.

    check_commands.py ROOT

A block of commands is marked `console` and stands under a heading that a test gives
to run_commands.py, Python is marked `python` on a page that a test gives to
run_page.py, and other blocks are marked as what they are. A block of commands that
cannot run here is in ELSEWHERE, with the file that runs its program.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import pathlib
import re
import sys

# What is no command.
DATA = {"c", "cmake", "cpp", "json", "mlir", "ptx", "text", "yaml"}
# (page, heading): programs of the commands that cannot run here, each with the file
# that runs it; no file: by hand, on a fresh clone.
ELSEWHERE = {
    # They install and build.
    ("README.md", "The first hour"): [("run.sh", None), ("build.sh", None)],
    ("README.md", "Two commands"): [("test.sh", ".ci/run"),
                                    ("cmake", "scripts/build.sh")],
    # Needs an older build.
    ("CONTRIBUTING.md", "Tests"): [
        ("compare_ptx.py", "test/Scripts/compare-ptx.test")],
    # DIR is an installation.
    ("docs/embedding.md", "The plugin"): [("mlir-opt", "test/Plugin/plugin.test")],
    # It takes ten minutes, and a card.
    ("docs/hardware.md", "How to get it again"): [("make.sh", None), ("run.sh", None)],
    # There is no cluster at that address.
    ("docs/python.md", "Models in files"): [("dask", "python/tests/test_dask.py")],
    # The tests say where the libraries are.
    ("docs/whole-functions.md", "Calling a function"): [
        ("mlir-runner", "test/WholeFunctions/run.mlir")],
    ("docs/whole-functions.md", "Upstream's runtime of the GPU"): [
        ("mlir-runner", "test/WholeFunctions/run.mlir")],
    ("docs/whole-functions.md", "What `verify` compares"): [
        ("--sizes=", "test/WholeFunctions/sizes.mlir")],
    ("docs/whole-functions.md", "Products over several devices"): [
        ("sharding", "test/Sharding/run.test")],
}


def blocks(page):
    """(heading, language, text) of each block; the heading of level 2 or more."""
    heading, language, lines = "", None, []
    for line in page.splitlines():
        if language is None and (found := re.match(r"##+ (.*)", line)):
            heading = found[1]
        elif line.startswith("```") and language is None:
            language, lines = line[3:].strip(), []
        elif line.startswith("```"):
            yield heading, language, "\n".join(lines)
            language = None
        elif language is not None:
            lines.append(line)


def run_by_tests(root):
    """(page, heading) of what tests run, and pages whose Python they run."""
    sections, pages = set(), set()
    for test in sorted((root / "test").rglob("*")):
        if test.suffix not in (".test", ".mlir") or not test.is_file():
            continue
        text = test.read_text(encoding="utf-8").replace("\\\nRUN:", " ")
        for line in re.findall(r"RUN:.*", text):
            for page, heading in re.findall(
                    r'run_commands\.py \S*?/([\w./-]+\.md) "([^"]*)"', line):
                sections.add((page.split("source_root/")[-1], heading))
            for page in re.findall(r"run_page\.py\s+\S*?/([\w./-]+\.md)", line):
                pages.add(page)
    return sections, pages


def why_not(root, page, heading, language, text, sections, pages):
    if language in DATA:
        return None
    if language == "python":
        return None if page in pages else "no test runs the page's Python"
    if language == "console":
        if (page, heading) in sections:
            return None
        return "no test runs the commands under this heading"
    if (page, heading) not in ELSEWHERE:
        return f"a block is marked '{language}', not 'console', 'python' or as data"
    known = [(program, file) for program, file in ELSEWHERE[page, heading]
             if program in text]
    if not known:
        return "ELSEWHERE knows no program of the block"
    for program, file in known:
        if file and program not in (root / file).read_text(encoding="utf-8"):
            return f"'{file}' does not run '{program}'"
    return None


def main(arguments):
    root = pathlib.Path(arguments[1])
    sections, pages = run_by_tests(root)
    found = wrong = 0
    names = ["README.md", "CONTRIBUTING.md"] + sorted(
        str(p.relative_to(root)) for p in (root / "docs").glob("*.md"))
    for name in names:
        for heading, language, text in blocks(
                (root / name).read_text(encoding="utf-8")):
            found += 1
            why = why_not(root, name, heading, language, text, sections, pages)
            if why:
                wrong += 1
                print(f"{name}, '{heading}': {why}: {text.splitlines()[0]}")
    print(f"{found} blocks, {wrong} wrong")
    return bool(wrong) or not found


if __name__ == "__main__":
    sys.exit(main(sys.argv))
