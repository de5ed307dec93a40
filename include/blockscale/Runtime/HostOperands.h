//===- HostOperands.h - from host memory to a kernel's memory ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch takes its operands as compiled host code has them: arrays of any
// strides, one element in at least a byte. Here they become what the launch
// plan wants in global memory, and D comes back.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_RUNTIME_HOSTOPERANDS_H
#define BLOCKSCALE_RUNTIME_HOSTOPERANDS_H

#include "blockscale-runtime/Runtime.h"
#include "blockscale/Plan/Sizes.h"

#include <map>
#include <vector>

namespace blockscale::runtime {

/// One operand; see BlockscaleOperand. Sizes and strides are in elements,
/// outermost first.
struct HostOperand {
  std::string role;
  uint8_t *data = nullptr;
  std::vector<int64_t> sizes, strides;
  int64_t elementBytes = 1;
  /// Its values never change.
  bool isResident = false;
  /// `data` is an address of the device. Who has a driver finds it out.
  bool isOnDevice = false;
};

/// Operands by their roles.
using HostOperands = std::map<std::string, HostOperand>;

/// The operands of a call of the runtime. Fails for one without role or shape,
/// or given twice.
Result<HostOperands> readOperands(const BlockscaleOperand *operands,
                                  int64_t count);

/// What a kernel's parameters stand for, by their roles: the bytes behind
/// pointers and tensor maps, and numbers.
struct DeviceData {
  std::map<std::string, std::vector<uint8_t>> memory;
  /// The bytes that must be behind the addresses of what is on the device.
  std::map<std::string, uint64_t> bytesOnDevice;
  std::map<std::string, float> scalars;
};

/// Why these are not the operands of `kernel`: one that is missing or unknown,
/// a rank that no operand of this role has, an element of another size, or data
/// without an address. Empty if they are.
std::string whyNotOperands(const plan::Kernel &kernel,
                           const HostOperands &operands);

/// The role of the zero points that are subtracted from the elements of `role`
/// where the host packs them; empty if it subtracts none. No parameter of the
/// kernel has it.
std::string zerosRole(const plan::Kernel &kernel, const std::string &role);

/// Whether `role` is that of such zero points.
bool isZeros(const plan::Kernel &kernel, const std::string &role);

/// Whether `role` is what the kernel writes: "d", or a part of it.
bool isResult(const plan::Kernel &kernel, const std::string &role);

/// M, N, K and batch, as the shapes of "d" and "a_data", or of "x", have them.
/// `operands` must be the kernel's (whyNotOperands).
plan::Environment sizesOf(const plan::Kernel &kernel,
                          const HostOperands &operands);

/// The memory of all operands, that of results with zeros, for `sizes` as
/// plan::bindSizes gives them. Of what is on the device the shape is looked at
/// alone, and there is no memory; terms of zero points in real units that are
/// there, by their roles, are not made. Fails where a shape is not that of the
/// sizes, or what is on the device not contiguous.
Result<DeviceData> packOperands(const plan::Kernel &kernel,
                                const plan::Environment &sizes,
                                const HostOperands &operands);

/// Copies a result, which lies in `memory` as the plan says for `sizes`, to
/// where the operand has it. The shapes agreed when the operands were packed.
void storeResult(const plan::Kernel &kernel, const plan::Environment &sizes,
                 const std::vector<uint8_t> &memory, const HostOperand &result);

} // namespace blockscale::runtime

#endif // BLOCKSCALE_RUNTIME_HOSTOPERANDS_H
