//===- Session.h - sessions and modules -------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CAPI_SESSION_H
#define BLOCKSCALE_LIB_CAPI_SESSION_H

#include "Handles.h"
#include "blockscale-c/Session.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <set>

namespace blockscale::capi {

struct Session : Object {
  static constexpr const char *kKind = "session";
  ~Session() override;

  Exclusive exclusive;
  std::unique_ptr<mlir::MLIRContext> context;
  BlockscaleDiagnosticCallback callback = nullptr;
  void *userData = nullptr;
  /// Handles of its modules.
  std::set<uint64_t> modules;
  /// No handle leads here any more.
  bool isDestroyed = false;
  /// Why it can only be destroyed: control left MLIR in the middle of its work,
  /// and what it was working on must not be touched, not even freed.
  std::string isBroken;
};

struct Module : Object {
  static constexpr const char *kKind = "module";
  ~Module() override;

  std::shared_ptr<Session> session;
  mlir::OwningOpRef<mlir::ModuleOp> op;
};

/// Uses `session` for `body`. Diagnostics that MLIR gives meanwhile go to the
/// session's callback afterwards; the first error is the message if `body`
/// fails with one that is empty. Where all went well, `commit` follows, while
/// the session is still in use.
void inSession(
    const std::shared_ptr<Session> &session,
    const std::function<void(Session &)> &body,
    const std::function<void()> &commit = [] {});

/// The same for a module of it.
void inModule(
    BlockscaleModule module, const std::function<void(Module &)> &body,
    const std::function<void(Module &)> &commit = [](Module &) {});

/// Reads `source` in `session`, which is in use. Fails if it cannot be read.
mlir::OwningOpRef<mlir::ModuleOp>
parseModule(Session &session, std::string_view source, std::string_view name);

/// A handle for `op` of `session`, which is in use.
BlockscaleModule makeModule(const std::shared_ptr<Session> &session,
                            mlir::OwningOpRef<mlir::ModuleOp> op);

/// `op` as bytecode of the newest version.
std::string writeBytecode(mlir::Operation *op);

} // namespace blockscale::capi

#endif // BLOCKSCALE_LIB_CAPI_SESSION_H
