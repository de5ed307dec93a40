//===- TextMutator.h - changes of text that keep most of it -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Edits of lines, words and numbers, after which a parser still takes a good
// part of the texts. All work on any bytes, an empty text included.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FUZZ_TEXTMUTATOR_H
#define BLOCKSCALE_FUZZ_TEXTMUTATOR_H

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace blockscale::fuzz {

using Random = std::minstd_rand;

/// A number from 0 to count - 1; 0 if count is 0.
unsigned below(Random &random, size_t count);

/// The parts of `text` between the characters `by`: at least one.
std::vector<std::string> split(const std::string &text, char by);

/// Removes, repeats or exchanges lines, or puts `line` between two.
void changeLines(Random &random, std::string &text, const std::string &line);

/// Replaces a random word that begins with `lead`, a digit for '0', or any
/// letter for 'a'. Nothing happens if there is none.
void replaceWord(Random &random, std::string &text, char lead,
                 const std::string &by);

/// A random word of `text`: letters, digits, '_'. Empty if there is none.
std::string wordOf(Random &random, const std::string &text);

/// A number at which something overflows, or a small one.
std::string number(Random &random);

/// One to three changes of a text whose language is not known.
void changeText(Random &random, std::string &text);

/// Writes what fits of `text` to `data`; returns its size.
size_t store(const std::string &text, uint8_t *data, size_t maxSize);

} // namespace blockscale::fuzz

#endif // BLOCKSCALE_FUZZ_TEXTMUTATOR_H
