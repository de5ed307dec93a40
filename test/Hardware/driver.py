"""What the runner needs of the CUDA driver, through ctypes alone."""

import ctypes

P = ctypes.c_void_p


class Failed(Exception):
    pass


class Driver:
    def __init__(self):
        self.lib = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        self.context = P()
        device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.device = device.value
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)
        self.call("cuCtxSetCurrent", self.context)

    def result(self, name, *arguments):
        return getattr(self.lib, name)(*arguments)

    def call(self, name, *arguments):
        code = self.result(name, *arguments)
        if code:
            raise Failed(f"{name}: {code}")

    def name(self):
        text = ctypes.create_string_buffer(100)
        self.call("cuDeviceGetName", text, 100, self.device)
        version = ctypes.c_int()
        self.call("cuDriverGetVersion", ctypes.byref(version))
        return f"{text.value.decode()}, driver API {version.value}"

    def allocate(self, size):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address),
                  ctypes.c_size_t(max(size, 16)))
        return address.value

    def free(self, address):
        self.call("cuMemFree_v2", ctypes.c_uint64(address))

    def write(self, address, data):
        self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), bytes(data),
                  ctypes.c_size_t(len(data)))

    def fill(self, address, size, byte=0xCD):
        self.call("cuMemsetD8_v2", ctypes.c_uint64(address), ctypes.c_ubyte(byte),
                  ctypes.c_size_t(size))

    def read(self, address, size):
        data = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", data, ctypes.c_uint64(address),
                  ctypes.c_size_t(size))
        return data.raw

    def load(self, path):
        with open(path, "rb") as file:
            image = file.read() + b"\0"
        module = P()
        self.call("cuModuleLoadData", ctypes.byref(module), image)
        return module

    def unload(self, module):
        self.call("cuModuleUnload", module)

    def function(self, module, name):
        function = P()
        self.call("cuModuleGetFunction", ctypes.byref(function), module,
                  name.encode())
        return function

    def launch(self, function, grid, block, arguments, shared=0, cluster=1):
        """'arguments' are ctypes objects, kept alive by the caller."""
        if shared:
            self.call("cuFuncSetAttribute", function, 8, shared)
        pointers = (P * len(arguments))(*[ctypes.cast(ctypes.pointer(a), P)
                                          for a in arguments])
        if cluster == 1:
            self.call("cuLaunchKernel", function, grid, 1, 1, block, 1, 1, shared,
                      None, pointers, None)
        else:
            self.launch_cluster(function, grid, block, pointers, shared, cluster)
        self.call("cuCtxSynchronize")

    def launch_cluster(self, function, grid, block, pointers, shared, cluster):
        class Attribute(ctypes.Structure):
            _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_char * 4),
                        ("value", ctypes.c_uint * 16)]

        class Config(ctypes.Structure):
            _fields_ = [("sizes", ctypes.c_uint * 7), ("stream", P),
                        ("attributes", ctypes.POINTER(Attribute)),
                        ("count", ctypes.c_uint)]

        attribute = Attribute()
        attribute.id = 4
        attribute.value[0] = cluster
        attribute.value[1] = attribute.value[2] = 1
        config = Config()
        for index, value in enumerate((grid, 1, 1, block, 1, 1, shared)):
            config.sizes[index] = value
        config.attributes = ctypes.pointer(attribute)
        config.count = 1
        self.call("cuLaunchKernelEx", ctypes.byref(config), function, pointers, None)
