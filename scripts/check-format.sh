#!/usr/bin/env bash
# Fails if clang-format would change a file of C or C++; says where.
# usage: scripts/check-format.sh        (to mend it: clang-format -i FILE)
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

command -v "clang-format-$llvm" >/dev/null ||
  die "no clang-format-$llvm: run scripts/install-dependencies.sh"
cd "$root"
mapfile -t files < <(git ls-files -co --exclude-standard -- '*.c' '*.cpp' '*.h' |
  while read -r file; do [ ! -f "$file" ] || echo "$file"; done)
[ ${#files[@]} -gt 0 ] || die "no files: is this a git checkout?"
"clang-format-$llvm" --dry-run -Werror "${files[@]}"
say "the format of ${#files[@]} files is right"
