//===- ApiMemoryOps.cpp - words that streams wait for and write -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Work is done when it is asked for: what a stream waits for must be there by
// then, since nothing that the program does later can still bring it.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "Streams.h"

#include <cstring>

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

using Operation = CUstreamBatchMemOpParams;

bool isWait(const Operation &operation) {
  return operation.operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ||
         operation.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
}

bool isWrite(const Operation &operation) {
  return operation.operation == CU_STREAM_MEM_OP_WRITE_VALUE_32 ||
         operation.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
}

bool isWide(const Operation &operation) {
  return operation.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 ||
         operation.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
}

/// Where the word is; null if it is outside of all memory, or between words.
uint8_t *wordOf(const Operation &operation) {
  uint64_t bytes = isWide(operation) ? 8 : 4;
  uint64_t address = operation.waitValue.address;
  const Allocation *one = Core::get().memory.find(address);
  if (!one || address % bytes || address + bytes > one->address + one->size)
    return nullptr;
  return one->data + (address - one->address);
}

template <typename T, typename Signed>
bool isThere(T found, T wanted, unsigned condition) {
  switch (condition) {
  case CU_STREAM_WAIT_VALUE_GEQ:
    return Signed(found - wanted) >= 0;
  case CU_STREAM_WAIT_VALUE_EQ:
    return found == wanted;
  case CU_STREAM_WAIT_VALUE_AND:
    return (found & wanted) != 0;
  default:
    return T(~(found | wanted)) != 0;
  }
}

unsigned conditionOf(const Operation &operation) {
  return operation.waitValue.flags & ~unsigned(CU_STREAM_WAIT_VALUE_FLUSH);
}

/// Whether writes of other devices are to be waited for, which no device does
/// that ours stand for (CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES).
bool flushes(const Operation &operation) {
  return operation.operation == CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES ||
         (isWait(operation) &&
          operation.waitValue.flags & CU_STREAM_WAIT_VALUE_FLUSH);
}

cudaError_t wait(const Operation &operation, const uint8_t *word) {
  unsigned condition = conditionOf(operation);
  uint64_t found = 0;
  std::memcpy(&found, word, isWide(operation) ? 8 : 4);
  bool there = isWide(operation)
                   ? isThere<uint64_t, int64_t>(
                         found, operation.waitValue.value64, condition)
                   : isThere<uint32_t, int32_t>(
                         uint32_t(found), operation.waitValue.value, condition);
  if (there)
    return cudaSuccess;
  sayOnce("a stream waits for a value in memory that nothing has written yet: "
          "the emulator does work when it is asked for, so what writes the "
          "value must come first");
  return cudaErrorNotSupported;
}

cudaError_t perform(const Operation &operation) {
  if (!isWait(operation) && !isWrite(operation))
    return cudaSuccess;
  uint8_t *word = wordOf(operation);
  if (!word)
    return cudaErrorInvalidValue;
  if (isWait(operation))
    return wait(operation, word);
  std::memcpy(word, &operation.writeValue.value64, isWide(operation) ? 8 : 4);
  return cudaSuccess;
}

bool isLegal(const Operation &operation) {
  switch (operation.operation) {
  case CU_STREAM_MEM_OP_WAIT_VALUE_32:
  case CU_STREAM_MEM_OP_WAIT_VALUE_64:
    return conditionOf(operation) <= CU_STREAM_WAIT_VALUE_NOR &&
           wordOf(operation);
  case CU_STREAM_MEM_OP_WRITE_VALUE_32:
  case CU_STREAM_MEM_OP_WRITE_VALUE_64:
    return operation.writeValue.flags == CU_STREAM_WRITE_VALUE_DEFAULT &&
           wordOf(operation);
  case CU_STREAM_MEM_OP_BARRIER:
  case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
    return true;
  }
  return false;
}

CUresult performAll(CUstream stream, std::vector<Operation> operations) {
  return withContext([&] {
    for (const Operation &operation : operations)
      if (!isLegal(operation))
        return cudaErrorInvalidValue;
    if (std::any_of(operations.begin(), operations.end(), flushes))
      return cudaErrorNotSupported;
    return doOrKeep(
        stream,
        [operations] {
          for (const Operation &operation : operations)
            if (cudaError_t error = perform(operation); error != cudaSuccess)
              return error;
          return cudaSuccess;
        },
        CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
  });
}

CUresult performOne(CUstream stream, CUstreamBatchMemOpType type,
                    CUdeviceptr address, cuuint64_t value, unsigned flags) {
  Operation operation{};
  // Waits and writes have their fields at the same places.
  operation.waitValue.operation = type;
  operation.waitValue.address = address;
  operation.waitValue.value64 = value;
  operation.waitValue.flags = flags;
  return performAll(stream, {operation});
}

} // namespace

BLOCKSCALE_API CUresult cuStreamWaitValue32_v2(CUstream stream,
                                               CUdeviceptr address,
                                               cuuint32_t value,
                                               unsigned flags) {
  return performOne(stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, address, value,
                    flags);
}

BLOCKSCALE_API CUresult cuStreamWaitValue64_v2(CUstream stream,
                                               CUdeviceptr address,
                                               cuuint64_t value,
                                               unsigned flags) {
  return performOne(stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, address, value,
                    flags);
}

BLOCKSCALE_API CUresult cuStreamWriteValue32_v2(CUstream stream,
                                                CUdeviceptr address,
                                                cuuint32_t value,
                                                unsigned flags) {
  return performOne(stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, address, value,
                    flags);
}

BLOCKSCALE_API CUresult cuStreamWriteValue64_v2(CUstream stream,
                                                CUdeviceptr address,
                                                cuuint64_t value,
                                                unsigned flags) {
  return performOne(stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, address, value,
                    flags);
}

BLOCKSCALE_API CUresult
cuStreamBatchMemOp_v2(CUstream stream, unsigned count,
                      CUstreamBatchMemOpParams *operations, unsigned flags) {
  if (flags || count > 256 || (count && !operations))
    return CUDA_ERROR_INVALID_VALUE;
  return performAll(stream, {operations, operations + count});
}
