# Prints the shell commands of one section of a page: commands.py FILE.md HEADING.
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import re
import sys

page = open(sys.argv[1], encoding="utf-8").read()
sections = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", page, re.M | re.S))
blocks = re.findall(r"^```sh\n(.*?)^```", sections[sys.argv[2]], re.M | re.S)
if not blocks:
    sys.exit(f"no commands under '{sys.argv[2]}'")
# `set -e` does not end a script at a command that `!` negates.
print("set -e")
for line in "".join(blocks).replace("\\\n", " ").splitlines():
    print(f"if {line[2:]}; then exit 1; fi" if line.startswith("! ") else line)
