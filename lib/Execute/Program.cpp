//===- Program.cpp - whole functions, called with arrays ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Execute/Program.h"
#include "CallFrame.h"
#include "DynamicSizes.h"
#include "blockscale/Verify/EmulatedDevice.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <chrono>
#include <map>

using namespace mlir;
using namespace blockscale;
using namespace blockscale::execute;

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

namespace {
/// A function as calls need it; its types are of the program's own context.
struct Callee {
  SmallVector<Type> arguments, results;
  std::vector<DynamicDimension> dynamic;
};
} // namespace

struct Program::Code {
  MLIRContext context{MLIRContext::Threading::DISABLED};
  std::vector<Callee> callees;
  std::unique_ptr<HostProgram> program;
  /// Plans and PTX are read once.
  verify::EmulatedDevice device;
};

static std::string textOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static Slot slotOf(Type plain, unsigned index, StringRef part, bool isMemory) {
  Slot slot;
  slot.index = index;
  slot.part = part.str();
  slot.isMemory = isMemory;
  auto tensor = dyn_cast<RankedTensorType>(plain);
  slot.isNumber = !tensor;
  Type element = tensor ? tensor.getElementType() : plain;
  if (tensor)
    slot.sizes.assign(tensor.getShape().begin(), tensor.getShape().end());
  slot.element = textOf(element);
  slot.elementBytes = bytesOf(element);
  return slot;
}

/// The names of the parts that a scaled tensor has, in their order.
static SmallVector<StringRef> partNames(ScaledTensorType type) {
  Result<TensorParts> parts = getTensorParts(type);
  SmallVector<StringRef> names{"data"};
  if (parts->scales)
    names.push_back("scales");
  if (parts->zeros)
    names.push_back("zeros");
  if (parts->tensorScale)
    names.push_back("tensor_scale");
  if (parts->metadata)
    names.push_back("metadata");
  return names;
}

/// Adds what a value of type `type` is in memory. Returns what is wrong.
static std::string addSlots(Type type, unsigned index,
                            std::vector<Slot> &slots) {
  std::string reason;
  FailureOr<SmallVector<Type>> plain = plainTypes(type, reason);
  if (failed(plain))
    return reason;
  SmallVector<StringRef> names{""};
  if (auto scaled = dyn_cast<ScaledTensorType>(type))
    names = partNames(scaled);
  for (auto [each, name] : llvm::zip_equal(*plain, names))
    slots.push_back(slotOf(each, index, name, isa<MemRefType>(type)));
  return "";
}

static FailureOr<Signature> signatureOf(func::FuncOp function) {
  Signature signature;
  signature.name = function.getName().str();
  for (auto [types, names, slots] :
       {std::tuple(function.getArgumentTypes(), &signature.argumentTypes,
                   &signature.arguments),
        std::tuple(function.getResultTypes(), &signature.resultTypes,
                   &signature.results)})
    for (auto [index, type] : llvm::enumerate(types)) {
      names->push_back(textOf(type));
      std::string why = addSlots(type, unsigned(index), *slots);
      if (!why.empty())
        return function.emitError()
               << "'" << signature.name << "' cannot be called: " << why;
    }
  return signature;
}

/// The types of `texts` in another context.
static SmallVector<Type> typesIn(MLIRContext &context,
                                 ArrayRef<std::string> texts) {
  SmallVector<Type> types;
  for (const std::string &text : texts)
    types.push_back(parseType(text, &context));
  return types;
}

Program::Program() = default;
Program::~Program() = default;

FailureOr<std::unique_ptr<Program>>
Program::compile(ModuleOp module, const CompilerOptions &options) {
  std::unique_ptr<Program> made(new Program);
  made->code = std::make_unique<Code>();
  Code &code = *made->code;
  code.context.loadDialect<BlockscaleDialect>();
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isPublic() || function.isExternal())
      continue;
    FailureOr<Signature> signature = signatureOf(function);
    if (failed(signature))
      return failure();
    code.callees.push_back({typesIn(code.context, signature->argumentTypes),
                            typesIn(code.context, signature->resultTypes),
                            dynamicDimensions(function)});
    made->signatures.push_back(std::move(*signature));
  }
  if (made->signatures.empty())
    return module.emitError("there is no public function to call");
  OwningOpRef<ModuleOp> copy(module.clone());
  CompilerOptions forEmulator = options;
  // The emulator reads PTX.
  forEmulator.ptxas.clear();
  if (failed(lowerToHost(*copy, HostStage::LLVM, forEmulator)))
    return failure();
  std::string error;
  code.program = HostProgram::create(*copy, error);
  if (!code.program)
    return module.emitError() << "LLVM refuses the host code: " << error;
  return made;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static std::string shapeText(ArrayRef<int64_t> sizes) {
  std::string text;
  for (int64_t size : sizes)
    text += (text.empty() ? "" : "x") +
            (ShapedType::isDynamic(size) ? "?" : std::to_string(size));
  return text.empty() ? "one number" : text;
}

/// "argument 1", "scales of argument 1".
static std::string nameOf(const Slot &slot) {
  return (slot.part.empty() ? "" : slot.part + " of ") + "argument " +
         std::to_string(slot.index);
}

/// Why an array is none of a slot with these sizes; empty if it is.
static std::string whyNotArray(const Slot &slot, ArrayRef<int64_t> sizes,
                               const ArrayValue &value) {
  bool fits = value.sizes.size() == sizes.size();
  for (size_t i = 0; fits && i < sizes.size(); ++i)
    fits = value.sizes[i] >= 0 &&
           (ShapedType::isDynamic(sizes[i]) || sizes[i] == value.sizes[i]);
  if (!fits)
    return nameOf(slot) + " is " + shapeText(value.sizes) + ", expected " +
           shapeText(sizes);
  uint64_t bytes = slot.elementBytes;
  for (int64_t size : value.sizes)
    if (__builtin_mul_overflow(bytes, uint64_t(size), &bytes))
      return nameOf(slot) + " is larger than memory can be";
  if (bytes != value.bytes.size())
    return nameOf(slot) + " has " + std::to_string(value.bytes.size()) +
           " bytes, expected " + std::to_string(bytes) + ": " +
           shapeText(value.sizes) + " of " + slot.element;
  return "";
}

/// The shape of a scaled tensor from that of its elements in memory, of which
/// compressed ones are fewer; empty if no tensor has such elements.
static SmallVector<int64_t> shapeOf(ScaledTensorType type,
                                    ArrayRef<int64_t> data) {
  const ScaleSpec &spec = type.getSpec().getValue();
  SmallVector<int64_t> shape(data);
  if (shape.size() != type.getShape().size())
    return {};
  if (type.getOrder() == DataOrder::MNMajor)
    std::swap(shape.back(), shape[shape.size() - 2]);
  if (!spec.isSparse())
    return shape;
  SparseForm form = sparseForm(type);
  if (shape.back() % form.stored != 0)
    return {};
  shape.back() = shape.back() / form.stored * form.chunk;
  return shape;
}

/// Why parts of one scaled tensor do not belong together; empty if they do.
static std::string whyNotParts(ScaledTensorType type, ArrayRef<Slot> slots,
                               ArrayRef<ArrayValue> values) {
  SmallVector<int64_t> shape = shapeOf(type, values.front().sizes);
  bool fits = !shape.empty();
  for (size_t i = 0; i < shape.size() && fits; ++i)
    fits = type.isDynamicDim(unsigned(i)) || type.getDimSize(i) == shape[i];
  // How far the groups' scales are padded, or how many groups there are, the
  // launch finds out.
  if (!fits || type.hasStaticShape() || type.hasScalesByGroups()) {
    for (auto [slot, value] : llvm::zip_equal(slots, values))
      if (std::string why = whyNotArray(slot, slot.sizes, value); !why.empty())
        return why;
    if (fits)
      return "";
    return nameOf(slots.front()) + " is " + shapeText(values.front().sizes) +
           ", which no tensor of " + shapeText(type.getShape()) + " has";
  }
  Result<ScaledTensorType> sized = withShape(type, shape);
  if (!sized)
    return nameOf(slots.front()) + ": " + sized.why().text;
  Result<TensorParts> parts = getTensorParts(*sized);
  if (!parts)
    return parts.why().text;
  for (auto [slot, value, part] :
       llvm::zip_equal(slots, values, parts->present()))
    if (std::string why =
            whyNotArray(slot, cast<RankedTensorType>(part).getShape(), value);
        !why.empty())
      return why;
  return "";
}

/// Why sizes that must be equal are not; `first` is the first slot of each
/// argument. Empty if they are.
static std::string whyNotSizes(ArrayRef<DynamicDimension> dynamic,
                               ArrayRef<Type> types, ArrayRef<Slot> slots,
                               ArrayRef<ArrayValue> values) {
  std::map<unsigned, std::pair<int64_t, std::string>> seen;
  for (const DynamicDimension &each : dynamic) {
    const Slot *slot = llvm::find_if(
        slots, [&](const Slot &one) { return one.index == each.argument; });
    const ArrayValue &value = values[size_t(slot - slots.begin())];
    auto scaled = dyn_cast<ScaledTensorType>(types[each.argument]);
    int64_t size = scaled ? shapeOf(scaled, value.sizes)[each.dimension]
                          : value.sizes[each.dimension];
    std::string name =
        "size " + std::to_string(each.dimension) + " of " +
        (scaled ? "argument " + std::to_string(each.argument) : nameOf(*slot)) +
        " is " + std::to_string(size);
    // A size of one may be stretched.
    if (each.known && *each.known != 1 && *each.known != size)
      return name + ", expected " + std::to_string(*each.known);
    auto [it, isNew] = seen.try_emplace(each.sizeClass, size, name);
    if (!isNew && it->second.first != size)
      return name + ", but " + it->second.second +
             ", and the function needs them equal";
  }
  return "";
}

static std::string whyNotArguments(const Signature &signature,
                                   ArrayRef<Type> types,
                                   ArrayRef<DynamicDimension> dynamic,
                                   ArrayRef<ArrayValue> values) {
  ArrayRef<Slot> slots = signature.arguments;
  if (values.size() != slots.size())
    return "'" + signature.name + "' takes " + std::to_string(slots.size()) +
           " arrays, found " + std::to_string(values.size());
  for (size_t first = 0, count = 0; first < slots.size(); first += count) {
    ArrayRef<Slot> own = slots.drop_front(first).take_while(
        [&](const Slot &slot) { return slot.index == slots[first].index; });
    count = own.size();
    auto scaled = dyn_cast<ScaledTensorType>(types[slots[first].index]);
    std::string why =
        scaled ? whyNotParts(scaled, own, values.slice(first, count))
               : whyNotArray(slots[first], slots[first].sizes, values[first]);
    if (!why.empty())
      return why;
  }
  return whyNotSizes(dynamic, types, slots, values);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The arrays of all values of `types`, in their order.
static SmallVector<Type> plainOf(ArrayRef<Type> types) {
  SmallVector<Type> all;
  std::string reason;
  for (Type type : types) {
    auto plain = plainTypes(type, reason);
    all.append(plain->begin(), plain->end());
  }
  return all;
}

static HostArray hostArray(Type plain, const Slot &slot, ArrayValue &&value) {
  auto tensor = dyn_cast<RankedTensorType>(plain);
  HostArray array;
  array.element = tensor ? tensor.getElementType() : plain;
  array.isNumber = slot.isNumber;
  array.isMemory = slot.isMemory;
  array.sizes = std::move(value.sizes);
  array.bytes = std::move(value.bytes);
  return array;
}

namespace {
/// Notes each launch of a call in its outcome.
class Recorder {
public:
  Recorder(verify::EmulatedDevice &device, const CallOptions &options,
           CallOutcome &outcome)
      : device(device) {
    device.threads = options.threads;
    device.completion = options.completion;
    device.seed = options.seed;
    device.findings.clear();
    device.openPoints = {};
    device.beforeRun = [this, &options](emulator::Launch &launch,
                                        emulator::Options &run) {
      run.strict = options.strict;
      run.stop = options.stop;
      if (options.progress) {
        options.progress(launch.kernel, "clusters", 0,
                         launch.grid.count() / launch.cluster.count());
        run.progress = [&options, name = launch.kernel](uint64_t done,
                                                        uint64_t all) {
          options.progress(name, "clusters", done, all);
        };
      }
      start = std::chrono::steady_clock::now();
    };
    device.afterRun = [this, &outcome](const emulator::Launch &launch,
                                       const emulator::RunResult &result) {
      std::chrono::duration<double> spent =
          std::chrono::steady_clock::now() - start;
      outcome.launches.push_back({launch.kernel, launch.grid, launch.cluster,
                                  result.counters, spent.count()});
    };
  }
  ~Recorder() {
    device.beforeRun = nullptr;
    device.afterRun = nullptr;
  }
  Recorder(const Recorder &) = delete;
  Recorder &operator=(const Recorder &) = delete;

private:
  verify::EmulatedDevice &device;
  std::chrono::steady_clock::time_point start;
};
} // namespace

Result<CallOutcome> Program::call(size_t index,
                                  std::vector<ArrayValue> arguments,
                                  const CallOptions &options) {
  const Signature &signature = signatures[index];
  const Callee &callee = code->callees[index];
  std::string why =
      whyNotArguments(signature, callee.arguments, callee.dynamic, arguments);
  if (!why.empty())
    return Reason(why);
  std::vector<HostArray> arrays;
  for (auto [plain, slot, value] : llvm::zip_equal(
           plainOf(callee.arguments), signature.arguments, arguments))
    arrays.push_back(hostArray(plain, slot, std::move(value)));
  CallOutcome outcome;
  Recorder recorder(code->device, options, outcome);
  Result<std::vector<HostArray>> found = callFunction(
      *code->program, signature.name, std::move(arrays),
      plainOf(callee.results),
      [&](BlockscaleKernels &kernels, const std::string &kernel,
          const BlockscaleOperand *operands, int64_t count) {
        return code->device.launch(kernels, kernel, operands, count);
      });
  if (!found)
    return found.why();
  for (HostArray &array : *found)
    outcome.results.push_back({std::move(array.sizes), std::move(array.bytes)});
  outcome.findings = code->device.findings;
  outcome.openPoints = code->device.openPoints;
  return outcome;
}
