//===- WarpMatrix.cpp - ldmatrix, stmatrix, movmatrix ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WarpMma.h"

#include <cstring>

namespace blockscale::emulator {

unsigned MatrixForm::rows() const {
  return num * (shape == MatrixShape::M16N16 ? 16 : 8);
}

unsigned MatrixForm::registers() const {
  return num * (shape == MatrixShape::M16N16 ? 2 : 1);
}

bool MatrixForm::legal(bool store) const {
  if (num != 1 && num != 2 && num != 4)
    return false;
  bool padded =
      format == MatrixFormat::B4x16P64 || format == MatrixFormat::B6x16P32;
  switch (shape) {
  case MatrixShape::M8N8:
    return format == MatrixFormat::B16;
  case MatrixShape::M8N16:
    return !store && (padded || format == MatrixFormat::S4) && !trans;
  case MatrixShape::M16N16:
    return !store && trans && num <= 2 &&
           (padded || format == MatrixFormat::B8);
  case MatrixShape::M16N8:
    return store && trans && format == MatrixFormat::B8;
  }
  return false;
}

/// Byte `i` of a row of 16 elements after expansion.
static uint32_t expanded(MatrixFormat format, const uint8_t *row, unsigned i) {
  switch (format) {
  case MatrixFormat::B4x16P64:
    return row[i / 2] >> i % 2 * 4 & 0xf;
  case MatrixFormat::S4: {
    unsigned number = row[i / 2] >> i % 2 * 4 & 0xf;
    return number & 8 ? number | 0xf0 : number;
  }
  case MatrixFormat::B6x16P32: {
    unsigned bit = i * 6;
    return (row[bit / 8] | row[bit / 8 + 1] << 8) >> bit % 8 & 0x3f;
  }
  default:
    return row[i];
  }
}

static uint32_t half(const uint8_t *row, unsigned i) {
  return row[2 * i] | row[2 * i + 1] << 8;
}

void loadMatrix(const MatrixForm &form, const uint8_t (*rows)[16],
                uint32_t *out) {
  for (unsigned j = 0; j < form.num; ++j) {
    const uint8_t (*matrix)[16] =
        rows + j * (form.shape == MatrixShape::M16N16 ? 16 : 8);
    for (unsigned lane = 0; lane < 32; ++lane) {
      unsigned g = lane / 4, c = lane % 4;
      if (form.shape == MatrixShape::M8N8) {
        uint32_t low =
            form.trans ? half(matrix[2 * c], g) : half(matrix[g], 2 * c);
        uint32_t high = form.trans ? half(matrix[2 * c + 1], g)
                                   : half(matrix[g], 2 * c + 1);
        out[j * 32 + lane] = high << 16 | low;
      } else if (form.shape == MatrixShape::M8N16) {
        uint32_t word = 0;
        for (unsigned b = 0; b < 4; ++b)
          word |= expanded(form.format, matrix[g], 4 * c + b) << 8 * b;
        out[j * 32 + lane] = word;
      } else {
        uint32_t words[2] = {0, 0};
        for (unsigned b = 0; b < 4; ++b)
          for (unsigned w = 0; w < 2; ++w)
            words[w] |= expanded(form.format, matrix[4 * c + b], g + 8 * w)
                        << 8 * b;
        out[2 * j * 32 + lane] = words[0];
        out[(2 * j + 1) * 32 + lane] = words[1];
      }
    }
  }
}

void storeMatrix(const MatrixForm &form, const uint32_t *in,
                 uint8_t (*rows)[16]) {
  for (unsigned j = 0; j < form.num; ++j) {
    uint8_t (*matrix)[16] = rows + j * 8;
    for (unsigned lane = 0; lane < 32; ++lane) {
      unsigned g = lane / 4, c = lane % 4;
      uint32_t word = in[j * 32 + lane];
      for (unsigned h = 0; h < 2; ++h) {
        uint16_t value = uint16_t(word >> 16 * h);
        if (form.shape == MatrixShape::M16N8) {
          matrix[2 * c][g + 8 * h] = uint8_t(value);
          matrix[2 * c + 1][g + 8 * h] = uint8_t(value >> 8);
        } else if (form.trans) {
          std::memcpy(matrix[2 * c + h] + 2 * g, &value, 2);
        } else {
          std::memcpy(matrix[g] + 2 * (2 * c + h), &value, 2);
        }
      }
    }
  }
}

void moveMatrix(const uint32_t *in, uint32_t *out) {
  uint8_t rows[8][16];
  storeMatrix(MatrixForm{}, in, rows);
  MatrixForm transposed;
  transposed.trans = true;
  loadMatrix(transposed, rows, out);
}

} // namespace blockscale::emulator
