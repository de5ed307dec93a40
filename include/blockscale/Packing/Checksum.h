//===- Checksum.h - CRC-32 of data in pieces --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_PACKING_CHECKSUM_H
#define BLOCKSCALE_PACKING_CHECKSUM_H

#include <cstdint>

namespace blockscale::packing {

/// The CRC-32 of zlib, gzip and PNG of `count` bytes behind those whose CRC is
/// `before`.
uint32_t crc32(const void *bytes, uint64_t count, uint32_t before = 0);

/// The CRC of two pieces one behind the other; the second has `secondBytes`.
uint32_t combineCrc32(uint32_t first, uint32_t second, uint64_t secondBytes);

} // namespace blockscale::packing

#endif // BLOCKSCALE_PACKING_CHECKSUM_H
