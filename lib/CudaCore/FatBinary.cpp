//===- FatBinary.cpp - the device code inside a program -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FatBinary.h"

#include <algorithm>
#include <cstring>
#include <lz4.h>
#include <zstd.h>

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

constexpr uint32_t kMagic = 0xBA55ED50;
constexpr uint16_t kVersion = 1;
constexpr uint16_t kKindPtx = 1, kKindCubin = 2;
constexpr uint64_t kFlagLz4 = 0x2000, kFlagZstd = 0x8000;
/// The entry header's last field that is read ends here; newer entries have
/// longer headers.
constexpr uint32_t kMinEntryHeader = 0x40;
/// More PTX than any program has; keeps a corrupt size from taking all memory.
constexpr uint64_t kMaxImageBytes = uint64_t(1) << 30;

template <typename T> T field(const uint8_t *entry, unsigned offset) {
  T value;
  std::memcpy(&value, entry + offset, sizeof value);
  return value;
}

/// An entry's header.
struct Entry {
  uint16_t kind;
  uint32_t headerBytes, compressedBytes, arch;
  uint64_t payloadBytes, flags, plainBytes;

  explicit Entry(const uint8_t *at)
      : kind(field<uint16_t>(at, 0x00)), headerBytes(field<uint32_t>(at, 0x04)),
        compressedBytes(field<uint32_t>(at, 0x10)),
        arch(field<uint32_t>(at, 0x1C)),
        payloadBytes(field<uint64_t>(at, 0x08)),
        flags(field<uint64_t>(at, 0x28)),
        plainBytes(field<uint64_t>(at, 0x38)) {}
};

/// Whether the compressed data can become as many bytes as the header says;
/// asked before that much memory is taken.
bool isPlausible(const Entry &entry, const uint8_t *payload) {
  if (entry.flags & kFlagZstd)
    return ZSTD_getFrameContentSize(payload, entry.compressedBytes) ==
           entry.plainBytes;
  // One byte of LZ4 stands for 255 at most.
  return entry.plainBytes / 255 <= entry.compressedBytes;
}

/// The uncompressed payload; nothing with a reason in `error`.
std::optional<std::string> unpack(const Entry &entry, const uint8_t *payload,
                                  std::string &error) {
  bool lz4 = entry.flags & kFlagLz4, zstd = entry.flags & kFlagZstd;
  if (!lz4 && !zstd)
    return std::string(reinterpret_cast<const char *>(payload),
                       entry.payloadBytes);
  if (entry.compressedBytes > entry.payloadBytes) {
    error = "its compressed size is larger than its payload";
    return std::nullopt;
  }
  if (!entry.plainBytes || entry.plainBytes > kMaxImageBytes ||
      !isPlausible(entry, payload)) {
    error = "its uncompressed size is said to be " +
            std::to_string(entry.plainBytes) + " bytes";
    return std::nullopt;
  }
  std::string text(entry.plainBytes, '\0');
  bool good;
  if (zstd) {
    good = ZSTD_decompress(text.data(), text.size(), payload,
                           entry.compressedBytes) == text.size();
  } else {
    good = entry.compressedBytes <= LZ4_MAX_INPUT_SIZE &&
           text.size() <= LZ4_MAX_INPUT_SIZE &&
           LZ4_decompress_safe(reinterpret_cast<const char *>(payload),
                               text.data(), int(entry.compressedBytes),
                               int(text.size())) == int(text.size());
  }
  if (good)
    return text;
  error = std::string("its ") + (zstd ? "zstd" : "LZ4") +
          " data cannot be decompressed";
  return std::nullopt;
}

/// The first word after `.target`; empty if there is none.
std::string targetOf(std::string_view ptx) {
  size_t at = ptx.find("\n.target");
  if (at == std::string_view::npos)
    return "";
  at = ptx.find_first_not_of(" \t", at + std::strlen("\n.target"));
  if (at == std::string_view::npos)
    return "";
  size_t end = ptx.find_first_of(", \t\r\n", at);
  return std::string(ptx.substr(
      at, end == std::string_view::npos ? std::string_view::npos : end - at));
}

/// A target name in parts: "sm_100a" is 100 and 'a'.
struct TargetName {
  unsigned number = 0;
  char letter = 0;
};

TargetName parseName(std::string_view name) {
  TargetName result;
  if (name.substr(0, 3) != "sm_")
    return result;
  size_t at = 3;
  for (; at < name.size() && name[at] >= '0' && name[at] <= '9' && at < 9; ++at)
    result.number = result.number * 10 + unsigned(name[at] - '0');
  if (at + 1 == name.size())
    result.letter = name[at];
  else if (at != name.size())
    result.number = 0;
  return result;
}

/// How well PTX for `code` runs on `chip`: 0 not at all.
unsigned fitness(TargetName code, TargetName chip) {
  constexpr unsigned kOwn = 3000, kFamily = 2000;
  if (!code.number || code.number > chip.number)
    return 0;
  switch (code.letter) {
  case 'a':
    return code.number == chip.number ? kOwn : 0;
  case 'f':
    return code.number / 10 == chip.number / 10 ? kFamily + code.number : 0;
  case 0:
    return code.number;
  default:
    return 0;
  }
}

std::string at(uint64_t offset) {
  return "the entry at offset " + std::to_string(offset);
}

} // namespace

FatImage cuda::ptxImage(std::string ptx) {
  FatImage image;
  image.kind = ImageKind::Ptx;
  image.ptx = std::move(ptx);
  // Payloads are padded.
  image.ptx.erase(std::min(image.ptx.find('\0'), image.ptx.size()));
  image.target = targetOf(image.ptx);
  if (image.target.empty())
    image.target = "sm_?";
  return image;
}

FatBinary cuda::readFatBinary(const uint8_t *data, uint64_t available) {
  FatBinary result;
  auto corrupt = [&](std::string why) {
    result.images.clear();
    result.error = std::move(why);
    return result;
  };
  if (available < kFatHeaderBytes)
    return corrupt("it has no room for a header");
  if (field<uint32_t>(data, 0) != kMagic)
    return corrupt("it does not start with the magic number");
  if (field<uint16_t>(data, 4) != kVersion)
    return corrupt("its version is " +
                   std::to_string(field<uint16_t>(data, 4)) + ", expected 1");
  uint64_t offset = field<uint16_t>(data, 6), size = field<uint64_t>(data, 8);
  if (offset < kFatHeaderBytes || offset > available ||
      size > available - offset)
    return corrupt("its header claims " + std::to_string(size) +
                   " bytes, more than there are");
  uint64_t end = offset + size;
  while (offset != end) {
    if (end - offset < kMinEntryHeader)
      return corrupt(at(offset) + " has no room for its header");
    Entry entry(data + offset);
    if (entry.headerBytes < kMinEntryHeader || entry.headerBytes > end - offset)
      return corrupt(at(offset) + " has a header of " +
                     std::to_string(entry.headerBytes) + " bytes");
    uint64_t payload = offset + entry.headerBytes;
    if (entry.payloadBytes > end - payload)
      return corrupt(at(offset) + " has a payload of " +
                     std::to_string(entry.payloadBytes) +
                     " bytes, more than there are");
    FatImage image;
    image.target = "sm_" + std::to_string(entry.arch);
    if (entry.kind == kKindCubin)
      image.kind = ImageKind::Cubin;
    if (entry.kind == kKindPtx) {
      std::string error;
      std::optional<std::string> text = unpack(entry, data + payload, error);
      if (!text)
        return corrupt(at(offset) + ": " + error);
      std::string byHeader = std::move(image.target);
      image = ptxImage(std::move(*text));
      if (image.target == "sm_?")
        image.target = std::move(byHeader);
    }
    result.images.push_back(std::move(image));
    offset = payload + entry.payloadBytes;
  }
  return result;
}

const FatImage *cuda::chooseImage(const FatBinary &binary,
                                  std::string_view chip, std::string &why) {
  TargetName own = parseName(chip);
  const FatImage *best = nullptr;
  unsigned bestFitness = 0;
  std::string ptx, cubins;
  for (const FatImage &image : binary.images) {
    if (image.kind == ImageKind::Other)
      continue;
    std::string &list = image.kind == ImageKind::Ptx ? ptx : cubins;
    list += (list.empty() ? "" : ", ") + image.target;
    if (image.kind != ImageKind::Ptx)
      continue;
    unsigned fit = fitness(parseName(image.target), own);
    if (fit > bestFitness) {
      best = &image;
      bestFitness = fit;
    }
  }
  if (best)
    return best;
  std::string name(chip);
  if (ptx.empty() && cubins.empty())
    why = "it holds no device code";
  else if (ptx.empty())
    why = "it holds machine code for " + cubins +
          " only, and the emulator runs PTX";
  else
    why = "it holds PTX for " + ptx + ", which " + name + "a does not run";
  std::string number = name.substr(3) + "a";
  why += "; compile with -arch=sm_" + number +
         ", or with -gencode arch=compute_" + number + ",code=compute_" +
         number;
  return nullptr;
}
