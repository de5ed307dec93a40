//===- NamedLayouts.h - layouts by name, told and drawn ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_EXPLAIN_NAMEDLAYOUTS_H
#define BLOCKSCALE_EXPLAIN_NAMEDLAYOUTS_H

#include "blockscale/HW/NamedLayouts.h"
#include "blockscale/Pictures/ByteMap.h"

#include <string>

namespace blockscale::explain {

/// All layouts as a JSON array of objects with "name", "summary" and
/// "parameters": each with "name", "meaning" and, if it has one, "default".
std::string namedLayoutsJson();

/// One as a JSON object: "name", "size", "formula", "contents" and "places",
/// each of them a list of objects with "name" and "extent".
std::string namedLayoutJson(const hw::NamedLayout &layout);

/// What lies where. Of large layouts the first places: 2048 bytes of memory, 16
/// columns, 32 registers.
pictures::ByteMap namedLayoutMap(const hw::NamedLayout &layout);

} // namespace blockscale::explain

#endif // BLOCKSCALE_EXPLAIN_NAMEDLAYOUTS_H
