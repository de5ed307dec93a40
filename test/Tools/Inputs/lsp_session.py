# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""An editor's session with a language server.

usage: lsp_session.py SERVER

Opens a file with a mistake, mends it, hovers over an op and asks for the
definition of a value. Prints what the server says.
"""

import json
import subprocess
import sys

URI = "test:///product.mlir"
GOOD = """\
!a = !blockscale.tensor<128x512xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
func.func @f(%a: !a, %b: !a) -> tensor<128x128xf32> {
  %product = blockscale.matmul %a, %b : !a, !a -> tensor<128x128xf32>
  return %product : tensor<128x128xf32>
}
"""
# K of A and B differ.
BAD = GOOD.replace("%b: !a", '%b: !blockscale.tensor<128x256xf4E2M1FN, '
                   '"e4m3fn_t16", layout = tiled_128x4>').replace(
                       ": !a, !a ->", ': !a, !blockscale.tensor<128x256xf4E2M1FN'
                       ', "e4m3fn_t16", layout = tiled_128x4> ->')


class Server:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        self.number = 0

    def send(self, method, parameters, **fields):
        body = json.dumps({"jsonrpc": "2.0", "method": method,
                           "params": parameters, **fields}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body))
        self.process.stdin.write(body)
        self.process.stdin.flush()

    def receive(self):
        length = 0
        while line := self.process.stdout.readline().strip():
            if line.startswith(b"Content-Length:"):
                length = int(line.split(b":")[1])
        if not length:
            sys.exit("the server has ended")
        return json.loads(self.process.stdout.read(length))

    def request(self, method, parameters):
        """The result of a request; notifications on the way are dropped."""
        self.number += 1
        self.send(method, parameters, id=self.number)
        while True:
            message = self.receive()
            if message.get("id") == self.number:
                return message.get("result")

    def diagnostics(self):
        while True:
            message = self.receive()
            if message.get("method") == "textDocument/publishDiagnostics":
                return message["params"]["diagnostics"]


def place(line, character):
    return {"textDocument": {"uri": URI},
            "position": {"line": line, "character": character}}


def print_diagnostics(name, diagnostics):
    print(f"{name}: {len(diagnostics)}")
    for one in diagnostics:
        start = one["range"]["start"]
        print(f"  line {start['line'] + 1}: {one['message']}")


def main():
    server = Server(sys.argv[1])
    abilities = server.request("initialize", {"capabilities": {}})
    print("hover:", abilities["capabilities"]["hoverProvider"])
    server.send("textDocument/didOpen",
                {"textDocument": {"uri": URI, "languageId": "mlir",
                                  "version": 1, "text": BAD}})
    print_diagnostics("with the mistake", server.diagnostics())
    server.send("textDocument/didChange",
                {"textDocument": {"uri": URI, "version": 2},
                 "contentChanges": [{"text": GOOD}]})
    print_diagnostics("mended", server.diagnostics())
    hover = server.request("textDocument/hover", place(2, 15))
    print("hover over the op:", hover["contents"]["value"])
    definition = server.request("textDocument/definition", place(3, 10))
    print("definition of '%product': line",
          definition[0]["range"]["start"]["line"] + 1)
    server.request("shutdown", None)
    server.send("exit", None)
    print("ends with", server.process.wait())


if __name__ == "__main__":
    main()
