"""Holds a page that is written by hand to its program.

    check_written_manual.py PROGRAM PAGE [FOLDER]

Every option that the page names is in the program's --help. With FOLDER, the
commands of the page's section EXAMPLE are run there by sh, and must succeed.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import re
import subprocess
import sys


def main(arguments):
    program, path, *folder = arguments[1:]
    page = open(path, encoding="utf-8").read()
    text = subprocess.run([program, "--help"], capture_output=True, text=True,
                          check=True).stdout
    known = set(re.findall(r"^ +--?([\w-]+)", text, re.M))
    options = re.findall(r"^\.TP\n\\fB(?:\\-){1,2}((?:\w|\\-)+)\\fR", page, re.M)
    options = [option.replace("\\-", "-") for option in options]
    if missing := set(options) - known:
        sys.exit(f"{program} knows no {sorted(missing)}")
    print(f"{len(options)} options")
    if folder:
        example = re.search(r"^\.SH EXAMPLE\n\.nf\n(.*?)^\.fi$", page, re.M | re.S)
        commands = example.group(1).replace("\\-", "-")
        print(subprocess.run(["sh", "-e", "-c", commands], cwd=folder[0],
                             capture_output=True, text=True, check=True).stdout)


if __name__ == "__main__":
    main(sys.argv)
