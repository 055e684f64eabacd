"""As much of JAX as the recorder asks: for tests without JAX, and for devices that a test has not."""

import sys
import time
import types


class Device:
    platform, id, device_kind = "cuda", 0, "NVIDIA H100 80GB HBM3"
    compute_capability = "9.0"

    def memory_stats(self):
        return {"num_allocs": 3, "bytes_in_use": 60 << 30, "peak_bytes_in_use": 61 << 30, "bytes_limit": 64 << 30,
                "largest_free_block_bytes": 1 << 30}


class Array:
    def __init__(self, shape, dtype="float32"):
        self.shape, self.dtype = shape, dtype
        self.nbytes = 4
        for extent in shape:
            self.nbytes *= extent


class Module:
    def __init__(self, name, proto):
        self.name, self._proto = name, proto

    def as_serialized_hlo_module_proto(self):
        return self._proto


class Executable:
    """`slow`: seconds that its plan takes to come."""

    def __init__(self, name, temp=0, slow=0.0, assignment=b""):
        self._slow, self._assignment, self._temp = slow, assignment, temp
        # HloModuleProto {name: …}
        self._module = Module(name, b"\x0a" + bytes([len(name)]) + name.encode())

    def hlo_modules(self):
        time.sleep(self._slow)
        return [self._module]

    def get_compiled_memory_stats(self):
        return types.SimpleNamespace(argument_size_in_bytes=0, output_size_in_bytes=0, temp_size_in_bytes=self._temp,
                                     alias_size_in_bytes=0, serialized_buffer_assignment_proto=self._assignment)


class Backend:
    platform, platform_version = "cuda", "cuda 12090"

    def __init__(self, executables=(), arrays=()):
        self._executables, self._arrays = list(executables), list(arrays)

    def local_devices(self):
        return [Device()]

    def live_executables(self):
        return self._executables

    def live_arrays(self):
        return self._arrays


def install(backend, profile=b"", process_index=0):
    """Puts it in JAX's place among the modules."""
    jax = types.ModuleType("jax")
    jax.__version__ = "0.0.test"
    jax.process_index, jax.process_count = lambda: process_index, lambda: 2
    jax.local_devices, jax.default_backend = backend.local_devices, lambda: "gpu"
    jax.profiler = types.SimpleNamespace(device_memory_profile=lambda: profile)
    jax.extend = types.ModuleType("jax.extend")
    jax.extend.backend = types.ModuleType("jax.extend.backend")
    jax.extend.backend.get_backend = lambda: backend
    sys.modules.update({"jax": jax, "jax.extend": jax.extend, "jax.extend.backend": jax.extend.backend})
    return jax


def uninstall():
    for name in ("jax", "jax.extend", "jax.extend.backend"):
        sys.modules.pop(name, None)
