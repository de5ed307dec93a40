"""Checks a trace of --timeline: its form, and that the bars of a track follow
each other. Prints the tracks."""

import json
import sys

trace = json.load(open(sys.argv[1]))
summary = trace["otherData"]
assert "estimate" in summary["label"], summary
assert 0 < summary["tensor_core_busy"] <= 1, summary
assert abs(sum(summary["tensor_core_shares"].values()) - 1) < 1e-9, summary

processes, tracks, ends = {}, {}, {}
for event in trace["traceEvents"]:
    key = event["pid"], event["tid"]
    if event["ph"] == "M":
        names = processes if event["name"] == "process_name" else tracks
        names[key] = event["args"]["name"]
        continue
    assert key in tracks, event
    assert event["args"]["ptx line"] > 0, event
    assert event["ts"] >= 0, event
    end = event["ts"] + event.get("dur", 0)
    # A part of a nanosecond, for rounding.
    assert event["ts"] >= ends.get(key, 0) - 1e-6, (tracks[key], event)
    assert end <= summary["cycles"] / summary["clock_ghz"] / 1e3 + 1e-6, event
    ends[key] = end
print(*sorted(set(processes.values())), sep="\n")
print(*sorted(set(tracks.values())), sep="\n")
