//===- TranslateToPTX.cpp - LLVM dialect to LLVM IR and PTX ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Target/PTX/TranslateToPTX.h"
#include "PtxHeader.h"
#include "blockscale/HW/Target.h"
#include "blockscale/Target/PTX/FatalErrorGuard.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Pass.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <mutex>

using namespace mlir;
using namespace blockscale;

static constexpr llvm::StringLiteral kTriple = "nvptx64-nvidia-cuda";

void blockscale::registerPTXTranslations(DialectRegistry &registry) {
  registry.insert<gpu::GPUDialect>();
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

//===----------------------------------------------------------------------===//
// Target machine
//===----------------------------------------------------------------------===//

static const llvm::Target &getNVPTXTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(llvm::Triple(kTriple), error);
  if (!target)
    llvm::report_fatal_error(llvm::Twine(error));
  return *target;
}

/// The PTX versions that LLVM has, ascending, times ten.
static std::vector<unsigned>
getKnownPTXVersions(const llvm::MCSubtargetInfo &subtarget) {
  std::vector<unsigned> versions;
  for (const llvm::SubtargetFeatureKV &feature :
       subtarget.getAllProcessorFeatures()) {
    llvm::StringRef name = feature.Key;
    unsigned version;
    if (name.consume_front("ptx") && !name.getAsInteger(10, version))
      versions.push_back(version);
  }
  llvm::sort(versions);
  return versions;
}

static std::unique_ptr<llvm::MCSubtargetInfo> getSubtargetInfo() {
  return std::unique_ptr<llvm::MCSubtargetInfo>(
      getNVPTXTarget().createMCSubtargetInfo(llvm::Triple(kTriple), "", ""));
}

/// What LLVM compiles for in place of `chip`: the chip itself, or if it is
/// newer than LLVM the newest one of its family that LLVM knows, which has no
/// instruction that the other lacks but kinds that the legality table refuses.
/// Empty if there is none.
static std::string getProcessor(const std::string &chip) {
  auto subtarget = getSubtargetInfo();
  if (llvm::StringRef(chip).starts_with("sm_") &&
      subtarget->isCPUStringValid(chip))
    return chip;
  Result<hw::Target> target = hw::parseTarget(chip);
  if (!target)
    return "";
  std::string newest;
  for (hw::Chip older : hw::allChips()) {
    std::string name = hw::targetName({older, target->variant});
    if (hw::chipInfo(older).family == hw::chipInfo(target->chip).family &&
        older < target->chip && subtarget->isCPUStringValid(name))
      newest = name;
  }
  return newest;
}

/// LLVM only warns about names that it does not know, and goes on with a
/// default: ask first.
static LogicalResult checkOptions(Operation *module,
                                  const PTXOptions &options) {
  auto subtarget = getSubtargetInfo();
  if (getProcessor(options.chip).empty())
    return module->emitError()
           << "chip '" << options.chip
           << "' is not one that LLVM's NVPTX back end knows; expected a name "
              "such as 'sm_100a'";
  std::vector<unsigned> versions = getKnownPTXVersions(*subtarget);
  if (!llvm::is_contained(versions, options.ptxVersion))
    return module->emitError()
           << "PTX version " << options.ptxVersion
           << " is not one that LLVM's NVPTX back end knows; the newest is "
           << versions.back();
  if (options.optLevel > 3)
    return module->emitError() << "optimisation level " << options.optLevel
                               << " is out of range; expected 0 to 3";
  return success();
}

static std::unique_ptr<llvm::TargetMachine>
createTargetMachine(const PTXOptions &options) {
  // At its highest level the back end would number values once more than the
  // optimizer before it, which takes a good while and finds nothing.
  unsigned level = std::min(options.optLevel, 2u);
  return std::unique_ptr<llvm::TargetMachine>(
      getNVPTXTarget().createTargetMachine(
          llvm::Triple(kTriple), getProcessor(options.chip),
          "+ptx" + std::to_string(options.ptxVersion), llvm::TargetOptions(),
          /*RM=*/std::nullopt, /*CM=*/std::nullopt,
          static_cast<llvm::CodeGenOptLevel>(level)));
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

namespace {

/// Turns LLVM's errors into errors of the module being compiled; its warnings
/// and remarks concern the reader of LLVM IR, not ours, and are dropped.
struct DiagnosticForwarder : llvm::DiagnosticHandler {
  explicit DiagnosticForwarder(Operation *module, bool &failed)
      : module(module), failed(failed) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() != llvm::DS_Error)
      return true;
    failed = true;
    std::string message;
    llvm::raw_string_ostream stream(message);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    module->emitError() << "LLVM refuses the module: " << message;
    return true;
  }

  Operation *module;
  bool &failed;
};

/// One module on its way to PTX. What it owns must not be destroyed after a
/// fatal error, which leaves LLVM's data half changed.
struct Compilation {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> llvmModule;
  std::string ptx;
  /// Whether an error has been emitted.
  bool failed = false;

  void translate(Operation *module, const PTXOptions &options);
  void optimize(unsigned level);
  void generate();
};

} // namespace

void Compilation::translate(Operation *module, const PTXOptions &options) {
  context = std::make_unique<llvm::LLVMContext>();
  context->setDiagnosticHandler(
      std::make_unique<DiagnosticForwarder>(module, failed));
  machine = createTargetMachine(options);
  llvmModule = translateModuleToLLVMIR(module, *context, "blockscale");
  if (!llvmModule) {
    failed = true;
    return;
  }
  llvmModule->setTargetTriple(llvm::Triple(kTriple));
  llvmModule->setDataLayout(machine->createDataLayout());
}

/// Whether a pass of LLVM's pipelines looks for what kernels have none of:
/// tables, stores that a later one hides, loops over memory that vectors could
/// run, code that nothing uses behind the passes that have removed it. The PTX
/// of the kernels of the sweep, the variants and the tests is the same without
/// them.
static bool looksForNothing(llvm::StringRef pass) {
  static constexpr llvm::StringLiteral kPasses[] = {
      "ADCEPass",
      "AggressiveInstCombinePass",
      "AlignmentFromAssumptionsPass",
      "CalledValuePropagationPass",
      "CallSiteSplittingPass",
      "CGProfilePass",
      "ConstantMergePass",
      "ControlHeightReductionPass",
      "DeadArgumentEliminationPass",
      "DSEPass",
      "Float2IntPass",
      "InferAlignmentPass",
      "InjectTLIMappings",
      "JumpThreadingPass",
      "LibCallsShrinkWrapPass",
      "LoopDistributePass",
      "LoopFullUnrollPass",
      "LoopIdiomRecognizePass",
      "LoopLoadEliminationPass",
      "LoopSimplifyCFGPass",
      "LoopSinkPass",
      "LoopUnrollPass",
      "LoopVectorizePass",
      "MemCpyOptPass",
      "MergedLoadStoreMotionPass",
      "MoveAutoInitPass",
      "RecomputeGlobalsAAPass",
      "SimpleLoopUnswitchPass",
      "SLPVectorizerPass",
      "TailCallElimPass",
      "WarnMissedTransformationsPass"};
  return llvm::is_contained(kPasses, pass);
}

/// Whether the times behind it do what the `round`-th time, counted from 0,
/// does that a pass sees a function: the last ones before the vectorisers, and
/// those behind vectorisers, which are left out.
static bool isIdleRound(llvm::StringRef pass, unsigned round) {
  if (pass == "InstCombinePass")
    return round >= 4 && round <= 6;
  return pass == "SimplifyCFGPass" && round == 5;
}

namespace {
/// Which passes of LLVM's pipelines run, asked in their order.
class UsefulPasses {
public:
  bool isUseful(llvm::StringRef pass, const llvm::Any &ir) {
    if (looksForNothing(pass))
      return false;
    auto *function = llvm::any_cast<const llvm::Function *>(&ir);
    return !function || !isIdleRound(pass, rounds[{*function, pass}]++);
  }

private:
  llvm::DenseMap<std::pair<const llvm::Function *, llvm::StringRef>, unsigned>
      rounds;
};

/// Passes of LLVM's back end on their way to those that run, but for those that
/// find nothing behind the optimizer, which has done the same: the PTX is the
/// same without them.
class UsefulBackEnd : public llvm::legacy::PassManagerBase {
public:
  explicit UsefulBackEnd(llvm::legacy::PassManagerBase &passes)
      : passes(passes) {}

  void add(llvm::Pass *pass) override {
    if (isUseful(pass->getPassName()))
      passes.add(pass);
    else
      delete pass;
  }

private:
  bool isUseful(llvm::StringRef pass) {
    // The third time comes behind loops, whose strength is reduced.
    constexpr unsigned kIdleRounds = 2;
    if (pass == "Early CSE")
      return eliminations++ >= kIdleRounds;
    return pass != "Canonicalize Freeze Instructions in Loops" &&
           pass != "Constant Hoisting";
  }

  llvm::legacy::PassManagerBase &passes;
  unsigned eliminations = 0;
};
} // namespace

static bool isSmallDivision(const llvm::Instruction &each) {
  constexpr unsigned kBits = 32;
  return (each.getOpcode() == llvm::Instruction::UDiv ||
          each.getOpcode() == llvm::Instruction::URem) &&
         each.getType()->isIntegerTy() &&
         each.getType()->getIntegerBitWidth() < kBits;
}

/// Divides unsigned numbers of less than 32 bits, which the optimizer makes of
/// those that it knows to be small, as numbers of 32 bits. For 32 bits ptxas
/// has a dozen instructions; for 16, into which the back end would turn all
/// less, it calls a function, and where warps have passed on registers the
/// quotient comes back through the stack, which counts as a spill.
static void widenDivisions(llvm::Function &function) {
  for (llvm::Instruction &narrow :
       llvm::make_early_inc_range(llvm::instructions(function))) {
    if (!isSmallDivision(narrow))
      continue;
    llvm::IRBuilder<> builder(&narrow);
    auto wide = [&](llvm::Value *value) {
      return builder.CreateZExt(value, builder.getInt32Ty());
    };
    llvm::Value *result = builder.CreateBinOp(
        llvm::Instruction::BinaryOps(narrow.getOpcode()),
        wide(narrow.getOperand(0)), wide(narrow.getOperand(1)));
    narrow.replaceAllUsesWith(builder.CreateTrunc(result, narrow.getType()));
    narrow.eraseFromParent();
  }
}

void Compilation::optimize(unsigned level) {
  static constexpr const llvm::OptimizationLevel *kLevels[] = {
      &llvm::OptimizationLevel::O0, &llvm::OptimizationLevel::O1,
      &llvm::OptimizationLevel::O2, &llvm::OptimizationLevel::O3};
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  // The loops over stages and tiles stay loops: unrolled by the stages of the
  // ring, each stage's addresses are computed ahead of the loop and held in
  // registers until ptxas spills.
  llvm::PipelineTuningOptions tuning;
  tuning.LoopUnrolling = false;
  llvm::PassInstrumentationCallbacks callbacks;
  UsefulPasses useful;
  callbacks.registerShouldRunOptionalPassCallback(
      [&](llvm::StringRef pass, llvm::Any ir) {
        return useful.isUseful(pass, ir);
      });
  llvm::PassBuilder builder(machine.get(), tuning, /*PGOOpt=*/std::nullopt,
                            &callbacks);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  llvm::ModulePassManager passes =
      level == 0 ? builder.buildO0DefaultPipeline(*kLevels[0])
                 : builder.buildPerModuleDefaultPipeline(*kLevels[level]);
  passes.run(*llvmModule, modules);
  for (llvm::Function &function : *llvmModule)
    widenDivisions(function);
}

void Compilation::generate() {
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  UsefulBackEnd useful(passes);
  // Cannot fail: NVPTX writes assembly.
  machine->addPassesToEmitFile(useful, stream, nullptr,
                               llvm::CodeGenFileType::AssemblyFile);
  passes.run(*llvmModule);
  ptx = text.str().str();
}

static LogicalResult checkModule(Operation *module) {
  bool hasBody = false;
  for (Region &region : module->getRegions())
    for (LLVM::LLVMFuncOp function : region.getOps<LLVM::LLVMFuncOp>())
      hasBody |= !function.isExternal();
  if (!hasBody)
    return module->emitError()
           << "expected at least one 'llvm.func' with a body to translate";
  return success();
}

/// Runs `steps` on a fresh compilation of `module` under protection.
static LogicalResult
runCompilation(Operation *module, const PTXOptions &options,
               llvm::function_ref<void(Compilation &)> steps) {
  if (failed(checkOptions(module, options)) || failed(checkModule(module)))
    return failure();
  auto compilation = std::make_unique<Compilation>();
  std::optional<std::string> fatal = runCatchingFatalErrors([&] {
    compilation->translate(module, options);
    if (!compilation->failed)
      steps(*compilation);
  });
  if (!fatal)
    return failure(compilation->failed);
  // Given up, not freed: see Compilation.
  (void)compilation.release();
  llvm::StringRef reason = llvm::StringRef(*fatal).split('\n').first;
  return module->emitError() << "LLVM cannot compile the module for '"
                             << options.chip << "': " << reason;
}

FailureOr<std::string>
blockscale::translateToLLVMIR(Operation *module, const PTXOptions &options) {
  std::string text;
  auto print = [&](Compilation &compilation) {
    llvm::raw_string_ostream stream(text);
    compilation.llvmModule->print(stream, nullptr);
  };
  if (failed(runCompilation(module, options, print)))
    return failure();
  return text;
}

FailureOr<std::string> blockscale::translateToPTX(Operation *module,
                                                  const PTXOptions &options) {
  std::string ptx;
  auto compile = [&](Compilation &compilation) {
    compilation.optimize(options.optLevel);
    compilation.generate();
    ptx = withFittingHeader(std::move(compilation.ptx), options.chip);
  };
  if (failed(runCompilation(module, options, compile)))
    return failure();
  return ptx;
}
