//===- CallFrame.cpp - the memory of one call -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CallFrame.h"
#include "llvm/Support/MathExtras.h"

#include <cstdlib>
#include <cstring>
#include <list>
#include <set>

using namespace mlir;
using namespace blockscale;
using namespace blockscale::execute;

/// A memref as upstream's conversion to LLVM lays it out: two pointers, the
/// offset, sizes, strides; each takes a word.
using Descriptor = std::vector<uint64_t>;
static constexpr size_t kWord = sizeof(uint64_t);
static constexpr size_t kFixedWords = 3;

static uint64_t wordOf(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

static Descriptor describe(HostArray &array) {
  size_t rank = array.sizes.size();
  Descriptor descriptor(kFixedWords + 2 * rank);
  descriptor[0] = descriptor[1] = wordOf(array.bytes.data());
  uint64_t stride = 1;
  for (size_t i = rank; i-- > 0;) {
    descriptor[kFixedWords + i] = uint64_t(array.sizes[i]);
    descriptor[kFixedWords + rank + i] = stride;
    stride *= uint64_t(array.sizes[i]);
  }
  return descriptor;
}

namespace {
/// The structure that a function returns.
class ResultFrame {
public:
  explicit ResultFrame(ArrayRef<Type> types);

  uint8_t *data() { return bytes.data(); }
  /// Copies what the function returned. Buffers of results are freed but for
  /// `kept`, those of arguments.
  std::vector<HostArray> read(const std::set<uint64_t> &kept);

private:
  HostArray readArray(RankedTensorType type, const uint8_t *place,
                      std::set<uint64_t> &buffers);

  ArrayRef<Type> types;
  std::vector<size_t> offsets;
  std::vector<uint8_t> bytes;
};
} // namespace

ResultFrame::ResultFrame(ArrayRef<Type> types) : types(types) {
  size_t end = 0;
  for (Type type : types) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    size_t alignment = tensor ? kWord : bytesOf(type);
    size_t size = tensor ? (kFixedWords + 2 * size_t(tensor.getRank())) * kWord
                         : alignment;
    offsets.push_back(llvm::alignTo(end, alignment));
    end = offsets.back() + size;
  }
  bytes.resize(std::max(end, kWord));
}

HostArray ResultFrame::readArray(RankedTensorType type, const uint8_t *place,
                                 std::set<uint64_t> &buffers) {
  auto rank = size_t(type.getRank());
  Descriptor descriptor(kFixedWords + 2 * rank);
  std::memcpy(descriptor.data(), place, descriptor.size() * kWord);
  HostArray array;
  array.element = type.getElementType();
  for (size_t i = 0; i < rank; ++i)
    array.sizes.push_back(int64_t(descriptor[kFixedWords + i]));
  // Results are contiguous: the pipeline gives them no other layout.
  size_t size = bytesOf(array.element);
  array.bytes.resize(array.count() * size);
  auto *first = reinterpret_cast<const uint8_t *>(uintptr_t(descriptor[1])) +
                descriptor[2] * size;
  if (!array.bytes.empty())
    std::memcpy(array.bytes.data(), first, array.bytes.size());
  buffers.insert(descriptor[0]);
  return array;
}

std::vector<HostArray> ResultFrame::read(const std::set<uint64_t> &kept) {
  std::vector<HostArray> results;
  std::set<uint64_t> buffers;
  for (auto [type, offset] : llvm::zip_equal(types, offsets)) {
    const uint8_t *place = bytes.data() + offset;
    if (auto tensor = dyn_cast<RankedTensorType>(type)) {
      results.push_back(readArray(tensor, place, buffers));
      continue;
    }
    HostArray number;
    number.element = type;
    number.isNumber = true;
    number.bytes.assign(place, place + bytesOf(type));
    results.push_back(std::move(number));
  }
  for (uint64_t buffer : buffers)
    if (!kept.count(buffer))
      std::free(reinterpret_cast<void *>(uintptr_t(buffer)));
  return results;
}

Result<std::vector<HostArray>>
execute::callFunction(HostProgram &program, const std::string &name,
                      std::vector<HostArray> arguments, ArrayRef<Type> results,
                      const Launcher &launcher) {
  std::list<Descriptor> descriptors;
  std::list<void *> pointers;
  std::vector<void *> packed;
  std::set<uint64_t> kept;
  auto addPointer = [&](void *to) {
    pointers.push_back(to);
    packed.push_back(&pointers.back());
  };
  ResultFrame frame(results);
  bool isNumber = results.size() == 1 && !isa<RankedTensorType>(results[0]);
  if (!results.empty() && !isNumber)
    addPointer(frame.data());
  for (HostArray &argument : arguments) {
    if (argument.isNumber) {
      packed.push_back(argument.bytes.data());
      continue;
    }
    descriptors.push_back(describe(argument));
    addPointer(descriptors.back().data());
    kept.insert(descriptors.back()[0]);
  }
  if (isNumber)
    packed.push_back(frame.data());
  std::string why = program.call(name, packed, launcher);
  std::vector<HostArray> values = frame.read(kept);
  if (!why.empty())
    return Reason(why);
  for (HostArray &argument : arguments)
    if (argument.isMemory)
      values.push_back(std::move(argument));
  return values;
}
