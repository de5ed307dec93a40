//===- Images.cpp - PTX in whatever a program loads -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Images.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <elf.h>

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

/// What nvcc passes to __cudaRegisterFatBinary.
struct Wrapper {
  uint32_t magic, version;
  const uint8_t *data;
  /// Of version 2 the objects that were linked; a null pointer ends the list.
  const uint8_t *const *objects;
};
constexpr uint32_t kWrapperMagic = 0x466243B1, kFatMagic = 0xBA55ED50;
constexpr uint32_t kLinkedVersion = 2;

/// The architecture in a cubin's flags: bits 8 to 15 in those of CUDA 13, the
/// lowest byte in older ones (ELF ABI version 7).
std::string targetOf(const Elf64_Ehdr &header) {
  constexpr unsigned char kOldAbi = 7;
  unsigned number = header.e_ident[EI_ABIVERSION] <= kOldAbi
                        ? header.e_flags & 0xFF
                        : header.e_flags >> 8 & 0xFF;
  return "sm_" + std::to_string(number);
}

/// The sections of an ELF file in memory.
class Sections {
public:
  Sections(const uint8_t *data, uint64_t size) : data(data), size(size) {
    good = copy(0, header) &&
           std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
           header.e_ident[EI_CLASS] == ELFCLASS64 &&
           header.e_ident[EI_DATA] == ELFDATA2LSB &&
           section(header.e_shstrndx, names);
  }

  template <typename T> bool copy(uint64_t offset, T &value) const {
    if (offset > size || size - offset < sizeof(T))
      return false;
    std::memcpy(&value, data + offset, sizeof(T));
    return true;
  }

  bool section(uint64_t index, Elf64_Shdr &entry) const {
    return index < header.e_shnum && header.e_shoff < size &&
           copy(header.e_shoff + index * sizeof(entry), entry);
  }

  /// The bytes of a section; empty if they are not in the file.
  std::string_view bytes(const Elf64_Shdr &entry) const {
    if (entry.sh_offset > size || size - entry.sh_offset < entry.sh_size)
      return {};
    return {reinterpret_cast<const char *>(data) + entry.sh_offset,
            entry.sh_size};
  }

  std::string_view name(const Elf64_Shdr &entry) const {
    std::string_view all = bytes(names);
    if (entry.sh_name >= all.size())
      return {};
    all.remove_prefix(entry.sh_name);
    return all.substr(0, all.find('\0'));
  }

  bool good = false;
  Elf64_Ehdr header{};
  Elf64_Shdr names{};

private:
  const uint8_t *data;
  uint64_t size;
};

FatBinary corrupt(std::string why) {
  FatBinary result;
  result.error = std::move(why);
  return result;
}

FatBinary readCubin(const uint8_t *data, uint64_t available) {
  Sections file(data, available);
  if (!file.good)
    return corrupt("the cubin has no table of sections");
  FatBinary result;
  // The last one counts: PTX is added at the end.
  std::optional<std::string_view> ptx;
  Elf64_Shdr entry;
  for (uint64_t i = 0; file.section(i, entry); ++i)
    if (file.name(entry) == kPtxSection)
      ptx = file.bytes(entry);
  if (ptx) {
    result.images.push_back(ptxImage(std::string(*ptx)));
    return result;
  }
  FatImage image;
  image.kind = ImageKind::Cubin;
  image.target = targetOf(file.header);
  result.images.push_back(std::move(image));
  return result;
}

FatBinary readText(const uint8_t *data, uint64_t available) {
  const void *end = std::memchr(data, 0, available);
  if (!end)
    return corrupt("it is no fat binary and no cubin, and as PTX it has no "
                   "zero byte at its end");
  std::string text(reinterpret_cast<const char *>(data),
                   static_cast<const uint8_t *>(end) - data);
  if (text.find(".version") == std::string::npos)
    return corrupt("it is neither PTX nor a fat binary nor a cubin");
  FatBinary result;
  result.images.push_back(ptxImage(std::move(text)));
  return result;
}

} // namespace

uint64_t cuda::readableBytes(const void *data) {
  auto address = reinterpret_cast<uint64_t>(data);
  std::FILE *maps = std::fopen("/proc/self/maps", "re");
  if (!maps)
    return 0;
  uint64_t reached = address;
  char line[512];
  while (std::fgets(line, sizeof line, maps)) {
    unsigned long long start, end;
    char rights[5];
    if (std::sscanf(line, "%llx-%llx %4s", &start, &end, rights) != 3 ||
        end <= reached)
      continue;
    if (start > reached || rights[0] != 'r')
      break;
    reached = end;
  }
  std::fclose(maps);
  return reached - address;
}

FatBinary cuda::readImages(const uint8_t *data, uint64_t available) {
  uint32_t magic = 0;
  if (available >= sizeof magic)
    std::memcpy(&magic, data, sizeof magic);
  if (magic == kWrapperMagic) {
    Wrapper wrapper;
    if (available < sizeof wrapper)
      return corrupt("it has no wrapper");
    std::memcpy(&wrapper, data, sizeof wrapper);
    return readFatBinary(wrapper.data, readableBytes(wrapper.data));
  }
  if (magic == kFatMagic)
    return readFatBinary(data, available);
  if (available >= SELFMAG && std::memcmp(data, ELFMAG, SELFMAG) == 0)
    return readCubin(data, available);
  return readText(data, available);
}

std::vector<const uint8_t *> cuda::linkedObjects(const uint8_t *data,
                                                 uint64_t available) {
  Wrapper wrapper{};
  if (available < sizeof wrapper)
    return {};
  std::memcpy(&wrapper, data, sizeof wrapper);
  if (wrapper.magic != kWrapperMagic || wrapper.version != kLinkedVersion)
    return {};
  std::vector<const uint8_t *> objects;
  uint64_t room = readableBytes(wrapper.objects) / sizeof(void *);
  for (uint64_t i = 0; i != room && wrapper.objects[i]; ++i)
    objects.push_back(wrapper.objects[i]);
  return objects;
}

std::optional<std::string> cuda::addPtx(std::string_view cubin,
                                        std::string_view ptx) {
  Sections file(reinterpret_cast<const uint8_t *>(cubin.data()), cubin.size());
  if (!file.good || file.header.e_shentsize != sizeof(Elf64_Shdr))
    return std::nullopt;
  // New names, the text and a new table of sections follow what is there; the
  // old names and table stay where they were, unused.
  std::vector<Elf64_Shdr> sections(file.header.e_shnum + size_t(1));
  for (uint64_t i = 0; i != file.header.e_shnum; ++i)
    if (!file.section(i, sections[i]))
      return std::nullopt;
  std::string names(file.bytes(file.names)), result(cubin);
  Elf64_Shdr &added = sections.back();
  added.sh_name = Elf64_Word(names.size());
  added.sh_type = SHT_PROGBITS;
  added.sh_addralign = 1;
  names += kPtxSection;
  names += '\0';
  sections[file.header.e_shstrndx].sh_offset = result.size();
  sections[file.header.e_shstrndx].sh_size = names.size();
  result += names;
  added.sh_offset = result.size();
  added.sh_size = ptx.size();
  result += ptx;
  result.resize((result.size() + 7) / 8 * 8);
  Elf64_Ehdr header = file.header;
  header.e_shoff = result.size();
  ++header.e_shnum;
  std::memcpy(result.data(), &header, sizeof header);
  result.append(reinterpret_cast<const char *>(sections.data()),
                sections.size() * sizeof(Elf64_Shdr));
  return result;
}
