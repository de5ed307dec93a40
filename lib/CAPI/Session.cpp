//===- Session.cpp - sessions, diagnostics and modules --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"
#include "blockscale/Compiler/Compiler.h"
#include "blockscale/Target/PTX/FatalErrorGuard.h"
#include "blockscale/Upstream/Bytecode.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace blockscale;
using namespace blockscale::capi;

Session::~Session() {
  if (!isBroken.empty())
    (void)context.release();
}

Module::~Module() {
  if (session && !session->isBroken.empty())
    (void)op.release();
}

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

namespace {
/// A diagnostic that outlives MLIR's.
struct Said {
  BlockscaleSeverity severity;
  std::string message, file;
  uint32_t line = 0, column = 0;
  std::vector<Said> notes;
};
} // namespace

static BlockscaleSeverity severityOf(mlir::DiagnosticSeverity severity) {
  switch (severity) {
  case mlir::DiagnosticSeverity::Note:
    return BLOCKSCALE_SEVERITY_NOTE;
  case mlir::DiagnosticSeverity::Remark:
    return BLOCKSCALE_SEVERITY_REMARK;
  case mlir::DiagnosticSeverity::Warning:
    return BLOCKSCALE_SEVERITY_WARNING;
  case mlir::DiagnosticSeverity::Error:
    return BLOCKSCALE_SEVERITY_ERROR;
  }
  return BLOCKSCALE_SEVERITY_ERROR;
}

static Said copyOf(const mlir::Diagnostic &diagnostic) {
  Said said{
      severityOf(diagnostic.getSeverity()), diagnostic.str(), {}, 0, 0, {}};
  if (auto place =
          diagnostic.getLocation()->findInstanceOf<mlir::FileLineColLoc>()) {
    said.file = place.getFilename().str();
    said.line = place.getLine();
    said.column = place.getColumn();
  }
  for (const mlir::Diagnostic &note : diagnostic.getNotes())
    said.notes.push_back(copyOf(note));
  return said;
}

static std::string firstError(const std::vector<Said> &all) {
  for (const Said &said : all)
    if (said.severity == BLOCKSCALE_SEVERITY_ERROR)
      return (said.file.empty() && !said.line
                  ? ""
                  : said.file + ":" + std::to_string(said.line) + ":" +
                        std::to_string(said.column) + ": ") +
             said.message;
  return "refused without a reason";
}

static BlockscaleDiagnostic viewOf(const Said &said) {
  return {said.severity,
          sliceOf(said.message),
          sliceOf(said.file),
          said.line,
          said.column,
          nullptr,
          0};
}

/// Hands what was said to the session's callback. Nothing of MLIR's is under
/// way, so that an exception passes none of its frames.
static void deliver(const Session &session, const std::vector<Said> &all) {
  if (!session.callback)
    return;
  for (const Said &said : all) {
    BlockscaleDiagnostic diagnostic = viewOf(said);
    std::vector<BlockscaleDiagnostic> notes;
    for (const Said &note : said.notes)
      notes.push_back(viewOf(note));
    diagnostic.notes = notes.data();
    diagnostic.noteCount = notes.size();
    try {
      session.callback(&diagnostic, session.userData);
    } catch (...) {
      fail(BLOCKSCALE_CALLBACK_FAILED,
           "the diagnostic callback threw an exception");
    }
  }
}

//===----------------------------------------------------------------------===//
// Work in a session
//===----------------------------------------------------------------------===//

namespace {
/// What is alive while MLIR works. It is given up with the session if control
/// leaves MLIR in the middle.
struct Work {
  std::vector<Said> said;
  std::exception_ptr thrown;
  std::unique_ptr<mlir::ScopedDiagnosticHandler> handler;
};
} // namespace

static void run(Session &session, const std::function<void(Session &)> &body) {
  auto work = std::make_unique<Work>();
  work->handler = std::make_unique<mlir::ScopedDiagnosticHandler>(
      session.context.get(),
      [said = &work->said](mlir::Diagnostic &diagnostic) {
        said->push_back(copyOf(diagnostic));
        return mlir::success();
      });
  std::optional<std::string> fatal = runCatchingFatalErrors([&] {
    // An exception must not pass the guard, which is LLVM's and knows none.
    try {
      body(session);
    } catch (...) {
      work->thrown = std::current_exception();
    }
  });
  if (fatal) {
    (void)work.release();
    session.isBroken = "a call ended abnormally: " + *fatal;
    fail(BLOCKSCALE_INTERNAL, session.isBroken);
  }
  work->handler.reset();
  deliver(session, work->said);
  if (!work->thrown)
    return;
  try {
    std::rethrow_exception(work->thrown);
  } catch (Failure &failure) {
    if (failure.message.empty())
      failure.message = firstError(work->said);
    throw;
  }
}

static void requireUsable(const Session &session) {
  if (session.isDestroyed)
    fail(BLOCKSCALE_INVALID_HANDLE, "the session was destroyed");
  if (!session.isBroken.empty())
    fail(BLOCKSCALE_INTERNAL,
         "the session can only be destroyed, because " + session.isBroken);
}

void capi::inSession(const std::shared_ptr<Session> &session,
                     const std::function<void(Session &)> &body,
                     const std::function<void()> &commit) {
  Use<Session> use(session);
  requireUsable(*session);
  run(*session, body);
  commit();
}

void capi::inModule(BlockscaleModule handle,
                    const std::function<void(Module &)> &body,
                    const std::function<void(Module &)> &commit) {
  std::shared_ptr<Module> module = get<Module>(handle.id);
  Use<Session> use(module->session);
  requireUsable(*module->session);
  // Somebody may have destroyed it a moment ago.
  if (!module->session->modules.count(handle.id))
    failHandle(handle.id, Module::kKind);
  run(*module->session, [&](Session &) { body(*module); });
  commit(*module);
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

static constexpr size_t kMostSourceBytes = size_t(1) << 31;
static constexpr unsigned kMostNesting = 256;

namespace {
/// MLIR's parser goes down one call and more for each bracket, and for each
/// sign of an affine expression: deep nesting would take the stack of the host.
class Nesting {
public:
  explicit Nesting(std::string_view text) : text(text) {}

  bool isTooDeep() {
    for (; at < text.size(); ++at) {
      step(text[at]);
      if (depth > kMostNesting || signs > kMostNesting)
        return true;
    }
    return false;
  }

private:
  void step(char c) {
    bool isArrow = c == '>' && at && text[at - 1] == '-';
    if (c == '-')
      ++signs;
    else if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
      signs = 0;
    if (c == '"')
      skipString();
    else if (c == '/' && text.substr(at, 2) == "//")
      at = std::min(text.find('\n', at), text.size());
    else if (c == '(' || c == '[' || c == '{' || c == '<')
      ++depth;
    else if ((c == ')' || c == ']' || c == '}' || c == '>') && depth &&
             !isArrow)
      --depth;
  }

  /// A string ends in its line at the latest.
  void skipString() {
    for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
      if (text[at] == '\\')
        ++at;
  }

  std::string_view text;
  size_t at = 0;
  unsigned depth = 0, signs = 0;
};
} // namespace

mlir::OwningOpRef<mlir::ModuleOp> capi::parseModule(Session &session,
                                                    std::string_view source,
                                                    std::string_view name) {
  if (source.size() > kMostSourceBytes)
    fail(BLOCKSCALE_REFUSED, "the source is larger than 2 GiB");
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(source, name);
  bool isBytecode = blockscale::isBytecode(buffer->getBuffer());
  if (!isBytecode && Nesting(source).isTooDeep())
    fail(BLOCKSCALE_REFUSED,
         "brackets are more than " + std::to_string(kMostNesting) + " deep");
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  mlir::ParserConfig config(session.context.get());
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(sources, config);
  if (!module)
    fail(BLOCKSCALE_REFUSED, "");
  return module;
}

BlockscaleModule capi::makeModule(const std::shared_ptr<Session> &session,
                                  mlir::OwningOpRef<mlir::ModuleOp> op) {
  auto module = std::make_shared<Module>();
  module->session = session;
  module->op = std::move(op);
  uint64_t id = addObject(module);
  session->modules.insert(id);
  return {id};
}

std::string capi::writeBytecode(mlir::Operation *op) {
  mlir::FailureOr<std::string> bytes = toBytecode(op);
  if (mlir::failed(bytes))
    fail(BLOCKSCALE_REFUSED, "");
  return std::move(*bytes);
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

BlockscaleStatus blockscaleSessionCreate(BlockscaleSession *session) {
  return guarded([&] {
    requirePointer(session, "session");
    auto made = std::make_shared<Session>();
    mlir::DialectRegistry registry;
    registerCompilerDialects(registry);
    // Threads of the host's are the host's business.
    made->context = std::make_unique<mlir::MLIRContext>(
        registry, mlir::MLIRContext::Threading::DISABLED);
    made->context->printOpOnDiagnostic(false);
    *session = {addObject(std::move(made))};
  });
}

BlockscaleStatus blockscaleSessionDestroy(BlockscaleSession handle) {
  return guarded([&] {
    std::shared_ptr<Session> session = get<Session>(handle.id);
    Use<Session> use(session);
    if (!removeObject(handle.id))
      failHandle(handle.id, Session::kKind);
    session->isDestroyed = true;
    for (uint64_t module : session->modules)
      removeObject(module);
    session->modules.clear();
  });
}

BlockscaleStatus
blockscaleSessionSetDiagnosticCallback(BlockscaleSession handle,
                                       BlockscaleDiagnosticCallback callback,
                                       void *userData) {
  return guarded([&] {
    std::shared_ptr<Session> session = get<Session>(handle.id);
    Use<Session> use(session);
    requireUsable(*session);
    session->callback = callback;
    session->userData = userData;
  });
}

BlockscaleStatus blockscaleModuleParse(BlockscaleSession handle,
                                       BlockscaleSlice source,
                                       BlockscaleSlice name,
                                       BlockscaleModule *module) {
  return guarded([&] {
    requirePointer(module, "module");
    std::string_view text = textOf(source, "source");
    std::string_view called = textOf(name, "name");
    std::shared_ptr<Session> session = get<Session>(handle.id);
    mlir::OwningOpRef<mlir::ModuleOp> op;
    inSession(
        session, [&](Session &in) { op = parseModule(in, text, called); },
        [&] { *module = makeModule(session, std::move(op)); });
  });
}

BlockscaleStatus blockscaleModuleClone(BlockscaleModule handle,
                                       BlockscaleModule *clone) {
  return guarded([&] {
    requirePointer(clone, "clone");
    mlir::OwningOpRef<mlir::ModuleOp> op;
    inModule(
        handle, [&](Module &module) { op = module.op->clone(); },
        [&](Module &module) {
          *clone = makeModule(module.session, std::move(op));
        });
  });
}

BlockscaleStatus blockscaleModuleDestroy(BlockscaleModule handle) {
  return guarded([&] {
    std::shared_ptr<Module> module = get<Module>(handle.id);
    Use<Session> use(module->session);
    if (!removeObject(handle.id))
      failHandle(handle.id, Module::kKind);
    use->modules.erase(handle.id);
    // While nobody else uses the session.
    if (use->isBroken.empty())
      module->op = {};
  });
}

BlockscaleStatus blockscaleModulePrint(BlockscaleModule handle,
                                       BlockscaleBytes *text) {
  return guarded([&] {
    requirePointer(text, "text");
    std::string printed;
    inModule(handle, [&](Module &module) {
      llvm::raw_string_ostream stream(printed);
      module.op->print(stream);
      stream << '\n';
    });
    *text = makeBytes(std::move(printed));
  });
}

BlockscaleStatus blockscaleModuleWriteBytecode(BlockscaleModule handle,
                                               BlockscaleBytes *bytecode) {
  return guarded([&] {
    requirePointer(bytecode, "bytecode");
    std::string bytes;
    inModule(handle,
             [&](Module &module) { bytes = writeBytecode(*module.op); });
    *bytecode = makeBytes(std::move(bytes));
  });
}
