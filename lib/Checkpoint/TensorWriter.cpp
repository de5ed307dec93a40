//===- TensorWriter.cpp - tensors into files, piece by piece --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Checkpoint/TensorWriter.h"
#include "blockscale/Packing/Checksum.h"
#include "blockscale/Packing/Npy.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace blockscale;
using namespace blockscale::checkpoint;

std::string checkpoint::checksumKey(const std::string &tensor) {
  return "crc32." + tensor;
}

static std::string failed(const std::string &path, int code) {
  return "cannot write '" + path + "': " + std::strerror(code);
}

static std::string hex(uint32_t value) {
  static const char kDigits[] = "0123456789abcdef";
  std::string text;
  for (unsigned shift = 32; shift > 0; shift -= 4)
    text += kDigits[value >> (shift - 4) & 15];
  return text;
}

static std::string writeAt(int descriptor, const std::string &path,
                           uint64_t offset, const void *bytes, uint64_t count) {
  const auto *from = static_cast<const char *>(bytes);
  while (count > 0) {
    size_t piece = std::min<uint64_t>(count, uint64_t(1) << 30);
    ssize_t done = ::pwrite(descriptor, from, piece, off_t(offset));
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      return failed(path, errno);
    from += done;
    offset += uint64_t(done);
    count -= uint64_t(done);
  }
  return "";
}

/// numpy's type for bytes of a tensor: narrow floats are bytes to numpy.
static packing::NpyType npyType(DType type) {
  switch (type) {
  case DType::F32:
    return packing::NpyType::F32;
  case DType::F16:
    return packing::NpyType::F16;
  case DType::BF16:
    return packing::NpyType::U16;
  default:
    return packing::NpyType::U8;
  }
}

std::string TensorWriter::open(const std::string &path,
                               const std::string &start, uint64_t bytes) {
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return "cannot write '" + path + "': not a regular file";
  files.push_back({path, path + "." + std::to_string(::getpid()) + ".tmp"});
  File &file = files.back();
  file.descriptor = ::open(file.temporary.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file.descriptor < 0) {
    int code = errno;
    files.pop_back();
    return failed(path, code);
  }
  // A disk that is too small is found now and not after hours. What cannot
  // reserve says so in its own way and is written all the same.
  if (bytes > 0)
    if (int code = ::posix_fallocate(file.descriptor, 0, off_t(bytes));
        code == ENOSPC || code == EFBIG || code == EDQUOT)
      return failed(path, code);
  return writeAt(file.descriptor, path, 0, start.data(), start.size());
}

Result<std::unique_ptr<TensorWriter>>
TensorWriter::create(const std::string &path, std::vector<TensorEntry> tensors,
                     std::vector<std::pair<std::string, std::string>> metadata,
                     bool checksums) {
  std::unique_ptr<TensorWriter> writer(new TensorWriter());
  writer->hasChecksums = checksums;
  writer->header.tensors = std::move(tensors);
  writer->header.metadata = std::move(metadata);
  writer->pieces.resize(writer->header.tensors.size());
  constexpr std::string_view kNpy = ".npy";
  writer->isSafetensors =
      path.size() <= kNpy.size() ||
      path.compare(path.size() - kNpy.size(), kNpy.size(), kNpy) != 0;
  std::string error;
  if (writer->isSafetensors) {
    if (checksums)
      for (const TensorEntry &entry : writer->header.tensors)
        writer->header.metadata.push_back({checksumKey(entry.name), hex(0)});
    std::string start = formatHeader(writer->header);
    uint64_t end = start.size();
    for (const TensorEntry &entry : writer->header.tensors)
      end += entry.bytes;
    error = writer->open(path, start, end);
  } else {
    // Sizes only; the offsets are those of a file that is not written.
    formatHeader(writer->header);
    for (TensorEntry &entry : writer->header.tensors) {
      packing::NpyType type = npyType(entry.dtype);
      std::vector<uint64_t> shape = entry.shape;
      if (dtypeBits(entry.dtype) < 8 && !shape.empty())
        shape.back() = shape.back() * dtypeBits(entry.dtype) / 8;
      std::string start = packing::formatNpyHeader(type, shape);
      entry.offset = start.size();
      error = writer->open(path.substr(0, path.size() - kNpy.size()) + "." +
                               entry.name + ".npy",
                           start, entry.offset + entry.bytes);
      if (!error.empty())
        break;
    }
  }
  if (!error.empty())
    return Reason(error);
  return std::move(writer);
}

TensorWriter::~TensorWriter() {
  for (const File &file : files) {
    if (file.descriptor >= 0)
      ::close(file.descriptor);
    if (!isFinished)
      ::unlink(file.temporary.c_str());
  }
}

std::string TensorWriter::write(size_t tensor, uint64_t offset,
                                const void *bytes, uint64_t count) {
  if (count == 0)
    return "";
  const File &file = files[isSafetensors ? 0 : tensor];
  std::string error =
      writeAt(file.descriptor, file.path,
              header.tensors[tensor].offset + offset, bytes, count);
  if (!error.empty() || !hasChecksums)
    return error;
  uint32_t crc = packing::crc32(bytes, count);
  std::lock_guard<std::mutex> lock(piecesLock);
  // Pieces that follow each other are joined, so that few are kept.
  std::map<uint64_t, Piece> &known = pieces[tensor];
  auto next = known.lower_bound(offset);
  Piece piece{count, crc};
  if (next != known.end() && next->first == offset + count) {
    piece.crc =
        packing::combineCrc32(piece.crc, next->second.crc, next->second.bytes);
    piece.bytes += next->second.bytes;
    next = known.erase(next);
  }
  if (next != known.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second.bytes == offset) {
      Piece &longer = previous->second;
      longer.crc = packing::combineCrc32(longer.crc, piece.crc, piece.bytes);
      longer.bytes += piece.bytes;
      return "";
    }
  }
  known.emplace(offset, piece);
  return "";
}

/// Puts the checksums where zeros were written for them.
std::string TensorWriter::addChecksums() {
  for (size_t i = 0; i < pieces.size(); ++i) {
    uint64_t bytes = pieces[i].empty() ? 0 : pieces[i].begin()->second.bytes;
    if (pieces[i].size() > 1 || bytes != header.tensors[i].bytes)
      return "tensor '" + header.tensors[i].name + "' was not written whole";
    checksums.push_back(bytes ? pieces[i].begin()->second.crc : 0);
  }
  if (!isSafetensors)
    return "";
  size_t first = header.metadata.size() - checksums.size();
  for (size_t i = 0; i < checksums.size(); ++i)
    header.metadata[first + i].second = hex(checksums[i]);
  std::string start = formatHeader(header);
  return writeAt(files[0].descriptor, files[0].path, 0, start.data(),
                 start.size());
}

std::string TensorWriter::finish() {
  if (hasChecksums)
    if (std::string error = addChecksums(); !error.empty())
      return error;
  for (File &file : files) {
    // Some file systems tell only now that there was no room.
    int code = ::fsync(file.descriptor) ? errno : 0;
    if (::close(file.descriptor) && !code)
      code = errno;
    file.descriptor = -1;
    if (code && code != EINVAL)
      return failed(file.path, code);
  }
  size_t renamed = 0;
  for (; renamed < files.size(); ++renamed)
    if (::rename(files[renamed].temporary.c_str(),
                 files[renamed].path.c_str()) != 0) {
      std::string error = failed(files[renamed].path, errno);
      for (size_t i = 0; i < renamed; ++i)
        ::unlink(files[i].path.c_str());
      return error;
    }
  isFinished = true;
  return "";
}
