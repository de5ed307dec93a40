//===- BlockscaleToRuntime.cpp - launches to calls ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a call passes lies in structures of blockscale-runtime/Runtime.h, whose
// members are listed here in their order.
//
//===----------------------------------------------------------------------===//

#include "DeviceMemory.h"
#include "blockscale-runtime/Runtime.h"
#include "blockscale/Conversion/BlockscaleToRuntime/Passes.h"
#include "blockscale/Dialect/Blockscale/IR/BlockscaleHost.h"
#include "blockscale/Dialect/Blockscale/IR/PlanAttr.h"
#include "blockscale/Plan/Plan.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/Support/MathExtras.h"

#include <map>

namespace blockscale {
#define GEN_PASS_DEF_CONVERTBLOCKSCALETORUNTIME
#define GEN_PASS_DEF_EXPANDCOPIES
#define GEN_PASS_DEF_REQUIRELLVM
#include "blockscale/Conversion/BlockscaleToRuntime/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// Constants of the module
//===----------------------------------------------------------------------===//

namespace {
/// The constants that calls pass, each made once.
class Constants {
public:
  /// Code is left out where somebody else loads it.
  Constants(ModuleOp module, bool withCode)
      : symbols(module), module(module), withCode(withCode) {}

  /// Checks that `binary` is one of ours. What is asked of it later has been
  /// checked.
  LogicalResult readPlan(gpu::BinaryOp binary);
  /// The launch plan of `kernel` in `binary`; null if there is none.
  const plan::Kernel *planOf(gpu::BinaryOp binary, StringRef kernel) const;
  /// The BlockscaleKernels of `binary`.
  LLVM::GlobalOp kernelsOf(gpu::BinaryOp binary);
  /// `text` with a zero byte after it.
  LLVM::GlobalOp textOf(Location loc, StringRef text);
  /// The declaration of a function of the runtime.
  LLVM::LLVMFuncOp functionOf(Location loc, StringRef name, Type result,
                              ArrayRef<Type> arguments);

private:
  LLVM::GlobalOp addBytes(Location loc, StringRef name, StringRef bytes);
  LLVM::GlobalOp addKernels(gpu::BinaryOp binary, LLVM::GlobalOp plan,
                            int64_t planBytes, LLVM::GlobalOp image,
                            int64_t imageBytes);
  OpBuilder atStart() { return OpBuilder::atBlockBegin(module.getBody()); }

  SymbolTable symbols;
  ModuleOp module;
  bool withCode;
  llvm::DenseMap<Operation *, LLVM::GlobalOp> kernels;
  std::map<Operation *, plan::Plan> plans;
  llvm::StringMap<LLVM::GlobalOp> texts;
};
} // namespace

/// Whether the runtime launches a kernel even where upstream's ops launch: they
/// cannot ask for all of its CTAs at once.
static bool mustRun(const plan::Kernel &kernel) { return kernel.cooperative; }

/// A constant of `bytes`, with room for the zero byte that ends text.
LLVM::GlobalOp Constants::addBytes(Location loc, StringRef name,
                                   StringRef bytes) {
  OpBuilder b = atStart();
  std::string ended = bytes.str();
  ended.push_back('\0');
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), ended.size());
  // Code is read in words.
  constexpr unsigned kAlignment = 16;
  auto global = LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true,
                                       LLVM::Linkage::Internal, name,
                                       b.getStringAttr(ended), kAlignment);
  symbols.insert(global);
  return global;
}

LLVM::GlobalOp Constants::textOf(Location loc, StringRef text) {
  LLVM::GlobalOp &global = texts[text];
  if (!global)
    global = addBytes(loc, ("blockscale_" + text).str(), text);
  return global;
}

LLVM::LLVMFuncOp Constants::functionOf(Location loc, StringRef name,
                                       Type result, ArrayRef<Type> arguments) {
  if (auto known = dyn_cast_or_null<LLVM::LLVMFuncOp>(symbols.lookup(name)))
    return known;
  OpBuilder b = atStart();
  auto function = LLVM::LLVMFuncOp::create(
      b, loc, name, LLVM::LLVMFunctionType::get(result, arguments));
  symbols.insert(function);
  return function;
}

/// The plan that `binary` has with its code; null if it is not ours.
static StringAttr planText(gpu::BinaryOp binary) {
  if (binary.getObjects().size() != 1)
    return {};
  auto object = dyn_cast<gpu::ObjectAttr>(binary.getObjects()[0]);
  return object && object.getProperties()
             ? object.getProperties().getAs<StringAttr>(kPlanAttrName)
             : StringAttr();
}

LogicalResult Constants::readPlan(gpu::BinaryOp binary) {
  StringAttr text = planText(binary);
  if (!text)
    return binary.emitError()
           << "expected one object with the property '" << kPlanAttrName
           << "', as 'blockscale-serialize-kernels' makes them";
  if (plans.count(binary))
    return success();
  Result<plan::Plan> plan = plan::parsePlan(text.getValue());
  if (!plan)
    return binary.emitError() << "its plan cannot be read: " << plan.why().text;
  plans.emplace(binary, std::move(*plan));
  return success();
}

const plan::Kernel *Constants::planOf(gpu::BinaryOp binary,
                                      StringRef kernel) const {
  const std::vector<plan::Kernel> &kernels = plans.at(binary).kernels;
  auto found = llvm::find_if(
      kernels, [&](const plan::Kernel &each) { return each.name == kernel; });
  return found == kernels.end() ? nullptr : &*found;
}

/// BlockscaleKernels: plan, its bytes, image, its bytes, state.
static LLVM::LLVMStructType kernelsType(MLIRContext *context) {
  auto pointer = LLVM::LLVMPointerType::get(context);
  auto i64 = IntegerType::get(context, 64);
  return LLVM::LLVMStructType::getLiteral(
      context, {pointer, i64, pointer, i64, pointer});
}

LLVM::GlobalOp Constants::addKernels(gpu::BinaryOp binary, LLVM::GlobalOp plan,
                                     int64_t planBytes, LLVM::GlobalOp image,
                                     int64_t imageBytes) {
  OpBuilder atTop = atStart();
  LLVM::LLVMStructType type = kernelsType(module.getContext());
  auto global = LLVM::GlobalOp::create(
      atTop, binary.getLoc(), type, /*isConstant=*/false,
      LLVM::Linkage::Internal, ("blockscale_" + binary.getName()).str(),
      Attribute());
  symbols.insert(global);
  ImplicitLocOpBuilder b(binary.getLoc(), module.getContext());
  b.createBlock(&global.getInitializer());
  auto pointer = LLVM::LLVMPointerType::get(module.getContext());
  Value values[] = {
      LLVM::AddressOfOp::create(b, pointer, plan.getSymName()),
      LLVM::ConstantOp::create(b, b.getI64IntegerAttr(planBytes)),
      LLVM::AddressOfOp::create(b, pointer, image.getSymName()),
      LLVM::ConstantOp::create(b, b.getI64IntegerAttr(imageBytes)),
      LLVM::ZeroOp::create(b, pointer)};
  Value result = LLVM::UndefOp::create(b, type);
  for (auto [index, value] : llvm::enumerate(values))
    result = LLVM::InsertValueOp::create(b, result, value, int64_t(index));
  LLVM::ReturnOp::create(b, result);
  return global;
}

LLVM::GlobalOp Constants::kernelsOf(gpu::BinaryOp binary) {
  LLVM::GlobalOp &global = kernels[binary];
  if (global)
    return global;
  StringAttr plan = planText(binary);
  std::string name = ("blockscale_" + binary.getName()).str();
  LLVM::GlobalOp text =
      addBytes(binary.getLoc(), name + "_plan", plan.getValue());
  // The runtime asks for some code even if it has none to load.
  StringRef code = "";
  if (withCode || llvm::any_of(plans.at(binary).kernels, mustRun))
    code = cast<gpu::ObjectAttr>(binary.getObjects()[0]).getObject().getValue();
  LLVM::GlobalOp image = addBytes(binary.getLoc(), name + "_image", code);
  global = addKernels(binary, text, int64_t(plan.size()), image,
                      int64_t(code.size()));
  return global;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Bytes from one element of a memref to the next, as LLVM has them.
static int64_t elementBytes(Type element) {
  return int64_t(
      llvm::PowerOf2Ceil(llvm::divideCeil(element.getIntOrFloatBitWidth(), 8)));
}

/// BlockscaleOperand: role, data, rank, sizes, strides, bytes of an element,
/// flags.
static LLVM::LLVMStructType operandType(MLIRContext *context) {
  auto pointer = LLVM::LLVMPointerType::get(context);
  auto i64 = IntegerType::get(context, 64);
  return LLVM::LLVMStructType::getLiteral(
      context, {pointer, pointer, i64, pointer, pointer, i64, i64});
}

namespace {
struct LaunchToRuntime : ConvertOpToLLVMPattern<LaunchIntoOp> {
  LaunchToRuntime(const LLVMTypeConverter &converter, Constants &constants,
                  bool gpuLaunch)
      : ConvertOpToLLVMPattern(converter), constants(constants),
        gpuLaunch(gpuLaunch) {}

  LogicalResult
  matchAndRewrite(LaunchIntoOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;

private:
  /// What one operand's structure holds after its role.
  struct Fields {
    Value data, rank, sizes, strides, bytes;
  };
  Fields fieldsOf(ImplicitLocOpBuilder &b, Type type, Value value) const;
  Value arrayOf(ImplicitLocOpBuilder &b, Type element, ValueRange values) const;
  Value addressOf(ImplicitLocOpBuilder &b, LLVM::GlobalOp global) const;
  Value operandsOf(ImplicitLocOpBuilder &b, LaunchIntoOp op,
                   OpAdaptor adaptor) const;
  void launchOnGPU(ImplicitLocOpBuilder &b, LaunchIntoOp op,
                   const plan::Kernel &kernel, ValueRange arguments) const;

  Constants &constants;
  bool gpuLaunch;
};
} // namespace

/// The compiled kernels that `op` launches one of; null if they are not.
static gpu::BinaryOp binaryOf(LaunchIntoOp op) {
  return SymbolTable::lookupNearestSymbolFrom<gpu::BinaryOp>(
      op, op.getKernelAttr().getRootReference());
}

/// Checks what the conversion of `op` takes for granted.
static LogicalResult checkLaunch(LaunchIntoOp op, Constants &constants) {
  if (!op.getResults().empty())
    return op.emitOpError() << "is on tensors; bufferize it first";
  gpu::BinaryOp binary = binaryOf(op);
  if (!binary)
    return op.emitOpError()
           << "the kernels of " << op.getKernelAttr()
           << " are not compiled; run 'blockscale-serialize-kernels' first";
  if (failed(constants.readPlan(binary)))
    return failure();
  StringRef name = op.getKernelAttr().getLeafReference();
  if (!constants.planOf(binary, name))
    return binary.emitError() << "its plan has no kernel '" << name << "'";
  return success();
}

static Value constantOf(ImplicitLocOpBuilder &b, int64_t value) {
  return LLVM::ConstantOp::create(b, b.getI64IntegerAttr(value));
}

Value LaunchToRuntime::addressOf(ImplicitLocOpBuilder &b,
                                 LLVM::GlobalOp global) const {
  return LLVM::AddressOfOp::create(b, getPtrType(), global.getSymName());
}

/// `values` in memory of the stack.
Value LaunchToRuntime::arrayOf(ImplicitLocOpBuilder &b, Type element,
                               ValueRange values) const {
  Value array = LLVM::AllocaOp::create(b, getPtrType(), element,
                                       constantOf(b, int64_t(values.size())));
  for (auto [index, value] : llvm::enumerate(values)) {
    Value place = LLVM::GEPOp::create(
        b, getPtrType(), element, array,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
    LLVM::StoreOp::create(b, value, place);
  }
  return array;
}

LaunchToRuntime::Fields LaunchToRuntime::fieldsOf(ImplicitLocOpBuilder &b,
                                                  Type type,
                                                  Value value) const {
  Value none = LLVM::ZeroOp::create(b, getPtrType());
  auto memory = dyn_cast<MemRefType>(type);
  if (!memory)
    return {arrayOf(b, type, value), constantOf(b, 0), none, none,
            constantOf(b, elementBytes(type))};
  MemRefDescriptor descriptor(value);
  Fields fields{
      descriptor.bufferPtr(b, b.getLoc(), *getTypeConverter(), memory),
      constantOf(b, memory.getRank()), none, none,
      constantOf(b, elementBytes(memory.getElementType()))};
  if (memory.getRank() == 0)
    return fields;
  SmallVector<Value> sizes, strides;
  for (unsigned i = 0, e = unsigned(memory.getRank()); i < e; ++i) {
    sizes.push_back(descriptor.size(b, b.getLoc(), i));
    strides.push_back(descriptor.stride(b, b.getLoc(), i));
  }
  fields.sizes = arrayOf(b, b.getI64Type(), sizes);
  fields.strides = arrayOf(b, b.getI64Type(), strides);
  return fields;
}

/// The array of BlockscaleOperand.
Value LaunchToRuntime::operandsOf(ImplicitLocOpBuilder &b, LaunchIntoOp op,
                                  OpAdaptor adaptor) const {
  LLVM::LLVMStructType type = operandType(b.getContext());
  SmallVector<Value> operands;
  auto add = [&](StringRef role, Value given, Value value) {
    Fields fields = fieldsOf(b, given.getType(), value);
    int64_t flags = isConstantMemory(given) ? BLOCKSCALE_OPERAND_RESIDENT : 0;
    Value members[] = {addressOf(b, constants.textOf(op.getLoc(), role)),
                       fields.data,
                       fields.rank,
                       fields.sizes,
                       fields.strides,
                       fields.bytes,
                       constantOf(b, flags)};
    Value operand = LLVM::UndefOp::create(b, type);
    for (auto [index, member] : llvm::enumerate(members))
      operand = LLVM::InsertValueOp::create(b, operand, member, int64_t(index));
    operands.push_back(operand);
  };
  for (auto [role, input, value] :
       llvm::zip_equal(op.getRoles().getAsValueRange<StringAttr>(),
                       op.getInputs(), adaptor.getInputs()))
    add(role, input, value);
  for (auto [role, init, value] :
       llvm::zip_equal(op.getRolesOfInits(), op.getInits(), adaptor.getInits()))
    add(role, init, value);
  return arrayOf(b, type, operands);
}

/// The type of the value behind a kernel parameter.
static Type parameterType(const plan::Parameter &parameter,
                          MLIRContext *context) {
  switch (parameter.kind) {
  case plan::ParameterKind::TensorMap:
    return LLVM::LLVMArrayType::get(IntegerType::get(context, 64),
                                    unsigned(parameter.size / sizeof(int64_t)));
  case plan::ParameterKind::Pointer:
    return LLVM::LLVMPointerType::get(context);
  case plan::ParameterKind::Scalar:
    break;
  }
  if (parameter.type == "f32")
    return Float32Type::get(context);
  return IntegerType::get(context, 32);
}

/// A `gpu.launch_func` between what the runtime does before and after it.
void LaunchToRuntime::launchOnGPU(ImplicitLocOpBuilder &b, LaunchIntoOp op,
                                  const plan::Kernel &kernel,
                                  ValueRange arguments) const {
  Type pointer = getPtrType(), i64 = b.getI64Type();
  Type none = LLVM::LLVMVoidType::get(b.getContext());
  auto function = [&](StringRef name, Type result, ArrayRef<Type> types) {
    return constants.functionOf(op.getLoc(), name, result, types);
  };
  Value launch =
      LLVM::CallOp::create(b,
                           function("blockscaleRuntimePrepare", pointer,
                                    {pointer, pointer, pointer, i64}),
                           arguments)
          .getResult();
  Value isThere = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, launch,
                                       LLVM::ZeroOp::create(b, pointer));
  auto branch = scf::IfOp::create(b, isThere, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  auto extents = [&](const std::vector<int64_t> &values) {
    return gpu::KernelDim3{index(values[0]), index(values[1]),
                           index(values[2])};
  };
  Value grid[3];
  for (int64_t axis = 0; axis < 3; ++axis)
    grid[axis] = arith::IndexCastOp::create(
        b, b.getIndexType(),
        LLVM::CallOp::create(
            b, function("blockscaleRuntimeGrid", i64, {pointer, i64}),
            ValueRange{launch, constantOf(b, axis)})
            .getResult());
  SmallVector<Value> operands;
  for (auto [number, parameter] : llvm::enumerate(kernel.parameters)) {
    Value place =
        LLVM::CallOp::create(
            b, function("blockscaleRuntimeParameter", pointer, {pointer, i64}),
            ValueRange{launch, constantOf(b, int64_t(number))})
            .getResult();
    operands.push_back(LLVM::LoadOp::create(
        b, parameterType(parameter, b.getContext()), place));
  }
  Value shared = arith::ConstantIntOp::create(
      b, b.getI32Type(), int64_t(kernel.sharedMemoryBytes));
  gpu::LaunchFuncOp::create(b, op.getKernelAttr(),
                            gpu::KernelDim3{grid[0], grid[1], grid[2]},
                            extents(kernel.block), shared, operands,
                            /*asyncObject=*/Value(), extents(kernel.cluster));
  LLVM::CallOp::create(b, function("blockscaleRuntimeFinish", none, {pointer}),
                       launch);
}

LogicalResult
LaunchToRuntime::matchAndRewrite(LaunchIntoOp op, OpAdaptor adaptor,
                                 ConversionPatternRewriter &rewriter) const {
  gpu::BinaryOp binary = binaryOf(op);
  StringRef name = op.getKernelAttr().getLeafReference();
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  // A launch in a loop must not grow the stack.
  Value stack = LLVM::StackSaveOp::create(b, getPtrType());
  auto count = int64_t(op.getInputs().size() + op.getInits().size());
  Value arguments[] = {addressOf(b, constants.kernelsOf(binary)),
                       addressOf(b, constants.textOf(op.getLoc(), name)),
                       operandsOf(b, op, adaptor), constantOf(b, count)};
  const plan::Kernel &kernel = *constants.planOf(binary, name);
  if (gpuLaunch && !mustRun(kernel)) {
    launchOnGPU(b, op, kernel, arguments);
  } else {
    Type pointer = getPtrType();
    LLVM::CallOp::create(
        b,
        constants.functionOf(op.getLoc(), "blockscaleRuntimeRun",
                             LLVM::LLVMVoidType::get(b.getContext()),
                             {pointer, pointer, pointer, b.getI64Type()}),
        arguments);
  }
  LLVM::StackRestoreOp::create(b, stack);
  rewriter.eraseOp(op);
  return success();
}

//===----------------------------------------------------------------------===//
// The passes
//===----------------------------------------------------------------------===//

namespace {
struct ConvertBlockscaleToRuntime
    : blockscale::impl::ConvertBlockscaleToRuntimeBase<
          ConvertBlockscaleToRuntime> {
  using ConvertBlockscaleToRuntimeBase::ConvertBlockscaleToRuntimeBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    LowerToLLVMOptions options(&getContext(), DataLayout(module));
    if (options.getIndexBitwidth() != 64) {
      module.emitError() << "the runtime takes sizes of 64 bits, but an index "
                            "has "
                         << options.getIndexBitwidth();
      return signalPassFailure();
    }
    Constants constants(module, /*withCode=*/!gpuLaunch);
    bool isRefused = false;
    module.walk([&](LaunchIntoOp op) {
      isRefused |= failed(checkLaunch(op, constants));
    });
    if (isRefused)
      return signalPassFailure();
    placeOnDevice(module, [&](LaunchIntoOp op) -> const plan::Kernel & {
      return *constants.planOf(binaryOf(op),
                               op.getKernelAttr().getLeafReference());
    });
    LLVMTypeConverter converter(&getContext(), options);
    RewritePatternSet patterns(&getContext());
    patterns.add<LaunchToRuntime>(converter, constants, gpuLaunch);
    LLVMConversionTarget target(getContext());
    target.addIllegalOp<LaunchIntoOp>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(module, target, std::move(patterns))))
      return signalPassFailure();
    if (gpuLaunch)
      module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                      UnitAttr::get(&getContext()));
    // Upstream would load what is left when the program starts.
    auto binaries = module.getOps<gpu::BinaryOp>();
    for (gpu::BinaryOp binary : llvm::make_early_inc_range(binaries))
      if (!gpuLaunch && planText(binary))
        binary.erase();
    module->walk([](Operation *op) { op->removeAttr(TargetAttr::name); });
  }
};

struct ExpandCopies : blockscale::impl::ExpandCopiesBase<ExpandCopies> {
  void runOnOperation() override {
    getOperation()->walk([](memref::CopyOp copy) {
      auto type = dyn_cast<MemRefType>(copy.getTarget().getType());
      if (!type || !isa<MemRefType>(copy.getSource().getType()))
        return;
      ImplicitLocOpBuilder b(copy.getLoc(), copy);
      auto rank = unsigned(type.getRank());
      AffineMap map = b.getMultiDimIdentityMap(rank);
      SmallVector<utils::IteratorType> iterators(rank,
                                                 utils::IteratorType::parallel);
      linalg::GenericOp::create(
          b, copy.getSource(), copy.getTarget(), ArrayRef<AffineMap>{map, map},
          iterators, [](OpBuilder &body, Location loc, ValueRange values) {
            linalg::YieldOp::create(body, loc, values[0]);
          });
      copy.erase();
    });
  }
};

struct RequireLLVM : blockscale::impl::RequireLLVMBase<RequireLLVM> {
  void runOnOperation() override {
    bool isRefused = false;
    // Between values of other types and what took them, which is the cause.
    SmallVector<UnrealizedConversionCastOp> casts;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<gpu::GPUModuleOp>(op))
        return WalkResult::skip();
      if (auto cast = dyn_cast<UnrealizedConversionCastOp>(op)) {
        casts.push_back(cast);
        return WalkResult::advance();
      }
      // What upstream translates to LLVM IR without a conversion.
      bool isTranslated = isa<gpu::BinaryOp, gpu::LaunchFuncOp>(op);
      if (isa<ModuleOp>(op) || isTranslated ||
          isa_and_nonnull<LLVM::LLVMDialect>(op->getDialect()))
        return WalkResult::advance();
      op->emitError() << "'" << op->getName()
                      << "' has no lowering to host code";
      isRefused = true;
      return WalkResult::advance();
    });
    if (!isRefused)
      for (UnrealizedConversionCastOp cast : casts)
        cast.emitError() << "values of type " << typeWithoutLowering(cast)
                         << " have no lowering to host code";
    if (isRefused || !casts.empty())
      signalPassFailure();
  }

private:
  static Type typeWithoutLowering(UnrealizedConversionCastOp cast) {
    SmallVector<Type> types(cast->getOperandTypes());
    llvm::append_range(types, cast->getResultTypes());
    auto found = llvm::find_if_not(types, LLVM::isCompatibleType);
    return found == types.end() ? types.back() : *found;
  }
};
} // namespace
