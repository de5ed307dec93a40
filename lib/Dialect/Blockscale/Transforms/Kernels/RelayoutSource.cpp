//===- RelayoutSource.cpp - parts in another layout, by kernel ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RelayoutSource.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace blockscale;

static RelayoutStorage storageOf(RelayoutOp op) {
  Result<RelayoutStorage> storage =
      relayoutStorage(op.getInput().getType(), op.getType());
  assert(storage && "checkReady asks first");
  return *storage;
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

std::optional<Reason> blockscale::whyNotKernel(RelayoutOp op) {
  Result<RelayoutStorage> storage =
      relayoutStorage(op.getInput().getType(), op.getType());
  if (!storage)
    return storage.why();
  if (auto why = whyNotReached(storage->sizes))
    return why;
  if (storage->scales)
    for (const QuantizedStorage *one :
         {&storage->scales->from, &storage->scales->to}) {
      auto bytes =
          dyn_cast<AffineConstantExpr>(one->scales.matrixBytes * one->batch);
      if (bytes && bytes.getValue() > kMaxProductSize)
        return "its scales take " + std::to_string(bytes.getValue()) +
               " bytes, more than the " + std::to_string(kMaxProductSize) +
               " that a kernel moves";
    }
  return whyNotCounted(threadsToRelayout(*storage));
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

static KernelOutline outlineOf(RelayoutOp op, StringRef source) {
  RelayoutStorage storage = storageOf(op);
  MLIRContext *context = op.getContext();
  Type memory = GlobalType::get(context, IntegerType::get(context, 8));
  KernelOutline outline;
  for (auto [isThere, a, d] :
       {std::tuple(storage.elements.has_value(), ParameterRole::AData,
                   ParameterRole::DData),
        {storage.metadata.has_value(), ParameterRole::AMetadata,
         ParameterRole::DMetadata},
        {storage.scales.has_value(), ParameterRole::AScales,
         ParameterRole::DScales},
        {bool(storage.zeros), ParameterRole::AZeros, ParameterRole::DZeros}})
    if (isThere)
      outline.parameters.append({{memory, a}, {memory, d}});
  addSizes(storage.sizes, outline.parameters);
  outline.launch = elementwiseLaunch(threadsToRelayout(storage));
  outline.conversion = conversionOf(op, source);
  return outline;
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

namespace {
/// Builds the body, whose threads are those of one part after those of another.
class BodyBuilder {
public:
  BodyBuilder(const RelayoutStorage &storage, ImplicitLocOpBuilder &b,
              function_ref<Value(ParameterRole)> argument)
      : storage(storage), argument(argument),
        sizes(launchSizes(storage.sizes, b, argument)), e(b.getLoc(), b) {}

  void build();

private:
  void buildPart(ParameterRole a, ParameterRole d,
                 function_ref<void(Value, Value)> build, AffineExpr behind);

  const RelayoutStorage &storage;
  function_ref<Value(ParameterRole)> argument;
  LaunchSizes sizes;
  Emitter e;
  /// Of the thread, among those of what is still to be built; null while that
  /// is all of it.
  Value number;
};

/// Builds a part; where others follow, from thread `behind` on, for those
/// before alone, and goes on where the others are and count from 0 again.
void BodyBuilder::buildPart(ParameterRole a, ParameterRole d,
                            function_ref<void(Value, Value)> build,
                            AffineExpr behind) {
  if (!behind)
    return build(argument(a), argument(d));
  StorageAccess access(e, storage.sizes,
                       {sizes.rows, Value(), sizes.k, sizes.batch});
  if (!number)
    number = threadNumber(e);
  Value count = access.extentOf(behind, e.getI32Type());
  Value isBefore =
      arith::CmpIOp::create(e, arith::CmpIPredicate::ult, number, count);
  auto condition = scf::IfOp::create(e, isBefore, /*withElseRegion=*/true);
  e.setInsertionPointToStart(condition.thenBlock());
  build(argument(a), argument(d));
  e.setInsertionPointToStart(condition.elseBlock());
  number = arith::SubIOp::create(e, number, count);
}

void BodyBuilder::build() {
  auto isLast = [](bool hasOthers, AffineExpr behind) {
    return hasOthers ? behind : AffineExpr();
  };
  if (storage.elements)
    buildPart(
        ParameterRole::AData, ParameterRole::DData,
        [&](Value from, Value to) {
          buildMovedElements(*storage.elements, e, from, to, sizes, number);
        },
        isLast(storage.metadata || storage.scales, threadsOfElements(storage)));
  auto buildBytes = [&](const std::optional<MovedBytes> &moved, ParameterRole a,
                        ParameterRole d, AffineExpr behind) {
    if (moved)
      buildPart(
          a, d,
          [&](Value from, Value to) {
            buildMovedBytes(*moved, e, from, to, sizes, number);
          },
          behind);
  };
  buildBytes(storage.metadata, ParameterRole::AMetadata,
             ParameterRole::DMetadata,
             isLast(storage.scales.has_value(), threadsOfMetadata(storage)));
  buildBytes(storage.scales, ParameterRole::AScales, ParameterRole::DScales,
             isLast(bool(storage.zeros), threadsOfScales(storage)));
  if (storage.zeros)
    buildMovedZeros(*storage.scales, storage.zeros, e,
                    argument(ParameterRole::AZeros),
                    argument(ParameterRole::DZeros), sizes, number);
}

struct RelayoutSource : ElementwiseModel<RelayoutSource, RelayoutOp> {
  KernelOutline getOutline(Operation *op, StringRef source) const {
    return outlineOf(cast<RelayoutOp>(op), source);
  }
  void buildBody(Operation *op, ImplicitLocOpBuilder &b,
                 function_ref<Value(ParameterRole)> argument) const {
    RelayoutStorage storage = storageOf(cast<RelayoutOp>(op));
    BodyBuilder(storage, b, argument).build();
  }
};
} // namespace

void blockscale::attachRelayoutSource(MLIRContext &context) {
  RelayoutOp::attachInterface<RelayoutSource>(context);
}
