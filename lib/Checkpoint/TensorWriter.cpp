//===- TensorWriter.cpp - tensors into files, piece by piece --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Checkpoint/TensorWriter.h"
#include "Names.h"
#include "blockscale/Packing/Checksum.h"
#include "blockscale/Packing/Npy.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <nlohmann/json.hpp>
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

static std::string temporaryName(const std::string &path) {
  return path + "." + std::to_string(::getpid()) + ".tmp";
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
  files.push_back({path, temporaryName(path), -1, {}});
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

std::string TensorWriter::openShards(
    const std::vector<std::pair<std::string, std::string>> &metadata) {
  std::vector<SafetensorsHeader> headers(sharding.paths.size());
  std::vector<std::map<std::string, size_t>> numbers(headers.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    headers[sharding.shardOf[i]].tensors.push_back(tensors[i]);
    numbers[sharding.shardOf[i]][tensors[i].name] = i;
  }
  for (size_t shard = 0; shard < headers.size(); ++shard) {
    SafetensorsHeader &header = headers[shard];
    header.metadata = metadata;
    if (hasChecksums)
      for (const TensorEntry &entry : header.tensors)
        header.metadata.push_back({checksumKey(entry.name), hex(0)});
    std::string start = formatHeader(header);
    uint64_t end = start.size();
    for (const TensorEntry &entry : header.tensors) {
      places[numbers[shard][entry.name]] = {shard, entry.offset};
      end += entry.bytes;
    }
    std::string error = open(sharding.paths[shard], start, end);
    if (!error.empty())
      return error;
    files.back().header = std::move(header);
  }
  return "";
}

std::string TensorWriter::openArrays(const std::string &path) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TensorEntry &entry = tensors[i];
    std::vector<uint64_t> shape = entry.shape;
    if (dtypeBits(entry.dtype) < 8 && !shape.empty())
      shape.back() = shape.back() * dtypeBits(entry.dtype) / 8;
    std::string start = packing::formatNpyHeader(npyType(entry.dtype), shape);
    places[i] = {i, start.size()};
    std::string error = open(path.substr(0, path.size() - kNumpyEnd.size()) +
                                 "." + entry.name + std::string(kNumpyEnd),
                             start, start.size() + entry.byteCount());
    if (!error.empty())
      return error;
  }
  return "";
}

Result<std::unique_ptr<TensorWriter>>
TensorWriter::create(const std::string &path, std::vector<TensorEntry> tensors,
                     std::vector<std::pair<std::string, std::string>> metadata,
                     bool checksums, const ShardedFiles &files) {
  std::unique_ptr<TensorWriter> writer(new TensorWriter());
  writer->hasChecksums = checksums;
  writer->tensors = std::move(tensors);
  writer->places.resize(writer->tensors.size());
  writer->pieces.resize(writer->tensors.size());
  writer->sharding = files;
  writer->isSafetensors = !isNumpyPath(path);
  std::string error = writer->isSafetensors ? writer->openShards(metadata)
                                            : writer->openArrays(path);
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
  const Place &place = places[tensor];
  const File &file = files[place.file];
  std::string error =
      writeAt(file.descriptor, file.path, place.offset + offset, bytes, count);
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
  std::map<std::string, uint32_t> byKey;
  for (size_t i = 0; i < pieces.size(); ++i) {
    uint64_t bytes = pieces[i].empty() ? 0 : pieces[i].begin()->second.bytes;
    if (pieces[i].size() > 1 || bytes != tensors[i].byteCount())
      return "tensor '" + tensors[i].name + "' was not written whole";
    checksums.push_back(bytes ? pieces[i].begin()->second.crc : 0);
    byKey[checksumKey(tensors[i].name)] = checksums.back();
  }
  if (!isSafetensors)
    return "";
  for (File &file : files) {
    size_t first = file.header.metadata.size() - file.header.tensors.size();
    for (size_t i = first; i < file.header.metadata.size(); ++i)
      file.header.metadata[i].second =
          hex(byKey[file.header.metadata[i].first]);
    std::string start = formatHeader(file.header);
    std::string error =
        writeAt(file.descriptor, file.path, 0, start.data(), start.size());
    if (!error.empty())
      return error;
  }
  return "";
}

/// Gives all files their names; none has one if it fails.
std::string TensorWriter::rename() {
  if (!sharding.indexPath.empty() &&
      ::unlink(sharding.indexPath.c_str()) != 0 && errno != ENOENT)
    return failed(sharding.indexPath, errno);
  for (size_t renamed = 0; renamed < files.size(); ++renamed)
    if (::rename(files[renamed].temporary.c_str(),
                 files[renamed].path.c_str()) != 0) {
      std::string error = failed(files[renamed].path, errno);
      for (size_t i = 0; i < renamed; ++i)
        ::unlink(files[i].path.c_str());
      return error;
    }
  return "";
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
  if (std::string error = rename(); !error.empty())
    return error;
  isFinished = true;
  if (sharding.writesIndex)
    if (auto why = writeIndex(tensors, sharding))
      return why->text;
  return "";
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

static std::string formatIndex(const std::vector<TensorEntry> &tensors,
                               const ShardedFiles &files) {
  std::map<std::string, std::string> places;
  uint64_t total = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const std::string &path = files.paths[files.shardOf[i]];
    places[tensors[i].name] = path.substr(path.rfind('/') + 1);
    total += tensors[i].byteCount();
  }
  using nlohmann::ordered_json;
  ordered_json index{{"metadata", {{"total_size", total}}},
                     {"weight_map", places}};
  return index.dump(2, ' ', false, ordered_json::error_handler_t::replace) +
         "\n";
}

/// Makes names of files in the folder of `path` last beyond a power failure,
/// where the file system can.
static void syncFolder(const std::string &path) {
  size_t slash = path.rfind('/');
  std::string folder = slash == std::string::npos ? "." : path.substr(0, slash);
  int descriptor = ::open(folder.empty() ? "/" : folder.c_str(),
                          O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return;
  ::fsync(descriptor);
  ::close(descriptor);
}

std::optional<Reason>
checkpoint::writeIndex(const std::vector<TensorEntry> &tensors,
                       const ShardedFiles &files) {
  const std::string &path = files.indexPath;
  // The shards come first, on the disk too.
  syncFolder(path);
  std::string temporary = temporaryName(path);
  std::string text = formatIndex(tensors, files);
  int descriptor =
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return Reason(failed(path, errno));
  std::string error = writeAt(descriptor, path, 0, text.data(), text.size());
  bool isLost = ::fsync(descriptor) != 0 && errno != EINVAL;
  if (isLost && error.empty())
    error = failed(path, errno);
  ::close(descriptor);
  if (error.empty() && ::rename(temporary.c_str(), path.c_str()) != 0)
    error = failed(path, errno);
  if (error.empty())
    return std::nullopt;
  ::unlink(temporary.c_str());
  return Reason(error);
}
