"""Compares the man page with what --help says, verb by verb.

    check_manual.py PROGRAM MANUAL

Every option of each verb's help is in the verb's part of the page with the same
placeholder, and no others. The help is CLI11's, the page is not.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import re
import subprocess
import sys


def say(*command):
    return subprocess.run(command, capture_output=True, text=True,
                          check=True).stdout


def main(arguments):
    program, manual = arguments[1:]
    page = open(manual, encoding="utf-8").read()
    parts = dict(re.findall(r'^\.SH "?([A-Z ]+?)"?\n(.*?)(?=^\.SH|\Z)', page,
                            re.M | re.S))
    verbs = re.findall(r"^  ([a-z]+) {2,}\S", say(program, "--help"), re.M)
    count = 0
    for verb in verbs:
        text = say(program, verb, "--help")
        wanted = {}
        for names, place in re.findall(
                r"^  ((?:-\w,)?--?[\w-]+(?:,--\w)?)(?: \[?([A-Z][\w.|\]]*))?", text, re.M):
            name = names.split(",")[-1].lstrip("-")
            if name != "help":
                wanted[name] = place
        found = set(re.findall(r"^\\fB(?:\\-){1,2}((?:\w|\\-)+)\\fR",
                               parts[verb.upper()], re.M))
        found = {name.replace("\\-", "-") for name in found}
        if found != set(wanted):
            sys.exit(f"{verb}: only the help has {sorted(set(wanted) - found)}, "
                     f"only the page {sorted(found - set(wanted))}")
        count += len(found)
    print(f"{len(verbs)} verbs, {count} options")


if __name__ == "__main__":
    main(sys.argv)
