#!/usr/bin/env bash
# Runs clang-tidy with the checks of .clang-tidy. Needs a configured build
# folder.
# usage: scripts/check-tidy.sh [FILE...]
# Without files it takes what needs no MLIR, two to three minutes of two cores; a
# file that includes MLIR takes some ten seconds of its own.
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

command -v "clang-tidy-$llvm" >/dev/null ||
  die "no clang-tidy-$llvm: run scripts/install-dependencies.sh"
[ -f "$build/compile_commands.json" ] ||
  die "no $build/compile_commands.json: run scripts/build.sh"
cd "$root"
# Each file once, although two libraries may hold it, and by what it includes itself,
# so that an include which precompiled headers have hidden is missed here.
commands=$build/tidy
mkdir -p "$commands"
mapfile -t free < <(python3 - "$root/lib/" "$build" "$commands" <<'EOF_PYTHON'
import json
import re
import sys

library, build, out = sys.argv[1:]
with open(build + "/compile_commands.json", encoding="utf-8") as file:
    commands = json.load(file)
precompiled = re.compile(r" -Winvalid-pch(?: -Xclang \S+)+")
kept = {}
for command in commands:
    command["command"] = precompiled.sub("", command["command"])
    kept.setdefault(command["file"], command)
    # What is compiled without LLVM's headers too, if it is in several libraries.
    if "llvm" not in command["command"].split(" ", 1)[1].split(" -c ")[0]:
        kept[command["file"]] = command
        command["free"] = True
for name in sorted(kept):
    if kept[name].pop("free", False) and name.startswith(library):
        print("lib/" + name[len(library):])
with open(out + "/compile_commands.json", "w", encoding="utf-8") as file:
    json.dump(list(kept.values()), file)
EOF_PYTHON
)
files=("$@")
[ $# -gt 0 ] || files=("${free[@]}")
# What is not built here has no command to take flags from.
built=()
for file in "${files[@]}"; do
  if grep -qF "$root/${file#"$root/"}\"" "$build/compile_commands.json"; then
    built+=("$file")
  else
    say "not built here: $file"
  fi
done
[ ${#built[@]} -gt 0 ] || die "none of these files is built in $build"
# On success it still counts what it has hidden in headers of others.
printf '%s\n' "${built[@]}" | xargs -P "$(nproc)" -n 1 \
  "clang-tidy-$llvm" -p "$commands" --quiet --warnings-as-errors='*' \
    2> >(grep -v ' warnings\? generated\.$' >&2 || true) ||
  die "clang-tidy has something to say"
say "clang-tidy has nothing to say of ${#built[@]} files"
