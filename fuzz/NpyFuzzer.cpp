//===- NpyFuzzer.cpp - hostile array files --------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads whatever comes. What is read is written, and read again the same.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Packing/Npy.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <random>

using namespace blockscale;
using namespace blockscale::packing;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

/// A header as numpy writes it, with some of its words from this list.
static std::string freshHeader(std::minstd_rand &random) {
  static const char *kTypes[] = {"<f4", "|u1", "|i1", "<u2", "<f2", "<i8",
                                 "|V1", "|V2", ">f4", "<c8", "|b1", "<f8"};
  static const char *kShapes[] = {
      "()",     "(3,)",      "(2, 3)",
      "(0, 7)", "(1, 2, 3)", "(4294967296, 4294967296)",
      "(-1,)",  "(2, 3",     "(18446744073709551615,)"};
  std::string text = "{'descr': '";
  text += kTypes[random() % std::size(kTypes)];
  text += random() % 8 ? "', 'fortran_order': False, 'shape': "
                       : "', 'fortran_order': True, 'shape': ";
  text += kShapes[random() % std::size(kShapes)];
  text += ", }\n";
  return text;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  std::minstd_rand random(seed);
  if (size > 12 && random() % 8)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::string header = freshHeader(random);
  std::string file("\x93NUMPY\1\0", 8);
  file[6] = char(1 + random() % 3);
  file += char(header.size());
  file.append(file[6] == 1 ? 1 : 3, '\0');
  file += header + std::string(random() % 64, 'd');
  size = std::min(file.size(), maxSize);
  std::copy_n(file.data(), size, data);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // The start of a file of which the rest is not there.
  auto header = parseNpyHeader(data, size / 2, size);
  if (header && header->offset + header->bytes != size)
    std::abort();
  Result<NpyArray> read = parseNpy(data, size);
  if (!read)
    return 0;
  auto bytes = formatNpy(*read);
  // A version 1 header holds fewer dimensions than the others.
  if (!bytes)
    return 0;
  Result<NpyArray> again = parseNpy(bytes->data(), bytes->size());
  if (!again || again->type != read->type || again->shape != read->shape ||
      again->data != read->data)
    std::abort();
  return 0;
}
