//===- ImagesTest.cpp - PTX in whatever a program loads -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Images.h"

#include <cstring>
#include <elf.h>
#include <gtest/gtest.h>

using namespace blockscale::cuda;

namespace {

constexpr std::string_view kText =
    ".version 8.7\n.target sm_103a\n.address_size 64\n";

FatBinary read(std::string_view bytes) {
  return readImages(reinterpret_cast<const uint8_t *>(bytes.data()),
                    bytes.size());
}

/// A cubin for sm_100 with nothing but its names: header, names, two sections.
std::string emptyCubin() {
  constexpr char kNames[] = "\0.shstrtab";
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_ABIVERSION] = 8;
  header.e_flags = 100 << 8;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 2;
  header.e_shstrndx = 1;
  header.e_shoff = sizeof header + sizeof kNames;
  Elf64_Shdr sections[2]{};
  sections[1].sh_name = 1;
  sections[1].sh_type = SHT_STRTAB;
  sections[1].sh_offset = sizeof header;
  sections[1].sh_size = sizeof kNames;
  std::string bytes(reinterpret_cast<char *>(&header), sizeof header);
  bytes.append(kNames, sizeof kNames);
  bytes.append(reinterpret_cast<char *>(sections), sizeof sections);
  return bytes;
}

TEST(Images, Text) {
  std::string text(kText);
  FatBinary binary = read({text.c_str(), text.size() + 1});
  ASSERT_EQ(binary.images.size(), 1u);
  EXPECT_EQ(binary.images[0].kind, ImageKind::Ptx);
  EXPECT_EQ(binary.images[0].target, "sm_103a");
  EXPECT_EQ(binary.images[0].ptx, kText);
  EXPECT_EQ(read(kText).error, "it is no fat binary and no cubin, and as PTX "
                               "it has no zero byte at its end");
  EXPECT_EQ(read({"hello", 6}).error,
            "it is neither PTX nor a fat binary nor a cubin");
  EXPECT_FALSE(read("").error.empty());
}

TEST(Images, CubinAlone) {
  FatBinary binary = read(emptyCubin());
  ASSERT_EQ(binary.images.size(), 1u) << binary.error;
  EXPECT_EQ(binary.images[0].kind, ImageKind::Cubin);
  EXPECT_EQ(binary.images[0].target, "sm_100");
  std::string why;
  EXPECT_FALSE(chooseImage(binary, "sm_100", why));
  EXPECT_EQ(why, "it holds machine code for sm_100 only, and the emulator runs "
                 "PTX; compile with -arch=sm_100a, or with -gencode "
                 "arch=compute_100a,code=compute_100a");
}

TEST(Images, CubinWithPtx) {
  std::optional<std::string> both = addPtx(emptyCubin(), kText);
  ASSERT_TRUE(both);
  FatBinary binary = read(*both);
  ASSERT_EQ(binary.images.size(), 1u) << binary.error;
  EXPECT_EQ(binary.images[0].ptx, kText);
  // What is added later counts.
  std::optional<std::string> again = addPtx(*both, ".version 9.0\n");
  ASSERT_TRUE(again);
  EXPECT_EQ(read(*again).images[0].ptx, ".version 9.0\n");
  EXPECT_FALSE(addPtx("no cubin", kText));
}

TEST(Images, CubinCutShort) {
  std::string both = *addPtx(emptyCubin(), kText);
  for (size_t size = 0; size != both.size(); ++size) {
    FatBinary binary = read(std::string_view(both).substr(0, size));
    for (const FatImage &image : binary.images)
      EXPECT_TRUE(image.ptx.empty()) << size;
  }
}

TEST(Images, LinkedObjects) {
  // As crt/link.stub of CUDA 13.0 writes it.
  struct {
    uint32_t magic = 0x466243B1, version = 2;
    const void *data = nullptr;
    const void *const *objects = nullptr;
  } wrapper;
  auto objects = [&](uint64_t available) {
    return linkedObjects(reinterpret_cast<const uint8_t *>(&wrapper),
                         available);
  };
  EXPECT_TRUE(objects(sizeof wrapper).empty());
  int first, second;
  const void *list[] = {&first, &second, nullptr};
  wrapper.objects = list;
  ASSERT_EQ(objects(sizeof wrapper).size(), 2u);
  EXPECT_EQ(static_cast<const void *>(objects(sizeof wrapper)[1]), &second);
  EXPECT_TRUE(objects(sizeof wrapper - 1).empty());
  wrapper.objects = reinterpret_cast<const void *const *>(8);
  EXPECT_TRUE(objects(sizeof wrapper).empty());
  // Of a program that is not linked the third field says nothing.
  wrapper.version = 1;
  wrapper.objects = list;
  EXPECT_TRUE(objects(sizeof wrapper).empty());
}

TEST(Images, Readable) {
  int value = 0;
  EXPECT_GE(readableBytes(&value), sizeof value);
  EXPECT_EQ(readableBytes(nullptr), 0u);
  EXPECT_EQ(readableBytes(reinterpret_cast<void *>(8)), 0u);
}

} // namespace
