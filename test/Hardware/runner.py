"""Runs the launches of a bundle and writes the bits that they leave.

    python3 test/Hardware/runner.py BUNDLE OUT [--image=ptx|cubin] [--workers=N]

The same file runs on the emulator (blockscale emulate --cuda -- python3 ...) and
on a device: it needs Python and libcuda.so.1 alone. OUT gets index.json, and the
results one after the other in results.0, results.1, ..., compressed. A launch that
fails ends its process, since its context is lost, and another one goes on.
"""

import argparse
import ctypes
import json
import multiprocessing
import multiprocessing.connection
import os
import time
import traceback
import zlib

import tensors
from driver import Driver

PART = 15 << 20


def run_one(driver, launch, state, options):
    """The bytes that one launch leaves."""
    if launch.get("special"):
        return tensors.run(driver, launch, state, options)
    module = state.module(launch["module"])
    function = driver.function(module, launch["kernel"])
    source = state.input(launch["input"])
    target = driver.allocate(launch["size"])
    driver.fill(target, launch["size"])
    driver.launch(function, launch["grid"], launch["block"],
                  [ctypes.c_uint64(source), ctypes.c_uint64(target)])
    data = driver.read(target, launch["size"])
    driver.free(target)
    return data


class State:
    """Modules and inputs that are on the device already."""

    def __init__(self, driver, folder, image, inputs):
        self.driver, self.folder, self.image = driver, folder, image
        self.table, self.inputs, self.loaded = inputs, {}, ("", None)

    def module(self, name):
        if self.loaded[0] != name:
            path = os.path.join(self.folder, f"{name}.{self.image}")
            self.loaded = (name, self.driver.load(path))
        return self.loaded[1]

    def bytes(self, key):
        offset, size = self.table[key]
        with open(os.path.join(self.folder, "inputs.bin"), "rb") as file:
            file.seek(offset)
            return file.read(size)

    def input(self, key):
        if key not in self.inputs:
            data = self.bytes(key)
            self.inputs[key] = self.driver.allocate(len(data))
            self.driver.write(self.inputs[key], data)
        return self.inputs[key]


def work(connection, folder, image, plan, numbers, options):
    """Sends (number, compressed bytes or None, message) of each launch."""
    number = None
    try:
        driver = Driver()
        state = State(driver, folder, image, plan["inputs"])
        for number in numbers:
            connection.send(("begin", number, None))
            try:
                data = run_one(driver, plan["launches"][number], state, options)
            except tensors.Refused as error:
                connection.send(("refused", number, str(error)))
                continue
            connection.send(("end", number, zlib.compress(data, 1)))
    except BaseException as error:
        text = str(error) or traceback.format_exc()
        try:
            connection.send(("failed", number, text))
        except OSError:
            pass
    connection.close()
    os._exit(0)


class Worker:
    """A process with launches of its own, and when it began the one it runs."""

    def __init__(self, numbers, arguments):
        self.left = list(numbers)
        self.arguments = arguments
        self.process = None
        self.start()

    def start(self):
        folder, image, plan, options = self.arguments
        mine, theirs = multiprocessing.Pipe(False)
        self.connection = mine
        self.since = time.time()
        self.process = multiprocessing.Process(
            target=work, args=(theirs, folder, image, plan, list(self.left), options))
        self.process.start()
        theirs.close()

    def stop(self):
        self.process.kill()
        self.process.join()
        self.connection.close()


def collect(workers, results, failures, limit, deadline):
    """Runs until each worker's launches have a result or a failure."""
    active = list(workers)
    while active:
        if time.time() > deadline:
            for worker in active:
                failures.update((n, "not run in time") for n in worker.left)
                worker.stop()
            return
        ready = multiprocessing.connection.wait([w.connection for w in active], 1)
        for worker in list(active):
            message = None
            if worker.connection in ready:
                try:
                    message = worker.connection.recv()
                except EOFError:
                    message = ("failed", worker.left[0] if worker.left else None,
                               "the process ended")
            elif time.time() - worker.since > limit:
                message = ("failed", worker.left[0], f"ran for {limit} s")
            if message is None:
                continue
            kind, number, data = message
            worker.since = time.time()
            if kind in ("end", "refused"):
                (results if kind == "end" else failures)[number] = data
                worker.left.remove(number)
            elif kind == "failed":
                worker.stop()
                if worker.left:
                    failures[worker.left[0] if number is None else number] = data
                    worker.left.remove(worker.left[0] if number is None else number)
                if worker.left:
                    worker.start()
                else:
                    active.remove(worker)
                continue
            if not worker.left:
                worker.process.join()
                active.remove(worker)


def write(folder, plan, results, failures, device, seconds):
    index = {"device": device, "seconds": seconds, "results": {},
             "failures": {str(n): str(t) for n, t in failures.items()}}
    part, used, file = 0, 0, open(os.path.join(folder, "results.0"), "wb")
    for number in sorted(results):
        data = results[number]
        if used + len(data) > PART and used:
            file.close()
            part, used = part + 1, 0
            file = open(os.path.join(folder, f"results.{part}"), "wb")
        index["results"][str(number)] = [part, used, len(data)]
        file.write(data)
        used += len(data)
    file.close()
    with open(os.path.join(folder, "index.json"), "w") as out:
        json.dump(index, out)
    print(f"{device}: {len(results)} launches in {seconds:.1f} s, "
          f"{len(failures)} failed, {part + 1} parts", flush=True)
    for number, text in sorted(failures.items()):
        launch = plan["launches"][number]
        name = launch.get("name") or launch["kernel"]
        print(f"  {name}: {text.strip().splitlines()[-1][:200]}", flush=True)


def device_name(connection):
    connection.send(Driver().name())
    connection.close()
    os._exit(0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bundle")
    parser.add_argument("out")
    parser.add_argument("--image", default="cubin")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--limit", type=float, default=20)
    parser.add_argument("--deadline", type=float, default=1e9)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.bundle, "plan.json")) as file:
        plan = json.load(file)
    begin = time.time()
    mine, theirs = multiprocessing.Pipe(False)
    process = multiprocessing.Process(target=device_name, args=(theirs,))
    process.start()
    device = mine.recv()
    process.join()
    numbers = [n for n, launch in enumerate(plan["launches"])
               if launch["module"].startswith(tuple(options.only.split(",")))]
    chunk = (len(numbers) + options.workers - 1) // max(options.workers, 1)
    arguments = (options.bundle, options.image, plan, None)
    workers = [Worker(numbers[i:i + chunk], arguments)
               for i in range(0, len(numbers), max(chunk, 1))]
    results, failures = {}, {}
    collect(workers, results, failures, options.limit, begin + options.deadline)
    write(options.out, plan, results, failures, device, time.time() - begin)


if __name__ == "__main__":
    multiprocessing.set_start_method("fork")
    main()
