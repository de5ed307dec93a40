//===- TensorMapCopy.cpp - box copies and reductions ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorMapCopy.h"
#include "Convert.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace blockscale::emulator {

using Fault = std::optional<CopyFault>;

/// The unit that no swizzle but the 8-byte flip splits.
static constexpr uint32_t kPiece = 16;

static Fault checkShared(const TensorMap &map, const Box &box,
                         SharedSpan shared, uint32_t address) {
  uint32_t alignment = map.rank == 1 && map.swizzle == Swizzle::None ? 16 : 128;
  if (address % alignment)
    return CopyFault{"shared address of the tensor copy is not a multiple of " +
                         std::to_string(alignment),
                     address};
  if (address < shared.base || address - shared.base > shared.size ||
      box.sharedBytes > shared.size - (address - shared.base))
    return CopyFault{"tensor copy of " + std::to_string(box.sharedBytes) +
                         " bytes leaves shared memory",
                     address};
  return std::nullopt;
}

/// Unpacked bytes that hold data in a padded group of 16 elements.
static uint32_t paddedData(TensorMapType type) {
  if (type == TensorMapType::U4Align16)
    return 8;
  return type == TensorMapType::U6Align16 ? 12 : kPiece;
}

static float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value)
                                                : value;
}

/// f32 types of the map that change the value while copying.
static bool converts(TensorMapType type) {
  return type == TensorMapType::F32Ftz || type == TensorMapType::TF32 ||
         type == TensorMapType::TF32Ftz;
}

static void convertPiece(TensorMapType type, uint8_t *bytes, uint32_t count) {
  for (unsigned i = 0; i < count; i += 4) {
    float value;
    std::memcpy(&value, bytes + i, 4);
    if (type != TensorMapType::TF32)
      value = flushed(value);
    if (type != TensorMapType::F32Ftz) {
      uint32_t bits = encode(Element::TF32, value, ConvertMode{});
      std::memcpy(&value, &bits, 4);
    }
    std::memcpy(bytes + i, &value, 4);
  }
}

/// The NaN fill is 0x7FF7 in each 16 bits, whatever the type.
static uint8_t fillByte(const TensorMap &map, uint32_t byte) {
  if (map.oobFill == OobFill::Zeros)
    return 0;
  return byte % 2 ? 0x7F : 0xF7;
}

namespace {

/// A run's bytes inside one 16-byte unit of shared memory. Byte b of the piece
/// is at `unit + ((first + b) ^ flip)`.
struct Piece {
  uint32_t unit, first, flip, bytes;
};

} // namespace

/// Calls `visit(Piece)` for the pieces of the run in order.
template <typename Visit>
static void forPieces(const TensorMap &map, const BoxRun &run,
                      uint32_t sharedAddress, Visit visit) {
  uint32_t begin = sharedAddress + run.sharedOffset;
  uint32_t end = begin + run.sharedBytes;
  while (begin != end) {
    uint32_t first = begin % kPiece;
    uint32_t bytes = std::min(kPiece - first, end - begin);
    uint32_t swizzled = swizzleAddress(map.swizzle, begin - first);
    visit(Piece{swizzled & ~8u, first, swizzled & 8, bytes});
    begin += bytes;
  }
}

/// Copies the first `bytes` bytes of the piece from or to `linear`.
static void movePiece(SharedSpan shared, const Piece &piece, uint8_t *linear,
                      uint32_t bytes, bool load) {
  uint8_t *unit = shared.data + (piece.unit - shared.base);
  if (!piece.flip) {
    load ? std::memcpy(unit + piece.first, linear, bytes)
         : std::memcpy(linear, unit + piece.first, bytes);
    return;
  }
  for (uint32_t b = 0; b < bytes; ++b) {
    uint8_t &at = unit[(piece.first + b) ^ piece.flip];
    load ? at = linear[b] : linear[b] = at;
  }
}

/// Reports a run as touched: as one range where the swizzle only permutes
/// bytes inside it.
static void report(const TensorMap &map, const BoxRun &run,
                   uint32_t sharedAddress, const SharedRange &range) {
  if (!range)
    return;
  uint32_t begin = sharedAddress + run.sharedOffset;
  uint32_t data = paddedData(map.type);
  bool whole = begin % 128 == 0 && run.sharedBytes % 128 == 0;
  if (data == kPiece && (map.swizzle == Swizzle::None || whole)) {
    range(begin, run.sharedBytes);
    return;
  }
  forPieces(map, run, sharedAddress, [&](const Piece &piece) {
    uint32_t bytes = std::min(data, piece.bytes);
    if (!piece.flip) {
      range(piece.unit + piece.first, bytes);
      return;
    }
    for (uint32_t b = 0; b < bytes; ++b)
      range(piece.unit + ((piece.first + b) ^ piece.flip), 1);
  });
}

void sharedRanges(const TensorMap &map, const Box &box, uint32_t sharedAddress,
                  bool insideOnly, const SharedRange &visit) {
  for (const BoxRun &run : box.runs)
    if (run.globalBytes || !insideOnly)
      report(map, run, sharedAddress, visit);
}

/// Whether the run moves in 16-byte units, none of them flipped inside.
static bool wholePieces(const TensorMap &map, const BoxRun &run) {
  bool flips = map.swizzle != Swizzle::None && map.swizzle != Swizzle::B32 &&
               map.swizzle != Swizzle::B64 && map.swizzle != Swizzle::B128;
  return !flips && run.sharedOffset % kPiece == 0 &&
         run.sharedBytes % kPiece == 0 && run.globalBytes == run.sharedBytes;
}

Fault loadBox(const TensorMap &map, const Box &box, SharedSpan shared,
              uint32_t sharedAddress, const GlobalAccess &global,
              const SharedRange &written) {
  if (auto fault = checkShared(map, box, shared, sharedAddress))
    return fault;
  uint32_t data = paddedData(map.type);
  bool convert = converts(map.type);
  for (const BoxRun &run : box.runs) {
    const uint8_t *from = nullptr;
    if (run.globalBytes) {
      from = global(run.globalAddress, run.globalBytes);
      if (!from)
        return CopyFault{"tensor copy reads " +
                             std::to_string(run.globalBytes) +
                             " bytes outside of global buffers",
                         run.globalAddress, Hazard::IllegalTensorMap};
    }
    uint32_t consumed = 0;
    if (from && !convert && data == kPiece && wholePieces(map, run)) {
      forPieces(map, run, sharedAddress, [&](const Piece &piece) {
        std::memcpy(shared.data + (piece.unit - shared.base), from + consumed,
                    kPiece);
        consumed += kPiece;
      });
      report(map, run, sharedAddress, written);
      continue;
    }
    forPieces(map, run, sharedAddress, [&](const Piece &piece) {
      uint8_t linear[kPiece];
      uint32_t bytes = std::min(data, piece.bytes);
      if (from) {
        std::memcpy(linear, from + consumed, bytes);
        if (convert)
          convertPiece(map.type, linear, bytes);
      } else {
        for (uint32_t b = 0; b < bytes; ++b)
          linear[b] = fillByte(map, consumed + b);
      }
      consumed += bytes;
      movePiece(shared, piece, linear, bytes, true);
    });
    report(map, run, sharedAddress, written);
  }
  return std::nullopt;
}

Fault storeBox(const TensorMap &map, const Box &box, SharedSpan shared,
               uint32_t sharedAddress, Reduction reduction,
               const GlobalAccess &global, const SharedRange &read) {
  if (auto fault = checkShared(map, box, shared, sharedAddress))
    return fault;
  uint32_t data = paddedData(map.type);
  for (const BoxRun &run : box.runs) {
    if (!run.globalBytes)
      continue;
    uint8_t *to = global(run.globalAddress, run.globalBytes);
    if (!to)
      return CopyFault{"tensor copy writes " + std::to_string(run.globalBytes) +
                           " bytes outside of writable global buffers",
                       run.globalAddress};
    report(map, run, sharedAddress, read);
    uint32_t produced = 0;
    bool exists = true;
    forPieces(map, run, sharedAddress, [&](const Piece &piece) {
      uint8_t linear[kPiece];
      uint32_t bytes = std::min(data, piece.bytes);
      movePiece(shared, piece, linear, bytes, false);
      if (reduction == Reduction::None)
        std::memcpy(to + produced, linear, bytes);
      else
        exists &=
            reduceElements(reduction, map.type, to + produced, linear, bytes);
      produced += bytes;
    });
    if (!exists)
      return CopyFault{"reduction does not exist for the data type of the map",
                       run.globalAddress};
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

template <typename T>
static bool reduceInteger(Reduction reduction, T &to, T from) {
  using U = std::make_unsigned_t<T>;
  switch (reduction) {
  case Reduction::Add:
    to = T(U(to) + U(from));
    return true;
  case Reduction::Min:
    to = std::min(to, from);
    return true;
  case Reduction::Max:
    to = std::max(to, from);
    return true;
  case Reduction::Inc:
    to = to >= from ? 0 : T(to + 1);
    return std::is_same_v<T, uint32_t>;
  case Reduction::Dec:
    to = to == 0 || to > from ? from : T(to - 1);
    return std::is_same_v<T, uint32_t>;
  case Reduction::And:
    to &= from;
    return true;
  case Reduction::Or:
    to |= from;
    return true;
  case Reduction::Xor:
    to ^= from;
    return true;
  case Reduction::None:
    break;
  }
  return false;
}

/// f16 and bf16 through f32: its 24 bits are enough for the second rounding of
/// a sum of two 11-bit numbers to be innocuous.
static bool reduceHalf(Reduction reduction, Element type, uint16_t &to,
                       uint16_t from) {
  float a = decode(type, to), b = decode(type, from), result;
  switch (reduction) {
  case Reduction::Add:
    result = a + b;
    break;
  case Reduction::Min:
    result = std::isnan(a)   ? b
             : std::isnan(b) ? a
             : a == b        ? (std::signbit(a) ? a : b)
                             : std::min(a, b);
    break;
  case Reduction::Max:
    result = std::isnan(a)   ? b
             : std::isnan(b) ? a
             : a == b        ? (std::signbit(a) ? b : a)
                             : std::max(a, b);
    break;
  default:
    return false;
  }
  to = uint16_t(encode(type, result, ConvertMode{}));
  return true;
}

static bool reduceFloat(Reduction reduction, float &to, float from) {
  if (reduction != Reduction::Add)
    return false;
  to = flushed(flushed(to) + flushed(from));
  if (std::isnan(to)) {
    constexpr uint32_t kCanonical = 0x7FFFFFFF;
    std::memcpy(&to, &kCanonical, sizeof to);
  }
  return true;
}

static bool reduceDouble(Reduction reduction, double &to, double from) {
  if (reduction != Reduction::Add)
    return false;
  to += from;
  return true;
}

template <typename T, typename Op>
static bool forElements(uint8_t *to, const uint8_t *from, uint32_t bytes,
                        Op op) {
  bool exists = true;
  for (uint32_t b = 0; b + sizeof(T) <= bytes; b += sizeof(T)) {
    T x, y;
    std::memcpy(&x, to + b, sizeof(T));
    std::memcpy(&y, from + b, sizeof(T));
    exists &= op(x, y);
    if (exists)
      std::memcpy(to + b, &x, sizeof(T));
  }
  return exists;
}

bool reduceElements(Reduction reduction, TensorMapType type, uint8_t *to,
                    const uint8_t *from, uint32_t bytes) {
  auto integer = [&](auto &x, auto y) {
    return reduceInteger(reduction, x, y);
  };
  switch (type) {
  case TensorMapType::U32:
    return forElements<uint32_t>(to, from, bytes, integer);
  case TensorMapType::S32:
    return forElements<int32_t>(to, from, bytes, integer);
  case TensorMapType::U64:
    return forElements<uint64_t>(to, from, bytes, integer);
  case TensorMapType::S64:
    return forElements<int64_t>(to, from, bytes, integer);
  case TensorMapType::F16:
  case TensorMapType::BF16: {
    Element element = type == TensorMapType::F16 ? Element::F16 : Element::BF16;
    return forElements<uint16_t>(to, from, bytes, [&](uint16_t &x, uint16_t y) {
      return reduceHalf(reduction, element, x, y);
    });
  }
  case TensorMapType::F32:
  case TensorMapType::F32Ftz:
  case TensorMapType::TF32:
  case TensorMapType::TF32Ftz:
    return forElements<float>(to, from, bytes, [&](float &x, float y) {
      return reduceFloat(reduction, x, y);
    });
  case TensorMapType::F64:
    return forElements<double>(to, from, bytes, [&](double &x, double y) {
      return reduceDouble(reduction, x, y);
    });
  default:
    return false;
  }
}

} // namespace blockscale::emulator
