//===- FatBinaryTest.cpp - reading the device code inside a program -------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The fat binaries are laid out here by hand, as `fatbinary` of CUDA 13.0 was
// seen to write them: a header of 16 bytes, entry headers of 0x50.
//
//===----------------------------------------------------------------------===//

#include "FatBinary.h"

#include <cstring>
#include <gtest/gtest.h>
#include <lz4.h>
#include <random>
#include <sys/mman.h>
#include <zstd.h>

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

using Bytes = std::vector<uint8_t>;

enum class Packing { None, Lz4, Zstd };

void put(Bytes &bytes, size_t at, uint64_t value, unsigned size) {
  std::memcpy(&bytes[at], &value, size);
}

std::string ptxFor(const std::string &target) {
  return "\n\n//\n// Compiled\n//\n\n.version 9.0\n.target " + target +
         "\n.address_size 64\n\n.visible .entry k()\n{\n\tret;\n}\n\n";
}

/// An entry with its payload, padded to eight bytes.
Bytes entry(uint16_t kind, uint32_t arch, const std::string &text,
            Packing packing = Packing::None) {
  Bytes payload(text.begin(), text.end());
  uint64_t flags = 0x11, compressed = 0, plain = 0;
  if (packing != Packing::None) {
    plain = text.size();
    payload.resize(text.size() + 1000);
    if (packing == Packing::Zstd) {
      compressed = ZSTD_compress(payload.data(), payload.size(), text.data(),
                                 text.size(), 3);
      flags |= 0x8000;
    } else {
      compressed = uint64_t(LZ4_compress_default(
          text.data(), reinterpret_cast<char *>(payload.data()),
          int(text.size()), int(payload.size())));
      flags |= 0x2000;
    }
    payload.resize(compressed);
  }
  payload.resize((payload.size() + 7) / 8 * 8);
  Bytes bytes(0x50);
  put(bytes, 0x00, kind, 2);
  put(bytes, 0x02, 0x101, 2);
  put(bytes, 0x04, 0x50, 4);
  put(bytes, 0x08, payload.size(), 8);
  put(bytes, 0x10, compressed, 4);
  put(bytes, 0x14, 0x40, 4);
  put(bytes, 0x1C, arch, 4);
  put(bytes, 0x28, flags, 8);
  put(bytes, 0x38, plain, 8);
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

Bytes fatBinary(const std::vector<Bytes> &entries) {
  Bytes bytes(16);
  for (const Bytes &one : entries)
    bytes.insert(bytes.end(), one.begin(), one.end());
  put(bytes, 0, 0xBA55ED50, 4);
  put(bytes, 4, 1, 2);
  put(bytes, 6, 16, 2);
  put(bytes, 8, bytes.size() - 16, 8);
  return bytes;
}

/// Bytes that end where no page follows: reading one more is a fault.
class Guarded {
public:
  explicit Guarded(size_t capacity)
      : size((capacity + 4095) / 4096 * 4096),
        base(static_cast<uint8_t *>(mmap(nullptr, size + 4096,
                                         PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    mprotect(base + size, 4096, PROT_NONE);
  }
  ~Guarded() { munmap(base, size + 4096); }
  FatBinary read(const uint8_t *bytes, size_t count) {
    uint8_t *at = base + size - count;
    std::memcpy(at, bytes, count);
    return readFatBinary(at, count);
  }

private:
  size_t size;
  uint8_t *base;
};

FatBinary read(const Bytes &bytes) {
  return Guarded(bytes.size()).read(bytes.data(), bytes.size());
}

TEST(FatBinary, ReadsEachCompression) {
  FatBinary binary = read(fatBinary(
      {entry(1, 100, ptxFor("sm_100"), Packing::Zstd), entry(2, 100, "ELF"),
       entry(1, 100, ptxFor("sm_100a"), Packing::Lz4),
       entry(1, 120, ptxFor("sm_120a, debug")), entry(16, 0, "index")}));
  EXPECT_EQ(binary.error, "");
  ASSERT_EQ(binary.images.size(), 5u);
  EXPECT_EQ(binary.images[0].kind, ImageKind::Ptx);
  EXPECT_EQ(binary.images[0].ptx, ptxFor("sm_100"));
  EXPECT_EQ(binary.images[1].kind, ImageKind::Cubin);
  EXPECT_EQ(binary.images[1].target, "sm_100");
  EXPECT_EQ(binary.images[2].ptx, ptxFor("sm_100a"));
  EXPECT_EQ(binary.images[2].target, "sm_100a");
  EXPECT_EQ(binary.images[3].ptx, ptxFor("sm_120a, debug"));
  EXPECT_EQ(binary.images[3].target, "sm_120a");
  EXPECT_EQ(binary.images[4].kind, ImageKind::Other);
}

TEST(FatBinary, ChoosesForTheChip) {
  auto ptx = [](const char *target) { return entry(1, 0, ptxFor(target)); };
  FatBinary binary =
      read(fatBinary({ptx("sm_90"), ptx("sm_100"), ptx("sm_100f"),
                      ptx("sm_120a"), ptx("sm_100a"), ptx("sm_110a")}));
  auto chosen = [&](const char *chip) {
    std::string why;
    const FatImage *image = chooseImage(binary, chip, why);
    return image ? image->target : why;
  };
  EXPECT_EQ(chosen("sm_100"), "sm_100a");
  EXPECT_EQ(chosen("sm_103"), "sm_100f");
  EXPECT_EQ(chosen("sm_110"), "sm_110a");
  EXPECT_EQ(chosen("sm_120"), "sm_120a");
  EXPECT_EQ(chosen("sm_121"), "sm_100");
  EXPECT_EQ(chosen("sm_90"), "sm_90");
}

TEST(FatBinary, SaysWhatThereIsWhenNothingFits) {
  std::string why;
  EXPECT_FALSE(
      chooseImage(read(fatBinary({entry(2, 100, "ELF")})), "sm_100", why));
  EXPECT_EQ(why, "it holds machine code for sm_100 only, and the emulator runs "
                 "PTX; compile with -arch=sm_100a, or with -gencode "
                 "arch=compute_100a,code=compute_100a");
  EXPECT_FALSE(chooseImage(read(fatBinary({entry(1, 90, ptxFor("sm_90a")),
                                           entry(1, 120, ptxFor("sm_120"))})),
                           "sm_103", why));
  EXPECT_EQ(why, "it holds PTX for sm_90a, sm_120, which sm_103a does not run; "
                 "compile with -arch=sm_103a, or with -gencode "
                 "arch=compute_103a,code=compute_103a");
  EXPECT_FALSE(chooseImage(read(fatBinary({})), "sm_100", why));
  EXPECT_EQ(why.substr(0, 26), "it holds no device code; c");
}

TEST(FatBinary, EveryLengthIsChecked) {
  Bytes good = fatBinary({entry(1, 100, ptxFor("sm_100a"), Packing::Zstd)});
  struct Case {
    size_t at;
    uint64_t value;
    unsigned size;
    const char *error;
  };
  for (const Case &c : {
           Case{0, 0x466243B1, 4, "it does not start with the magic number"},
           {4, 2, 2, "its version is 2, expected 1"},
           {6, 8, 2, "more than there are"},
           {8, ~uint64_t(0), 8, "more than there are"},
           {8, 0x50, 8, "has a payload of"},
           {8, 0x20, 8, "has no room for its header"},
           {0x14, 0x10, 4, "has a header of 16 bytes"},
           {0x14, 0xFFFFFFF0, 4, "has a header of 4294967280 bytes"},
           {0x18, ~uint64_t(0), 8, "has a payload of 18446744073709551615"},
           {0x20, 0xFFFFFFFF, 4, "its compressed size is larger"},
           {0x20, 40, 4, "its zstd data cannot be decompressed"},
           {0x48, 0, 8, "its uncompressed size is said to be 0 bytes"},
           {0x48, uint64_t(1) << 40, 8, "said to be 1099511627776"},
           {0x48, 17, 8, "said to be 17 bytes"},
           {0x60, 0, 4, "its uncompressed size"},
       }) {
    Bytes bad = good;
    put(bad, c.at, c.value, c.size);
    FatBinary binary = read(bad);
    EXPECT_NE(binary.error.find(c.error), std::string::npos)
        << "offset " << c.at << ": '" << binary.error << "'";
    EXPECT_TRUE(binary.images.empty());
  }
  EXPECT_EQ(read(Bytes(good.begin(), good.begin() + 15)).error,
            "it has no room for a header");
}

// Whatever the bytes are, nothing after them is read and nothing is thrown.
TEST(FatBinary, HoldsOnDamagedBytes) {
  Bytes good = fatBinary({entry(1, 100, ptxFor("sm_100"), Packing::Lz4),
                          entry(2, 100, "ELF"),
                          entry(1, 100, ptxFor("sm_100a"), Packing::Zstd)});
  Guarded guarded(good.size());
  for (size_t size = 0; size != good.size(); ++size)
    EXPECT_NE(guarded.read(good.data(), size).error, "") << size;
  std::mt19937 random(1);
  unsigned refused = 0;
  for (int round = 0; round != 20000; ++round) {
    Bytes bad = good;
    for (unsigned edits = 1 + random() % 3; edits; --edits) {
      // Mostly in the headers, where the lengths are.
      size_t at = random() % (random() % 2 ? bad.size() : 0x60);
      bad[at] = uint8_t(random() % 4 ? random() : 0xFF);
    }
    refused += !guarded.read(bad.data(), bad.size()).error.empty();
  }
  EXPECT_GT(refused, 5000u);
}

} // namespace
