# What the scripts that edit PTX share: finding places in the text, running each
# edit and saying which nobody noticed.
#
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import concurrent.futures
import os
import re
import subprocess


class Ptx:
    """The lines of a PTX file; every edit returns the lines of the whole."""

    def __init__(self, text):
        self.lines = text.splitlines()

    @classmethod
    def read(cls, path):
        with open(path) as file:
            return cls(file.read())

    def places(self, pattern):
        """Numbers of the lines that match; there may be none."""
        return [i for i, line in enumerate(self.lines)
                if re.search(pattern, line)]

    def some(self, pattern):
        """Numbers of the lines that match, of which there must be one."""
        found = self.places(pattern)
        assert found, f"no line matches {pattern}"
        return found

    def definition(self, register, before):
        """The last line before `before` that sets the register."""
        found = self.some(
            rf"^\s*(@!?%\w+ )?[\w.:]+\s+{re.escape(register)}, ")
        return [i for i in found if i < before][-1]

    def edited(self, at, text):
        return self.lines[:at] + [text] + self.lines[at + 1:]

    def dropped(self, at):
        return self.edited(at, "")

    def replaced(self, at, pattern, text):
        line, count = re.subn(pattern, text, self.lines[at], count=1)
        assert count == 1 and line != self.lines[at], (
            f"{pattern} not in {self.lines[at]}")
        return self.edited(at, line)

    def added(self, at, pattern, difference):
        """The number that the group of the pattern matches, changed."""
        match = re.search(pattern, self.lines[at])
        assert match, f"{pattern} not in {self.lines[at]}"
        begin, end = match.span(1)
        number = str(int(match.group(1)) + difference)
        return self.edited(
            at, self.lines[at][:begin] + number + self.lines[at][end:])


# What a comparison, a minimum or a condition is exchanged for.
EXCHANGES = [(r"min\.s32", "max.s32"), (r"max\.s32", "min.s32"),
             (r"setp\.lt", "setp.le"), (r"setp\.ge", "setp.gt"),
             (r"setp\.gt", "setp.ge"), (r"setp\.eq", "setp.ne"),
             (r"or\.pred", "and.pred"), (r"and\.pred", "or.pred")]


def arithmetic(ops):
    """An op on two numbers, with its result and the first of them."""
    return rf"\t(?:{'|'.join(ops)})\.[sbu](?:32|64) \t(%\w+), (%\w+), (%\w+|-?\d+);"


def line_edits(ptx, at, ops=("add", "sub")):
    """Edits of one line that finds a place or a number, with their names: another
    comparison, the first operand of `ops` alone, a constant one more and one less,
    and no load or branch at all."""
    line = ptx.lines[at]
    name = f"line {at + 1}, '{line.strip()}'"
    for pattern, other in EXCHANGES:
        if re.search(pattern, line):
            yield f"{name}: {other}", ptx.replaced(at, pattern, other)
    if re.search(arithmetic(ops), line):
        kind = "b64" if "64" in line.split()[0] else "b32"
        yield (f"{name}: the first alone", ptx.replaced(
            at, arithmetic(ops), rf"\tmov.{kind} \t\1, \2;"))
    if re.search(r"^\t(?!mov|@).*, (-?\d+);", line):
        for by in (1, -1):
            yield f"{name}: {by:+}", ptx.added(at, r", (-?\d+);", by)
    if re.search(r"^\t(ld\.global|@.* bra)", line):
        yield f"drop {name}", ptx.dropped(at)


def flipped(wait, parity):
    """The wait for the other parity, however often it is tried: try_wait may
    return false, and a parity flipped in place would be right the second time.
    """
    other = re.sub(re.escape(parity) + r"(?=(, %?r?\d+)?;)", "%flipped", wait)
    return ("\t{ .reg .b32 %flipped;\n"
            f"\txor.b32 \t%flipped, {parity}, 1;\n{other} }}")


def edits_of_wait(ptx, at):
    """The wait of a line left out, and for the other parity."""
    line = ptx.lines[at]
    done, parity = re.search(r"(%p\d+), .*, (%r\d+)(?:, \d+)?;", line).groups()
    yield f"drop wait, line {at + 1}", ptx.edited(at, f"\tsetp.eq.u32 {done}, 0, 0;")
    yield (f"flip parity of wait, line {at + 1}",
           ptx.edited(at, flipped(line, parity)))


# Edits that one process judges: it compiles once, and crashes for all of them.
TOGETHER = 16


def verifier(source, *options):
    """Judges edits by `blockscale verify` with exact data; see `missed_by`."""
    return missed_by(source, "--data=exact", *options)


def missed_by(source, *options):
    """What returns those of the files with edits that `blockscale verify` does not
    notice."""

    def some_missed(paths, completion):
        result = subprocess.run(
            ["blockscale", "verify", source, "--threads=1",
             "--step-limit=10000000", f"--completion={completion}", *options,
             *(f"--edits={path}" for path in paths)],
            capture_output=True, text=True)
        said = dict(line.rsplit(": ", 1) for line in result.stdout.splitlines())
        if list(said) != list(paths) or result.returncode not in (0, 1):
            raise RuntimeError(
                f"verify judged {len(said)} of {len(paths)} edits: {result.stderr}")
        return [path for path in paths if said[path] != "noticed"]

    def missed(paths, completion):
        parts = [paths[i:i + TOGETHER] for i in range(0, len(paths), TOGETHER)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            return [path for part in pool.map(
                lambda part: some_missed(part, completion), parts)
                for path in part]

    return missed


def missed_by_all(*judges):
    """What returns the files whose edits none of the judges notices."""

    def missed(paths, completion):
        for judge in judges:
            paths = judge(paths, completion)
        return paths

    return missed


class Program:
    """A CUDA program whose fat binary is not compressed: its PTX is edited in
    place."""

    def __init__(self, path, *options):
        self.path, self.options = path, options
        with open(path, "rb") as file:
            self.image = file.read()
        self.begin = self.image.index(b".version ")
        self.end = self.image.index(b"\0", self.begin)

    def ptx(self):
        text = self.image[self.begin:self.end].decode()
        # Empty lines leave room for edits.
        return Ptx("\n".join(line for line in text.splitlines() if line))

    def missed(self, paths, completion):
        """Those of the files with edits that the program does not notice."""
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = list(pool.map(lambda path: self.notices(path, completion), paths))
        return [path for path, is_noticed in zip(paths, found) if not is_noticed]

    def notices(self, path, completion):
        with open(path, "rb") as file:
            text = file.read()
        room = self.end - self.begin
        assert len(text) <= room, f"{len(text)} bytes in place of {room}"
        program = path + ".program"
        with open(program, "wb") as file:
            file.write(self.image[:self.begin] + text.ljust(room)
                       + self.image[self.end:])
        os.chmod(program, 0o755)
        result = subprocess.run(
            ["blockscale", "emulate", f"--completion={completion}",
             "--threads=1", "--step-limit=10000000", *self.options, "--cuda",
             program], capture_output=True, text=True)
        os.remove(program)
        return result.returncode == 1


def report(cases, folder, missed, completions=("immediate",), equivalent=()):
    """Asks `missed`, with each completion, which of the cases, (name, lines), are
    left, and prints one line for each that nobody noticed or that is known to be
    equivalent, then how many there were. `equivalent` has regular expressions for
    names, each with its reason."""
    names = {}
    for number, (name, lines) in enumerate(cases):
        path = os.path.join(folder, f"mutated-{number}.ptx")
        names[path] = name
        with open(path, "w") as file:
            file.write("\n".join(lines) + "\n")
    left = list(names)
    for completion in completions:
        left = missed(left, completion) if left else left
    unnoticed = excused = 0
    for path in names:
        if path not in left:
            os.remove(path)
            continue
        reason = next((why for pattern, why in equivalent
                       if re.match(pattern, names[path])), None)
        if reason:
            excused += 1
            print(f"equivalent: {names[path]}: {reason}")
        else:
            unnoticed += 1
            print(f"missed: {names[path]}")
    print(f"missed {unnoticed} of {len(names)} edits, {excused} equivalent")
