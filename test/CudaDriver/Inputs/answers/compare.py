"""compare.py RECORD ANSWERS DIFFERENCES OPEN: two answers of ask.py.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

DIFFERENCES has what differs on purpose: after lines of # with the reason, regular
expressions of lines of RECORD, one a line. OPEN has the lines of RECORD that ours
does not answer yet; a line that is answered may leave it, so that it is guarded. A
rule that allows nothing is an error.
"""

import difflib
import re
import sys
from collections import Counter
from pathlib import Path


def allowed(path):
    """Regular expressions, and how many lines each has let differ."""
    return {line: 0 for line in Path(path).read_text().splitlines() if line and not line.startswith("#")}


def pairs(record, answers):
    """Lines of both that stand at the same place; None where one has no line."""
    matcher = difflib.SequenceMatcher(None, record, answers, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            continue
        for i in range(max(b - a, d - c)):
            yield record[a + i] if a + i < b else None, answers[c + i] if c + i < d else None


def main(record_path, answers_path, differences_path, open_path):
    record, answers, unanswered = (Path(path).read_text().splitlines()
                                   for path in (record_path, answers_path, open_path))
    rules, wrong, left = allowed(differences_path), 0, Counter(unanswered)
    sections = dict.fromkeys(line.split(":")[0] for line in record)
    for section in sections:
        rows = [[line for line in lines if line.split(":")[0] == section] for lines in (record, answers)]
        if len(rows[0]) == len(rows[1]):
            differing = [(a, b) for a, b in zip(*rows) if a != b]
        else:
            differing = pairs(*rows)
        for theirs, ours in differing:
            rule = next((rule for rule in rules if re.search(rule, theirs or ours)), None)
            if rule:
                rules[rule] += 1
                continue
            if left[theirs] > 0:
                left[theirs] -= 1
                continue
            wrong += 1
            print(f"the driver: {theirs}\n      ours: {ours}")
    for rule, count in rules.items():
        if not count:
            wrong += 1
            print(f"nothing differs by '{rule}'")
    for line, count in left.items():
        if count:
            print(f"is answered and may leave the list: {line}")
    print(f"{len(record)} answers, {sum(rules.values())} differ on purpose, "
          f"{len(unanswered)} are open, {wrong} wrong")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
