/* RUN: %cc %s -o %t %link && %t | FileCheck %s

   Diagnostics reach the callback with place and notes, and the session is in
   use while it runs. */

#include "blockscale-c/Compiler.h"
#include "check.h"

/* CHECK:      error x.mlir:2:8: {{.*}}'blockscale.matmul' op {{.+}}
   CHECK-NEXT: inside: busy, busy
   CHECK:      error x.mlir:3:1: redefinition of symbol named 'f'
   CHECK-NEXT: inside: busy, busy
   CHECK-NEXT: note x.mlir:2:1: see existing symbol definition here
   CHECK-NEXT: after: refused: x.mlir:3:1: redefinition of symbol named 'f'
   CHECK-NEXT: without: refused
 */

static const char *const kSeverities[] = {"note", "remark", "warning", "error"};

static void print(const BlockscaleDiagnostic *diagnostic) {
  printf("%s %.*s:%u:%u: %.*s\n", kSeverities[diagnostic->severity],
         (int)diagnostic->file.size, diagnostic->file.data, diagnostic->line,
         diagnostic->column, (int)diagnostic->message.size,
         diagnostic->message.data);
}

static void callback(const BlockscaleDiagnostic *diagnostic, void *userData) {
  BlockscaleSession session = *(BlockscaleSession *)userData;
  print(diagnostic);
  BlockscaleModule module;
  BlockscaleStatus parse =
      blockscaleModuleParse(session, slice(""), slice(""), &module);
  BlockscaleStatus destroy = blockscaleSessionDestroy(session);
  printf("inside: %s, %s\n", blockscaleStatusName(parse),
         blockscaleStatusName(destroy));
  for (size_t i = 0; i < diagnostic->noteCount; ++i)
    print(&diagnostic->notes[i]);
}

int main(void) {
  BlockscaleSession session;
  BlockscaleModule module;
  CHECK_OK(blockscaleSessionCreate(&session));
  CHECK_OK(blockscaleSessionSetDiagnosticCallback(session, callback, &session));
  /* K of the operands differs. */
  CHECK(blockscaleModuleParse(
            session,
            slice("func.func @f(%a: !blockscale.tensor<64x128xf16>, %b: "
                  "!blockscale.tensor<64x256xf16>) -> tensor<64x64xf32> {\n"
                  "  %d = blockscale.matmul %a, %b : "
                  "!blockscale.tensor<64x128xf16>, "
                  "!blockscale.tensor<64x256xf16> -> tensor<64x64xf32>\n"
                  "  return %d : tensor<64x64xf32>\n"
                  "}\n"),
            slice("x.mlir"), &module) == BLOCKSCALE_REFUSED);
  const char *twice = "\nfunc.func private @f()\nfunc.func private @f()\n";
  BlockscaleStatus status =
      blockscaleModuleParse(session, slice(twice), slice("x.mlir"), &module);
  printf("after: %s: %s\n", blockscaleStatusName(status),
         blockscaleLastError());
  CHECK_OK(blockscaleSessionSetDiagnosticCallback(session, NULL, NULL));
  status =
      blockscaleModuleParse(session, slice(twice), slice("x.mlir"), &module);
  printf("without: %s\n", blockscaleStatusName(status));
  CHECK_OK(blockscaleSessionDestroy(session));
  return 0;
}
