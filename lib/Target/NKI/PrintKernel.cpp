//===- PrintKernel.cpp - kernels as Python --------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One op is one call, with keyword arguments only: their order changed between
// revisions of NKI, their names did not.
//
//===----------------------------------------------------------------------===//

#include "KernelNames.h"
#include "blockscale/Target/NKI/TranslateToNKI.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace blockscale;
using namespace blockscale::nki;

namespace {
using Arguments = SmallVector<std::pair<StringRef, std::string>>;

class KernelPrinter {
public:
  KernelPrinter(KernelOp kernel, raw_ostream &os)
      : kernel(kernel), target(kernel.getParsedTarget()),
        revision(revisionInfo(target.revision)), names(kernel), os(os) {}

  LogicalResult print();

private:
  LogicalResult printBlock(Block &block);
  LogicalResult printOp(Operation *op);
  void printHeader();
  LogicalResult printAlloc(AllocOp op);
  void printMatmul(MatmulMXOp op);
  void printScalar(TensorScalarOp op);
  void printReturn(nki::ReturnOp op);
  /// `name(key=value, ...)`, on several lines if it is long.
  void call(StringRef name, const Arguments &arguments);
  void line(const Twine &text) { os.indent(indent) << text << "\n"; }

  std::string buffer(Value value);
  std::string sliceText(SliceOp op);
  std::string accessText(AccessOp op);
  std::string accumulateArgument(MatmulMXOp op);

  KernelOp kernel;
  Target target;
  const RevisionInfo &revision;
  KernelNames names;
  raw_ostream &os;
  unsigned indent = 4;
};

/// How tightly an expression binds.
enum Precedence { Sum, Term, Atom };
} // namespace

/// An index value as Python, in parentheses if it binds less than `outer`.
static std::string expression(const KernelNames &names, Value value,
                              Precedence outer) {
  llvm::APInt known;
  if (matchPattern(value, m_ConstantInt(&known)))
    return std::to_string(known.getSExtValue());
  Operation *op = value.getDefiningOp();
  if (!op)
    return names.of(value).str();
  Precedence own = isa<arith::AddIOp>(op) ? Sum : Term;
  StringRef symbol = isa<arith::AddIOp>(op)   ? " + "
                     : isa<arith::MulIOp>(op) ? " * "
                                              : " % ";
  // Left to right: the right side needs parentheses at equal precedence, a
  // remainder also on the left.
  Precedence left = isa<arith::RemUIOp>(op) ? Atom : own;
  std::string text =
      expression(names, op->getOperand(0), left) + symbol.str() +
      expression(names, op->getOperand(1), own == Sum ? Term : Atom);
  // A remainder as a factor reads better in parentheses.
  bool hide = own < outer || (isa<arith::RemUIOp>(op) && outer != Sum);
  return hide ? "(" + text + ")" : text;
}

static std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "(";
  llvm::interleaveComma(shape, stream);
  stream << ")";
  return text;
}

static std::string typeText(Type type) {
  return ("nl." + elementTypeName(type)).str();
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

std::string KernelPrinter::sliceText(SliceOp op) {
  std::string text;
  for (auto [offset, size] :
       llvm::zip(op.getMixedOffsets(), op.getResult().getType().getShape())) {
    text += text.empty() ? "" : ", ";
    if (std::optional<int64_t> known = getConstantIntValue(offset))
      text += std::to_string(*known) + ":" + std::to_string(*known + size);
    else
      text += "nl.ds(" + expression(names, cast<Value>(offset), Sum) + ", " +
              std::to_string(size) + ")";
  }
  return buffer(op.getSource()) + "[" + text + "]";
}

std::string KernelPrinter::accessText(AccessOp op) {
  BufferType source = op.getSource().getType(),
             result = op.getResult().getType();
  std::string pattern;
  for (auto [stride, count] : llvm::zip(op.getStrides(), result.getShape()))
    pattern += (pattern.empty() ? "[" : ", [") + std::to_string(stride) + ", " +
               std::to_string(count) + "]";
  std::string text = buffer(op.getSource()) + ".ap(pattern=[" + pattern +
                     "], offset=" + expression(names, op.getOffset(), Sum);
  if (source.getElementType() != result.getElementType())
    text += ", dtype=" + typeText(result.getElementType());
  return text + ")";
}

std::string KernelPrinter::buffer(Value value) {
  if (auto op = value.getDefiningOp<SliceOp>())
    return sliceText(op);
  if (auto op = value.getDefiningOp<AccessOp>())
    return accessText(op);
  if (auto op = value.getDefiningOp<ReshapeOp>())
    return buffer(op.getSource()) + ".reshape(" +
           shapeText(op.getResult().getType().getShape()) + ")";
  return names.of(value).str();
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void KernelPrinter::call(StringRef name, const Arguments &arguments) {
  constexpr size_t kLineLength = 100;
  std::string text;
  for (const auto &[key, value] : arguments)
    text += (text.empty() ? "" : ", ") + key.str() + "=" + value;
  if (indent + name.size() + text.size() + 2 <= kLineLength)
    return line(name + "(" + text + ")");
  line(name + "(");
  for (const auto &[key, value] : arguments)
    line("    " + key + "=" + value + ",");
  line(")");
}

LogicalResult KernelPrinter::printAlloc(AllocOp op) {
  BufferType type = op.getResult().getType();
  std::string memory = "nl.";
  if (type.getMemory() != Buffer::Hbm)
    memory += bufferName(type.getMemory());
  else
    memory +=
        llvm::any_of(op->getUsers(),
                     [](Operation *user) { return isa<nki::ReturnOp>(user); })
            ? "shared_hbm"
            : "private_hbm";
  std::string text = (names.of(op.getResult()) + " = nl.ndarray(" +
                      shapeText(type.getShape()) + ", dtype=" +
                      typeText(type.getElementType()) + ", buffer=" + memory)
                         .str();
  if (type.getMemory() != Buffer::Hbm) {
    if (!op.getAddress())
      return op.emitOpError() << "has no address; run "
                                 "'blockscale-nki-assign-memory' before";
    if (revision.hasAddresses)
      text += ", address=(0, " + std::to_string(*op.getAddress()) + ")";
  }
  line(text + ")");
  return success();
}

/// The accumulation argument, with its name and a comma; empty if the revision
/// infers it.
std::string KernelPrinter::accumulateArgument(MatmulMXOp op) {
  if (revision.control == AccumulateControl::Argument) {
    if (std::optional<uint64_t> step = op.getStaticStep())
      return *step ? "True" : "False";
    return expression(names, op.getStep(), Sum) + " > 0";
  }
  unsigned steps = op.getSteps();
  if (std::optional<uint64_t> step = op.getStaticStep())
    return std::to_string(accumulateFlag(*step, steps));
  std::string step = expression(names, op.getStep(), Sum);
  std::string text =
      std::to_string(kFlagFirst) + " if " + step + " == 0 else 0";
  auto loop = cast<LoopOp>(op->getParentOp());
  if (loop.getUpper() < steps)
    return text;
  return "(" + text + ") + (" + std::to_string(kFlagLast) + " if " + step +
         " == " + std::to_string(steps - 1) + " else 0)";
}

void KernelPrinter::printMatmul(MatmulMXOp op) {
  Arguments arguments{{"dst", buffer(op.getDst())},
                      {"stationary", buffer(op.getStationary())},
                      {"moving", buffer(op.getMoving())},
                      {"stationary_scale", buffer(op.getStationaryScale())},
                      {"moving_scale", buffer(op.getMovingScale())}};
  if (op.getRowTile()) {
    arguments.push_back(
        {"tile_position", "(" + std::to_string(*op.getStartRow()) + ", 0)"});
    arguments.push_back({"tile_size", "(" + std::to_string(*op.getRowTile()) +
                                          ", " + std::to_string(kPartitions) +
                                          ")"});
  }
  switch (revision.control) {
  case AccumulateControl::Flag:
    arguments.push_back({"psum_accumulate_flag", accumulateArgument(op)});
    break;
  case AccumulateControl::Argument:
    arguments.push_back({"accumulate", accumulateArgument(op)});
    break;
  case AccumulateControl::Inferred:
    break;
  }
  call("nisa.nc_matmul_mx", arguments);
}

static std::string operatorText(Arithmetic op) {
  return ("nl." + stringifyArithmetic(op)).str();
}

void KernelPrinter::printScalar(TensorScalarOp op) {
  std::string operand;
  if (op.getOperand()) {
    operand = buffer(op.getOperand());
  } else {
    llvm::SmallString<32> digits;
    op.getConstant()->toString(digits);
    operand = digits.str().str();
    // A float, also where it is whole.
    if (StringRef(operand).find_first_of(".eE") == StringRef::npos)
      operand += ".0";
  }
  call("nisa.tensor_scalar", {{"dst", buffer(op.getDst())},
                              {"data", buffer(op.getData())},
                              {"op0", operatorText(op.getOp())},
                              {"operand0", operand}});
}

void KernelPrinter::printReturn(nki::ReturnOp op) {
  std::string text;
  for (Value value : op.getValues())
    text += (text.empty() ? "" : ", ") + buffer(value);
  line("return " + text);
}

LogicalResult KernelPrinter::printOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<SliceOp, AccessOp, ReshapeOp, arith::ConstantOp, arith::AddIOp,
            arith::MulIOp, arith::RemUIOp>([](auto) {
        // Printed where they are used.
        return success();
      })
      .Case([&](AllocOp alloc) { return printAlloc(alloc); })
      .Case([&](LoopOp loop) {
        line("for " + names.of(loop.getVariable()) + " in range(" +
             std::to_string(loop.getLower()) + ", " +
             std::to_string(loop.getUpper()) + ", " +
             std::to_string(loop.getStep()) + "):");
        indent += 4;
        LogicalResult result = printBlock(loop.getBody().front());
        indent -= 4;
        return result;
      })
      .Case([&](DmaCopyOp copy) {
        call("nisa.dma_copy",
             {{"dst", buffer(copy.getDst())}, {"src", buffer(copy.getSrc())}});
        return success();
      })
      .Case([&](MemsetOp set) {
        call("nisa.memset", {{"dst", buffer(set.getDst())},
                             {"value", std::to_string(set.getValue())}});
        return success();
      })
      .Case([&](MatmulMXOp product) {
        printMatmul(product);
        return success();
      })
      .Case([&](QuantizeMXOp quantize) {
        call("nisa.quantize_mx",
             {{"dst", buffer(quantize.getDst())},
              {"src", buffer(quantize.getSrc())},
              {"dst_scale", buffer(quantize.getDstScale())}});
        return success();
      })
      .Case([&](TensorCopyOp copy) {
        call("nisa.tensor_copy",
             {{"dst", buffer(copy.getDst())}, {"src", buffer(copy.getSrc())}});
        return success();
      })
      .Case([&](TensorTensorOp both) {
        call("nisa.tensor_tensor", {{"dst", buffer(both.getDst())},
                                    {"data1", buffer(both.getData1())},
                                    {"data2", buffer(both.getData2())},
                                    {"op", operatorText(both.getOp())}});
        return success();
      })
      .Case([&](TensorScalarOp scalar) {
        printScalar(scalar);
        return success();
      })
      .Case([&](ActivationOp activation) {
        call("nisa.activation",
             {{"dst", buffer(activation.getDst())},
              {"op", ("nl." + stringifyFunction(activation.getOp())).str()},
              {"data", buffer(activation.getData())}});
        return success();
      })
      .Case([&](nki::ReturnOp end) {
        printReturn(end);
        return success();
      })
      .Default([](Operation *other) {
        return other->emitOpError() << "has no form in NKI";
      });
}

LogicalResult KernelPrinter::printBlock(Block &block) {
  for (Operation &op : block)
    if (failed(printOp(&op)))
      return failure();
  return success();
}

void KernelPrinter::printHeader() {
  os << "\n\n@nki.jit";
  if (revision.namesPlatform)
    os << "(platform_target=\"" << StringRef(chipInfo(target.chip).name)
       << "\")";
  os << "\ndef " << pythonName(kernel.getName()) << "(";
  llvm::interleaveComma(kernel.getBody().front().getArguments(), os,
                        [&](Value argument) { os << names.of(argument); });
  os << "):\n";
  line("# M = " + Twine(kernel.getSize("M")) + ", N = " +
       Twine(kernel.getSize("N")) + ", K = " + Twine(kernel.getSize("K")) +
       ", batch = " + Twine(kernel.getSize("batch")));
  for (Value argument : kernel.getBody().front().getArguments()) {
    auto type = cast<BufferType>(argument.getType());
    line("# " + names.of(argument) + ": " +
         elementTypeName(type.getElementType()) + " " +
         shapeText(type.getShape()));
  }
}

LogicalResult KernelPrinter::print() {
  printHeader();
  return printBlock(kernel.getBody().front());
}

FailureOr<std::string> blockscale::nki::translateToNKI(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  bool first = true;
  for (auto kernel : module.getOps<KernelOp>()) {
    if (first)
      os << "# Kernels for " << targetName(kernel.getParsedTarget())
         << ", made by blockscale; the plan beside this file says how the host "
            "packs their\n# parameters. Where the chip is not the machine's "
            "own, set NEURON_PLATFORM_TARGET_OVERRIDE.\nimport nki\nimport "
            "nki.isa as nisa\nimport nki.language as nl\n";
    first = false;
    if (failed(KernelPrinter(kernel, os).print()))
      return failure();
  }
  if (first)
    return module.emitError() << "holds no 'blockscale_nki.kernel' to print";
  return text;
}
