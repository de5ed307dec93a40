//===- QuantizedNumbers.cpp - what results were before that ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuantizedNumbers.h"
#include "CallFrame.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace blockscale;
using namespace blockscale::execute;

SmallVector<QuantizeOp> execute::quantizersOf(FunctionOpInterface function) {
  SmallVector<QuantizeOp> quantizers(function.getNumResults());
  Region &body = function.getFunctionBody();
  if (!body.hasOneBlock())
    return quantizers;
  for (auto [quantizer, value] :
       llvm::zip_equal(quantizers, body.front().getTerminator()->getOperands()))
    quantizer = value.getDefiningOp<QuantizeOp>();
  return quantizers;
}

static SmallVector<Value> inputsOf(FunctionOpInterface function) {
  SmallVector<Value> inputs;
  for (QuantizeOp quantizer : quantizersOf(function))
    if (quantizer)
      inputs.push_back(quantizer.getInput());
  return inputs;
}

static SmallVector<Value> sumsOf(FunctionOpInterface function) {
  SmallVector<Value> sums;
  for (auto product : function.getFunctionBody().getOps<MatmulOp>())
    sums.push_back(product.getResult());
  return sums;
}

void execute::addCopyWithNumbers(FunctionOpInterface function, bool hasSums,
                                 FunctionCopies &copies) {
  if (inputsOf(function).empty())
    return;
  auto module = function->getParentOfType<ModuleOp>();
  FunctionOpInterface copy = function.clone();
  std::string name =
      SymbolTable(module).insert(copy, Block::iterator(function)).str();
  copies[function.getName().str()] = {name, hasSums};
  SmallVector<Value> numbers = inputsOf(copy);
  if (hasSums)
    llvm::append_range(numbers, sumsOf(copy));
  Operation *end = copy.getFunctionBody().front().getTerminator();
  end->insertOperands(end->getNumOperands(), numbers);
  auto none = DictionaryAttr::get(function.getContext());
  LogicalResult inserted = copy.insertResults(
      SmallVector<unsigned>(numbers.size(), copy.getNumResults()),
      llvm::to_vector(ValueRange(numbers).getTypes()),
      SmallVector<DictionaryAttr>(numbers.size(), none));
  assert(succeeded(inserted) && "functions may have any results");
  (void)inserted;
  // What nobody calls need not be compiled.
  if (SymbolTable::symbolKnownUseEmpty(function, module))
    function.erase();
}

/// Takes `count` arrays from `arrays` behind the first `begin`.
static std::vector<HostArray> takeFrom(std::vector<HostArray> &arrays,
                                       size_t begin, size_t count) {
  auto first = arrays.begin() + int64_t(begin), last = first + int64_t(count);
  std::vector<HostArray> taken(std::make_move_iterator(first),
                               std::make_move_iterator(last));
  arrays.erase(first, last);
  return taken;
}

Result<ReferenceResults>
execute::callReference(FunctionOpInterface function, HostProgram &program,
                       const FunctionCopies &copies,
                       const std::vector<HostArray> &arguments,
                       ArrayRef<Type> types) {
  FunctionCopy called{function.getName().str()};
  SmallVector<Value> inputs, sums;
  if (auto copy = copies.find(called.name); copy != copies.end()) {
    called = copy->second;
    inputs = inputsOf(function);
    if (called.hasSums)
      sums = sumsOf(function);
  }
  SmallVector<Type> all(types);
  llvm::append_range(all, ValueRange(inputs).getTypes());
  llvm::append_range(all, ValueRange(sums).getTypes());
  auto given = callFunction(
      program, called.name, arguments, all,
      [](BlockscaleKernels &, const std::string &, const BlockscaleOperand *,
         int64_t) { return "a kernel was launched on the host's way"; });
  if (!given)
    return given.why();
  ReferenceResults parts;
  parts.numbers = takeFrom(*given, types.size(), inputs.size());
  parts.sums = takeFrom(*given, types.size(), sums.size());
  parts.results = std::move(*given);
  return parts;
}
