"""Checks what 'explain schedule --replay=2' says, and that --search took the one of
the two that it finds faster. Part of the blockscale project, under the Apache License
v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

usage: schedules.py EXPLAINED.json [NOTES]
"""

import json
import re
import sys

products = json.load(open(sys.argv[1]))
assert [p["product"] for p in products] == [0, 1]
for product in products:
    schedules = product["schedules"]
    times = [s["microseconds"] for s in schedules]
    # Workspaces and tiles in halves must promise up to 5 % more to come first.
    assert all(x <= 1.05 * y for x, y in zip(times, times[1:])) and len(times) > 2
    assert len({s["schedule"] for s in schedules}) == len(schedules)
    replayed = [s.get("timeline_microseconds") for s in schedules]
    assert all(replayed[:2]) and not any(replayed[2:]), replayed
    # The two models may differ, but not by an order of magnitude.
    assert all(0.5 < formula / replay < 2
               for formula, replay in zip(times, replayed[:2])), schedules[:2]
assert all("tile 256" in s["schedule"] for s in products[1]["schedules"])
if len(sys.argv) == 3:
    notes = open(sys.argv[2]).read().splitlines()
    assert len(notes) == 2
    for note, product in zip(notes, products):
        replayed = [s["timeline_microseconds"] for s in product["schedules"][:2]]
        best = replayed.index(min(replayed))
        assert product["schedules"][best]["schedule"] + ", " in note, note
        time = float(re.search(r"([\d.]+) us", note)[1])
        # Other epilogues are tried on the fastest one.
        if any(words in note for words in ("D stored by TMA", "8 warps store")):
            assert time < min(replayed), note
        else:
            assert time == round(min(replayed), 2), note
        assert f"number {best + 1} of the 2" in note, note
