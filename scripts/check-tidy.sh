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
files=("$@")
if [ $# -eq 0 ]; then
  # What is compiled without LLVM's headers.
  mapfile -t files < <(python3 - "$root/lib/" "$build" <<'EOF_PYTHON'
import json
import sys

library, build = sys.argv[1:]
with open(build + "/compile_commands.json", encoding="utf-8") as file:
    commands = json.load(file)
for name in sorted({c["file"] for c in commands if "llvm" not in c["command"].split(" -c ")[0]}):
    if name.startswith(library):
        print("lib/" + name[len(library):])
EOF_PYTHON
  )
fi
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
  "clang-tidy-$llvm" -p "$build" --quiet --warnings-as-errors='*' \
    2> >(grep -v ' warnings\? generated\.$' >&2 || true) ||
  die "clang-tidy has something to say"
say "clang-tidy has nothing to say of ${#built[@]} files"
