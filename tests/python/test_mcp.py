"""The MCP server, asked by a real client over standard input and output."""

import asyncio
import importlib.util
import json
import os
import pathlib
import sys
import tempfile
import unittest

import oomdb

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLE = str(ROOT / "sample_dbs/captures/attention_oom")


class ToolsTest(unittest.TestCase):
    """What the tools answer, without the protocol."""

    def setUp(self):
        from oomdb import mcp

        self.tools = mcp
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.db = os.path.join(folder.name, "oom.db")
        oomdb.ingest(self.db, SAMPLE)

    def test_they_answer(self):
        self.assertTrue(self.tools.report(SAMPLE).startswith("TOO LARGE"))
        self.assertTrue(self.tools.report(db=self.db).startswith("TOO LARGE"))
        self.assertEqual(json.loads(self.tools.query(self.db, "SELECT name FROM modules"))["name"], "jit_train_step")
        self.assertIn("step_does_not_fit", self.tools.show())
        self.assertIn("CREATE VIEW", self.tools.show("modules"))
        self.assertTrue(json.loads(self.tools.what_if(SAMPLE, options="--donate --checkpoint"))["fits"])
        self.assertIn("no difference", self.tools.compare(SAMPLE, SAMPLE))

    def test_they_are_bounded_and_say_so(self):
        rows = self.tools.query(self.db, "SELECT * FROM buffers")
        self.assertLessEqual(len(rows), 25_000)
        many = self.tools.query(self.db, "SELECT buffer_id FROM buffers LIMIT 250")
        self.assertIn("50 more rows", many)

    def test_they_do_not_write(self):
        with self.assertRaises(oomdb.OomdbError):
            self.tools.query(self.db, "DELETE FROM captures")
        with self.assertRaises(ValueError):
            self.tools.report()


@unittest.skipIf(importlib.util.find_spec("mcp") is None, "the package mcp is not installed")
class ClientTest(unittest.TestCase):
    def test_a_client_lists_asks_and_is_refused(self):
        asyncio.run(self.talk())

    async def talk(self):
        from mcp import Client, StdioServerParameters

        with tempfile.TemporaryDirectory() as folder:
            db = os.path.join(folder, "oom.db")
            oomdb.ingest(db, SAMPLE)
            parameters = StdioServerParameters(command=sys.executable, args=["-m", "oomdb.mcp"], env=dict(os.environ))
            async with Client(parameters) as session:
                tools = {tool.name: tool for tool in (await session.list_tools()).tools}
                self.assertEqual(set(tools), {"report", "query", "show", "what_if", "compare"})
                self.assertTrue(all(tool.annotations.read_only_hint for tool in tools.values()))
                self.assertIn("capacity", tools["report"].input_schema["properties"])
                told = await session.call_tool("report", {"path": SAMPLE})
                self.assertFalse(told.is_error)
                self.assertTrue(told.content[0].text.startswith("TOO LARGE"))
                rows = await session.call_tool("query", {"db": db, "sql": "SELECT COUNT(*) AS n FROM captures"})
                self.assertEqual(json.loads(rows.content[0].text), {"n": 1})
                refused = await session.call_tool("query", {"db": db, "sql": "DELETE FROM captures"})
                self.assertTrue(refused.is_error)
                rows = await session.call_tool("query", {"db": db, "sql": "SELECT COUNT(*) AS n FROM captures"})
                self.assertEqual(json.loads(rows.content[0].text), {"n": 1})


if __name__ == "__main__":
    unittest.main()
