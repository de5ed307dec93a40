"""Runs the commands of one section of a page and compares what they print.

usage: run_commands.py PAGE.md HEADING [NAME=FOLDER]...
       run_commands.py --workflow PAGE.md HEADING [NAME=FOLDER]...
       run_commands.py PAGE.md --list

In a block that starts with ```console, lines after `$ ` are commands, which `\\`
continues; what follows a command is its whole output, where a line `...` stands
for any lines and `...` in a line for any text. A command has to succeed unless
the next one is `echo $?`. All commands of a section run in one new folder that
has a link NAME to each FOLDER. --list prints the headings that have commands.
"""
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import pathlib
import re
import subprocess
import sys
import tempfile


def sections(page):
    """Heading and text of each section; the text before the first is ''."""
    parts = re.split(r"^##+ (.*)\n", page, flags=re.M)
    return dict(zip([""] + parts[1::2], parts[0::2]))


def commands(text):
    """(command, expected output) of each command in the console blocks."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```", text, re.M | re.S):
        block = block.replace("\\\n", " ")
        if not block.startswith("$ "):
            sys.exit(f"a block starts without a command: {block}")
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


def workflow_commands(text):
    """The same for the steps of the section's workflow; checks its shape."""
    import yaml

    blocks = re.findall(r"^```yaml\n(.*?)^```", text, re.M | re.S)
    if len(blocks) != 1:
        sys.exit(f"expected one block of YAML, found {len(blocks)}")
    workflow = yaml.safe_load(blocks[0])
    # YAML 1.1 reads the key `on` as a truth value.
    assert set(workflow) == {"name", True, "jobs"}, set(workflow)
    found = []
    for job in workflow["jobs"].values():
        assert isinstance(job["runs-on"], str)
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step), step
            assert set(step) <= {"name", "run", "uses", "with", "if", "env"}, step
            if "run" in step:
                found.append((step["run"].strip(), "...\n"))
    return found


def pattern(output):
    """The regular expression that the expected output stands for."""
    lines = [
        r"(?:.*\n)*?" if line == "..." else
        ".*".join(map(re.escape, line.split("..."))) + r"\n"
        for line in output.splitlines()
    ]
    return "".join(lines)


def run(section, folder):
    """Runs the commands; returns what is wrong, or an empty text."""
    # The page says python3; the tests' own has numpy.
    tools = pathlib.Path(folder, ".tools")
    tools.mkdir()
    python = tools / "python3"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    status = 0
    for index, (command, expected) in enumerate(section):
        done = subprocess.run(
            ["bash", "-c", f"(exit {status}); {command}"], cwd=folder,
            env=dict(os.environ, PATH=path), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        print(f"$ {command}\n{done.stdout}", end="")
        status = done.returncode
        asked = section[index + 1:] and section[index + 1][0] == "echo $?"
        if status and not asked:
            return f"'{command}' ended with {status}"
        if not re.fullmatch(pattern(expected), done.stdout):
            return f"'{command}' printed otherwise, the page says:\n{expected}"
    return ""


def main(arguments):
    read = commands
    if arguments[0] == "--workflow":
        read = workflow_commands
        arguments = arguments[1:]
    page = sections(pathlib.Path(arguments[0]).read_text(encoding="utf-8"))
    if arguments[1] == "--list":
        for heading, text in page.items():
            if re.search(r"^```(console|sh|bash)$", text, re.M):
                print(heading)
        return ""
    section = read(page.get(arguments[1], ""))
    if not section:
        return f"no commands under '{arguments[1]}'"
    with tempfile.TemporaryDirectory() as folder:
        for link in arguments[2:]:
            name, _, target = link.partition("=")
            os.symlink(os.path.abspath(target), os.path.join(folder, name))
        return run(section, folder)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) or 0)
