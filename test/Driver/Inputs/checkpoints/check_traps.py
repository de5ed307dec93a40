"""Holds `blockscale check` against the checkpoints of make_traps.py.

usage: check_traps.py PROGRAM FOLDER docs/checkpoints.md

Each broken checkpoint must be named by its own rule and no other error; the
right ones by none. Each rule that the document lists has such a checkpoint.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

# Other errors that follow from the same mistake.
FOLLOWS = {"byte-as-number": {"scale-type"}}


def check(program, folder):
    # A part of a model is no folder.
    parts = list(folder.glob("*-of-*.safetensors"))
    folder = parts[0] if parts else folder
    result = subprocess.run([program, "check", folder, "--format=json"],
                            capture_output=True, text=True)
    if result.returncode not in (0, 1) or not result.stdout:
        print(f"{folder}: exit code {result.returncode}: {result.stderr}")
        return None
    report = json.loads(result.stdout)
    findings = report["findings"] + [
        f for tensor in report["tensors"] for f in tensor["findings"]]
    errors = {f["rule"] for f in findings if f["grade"] == "error"}
    if bool(errors) != (result.returncode == 1):
        print(f"{folder}: exit code {result.returncode} with {errors}")
        return None
    return {f["rule"] for f in findings}, errors


def judge(program, folder):
    name = folder.name
    answer = check(program, folder)
    if answer is None:
        return False
    rules, errors = answer
    rule = name.split(".")[0]
    if rule.startswith("right-"):
        wanted = not errors
    else:
        wanted = rule in rules and errors <= {rule, *FOLLOWS.get(name, ())}
    if not wanted:
        print(f"{name}: found {sorted(rules)}")
    return wanted


def documented(path):
    rows = re.findall(r"^\| `([a-z-]+)` \| (?:note|warning|error) \|",
                      Path(path).read_text(), re.M)
    # What cannot be read has no checkpoint.
    return set(rows) - {"unreadable"}


if __name__ == "__main__":
    program, root, document = sys.argv[1:]
    folders = sorted(Path(root).iterdir())
    good = [judge(program, folder) for folder in folders]
    tried = {folder.name.split(".")[0] for folder in folders}
    rules = {name for name in tried if not name.startswith("right-")}
    listed = documented(document)
    if rules != listed:
        print(f"rules without a checkpoint: {sorted(listed - rules)}, "
              f"not in the document: {sorted(rules - listed)}")
    print(f"{sum(good)} of {len(good)} checkpoints, {len(rules)} rules")
    sys.exit(0 if all(good) and rules == listed else 1)
