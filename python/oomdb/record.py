"""Writes down what explains an out-of-memory failure, when it comes.

    with oomdb.record("oom"):                 # around what may fail
        train()
    oomdb.install("oom")                      # or once, for whatever ends the program
    python -m oomdb.record train.py --steps 9 # or without touching the program

On a RESOURCE_EXHAUSTED (or when asked: `recorder.snapshot()`, `recorder.step()`) a folder
`oom/<host>-p<process>-<time>` is written: the error's text and the pools' memory_stats (error.log), what
lives by Python line (memory.prof), live arrays by shape, the plans of the loaded executables
(*.hlo.pb), versions and flags. `oomdb report oom` reads it. Every process writes a folder of its own.

Recording never raises, ends after `max_seconds`, and stops at `max_bytes`. Files appear whole, the most
telling first: what a killed process leaves can be read.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import pathlib
import platform
import re
import runpy
import socket
import sys
import threading
import time
import traceback
import types

_TELLING = re.compile(r"RESOURCE_EXHAUSTED|RESOURCE EXHAUSTED|out of memory|ran out of \w* ?memory|OOM when", re.I)
# Environment variables that say how memory is used. All others stay out: there may be secrets in them.
_VARIABLES = re.compile(r"(XLA|JAX|TPU|LIBTPU|NCCL|TF_GPU|TF_FORCE_GPU|CUDA_VISIBLE|HIP_VISIBLE|ROCR_VISIBLE)")
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASS|CRED|AUTH", re.I)


def is_out_of_memory(error):
    """Whether an exception, or one that it came from, tells that memory ran out."""
    todo, seen = [error], set()
    while todo:
        one = todo.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, MemoryError) or _TELLING.search(str(one)):
            return True
        todo += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]
    return False


def _varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _hlo_proto(module, assignment):
    """An HloProto of its two parts: hlo_module is field 1, buffer_assignment field 3."""
    proto = b"\x0a" + _varint(len(module)) + module
    if assignment:
        proto += b"\x1a" + _varint(len(assignment)) + assignment
    return proto


class _Incident:
    """One folder, while it is written."""

    def __init__(self, folder, max_bytes, deadline):
        self.folder = folder
        self.bytes_left = max_bytes
        self.deadline = deadline
        self.files = {}
        self.absent = []  # What this runtime doesn't have.
        self.problems = []  # What went wrong.

    def write(self, name, content):
        if isinstance(content, str):
            content = content.encode("utf-8", "replace")
        if len(content) > self.bytes_left:
            self.problems.append(f"{name}: left out, {len(content)} bytes are more than is left of max_bytes")
            return
        self.bytes_left -= len(content)
        path = self.folder / name
        beside = path.with_name(path.name + ".part")
        beside.write_bytes(content)
        os.replace(beside, path)
        self.files[name] = len(content)

    def part(self, what, work):
        """Does `work`; what goes wrong with one part leaves the others."""
        try:
            if time.monotonic() > self.deadline:
                raise TimeoutError("no time was left for it")
            work()
        except Exception as error:  # noqa: BLE001: whatever a half-dead runtime throws.
            self.problems.append(f"{what}: {type(error).__name__}: {error}")


def _backend():
    import jax.extend.backend

    return jax.extend.backend.get_backend()


def _name_of(device):
    return f"{device.platform}:{device.id}"


def _stats_text(devices):
    """memory_stats() of each device as Python prints it, which is a form that oomdb reads in logs."""
    lines = []
    for device in devices:
        try:
            stats = device.memory_stats()
        except Exception as error:  # noqa: BLE001
            stats = None
            lines.append(f"# memory_stats of {_name_of(device)}: {type(error).__name__}: {error}")
        if stats:
            lines.append(f"# memory_stats of {_name_of(device)} ({device.device_kind})")
            lines.append(str(dict(stats)))
    return "".join(line + "\n" for line in lines)


def _live_arrays(backend):
    """Live arrays, those of one shape, type and sharding together, the largest first."""
    groups = {}
    for array in backend.live_arrays():
        sharding = str(getattr(array, "sharding", ""))
        key = (tuple(array.shape), str(array.dtype), sharding)
        group = groups.setdefault(key, {"shape": list(array.shape), "dtype": str(array.dtype),
                                        "sharding": sharding, "count": 0, "bytes": 0})
        group["count"] += 1
        group["bytes"] += int(array.nbytes)
    return sorted(groups.values(), key=lambda group: -group["bytes"])[:1000]


def _target(backend, device):
    """What the name of a dumped module says of its target: sm_8.0_gpu, tpu, cpu."""
    capability = getattr(device, "compute_capability", None)
    if backend.platform in ("gpu", "cuda") and capability:
        return f"sm_{capability}_gpu"
    return "gpu" if backend.platform in ("cuda", "rocm") else backend.platform


def _plans(backend):
    """(bytes of the plan, HloModule, serialized buffer assignment) of the loaded executables, the largest first."""
    plans = []
    for executable in backend.live_executables():
        size, assignment = 0, b""
        try:
            stats = executable.get_compiled_memory_stats()
            size = (stats.argument_size_in_bytes + stats.output_size_in_bytes + stats.temp_size_in_bytes -
                    stats.alias_size_in_bytes)
            assignment = stats.serialized_buffer_assignment_proto
        except Exception:  # noqa: BLE001: not every runtime has them.
            pass
        modules = executable.hlo_modules()
        for module in modules:
            # The assignment is of the one module that runs; of several nobody says whose it is.
            plans.append((size, module, assignment if len(modules) == 1 else b""))
    return sorted(plans, key=lambda plan: -plan[0])


def _environment(why):
    facts = {
        "why": why,
        "recorded_unix_ns": time.time_ns(),
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "argv0": os.path.basename(sys.argv[0]) if sys.argv else "",
        "python": platform.python_version(),
        "system": platform.platform(),
        "variables": {name: value for name, value in sorted(os.environ.items())
                      if _VARIABLES.match(name) and not _SECRET.search(name)},
        "versions": {},
    }
    for package in ("jax", "jaxlib", "libtpu", "flax", "optax", "numpy"):
        module = sys.modules.get(package)
        version = getattr(module, "__version__", None)
        if version is None:
            with contextlib.suppress(Exception):
                from importlib import metadata

                version = metadata.version(package)
        if version is not None:
            facts["versions"][package] = str(version)
    if "jax" in sys.modules:
        import jax

        facts["process_index"] = jax.process_index()
        facts["process_count"] = jax.process_count()
        facts["devices"] = [{"name": _name_of(device), "kind": device.device_kind} for device in jax.local_devices()]
        facts["backend"] = _backend().platform_version
    return facts


class Recorder:
    """Records into `folder`. `keep`: how many failures at most, of one process; each has at most
    `max_bytes` and takes at most `max_seconds`; of the plans the `max_modules` largest are kept.
    `every`: step() also records each so many calls."""

    def __init__(self, folder="oom", *, every=None, keep=3, max_bytes=256 << 20, max_seconds=30.0, max_modules=32):
        self.folder = pathlib.Path(folder)
        self.every = every
        self.keep = keep
        self.max_bytes = max_bytes
        self.max_seconds = max_seconds
        self.max_modules = max_modules
        self.last = None  # The folder that was written last.
        self._failures = 0
        self._steps = 0
        self._lock = threading.Lock()

    # ---- when

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.failed(error)
        return False

    def failed(self, error):
        """Records an exception that tells that memory ran out, once. The folder, or None."""
        if error is None or getattr(error, "_oomdb_recorded", False) or not is_out_of_memory(error):
            return None
        with contextlib.suppress(AttributeError):
            error._oomdb_recorded = True
        self._failures += 1
        if self._failures > self.keep:
            return None
        return self._record("error", error)

    def snapshot(self, why="asked for"):
        """Records how things stand. The folder, or None where nothing could be written."""
        return self._record(why, None)

    def step(self):
        """To be called once a step: records every `every`th time."""
        self._steps += 1
        if self.every and self._steps % self.every == 0:
            return self._record(f"step {self._steps}", None)
        return None

    # ---- what

    def _record(self, why, error):
        done = []

        def work():
            try:
                done.append(self._write(why, error))
            except Exception as problem:  # noqa: BLE001: a full disk must not hide the program's own error.
                print(f"oomdb.record: nothing was recorded: {type(problem).__name__}: {problem}", file=sys.stderr)

        # In a thread of its own: a runtime that died may never answer.
        with self._lock:
            thread = threading.Thread(target=work, name="oomdb.record", daemon=True)
            thread.start()
            thread.join(self.max_seconds + 5)
        if thread.is_alive():
            print(f"oomdb.record: not done after {self.max_seconds:.0f} s; what is written is in {self.folder}",
                  file=sys.stderr)
        if not done:
            return None
        self.last = done[0]
        print(f"oomdb.record: written to {self.last}; oomdb report {self.last}", file=sys.stderr)
        return self.last

    def _new_folder(self):
        index = 0
        if "jax" in sys.modules:
            with contextlib.suppress(Exception):
                import jax

                index = jax.process_index()
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%S")
        host = re.sub(r"[^\w.-]", "_", socket.gethostname()) or "host"
        for count in range(1000):
            name = f"{host}-p{index}-{now}" + (f"-{count}" if count else "")
            try:
                (self.folder / name).mkdir(parents=True)
                return self.folder / name
            except FileExistsError:
                continue
        raise FileExistsError(f"{self.folder}: a thousand recordings of one second")

    def _write(self, why, error):
        incident = _Incident(self._new_folder(), self.max_bytes, time.monotonic() + self.max_seconds)
        # Every process fails with the same text: the folder's name tells them apart, here as there.
        text = f"# oomdb.record: {incident.folder.name}: {why}\n"
        if error is not None:
            text += "".join(traceback.format_exception(type(error), error, error.__traceback__))
            incident.write("error.log", text)
        incident.part("environment.json", lambda: incident.write(
            "environment.json", json.dumps(_environment(why), indent=1) + "\n"))
        if "jax" in sys.modules:
            self._write_jax(incident, "memory_stats.log" if error is None else "error.log", text)
        incident.write("recorded.json", json.dumps({
            "recorder": 1, "why": why, "complete": not incident.problems, "files": incident.files,
            "absent": incident.absent, "problems": incident.problems}, indent=1) + "\n")
        return incident.folder

    def _write_jax(self, incident, log, text):
        import jax

        def write_stats():
            stats = _stats_text(jax.local_devices())
            if stats:
                incident.write(log, text + stats)
            else:
                incident.absent.append(f"memory_stats: {jax.default_backend()} devices have none")

        incident.part("memory_stats", write_stats)
        incident.part("memory.prof", lambda: incident.write("memory.prof", jax.profiler.device_memory_profile()))
        incident.part("live_arrays.json", lambda: incident.write(
            "live_arrays.json", json.dumps(_live_arrays(_backend()), indent=1) + "\n"))
        incident.part("plans", lambda: self._write_plans(incident))

    def _write_plans(self, incident):
        backend = _backend()
        target = _target(backend, backend.local_devices()[0])
        plans = _plans(backend)
        without = 0
        for number, (_, module, assignment) in enumerate(plans[:self.max_modules]):
            without += not assignment
            name = re.sub(r"[^\w.-]", "_", module.name)[:100]
            file = f"module_{number:04d}.{name}.{target}_after_optimizations.hlo.pb"
            incident.part(f"plan of {module.name}", lambda file=file, module=module, assignment=assignment: (
                incident.write(file, _hlo_proto(module.as_serialized_hlo_module_proto(), assignment))))
        if len(plans) > self.max_modules:
            incident.problems.append(f"plans: {len(plans) - self.max_modules} smaller ones left out (max_modules)")
        if without:
            incident.absent.append(f"plans: of {without} modules the runtime gives no buffer assignment")


def install(folder="oom", **options):
    """Records when an exception that tells that memory ran out ends the program or one of its threads.
    Returns the Recorder."""
    recorder = Recorder(folder, **options)
    before, before_of_threads = sys.excepthook, threading.excepthook

    def hook(kind, error, trace):
        recorder.failed(error)
        before(kind, error, trace)

    def hook_of_threads(arguments):
        recorder.failed(arguments.exc_value)
        before_of_threads(arguments)

    sys.excepthook, threading.excepthook = hook, hook_of_threads
    return recorder


class capture:  # noqa: N801: used like a function, as open is.
    """A profiler capture with what a memory question needs, closed also when the program fails:

        with oomdb.capture("logs", steps=10) as steps:
            for batch in batches:
                state = train_step(state, batch)
                steps.step()     # after the tenth the capture is written, and the program goes on
    """

    def __init__(self, folder="logs", steps=None):
        self.folder = os.fspath(folder)
        self.steps = steps
        self._done = 0
        self._on = False

    def __enter__(self):
        import jax

        options = None
        if hasattr(jax.profiler, "ProfileOptions"):
            options = jax.profiler.ProfileOptions()
            options.host_tracer_level = 2  # Allocator events are of this level.
            options.python_tracer_level = 1  # Who holds what: by the calls between two steps.
        if options is None:
            jax.profiler.start_trace(self.folder)
        else:
            jax.profiler.start_trace(self.folder, profiler_options=options)
        self._on = True
        return self

    def step(self):
        """Counts a step; the capture ends with the last one."""
        self._done += 1
        if self.steps is not None and self._done >= self.steps:
            self.stop()

    def stop(self):
        if self._on:
            import jax

            self._on = False
            jax.profiler.stop_trace()

    def __exit__(self, kind, error, trace):
        # What the capture can't be closed for must not hide why the program failed.
        if error is None:
            self.stop()
        else:
            with contextlib.suppress(Exception):
                self.stop()
        return False


def main(arguments=None):
    """python -m oomdb.record [--to DIR] SCRIPT.py|-m MODULE ARGUMENT…"""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    folder = "oom"
    if len(arguments) >= 2 and arguments[0] == "--to":
        folder = arguments[1]
        del arguments[:2]
    if not arguments or arguments[0] in ("-h", "--help") or (arguments[0] == "-m" and len(arguments) < 2):
        print("Runs a program, and writes into DIR (oom) what explains it when memory runs out.\n"
              "Usage: python -m oomdb.record [--to DIR] SCRIPT.py ARGUMENT…\n"
              "       python -m oomdb.record [--to DIR] -m MODULE ARGUMENT…", file=sys.stderr)
        return 0 if arguments and arguments[0] in ("-h", "--help") else 2
    with Recorder(folder):
        if arguments[0] == "-m":
            sys.argv = arguments[1:]
            sys.path.insert(0, os.getcwd())
            runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = arguments
            sys.path.insert(0, os.path.dirname(os.path.abspath(arguments[0])))
            runpy.run_path(arguments[0], run_name="__main__")
    return 0


class _Callable(types.ModuleType):
    """`oomdb.record` is this module, for `python -m oomdb.record`, and what people call: oomdb.record("oom")."""

    def __call__(self, folder="oom", **options):
        return Recorder(folder, **options)


if __name__ == "__main__":
    sys.exit(main())
sys.modules[__name__].__class__ = _Callable
