"""The recorder: with JAX where it is installed, else (and for GPUs and TPUs) with a stand-in of it."""

import importlib.util
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest

import oomdb
from tests.python import fake_jax

ROOT = pathlib.Path(__file__).resolve().parents[2]
GPU_TEXT = ("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 25769803776 bytes. "
            "[tf-allocator-allocation-error='']")
TPU_TEXT = ("RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 24.65G "
            "of 15.75G hbm. Exceeded hbm capacity by 8.90G.")


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def recorded(self):
        return sorted((self.folder / "oom").glob("*")) if (self.folder / "oom").exists() else []

    def fail(self, text, kind=RuntimeError, **options):
        recorder = oomdb.record(self.folder / "oom", **options)
        with self.assertRaises(kind):
            with recorder:
                raise kind(text)
        return recorder.last

    def fake(self, *executables, arrays=()):
        fake_jax.install(fake_jax.Backend(executables, arrays))
        self.addCleanup(fake_jax.uninstall)

    def python(self, *arguments, check=True, **options):
        done = subprocess.run([sys.executable, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
                              check=False, **options)
        if check:
            self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def program(self, text):
        path = self.folder / "train.py"
        path.write_text(textwrap.dedent(text))
        return path


class RecordTest(InFolder):
    # ---- when

    def test_other_errors_leave_nothing(self):
        self.assertIsNone(self.fail("the file is not there", FileNotFoundError))
        self.assertEqual(self.recorded(), [])

    def test_an_error_is_recorded_and_goes_on(self):
        for text in (GPU_TEXT, TPU_TEXT):
            folder = self.fail(text)
            self.assertIn(text, (folder / "error.log").read_text())
            self.assertIn("Traceback", (folder / "error.log").read_text())
        self.assertEqual(len(self.recorded()), 2)

    def test_an_error_behind_another_is_found(self):
        try:
            try:
                raise RuntimeError(GPU_TEXT)
            except RuntimeError as cause:
                raise ValueError("the step failed") from cause
        except ValueError as error:
            self.assertTrue(oomdb.record.is_out_of_memory(error))
        self.assertTrue(oomdb.record.is_out_of_memory(MemoryError()))
        self.assertFalse(oomdb.record.is_out_of_memory(ValueError("memory")))

    def test_no_more_than_keep(self):
        recorder = oomdb.record(self.folder / "oom", keep=2)
        for _ in range(4):
            recorder.failed(RuntimeError(GPU_TEXT))
        self.assertEqual(len(self.recorded()), 2)

    def test_one_error_is_recorded_once(self):
        recorder = oomdb.record(self.folder / "oom")
        error = RuntimeError(GPU_TEXT)
        self.assertIsNotNone(recorder.failed(error))
        self.assertIsNone(recorder.failed(error))

    def test_steps_and_on_request(self):
        recorder = oomdb.record(self.folder / "oom", every=3)
        for _ in range(7):
            recorder.step()
        self.assertEqual(len(self.recorded()), 2)
        self.assertEqual(json.loads((recorder.snapshot("look") / "recorded.json").read_text())["why"], "look")

    def test_installed_it_sees_what_ends_the_program_and_its_threads(self):
        program = self.program(f"""
            import threading, oomdb
            oomdb.install("oom")
            def work():
                raise RuntimeError({GPU_TEXT!r})
            thread = threading.Thread(target=work); thread.start(); thread.join()
            raise RuntimeError({TPU_TEXT!r})
            """)
        done = self.python(program, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("Ran out of memory", done.stderr)
        self.assertEqual(len(self.recorded()), 2)

    def test_a_program_is_run_as_it_is(self):
        program = self.program(f"""
            import sys
            print(sys.argv[1:], __name__)
            if "fail" in sys.argv: raise RuntimeError({GPU_TEXT!r})
            """)
        done = self.python("-m", "oomdb.record", "--to", "oom", program, "a", "--steps", "9")
        self.assertIn("['a', '--steps', '9'] __main__", done.stdout)
        self.assertEqual(self.recorded(), [])
        self.assertEqual(self.python("-m", "oomdb.record", program, "fail", check=False).returncode, 1)
        self.assertEqual(len(self.recorded()), 1)
        self.assertEqual(self.python("-m", "oomdb.record", check=False).returncode, 2)

    # ---- what

    def test_what_a_gpu_tells(self):
        self.fake(fake_jax.Executable("jit_small", temp=1), fake_jax.Executable("jit_step", temp=1 << 30),
                  arrays=[fake_jax.Array((8, 4)), fake_jax.Array((8, 4)), fake_jax.Array((1024, 1024))])
        folder = self.fail(GPU_TEXT)
        log = (folder / "error.log").read_text()
        self.assertIn("'bytes_limit': 68719476736", log)
        arrays = json.loads((folder / "live_arrays.json").read_text())
        self.assertEqual([(a["shape"], a["count"]) for a in arrays], [([1024, 1024], 1), ([8, 4], 2)])
        # The largest plan comes first, and the name says what it was compiled for.
        self.assertTrue((folder / "module_0000.jit_step.sm_9.0_gpu_after_optimizations.hlo.pb").exists())
        recorded = json.loads((folder / "recorded.json").read_text())
        self.assertTrue(recorded["complete"], recorded)
        self.assertEqual(recorded["absent"], ["plans: of 2 modules the runtime gives no buffer assignment"])
        environment = json.loads((folder / "environment.json").read_text())
        self.assertEqual(environment["devices"][0]["kind"], "NVIDIA H100 80GB HBM3")

    def test_the_report_reads_it_as_one(self):
        self.fake(fake_jax.Executable("jit_step", temp=1 << 30))
        folder = self.fail(GPU_TEXT)
        report = oomdb.report(folder)
        self.assertIn(report.data["verdict"], ("out of memory", "pool full", "too large", "full", "failed"), report.text)
        self.assertIn("24.0 GiB", report.text)
        self.assertIn("64.0 GiB", report.text)

    def test_secrets_stay_out(self):
        variables = {"XLA_FLAGS": "--xla_dump_to=x", "JAX_API_KEY": "hunter2", "AWS_SECRET_ACCESS_KEY": "hunter2",
                     "XLA_PYTHON_CLIENT_MEM_FRACTION": ".5"}
        before = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(before)))
        os.environ.update(variables)
        text = (self.fail(GPU_TEXT) / "environment.json").read_text()
        self.assertNotIn("hunter2", text)
        self.assertEqual(json.loads(text)["variables"]["XLA_PYTHON_CLIENT_MEM_FRACTION"], ".5")

    def test_a_broken_part_leaves_the_others(self):
        self.fake()
        sys.modules["jax"].profiler.device_memory_profile = lambda: 1 / 0
        folder = self.fail(GPU_TEXT)
        recorded = json.loads((folder / "recorded.json").read_text())
        self.assertFalse(recorded["complete"])
        self.assertIn("memory.prof: ZeroDivisionError: division by zero", recorded["problems"])
        self.assertTrue((folder / "live_arrays.json").exists())

    def test_it_is_bounded(self):
        self.fake(fake_jax.Executable("jit_step", assignment=b"x" * 5000))
        folder = self.fail(GPU_TEXT, max_bytes=4000)
        self.assertLess(sum(path.stat().st_size for path in folder.iterdir()), 5000)
        self.assertIn("max_bytes", (folder / "recorded.json").read_text())

    def test_a_runtime_that_never_answers_is_left(self):
        self.fake(fake_jax.Executable("jit_step", slow=60))
        begin = time.monotonic()
        recorder = oomdb.record(self.folder / "oom", max_seconds=-4.0)
        self.assertIsNone(recorder.failed(RuntimeError(GPU_TEXT)))
        self.assertLess(time.monotonic() - begin, 10)
        self.assertTrue((self.recorded()[0] / "error.log").exists())

    def test_where_nothing_can_be_written_the_error_still_goes_on(self):
        (self.folder / "oom").write_text("a file")
        self.assertIsNone(self.fail(GPU_TEXT))

    def test_killed_while_it_records_what_is_there_can_be_read(self):
        program = self.program(f"""
            import sys
            sys.path.insert(0, {str(ROOT)!r})
            import oomdb
            from tests.python import fake_jax
            fake_jax.install(fake_jax.Backend([fake_jax.Executable("jit_step", slow=60)]))
            oomdb.record("oom").failed(RuntimeError({GPU_TEXT!r}))
            """)
        process = subprocess.Popen([sys.executable, str(program)], cwd=self.folder, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and not list(self.folder.glob("oom/*/live_arrays.json")):
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        folder = self.recorded()[0]
        self.assertFalse((folder / "recorded.json").exists())
        self.assertIn("24.0 GiB", oomdb.report(folder).text)

    def test_two_processes_at_once(self):
        program = self.program(f"""
            import sys
            sys.path.insert(0, {str(ROOT)!r})
            import oomdb
            from tests.python import fake_jax
            fake_jax.install(fake_jax.Backend(), process_index=int(sys.argv[1]))
            with oomdb.record("oom"):
                raise RuntimeError({GPU_TEXT!r})
            """)
        threads = [threading.Thread(target=lambda i=i: self.python(program, i, check=False)) for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(path.name.rsplit("-", 2)[1] for path in self.recorded()), ["p0", "p1"])
        self.assertEqual(len(oomdb.report(self.folder / "oom").data["captures"]), 2)


@unittest.skipIf(importlib.util.find_spec("jax") is None, "JAX is not installed")
class WithJaxTest(InFolder):
    """A real program on the CPU, whose array no machine has memory for."""

    PROGRAM = """
        import jax, jax.numpy as jnp
        @jax.jit
        def train_step(w, x):
            return w - 0.1 * jax.grad(lambda w: jnp.sum(jnp.tanh(x @ w) ** 2))(w)
        w, x = jnp.ones((512, 512)), jnp.ones((1024, 512))
        for _ in range(3):
            w = train_step(w, x)
        @jax.jit
        def scores(v):
            return jnp.outer(v, v) @ v
        scores(jnp.ones((1 << 21,))).block_until_ready()
        """

    def test_a_failing_jit(self):
        done = self.python("-m", "oomdb.record", self.program(self.PROGRAM), check=False,
                           env={**os.environ, "JAX_PLATFORMS": "cpu"})
        self.assertEqual(done.returncode, 1)
        folder = self.recorded()[0]
        report = oomdb.report(folder)
        self.assertEqual(report.verdict, "host", report.text)
        self.assertIn("TiB", report.headline)
        plan = oomdb.what_if(folder, module="jit_train_step")
        self.assertEqual(plan["before"]["parameter_bytes"], 4 * (512 * 512 + 1024 * 512))
        # What lives, by the line that made it.
        self.assertIn("train.py:", report.text)


if __name__ == "__main__":
    unittest.main()
