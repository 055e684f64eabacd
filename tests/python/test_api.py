"""oomdb.report, query, open, ingest and what_if against the program that was built ($OOMDB_PROGRAM)."""

import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import oomdb

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "sample_dbs/captures/attention_oom"


class ApiTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.db = self.folder / "oom.db"

    def test_a_report_has_verdict_text_and_page(self):
        report = oomdb.report(SAMPLE)
        self.assertEqual(report.verdict, "too large")
        self.assertIn("it needs 3.05 GiB", report.headline)
        self.assertEqual(report.findings[0]["rule"], "step_does_not_fit")
        self.assertTrue(str(report).startswith("TOO LARGE"))
        self.assertIn("too large", repr(report))
        self.assertTrue(report.html.lower().startswith("<!doctype html>"))
        shown = report._repr_html_()
        self.assertTrue(shown.startswith("<iframe srcdoc="))
        self.assertNotIn('<script', shown)  # Escaped: the page stays in its frame.

    def test_options_are_those_of_the_program(self):
        report = oomdb.report(SAMPLE, capacity="80GiB")
        self.assertEqual(report.data["plan"]["module"], "jit_train_step(42)")
        with self.assertRaises(oomdb.OomdbError) as failed:
            oomdb.report(SAMPLE, run="nobody")
        self.assertEqual(failed.exception.exit_code, 2)

    def test_what_cannot_be_read_is_said(self):
        with self.assertRaises(oomdb.OomdbError) as failed:
            oomdb.report(self.folder / "none.xplane.pb")
        self.assertEqual(failed.exception.exit_code, 1)
        self.assertIn("none.xplane.pb", str(failed.exception))
        with self.assertRaises(FileNotFoundError):
            oomdb.open(self.db)

    def test_a_database_is_filled_asked_and_not_written(self):
        oomdb.ingest(self.db, SAMPLE, run="first")
        rows = oomdb.query(self.db, "SELECT run, rule FROM findings WHERE rule = ?", ["step_does_not_fit"], kind="dicts")
        self.assertEqual(rows, [{"run": "first", "rule": "step_does_not_fit"}])
        connection = oomdb.open(self.db)
        self.addCleanup(connection.close)
        self.assertEqual(connection.execute("SELECT name FROM modules").fetchone()["name"], "jit_train_step")
        with self.assertRaises(sqlite3.OperationalError):
            connection.execute("DELETE FROM captures")
        self.assertEqual(oomdb.report(db=self.db, run="first").verdict, "too large")

    def test_what_if_of_a_capture_and_of_a_database_agree(self):
        oomdb.ingest(self.db, SAMPLE)
        change = {"donate": True, "checkpoint": True, "bf16": False}
        of_capture = oomdb.what_if(SAMPLE, **change)
        self.assertEqual(of_capture["change"], "--donate --checkpoint")
        self.assertTrue(of_capture["fits"])
        self.assertEqual(oomdb.what_if(db=self.db, **change), of_capture)

    def test_frames_where_the_packages_are(self):
        oomdb.ingest(self.db, SAMPLE)
        for package, kind, count in (("pandas", "pandas", len), ("pyarrow", "arrow", lambda table: table.num_rows)):
            with self.subTest(package):
                try:
                    __import__(package)
                except ImportError:
                    self.skipTest(f"{package} is not installed")
                self.assertEqual(count(oomdb.query(self.db, "SELECT * FROM captures", kind=kind)), 1)

    def test_the_module_runs_the_program(self):
        done = subprocess.run([sys.executable, "-m", "oomdb", "--version"], capture_output=True, text=True, check=True)
        self.assertIn("oomdb", done.stdout)

    def test_jax_is_not_imported(self):
        subprocess.run([sys.executable, "-c", "import sys, oomdb; assert 'jax' not in sys.modules"], check=True,
                       env={**os.environ})


if __name__ == "__main__":
    unittest.main()
