# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""An editor's session with a language server over a file that grows while one types.

usage: lsp_editing.py SERVER

Types half an op, asks what may follow, finishes it with a K that does not fit, mends
that, asks for the outline and for all uses of a value, and for what no server knows.
Prints what the server says.
"""

import sys

import lsp_session as lsp

HEAD = """\
!x = !blockscale.tensor<?x256xf6E3M2FN, "e8m0_t32">
!w = !blockscale.tensor<64x256xf8E5M2, "e8m0_t32">

func.func @first(%x: !x, %w: !w) -> tensor<?x64xf32> {
"""
HALF = HEAD + "  %y = blockscale.\n"
TAIL = """\
  return %y : tensor<?x64xf32>
}
func.func @second(%x: !x, %w: !w) -> tensor<?x64xf32> {
  %z = func.call @first(%x, %w) : (!x, !w) -> tensor<?x64xf32>
  return %z : tensor<?x64xf32>
}
"""
WHOLE = HEAD + "  %y = blockscale.matmul %x, %w : !x, !w -> tensor<?x64xf32>\n" + TAIL
WRONG = WHOLE.replace("64x256xf8E5M2", "64x128xf8E5M2")


def main():
    server = lsp.Server(sys.argv[1])
    server.request("initialize", {"capabilities": {}})
    server.send("textDocument/didOpen",
                {"textDocument": {"uri": lsp.URI, "languageId": "mlir",
                                  "version": 1, "text": HALF}})
    print("half an op:", len(server.diagnostics()) > 0)
    offered = server.request("textDocument/completion", lsp.place(4, 18))
    labels = {item["label"] for item in offered["items"]}
    print("may follow:", {"matmul", "quantize"} <= {
        label.split(".")[-1] for label in labels})
    for version, text in (2, WRONG), (3, WHOLE):
        server.send("textDocument/didChange",
                    {"textDocument": {"uri": lsp.URI, "version": version},
                     "contentChanges": [{"text": text}]})
        lsp.print_diagnostics(f"version {version}", server.diagnostics())
    symbols = server.request("textDocument/documentSymbol",
                             {"textDocument": {"uri": lsp.URI}})
    print("outline:", [symbol["name"] for symbol in symbols])
    uses = server.request("textDocument/references",
                          {**lsp.place(4, 3), "context": {"includeDeclaration": True}})
    print("'%y' in lines:", sorted(u["range"]["start"]["line"] + 1 for u in uses))
    unknown = server.request("textDocument/noSuchThing", {})
    print("what it does not know:", unknown)
    server.request("shutdown", None)
    server.send("exit", None)
    print("ends with", server.process.wait())


if __name__ == "__main__":
    main()
