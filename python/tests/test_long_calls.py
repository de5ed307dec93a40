# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Long calls: other threads run, interrupts end them, progress is told."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import blockscale as bs

# Counts for ever: some minutes on the emulator unless something ends it.
ENDLESS = """
.version 8.8
.target sm_100a
.address_size 64
.visible .entry endless(.param .u64 out)
{
  .reg .b32 %n;
  .reg .pred %more;
  mov.u32 %n, 0;
again:
  add.u32 %n, %n, 1;
  setp.ne.u32 %more, %n, 0;
  @%more bra again;
  ret;
}
"""
PROMPT = 5.0  # seconds, on machines with much else to do


@pytest.fixture(scope="module")
def kernel():
    return bs.compile(bs.matmul(M="M", N=512, K=1024, a="mxfp8", b="mxfp8"))


def endless(**options):
    return bs.emulate(ENDLESS, [np.zeros(4, np.uint32)], **options)


def interrupted(work):
    """Seconds from an interrupt in the midst of `work()` to its end."""
    sent = []

    def send():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.5, send)
    # What a shell starts in the background ignores interrupts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            work()
        ended = time.monotonic()
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    return ended - sent[0]


def test_interrupts(kernel):
    assert interrupted(endless) < PROMPT
    assert interrupted(lambda: kernel.verify(M=20000)) < PROMPT
    # All is as before.
    assert kernel.verify(M=1, data="exact", clusters=1)


def test_a_reference_can_be_interrupted():
    """Where the product that verify compares with takes longer than the run."""
    kernel = bs.compile(bs.matmul(M=2048, N=2048, K=4096, a="mxfp8", b="mxfp8"))
    assert interrupted(lambda: kernel.verify(data="random", clusters=60,
                                             conditions="plain")) < PROMPT


@pytest.mark.parametrize("work", [
    endless, lambda **options: bs.compile(bs.matmul(
        M="M", N=512, K=1024, a="mxfp8", b="mxfp8")).verify(M=20000, **options)])
def test_callbacks_may_raise(work):
    class Enough(Exception):
        pass

    def progress(done, total):
        raise Enough(f"{done} of {total}")

    with pytest.raises(Enough):
        work(progress=progress)


def test_other_threads_run():
    """A thread that counts gets on while the emulator has another one busy."""
    counts, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counts[0] += 1

    counter = threading.Thread(target=count)
    report = []

    def progress(done, total):
        report.append(counts[0])
        if len(report) == 8:
            raise TimeoutError

    counter.start()
    try:
        with pytest.raises(TimeoutError):
            endless(progress=progress)
    finally:
        stop.set()
        counter.join()
    assert report[-1] - report[0] > 1000


def test_progress(kernel):
    class Steps:
        """What is told of each step; nothing before the first."""

        def __init__(self):
            self.steps = {("", ""): []}

        def begin(self, step, unit):
            self.steps[step, unit] = []

        def __call__(self, done, total):
            list(self.steps.values())[-1].append((done, total))

    seen = Steps()
    verdict = kernel.verify(M=4000, data="exact", progress=seen)
    assert verdict
    units = {step: unit for step, unit in seen.steps}
    assert units.items() <= {"": "", "matmul, inputs": "rows",
                             "matmul": "clusters",
                             "matmul, reference": "tiles"}.items()
    assert "matmul" in units  # the others may be over at once
    whole = {"": 0, "matmul, inputs": 4000 + 512, "matmul, reference":
             32 * 4, "matmul": verdict.runs[0]["clusters"]}
    for (step, _), told in seen.steps.items():
        done = [one for one, _ in told]
        assert done == sorted(done)
        assert all(one <= total and total in (0, whole[step])
                   for one, total in told)
    plain = []
    assert kernel.verify(M=1500, data="exact",
                         progress=lambda *place: plain.append(place))
    assert plain and all(one <= total for one, total in plain)
    with pytest.raises(bs.Refused, match="progress is a int: expected"):
        kernel.verify(M=1, progress=7)


def test_the_bar():
    class Terminal:
        def __init__(self):
            self.text = ""

        def write(self, text):
            self.text += text

        def flush(self):
            pass

    from blockscale._progress import Bar
    terminal = Terminal()
    bar = Bar("verify", terminal)
    bar(1, 4)
    assert terminal.text == ""  # not for short calls
    bar.start -= 2
    bar(1, 4)
    bar(1, 4)
    assert terminal.text == "\rverify [#######.......................] " \
                            "1 of 4 clusters, 2 s"
    bar.begin("gemm, inputs", "rows")
    bar(3, 6)
    assert terminal.text.endswith("\rverify gemm, inputs [###############...."
                                  "...........] 3 of 6 rows, 2 s")
    bar.close()
    assert terminal.text.endswith("\r") and terminal.text.count("\r") == 4


def test_no_bar_without_a_terminal():
    script = ("import blockscale as bs; print(bool(bs.compile(bs.matmul(M=64, "
              "N=64, K=64, a='mxfp8', b='mxfp8')).verify()))")
    done = subprocess.run([sys.executable, "-c", script], check=True,
                          capture_output=True, text=True)
    assert done.stdout == "True\n" and done.stderr == ""


def test_a_launch_is_used_by_one_thread(kernel):
    """Threads with launches of their own do not disturb each other."""
    results = {}

    def work(seed):
        rng = np.random.default_rng(seed)
        x = bs.quantize(rng.standard_normal((40, 1024)), like=kernel.arg("a"))
        w = bs.quantize(rng.standard_normal((512, 1024)), like=kernel.arg("b"))
        results[seed] = kernel.emulate(x, w), kernel.emulate(x, w)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((first == second).all() for first, second in results.values())
    assert len(results) == 3
