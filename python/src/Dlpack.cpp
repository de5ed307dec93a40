//===- Dlpack.cpp - tensors of others, and ours for them ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ABI of DLPack 1.1, https://dmlc.github.io/dlpack/latest/c_api.html. numpy
// reads the types that it has itself; ours are those that it lacks, and memory
// of devices.
//
//===----------------------------------------------------------------------===//

#include "Support.h"

#include <memory>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <vector>

using namespace blockscale::python;

namespace {

//===----------------------------------------------------------------------===//
// The ABI
//===----------------------------------------------------------------------===//

struct Device {
  int32_t type, id;
};

struct Type {
  uint8_t code, bits;
  uint16_t lanes;
};

struct Tensor {
  void *data;
  Device device;
  int32_t rank;
  Type type;
  int64_t *shape;
  /// In elements; null for contiguous rows.
  int64_t *strides;
  uint64_t byteOffset;
};

struct Managed {
  Tensor tensor;
  void *context;
  void (*release)(Managed *);
};

struct Versioned {
  uint32_t major, minor;
  void *context;
  void (*release)(Versioned *);
  uint64_t flags;
  Tensor tensor;
};

constexpr uint64_t kReadOnly = 1;
constexpr const char *kName = "dltensor",
                     *kVersionedName = "dltensor_versioned";
constexpr const char *kUsed = "used_dltensor",
                     *kVersionedUsed = "used_dltensor_versioned";

//===----------------------------------------------------------------------===//
// In
//===----------------------------------------------------------------------===//

/// A tensor that somebody else keeps until this dies.
class Taken {
public:
  explicit Taken(nb::handle capsule) {
    PyObject *object = capsule.ptr();
    if (PyCapsule_IsValid(object, kVersionedName)) {
      versioned = static_cast<Versioned *>(
          PyCapsule_GetPointer(object, kVersionedName));
      if (versioned->major != 1)
        throw nb::value_error("the tensor is of another DLPack than 1");
      PyCapsule_SetName(object, kVersionedUsed);
      isReadOnly = versioned->flags & kReadOnly;
      tensor = &versioned->tensor;
    } else if (PyCapsule_IsValid(object, kName)) {
      managed = static_cast<Managed *>(PyCapsule_GetPointer(object, kName));
      PyCapsule_SetName(object, kUsed);
      tensor = &managed->tensor;
    } else {
      throw nb::value_error("expected a capsule of DLPack that nobody took");
    }
  }
  ~Taken() {
    if (versioned && versioned->release)
      versioned->release(versioned);
    if (managed && managed->release)
      managed->release(managed);
  }
  Taken(const Taken &) = delete;
  Taken &operator=(const Taken &) = delete;

  uint64_t address() const {
    return uint64_t(reinterpret_cast<uintptr_t>(tensor->data)) +
           tensor->byteOffset;
  }
  std::tuple<int, int> device() const {
    return {tensor->device.type, tensor->device.id};
  }
  std::tuple<int, int, int> type() const {
    return {tensor->type.code, tensor->type.bits, tensor->type.lanes};
  }
  std::vector<int64_t> shape() const {
    return {tensor->shape, tensor->shape + tensor->rank};
  }
  /// Whether elements lie one behind the other, the last dimension first.
  bool isContiguous() const {
    int64_t step = 1;
    for (int i = tensor->rank; tensor->strides && i-- > 0;) {
      if (tensor->shape[i] != 1 && tensor->strides[i] != step)
        return false;
      step *= tensor->shape[i];
    }
    return true;
  }
  /// Of contiguous elements.
  uint64_t bytes() const {
    uint64_t bits = uint64_t(tensor->type.bits) * tensor->type.lanes;
    for (int i = 0; i < tensor->rank; ++i)
      bits *= uint64_t(tensor->shape[i]);
    return (bits + 7) / 8;
  }
  bool readOnly() const { return isReadOnly; }

private:
  Versioned *versioned = nullptr;
  Managed *managed = nullptr;
  const Tensor *tensor = nullptr;
  bool isReadOnly = false;
};

//===----------------------------------------------------------------------===//
// Out
//===----------------------------------------------------------------------===//

/// What a tensor that we give away keeps alive.
struct Given {
  nb::object owner;
  std::vector<int64_t> shape, strides;
};

template <typename T> void release(T *given) {
  // Others let go of it on any thread, and when Python is gone.
  if (Py_IsInitialized()) {
    nb::gil_scoped_acquire acquire;
    delete static_cast<Given *>(given->context);
  }
  delete given;
}

/// Of a capsule that nobody took.
template <typename T> void destroyCapsule(PyObject *capsule, const char *name) {
  if (PyCapsule_IsValid(capsule, name)) {
    auto *given = static_cast<T *>(PyCapsule_GetPointer(capsule, name));
    given->release(given);
  }
}

void fill(Tensor &tensor, Given &given, uint64_t address, Device device,
          Type type) {
  tensor.data = reinterpret_cast<void *>(uintptr_t(address));
  tensor.device = device;
  tensor.type = type;
  tensor.rank = int32_t(given.shape.size());
  tensor.shape = given.shape.data();
  tensor.strides = given.strides.data();
  tensor.byteOffset = 0;
}

/// A capsule for contiguous memory that `owner` keeps.
nb::object give(uint64_t address, std::tuple<int, int> device,
                std::tuple<int, int, int> type,
                const std::vector<int64_t> &shape, nb::object owner,
                bool isReadOnly, bool isVersioned) {
  auto context = std::make_unique<Given>();
  context->owner = std::move(owner);
  context->shape = shape;
  context->strides.resize(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    context->strides[i] = step;
    step *= shape[i];
  }
  Device where{std::get<0>(device), std::get<1>(device)};
  Type what{uint8_t(std::get<0>(type)), uint8_t(std::get<1>(type)),
            uint16_t(std::get<2>(type))};
  PyObject *capsule;
  if (isVersioned) {
    auto given = std::make_unique<Versioned>();
    *given = {
        1, 0, context.get(), release<Versioned>, isReadOnly ? kReadOnly : 0,
        {}};
    fill(given->tensor, *context, address, where, what);
    capsule = PyCapsule_New(given.get(), kVersionedName, [](PyObject *self) {
      destroyCapsule<Versioned>(self, kVersionedName);
    });
    if (capsule)
      given.release();
  } else {
    auto given = std::make_unique<Managed>();
    fill(given->tensor, *context, address, where, what);
    given->context = context.get();
    given->release = release<Managed>;
    capsule = PyCapsule_New(given.get(), kName, [](PyObject *self) {
      destroyCapsule<Managed>(self, kName);
    });
    if (capsule)
      given.release();
  }
  if (!capsule)
    throw nb::python_error();
  context.release();
  return nb::steal(capsule);
}

} // namespace

void blockscale::python::defineDlpack(nb::module_ &m) {
  nb::class_<Taken>(m, "DlpackTensor")
      .def(nb::init<nb::handle>(), nb::arg("capsule"))
      .def_prop_ro("address", &Taken::address)
      .def_prop_ro("device", &Taken::device)
      .def_prop_ro("type", &Taken::type)
      .def_prop_ro("shape", &Taken::shape)
      .def_prop_ro("contiguous", &Taken::isContiguous)
      .def_prop_ro("nbytes", &Taken::bytes)
      .def_prop_ro("readonly", &Taken::readOnly);
  m.def("dlpack_capsule", &give, nb::arg("address"), nb::arg("device"),
        nb::arg("type"), nb::arg("shape"), nb::arg("owner"),
        nb::arg("readonly"), nb::arg("versioned"));
}
