#!/usr/bin/env bash
# Looks whether each file includes what it uses, which precompiled headers hide:
# reads it without them. Needs a build folder, whose generated headers it takes.
# usage: scripts/check-includes.sh [FILE...]
# Without files it takes all that are built, some 20 minutes of two cores.
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

[ -f "$build/compile_commands.json" ] ||
  die "no $build/compile_commands.json: run scripts/build.sh"
cd "$root"
python3 - "$build/compile_commands.json" "$@" <<'EOF_PYTHON'
import concurrent.futures
import json
import os
import re
import subprocess
import sys

PRECOMPILED = re.compile(r" -Winvalid-pch(?: -Xclang \S+)+")
WRITTEN = re.compile(r" -(?:o|MT|MF) \S+| -MD\b")


def reading(command):
    """The command of a compilation, as one that writes nothing."""
    command = WRITTEN.sub("", PRECOMPILED.sub("", command))
    return command.replace("ccache ", "", 1) + " -O0 -fsyntax-only"


def lacks(command):
    done = subprocess.run(reading(command["command"]), shell=True,
                          cwd=command["directory"], stderr=subprocess.PIPE,
                          text=True, check=False)
    if done.returncode:
        print(done.stderr, end="", file=sys.stderr, flush=True)
    return done.returncode != 0


with open(sys.argv[1], encoding="utf-8") as file:
    commands = {command["file"]: command for command in json.load(file)}
names = [os.path.abspath(name) for name in sys.argv[2:]] or sorted(commands)
unknown = [name for name in names if name not in commands]
if unknown:
    sys.exit("error: not built here: " + ", ".join(unknown))
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    wrong = sum(pool.map(lacks, [commands[name] for name in names]))
if wrong:
    sys.exit(f"error: {wrong} of {len(names)} files lack an include")
print(f"each of {len(names)} files includes what it uses", file=sys.stderr)
EOF_PYTHON
