//===- TensorMemory.cpp - one CTA's tensor memory -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorMemory.h"

#include <algorithm>
#include <cstring>

namespace blockscale::emulator {

std::string describe(AllocStatus status, unsigned columns) {
  switch (status) {
  case AllocStatus::Ok:
    return "";
  case AllocStatus::WouldBlock:
    return "no free run of tensor-memory columns of that size";
  case AllocStatus::IllegalCount:
    return "number of columns is not a power of two in 32..512";
  case AllocStatus::IllegalExclusiveCount:
    return "number of columns of an exclusive allocation is not a multiple of "
           "32 in 32.." +
           std::to_string(columns);
  case AllocStatus::Grows:
    return "allocation is larger than the one before of the same CTA";
  case AllocStatus::Relinquished:
    return "allocation after the CTA relinquished its permit";
  }
  return "";
}

TensorMemory::TensorMemory(unsigned columns) : columnCount(columns) {}

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

static bool bitRun(const uint64_t *bits, unsigned from, unsigned count,
                   bool all) {
  for (unsigned i = from; i < from + count;) {
    unsigned take = std::min(64 - i % 64, from + count - i);
    uint64_t mask = (take == 64 ? ~uint64_t(0) : (uint64_t(1) << take) - 1)
                    << i % 64;
    uint64_t found = bits[i / 64] & mask;
    if (all ? found != mask : found != 0)
      return !all;
    i += take;
  }
  return all;
}

static void setRun(uint64_t *bits, unsigned from, unsigned count, bool value) {
  for (unsigned i = from; i < from + count;) {
    unsigned take = std::min(64 - i % 64, from + count - i);
    uint64_t mask = (take == 64 ? ~uint64_t(0) : (uint64_t(1) << take) - 1)
                    << i % 64;
    bits[i / 64] = value ? bits[i / 64] | mask : bits[i / 64] & ~mask;
    i += take;
  }
}

AllocStatus TensorMemory::canAllocate(uint32_t columns, bool exclusive) const {
  if (exclusive && (columns < 32 || columns > columnCount || columns % 32))
    return AllocStatus::IllegalExclusiveCount;
  if (!exclusive &&
      (columns < 32 || columns > kPlainColumns || (columns & (columns - 1))))
    return AllocStatus::IllegalCount;
  if (!permit)
    return AllocStatus::Relinquished;
  if (columns > lastColumns)
    return AllocStatus::Grows;
  if (exclusive || isExclusive)
    return live.empty() ? AllocStatus::Ok : AllocStatus::WouldBlock;
  for (unsigned c = 0; c + columns <= kPlainColumns; c += 32)
    if (!bitRun(used.data(), c, columns, false))
      return AllocStatus::Ok;
  return AllocStatus::WouldBlock;
}

AllocStatus TensorMemory::allocate(uint32_t columns, uint32_t &address,
                                   unsigned first, bool exclusive) {
  AllocStatus status = canAllocate(columns, exclusive);
  if (status != AllocStatus::Ok)
    return status;
  unsigned end = exclusive ? columnCount : kPlainColumns;
  auto isFree = [&](unsigned column) {
    return column + columns <= end &&
           !bitRun(used.data(), column, columns, false);
  };
  unsigned column = exclusive ? 0 : first;
  while (column < end && !isFree(column))
    column += 32;
  if (column >= end)
    for (column = 0; !isFree(column);)
      column += 32;
  setRun(used.data(), column, columns, true);
  // A new allocation holds whatever was left there: as good as never written.
  for (auto &lane : validBits)
    setRun(lane.data(), column, columns, false);
  live.push_back({column, columns});
  isExclusive = exclusive;
  lastColumns = columns;
  address = column;
  return AllocStatus::Ok;
}

std::optional<std::string>
TensorMemory::deallocate(uint32_t address, uint32_t columns, bool exclusive) {
  auto found = std::find_if(live.begin(), live.end(), [&](Allocation a) {
    return a.column == address && a.columns == columns;
  });
  if (found == live.end())
    return "no allocation of " + std::to_string(columns) +
           " columns at tensor-memory address " + std::to_string(address);
  if (exclusive != isExclusive)
    return std::string("the allocation is ") +
           (isExclusive ? "'.exclusive', its dealloc must be so too"
                        : "not '.exclusive', its dealloc must not be either");
  setRun(used.data(), address, columns, false);
  live.erase(found);
  isExclusive = false;
  return std::nullopt;
}

bool TensorMemory::allocated(unsigned column, unsigned count) const {
  return column < columnCount && count <= columnCount - column &&
         bitRun(used.data(), column, count, true);
}

bool TensorMemory::valid(unsigned lane, unsigned column, unsigned count) const {
  return bitRun(validBits[lane].data(), column, count, true);
}

void TensorMemory::markValid(unsigned lane, unsigned column, unsigned count) {
  setRun(validBits[lane].data(), column, count, true);
}

void TensorMemory::markUndefined(unsigned lane, unsigned column,
                                 unsigned count) {
  setRun(validBits[lane].data(), column, count, false);
}

//===----------------------------------------------------------------------===//
// tcgen05.ld and tcgen05.st
//===----------------------------------------------------------------------===//

static unsigned wordsPerNum(FragmentShape shape) {
  switch (shape) {
  case FragmentShape::S16x128b:
    return 2;
  case FragmentShape::S16x256b:
    return 4;
  default:
    return 1;
  }
}

unsigned Fragment::registers() const { return num * wordsPerNum(shape); }

bool Fragment::legal() const {
  if (num == 0 || num > 128 || (num & (num - 1)))
    return false;
  return registers() <= 128 && halfSplit <= TensorMemory::kColumns;
}

void fragmentPosition(const Fragment &fragment, unsigned t, unsigned q,
                      unsigned &lane, unsigned &column) {
  unsigned scale = fragment.pack16 ? 2 : 1;
  switch (fragment.shape) {
  case FragmentShape::S32x32b:
    lane = t;
    column = q * scale;
    return;
  case FragmentShape::S16x64b:
    lane = t / 4 + 8 * (t % 2);
    column = (2 * q + t % 4 / 2) * scale;
    return;
  case FragmentShape::S16x128b:
    lane = t / 4 + 8 * (q % 2);
    column = (4 * (q / 2) + t % 4) * scale;
    return;
  case FragmentShape::S16x256b:
    lane = t / 4 + 8 * (q / 2 % 2);
    column = (8 * (q / 4) + 2 * (t % 4) + q % 2) * scale;
    return;
  case FragmentShape::S16x32bx2:
    lane = t % 16;
    column = t / 16 * fragment.halfSplit + q * scale;
    return;
  }
}

/// Columns from the address on that an instruction touches.
static unsigned fragmentColumns(const Fragment &fragment) {
  unsigned last = 0;
  for (unsigned t : {0u, 3u, 31u}) {
    unsigned lane, column;
    fragmentPosition(fragment, t, fragment.registers() - 1, lane, column);
    last = std::max(last, column);
  }
  return last + (fragment.pack16 ? 2 : 1);
}

std::optional<std::string> TensorMemory::checkFragment(const Fragment &fragment,
                                                       uint32_t address,
                                                       unsigned warp) const {
  if (!fragment.legal())
    return "repetition x" + std::to_string(fragment.num) +
           " does not exist for the shape";
  unsigned slice = warp % 4 * 32, lane = laneOf(address);
  bool half = fragment.shape != FragmentShape::S32x32b;
  if (lane != slice && !(half && lane == slice + 16))
    return "warp " + std::to_string(warp) + " reaches lanes " +
           std::to_string(slice) + ".." + std::to_string(slice + 31) +
           " only, the address names lane " + std::to_string(lane);
  unsigned column = columnOf(address), count = fragmentColumns(fragment);
  if (column >= columnCount || count > columnCount - column)
    return "columns " + std::to_string(column) + ".." +
           std::to_string(column + count - 1) + " are beyond column " +
           std::to_string(columnCount - 1);
  if (!allocated(column, count))
    return "columns " + std::to_string(column) + ".." +
           std::to_string(column + count - 1) + " are not all allocated";
  return std::nullopt;
}

std::optional<std::string>
TensorMemory::load(const Fragment &fragment, uint32_t address, unsigned warp,
                   uint32_t *out,
                   std::optional<uint32_t> &uninitialised) const {
  if (auto reason = checkFragment(fragment, address, warp))
    return reason;
  unsigned lane0 = laneOf(address), column0 = columnOf(address);
  unsigned registers = fragment.registers();
  if (fragment.shape == FragmentShape::S32x32b && !fragment.pack16) {
    for (unsigned t = 0; t < 32; ++t) {
      const uint32_t *from = row(lane0 + t) + column0;
      for (unsigned q = 0; q < registers; ++q)
        out[q * 32 + t] = from[q];
      if (uninitialised || valid(lane0 + t, column0, registers))
        continue;
      unsigned q = 0;
      while (valid(lane0 + t, column0 + q))
        ++q;
      uninitialised = (lane0 + t) << 16 | (column0 + q);
    }
    return std::nullopt;
  }
  unsigned count = fragment.pack16 ? 2 : 1;
  for (unsigned t = 0; t < 32; ++t) {
    for (unsigned q = 0; q < registers; ++q) {
      unsigned lane = 0, column = 0;
      fragmentPosition(fragment, t, q, lane, column);
      lane += lane0;
      column += column0;
      const uint32_t *from = row(lane) + column;
      out[q * 32 + t] =
          fragment.pack16 ? (from[0] & 0xffff) | from[1] << 16 : from[0];
      if (!uninitialised && !valid(lane, column, count))
        uninitialised = lane << 16 | column;
    }
  }
  return std::nullopt;
}

std::optional<std::string> TensorMemory::store(const Fragment &fragment,
                                               uint32_t address, unsigned warp,
                                               const uint32_t *in) {
  if (auto reason = checkFragment(fragment, address, warp))
    return reason;
  unsigned lane0 = laneOf(address), column0 = columnOf(address);
  unsigned registers = fragment.registers();
  if (fragment.shape == FragmentShape::S32x32b && !fragment.pack16) {
    for (unsigned t = 0; t < 32; ++t) {
      uint32_t *to = row(lane0 + t) + column0;
      for (unsigned q = 0; q < registers; ++q)
        to[q] = in[q * 32 + t];
      markValid(lane0 + t, column0, registers);
    }
    touch();
    return std::nullopt;
  }
  for (unsigned t = 0; t < 32; ++t) {
    for (unsigned q = 0; q < registers; ++q) {
      unsigned lane = 0, column = 0;
      fragmentPosition(fragment, t, q, lane, column);
      lane += lane0;
      column += column0;
      uint32_t value = in[q * 32 + t];
      row(lane)[column] = fragment.pack16 ? value & 0xffff : value;
      if (fragment.pack16)
        row(lane)[column + 1] = value >> 16;
      markValid(lane, column, fragment.pack16 ? 2 : 1);
    }
  }
  touch();
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// tcgen05.cp and tcgen05.shift
//===----------------------------------------------------------------------===//

unsigned copyRows(CopyShape shape) {
  switch (shape) {
  case CopyShape::S128x256b:
  case CopyShape::S128x128b:
    return 128;
  case CopyShape::S4x256b:
    return 4;
  case CopyShape::S64x128bWarp02_13:
  case CopyShape::S64x128bWarp01_23:
    return 64;
  case CopyShape::S32x128bWarp4:
    return 32;
  }
  return 0;
}

unsigned copyRowBytes(CopyShape shape) {
  return shape == CopyShape::S128x256b || shape == CopyShape::S4x256b ? 32 : 16;
}

/// Lanes that row `r` goes to; returns how many.
static unsigned copyLanes(CopyShape shape, unsigned r, unsigned lanes[4]) {
  switch (shape) {
  case CopyShape::S128x256b:
  case CopyShape::S128x128b:
    lanes[0] = r;
    return 1;
  case CopyShape::S4x256b:
    lanes[0] = 32 * r;
    return 1;
  case CopyShape::S64x128bWarp02_13:
    lanes[0] = r;
    lanes[1] = r + 64;
    return 2;
  case CopyShape::S64x128bWarp01_23:
    lanes[0] = r / 32 * 64 + r % 32;
    lanes[1] = lanes[0] + 32;
    return 2;
  case CopyShape::S32x128bWarp4:
    for (unsigned i = 0; i < 4; ++i)
      lanes[i] = r + 32 * i;
    return 4;
  }
  return 0;
}

/// Expands 16 bytes that hold 16 padded elements to one byte per element.
static void expandGroup(CopyFormat format, const uint8_t *in, uint8_t *out) {
  for (unsigned i = 0; i < 16; ++i) {
    if (format == CopyFormat::B4x16P64) {
      out[i] = uint8_t((in[i / 2] >> i % 2 * 4 & 0xf) << 2);
    } else {
      unsigned bit = i * 6;
      unsigned pair = in[bit / 8] | in[bit / 8 + 1] << 8;
      out[i] = pair >> bit % 8 & 0x3f;
    }
  }
}

std::optional<std::string>
TensorMemory::copyIn(CopyShape shape, CopyFormat format, uint32_t address,
                     const uint8_t *source, OpenPointSet &points) {
  unsigned rowBytes = copyRowBytes(shape), count = rowBytes / 4;
  unsigned column = columnOf(address), lane0 = laneOf(address);
  bool single = shape == CopyShape::S4x256b;
  if (single ? lane0 >= 32 : lane0 != 0)
    return "destination lane " + std::to_string(lane0) +
           " of the copy is not legal";
  if (!allocated(column, count))
    return "columns " + std::to_string(column) + ".." +
           std::to_string(column + count - 1) +
           " of the copy are not all allocated";
  if (column % 4)
    return "destination column " + std::to_string(column) +
           " of the copy is not a multiple of 4";
  if (single)
    points.add(OpenPoint::Copy4x256Lanes);
  if (format == CopyFormat::B4x16P64)
    points.add(OpenPoint::Fp4TensorMemoryContainer);
  for (unsigned r = 0; r < copyRows(shape); ++r) {
    uint8_t expanded[32];
    const uint8_t *from = source + r * rowBytes;
    if (format != CopyFormat::Plain) {
      for (unsigned b = 0; b < rowBytes; b += 16)
        expandGroup(format, from + b, expanded + b);
      from = expanded;
    }
    unsigned lanes[4];
    unsigned replicas = copyLanes(shape, r, lanes);
    for (unsigned i = 0; i < replicas; ++i) {
      std::memcpy(row(lanes[i] + lane0) + column, from, 16);
      if (rowBytes == 32)
        std::memcpy(row(lanes[i] + lane0) + column + 4, from + 16, 16);
      markValid(lanes[i] + lane0, column, count);
    }
  }
  touch();
  return std::nullopt;
}

std::optional<std::string> TensorMemory::shiftDown(uint32_t address,
                                                   OpenPointSet &points) {
  unsigned column = columnOf(address), lane0 = laneOf(address);
  if (lane0 % 32 || lane0 >= kLanes)
    return "lane " + std::to_string(lane0) +
           " of the shift is not a multiple of 32 below 128";
  if (!allocated(column, 8))
    return "columns " + std::to_string(column) + ".." +
           std::to_string(column + 7) + " of the shift are not all allocated";
  points.add(OpenPoint::ShiftSlice);
  shiftRows(column, 8);
  return std::nullopt;
}

void TensorMemory::shiftRows(unsigned column, unsigned columns) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (lane % 32 == 31)
      continue;
    std::memcpy(row(lane) + column, row(lane + 1) + column, columns * 4);
    for (unsigned c = column; c < column + columns; ++c)
      setRun(validBits[lane].data(), c, 1, valid(lane + 1, c));
  }
  touch();
}

} // namespace blockscale::emulator
