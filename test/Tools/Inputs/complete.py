"""What a shell offers when somebody types and presses the tabulator.

    complete.py SHELL SCRIPT PROGRAM LINE...

SHELL is bash, zsh or fish, SCRIPT the completion, PROGRAM its command. Types each
LINE into an interactive shell on a terminal of its own (fish says what it would
offer), and prints `LINE -> what it became` and, where several things may follow,
all of them in the order of the alphabet.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import os
import pty
import re
import select
import subprocess
import sys
import tempfile
import time

PROMPT = "READY>"
CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[=>]|\x1b\][^\x07]*\x07|[\x07\x08]")


class Shell:
    """A shell that somebody types into."""

    def __init__(self, command, folder):
        self.child, self.terminal = pty.fork()
        if not self.child:
            os.chdir(folder)
            os.environ.update(TERM="dumb", COLUMNS="4000", LINES="1000", PS1=PROMPT,
                              PROMPT=PROMPT, HISTFILE="")
            os.execvp(command[0], command)

    def read(self, wanted, timeout=20.0, quiet=0.4):
        """What comes until `wanted` stands in it and nothing more follows."""
        text, end = "", time.time() + timeout
        while time.time() < end:
            ready, _, _ = select.select([self.terminal], [], [], quiet)
            if ready:
                try:
                    text += os.read(self.terminal, 65536).decode(errors="replace")
                except OSError:
                    break
            elif wanted in text:
                break
        return text

    def type(self, text):
        os.write(self.terminal, text.encode())


def offered_by_bash(script, lines, folder):
    shell = Shell(["bash", "--norc", "--noprofile", "-i"], folder)
    shell.read(PROMPT)
    shell.type(f"PS1='{PROMPT}'; bind 'set page-completions off'; bind 'set "
               "completion-query-items -1'; bind 'set bell-style none'; bind "
               f"'set enable-bracketed-paste off'; stty cols 4000; . {script}\n")
    shell.read(PROMPT)
    for line in lines:
        yield line, ask(shell, line)
    shell.type("exit\n")


def offered_by_zsh(script, lines, folder):
    os.makedirs(f"{folder}/functions")
    name = re.search(r"#compdef (\S+)", open(script).read())[1]
    with open(f"{folder}/functions/_{name}", "w") as file:
        file.write(open(script).read())
    shell = Shell(["zsh", "-f", "-i"], folder)
    shell.read(PROMPT)
    shell.type(f"PS1='{PROMPT}'; LISTMAX=0; setopt nobeep; unsetopt zle_bracketed_paste; "
               f"stty cols 4000; fpath=({folder}/functions $fpath); "
               "autoload -U compinit; compinit -u -D; zstyle ':completion:*' "
               "verbose no\n")
    shell.read(PROMPT)
    # The first time zsh loads its functions.
    ask(shell, lines[0], quiet=2.0)
    for line in lines:
        yield line, ask(shell, line)
    shell.type("exit\n")


def ask(shell, line, quiet=0.4):
    """The line after a tabulator, and what two of them list."""
    shell.type(line + "\t")
    first = CONTROL.sub("", shell.read(line[:8], quiet=quiet))
    shell.type("\t")
    more = CONTROL.sub("", shell.read("", timeout=2.0))
    shell.type("\x15\n")
    shell.read(PROMPT)
    became = re.split(r"[\r\n]", first)[0]
    listed = [w for text in re.split(r"[\r\n]+", first + "\n" + more)[1:]
              if PROMPT not in text for w in text.split()]
    return became.strip(), sorted(set(listed))


def offered_by_fish(script, lines, folder):
    for line in lines:
        done = subprocess.run(
            ["fish", "--no-config", "-c",
             f"source {script}; complete -C {line!r}"],
            cwd=folder, capture_output=True, text=True, check=True)
        yield line, ("", sorted(l.split("\t")[0] for l in
                                done.stdout.splitlines()))


def main(arguments):
    name, script, program, *lines = arguments
    offered = {"bash": offered_by_bash, "zsh": offered_by_zsh,
               "fish": offered_by_fish}[name]
    with tempfile.TemporaryDirectory() as folder:
        open(f"{folder}/product one.mlir", "w").close()
        for line, (became, listed) in offered(
                os.path.abspath(script), [f"{program} {l}" for l in lines], folder):
            print(f"{line} -> {became}")
            print("  " + " ".join(listed))


if __name__ == "__main__":
    main(sys.argv[1:])
