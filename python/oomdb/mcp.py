"""A Model Context Protocol server over standard input and output: a door for coding agents.

    pip install 'oomdb[mcp]'
    oomdb-mcp                  # or: python -m oomdb.mcp

Its tools read captures, logs and databases, and write nothing. Answers are cut to what a context window
holds, and say so.
"""

from __future__ import annotations

import json

from oomdb import api
from oomdb._program import OomdbError, run

_MAX_CHARACTERS = 24_000
_MAX_ROWS = 200

INSTRUCTIONS = """oomdb says why a JAX/XLA program ran out of device memory. Start with `report` on what there is: a
profiler capture (.xplane.pb), an XLA dump, an error log, a folder of them, or a database. Its first word is the
verdict; remedies come with what the program would need then. `what_if` predicts a changed program, `compare` says what
one run needs more than another, `query` asks a database in SQL (read-only): `show` names and explains its views."""


def _cut(text, hint):
    if len(text) <= _MAX_CHARACTERS:
        return text
    return text[:_MAX_CHARACTERS] + f"\n… cut at {_MAX_CHARACTERS} of {len(text)} characters: {hint}"


def _where(path, db):
    if bool(path) == bool(db):
        raise ValueError("give either path (a capture, dump, log or folder) or db (a database of oomdb ingest)")
    return [path] if path else ["--db", db]


def report(path: str = "", db: str = "", run_name: str = "", module: str = "", capacity: str = "") -> str:
    """What happened, why, and what to do: the verdict, findings, remedies with what is needed then, and who holds
    the memory. `path`: a capture, dump, error log or folder; or `db`: a database. `capacity` such as 80GiB, where the
    capture does not say what the device may use."""
    options = api._options({"run": run_name or None, "module": module or None, "capacity": capacity or None})
    text = run("report", *_where(path, db), *options, accept=(0, 4))
    return _cut(text, "name a module or a run")


def query(db: str, sql: str) -> str:
    """One SELECT over a database of `oomdb ingest`, as JSON lines; at most 200 rows. Views: findings, remedies,
    modules, buffers, peak_parts, executions, allocators, … (`show` lists and explains them)."""
    text = run("query", "--db", db, "--format", "jsonl", sql)
    rows = text.splitlines()
    kept = "\n".join(rows[:_MAX_ROWS])
    if len(rows) > _MAX_ROWS:
        kept += f"\n… {len(rows) - _MAX_ROWS} more rows: add a LIMIT, or aggregate"
    return _cut(kept, "select fewer columns")


def show(name: str = "") -> str:
    """What a view, rule or table means, column by column; without a name: all there is."""
    return _cut(run("show", name) if name else run("list", "tables", "--format", "csv"), "show one by its name")


def what_if(path: str = "", db: str = "", options: str = "--search", module: str = "", capacity: str = "") -> str:
    """What the program would need if it were changed, predicted from its plan. `options`, several together: --donate
    --checkpoint --fused-attention --batch 0.5x|16 --accumulate N --chunk-loss N --data-parallel N --fsdp N --zero1 N
    --bf16, or --search for the cheapest changes that fit, --largest-batch. Answers with a range and whether it fits."""
    more = api._options({"module": module or None, "capacity": capacity or None})
    answer = json.loads(run("what-if", *_where(path, db), *options.split(), *more, "--format", "json", accept=(0, 4)))
    for long in ("curve", "curve_before"):
        answer.pop(long, None)
    return _cut(json.dumps(answer, indent=1), "ask for one change")


def compare(base: str, new: str) -> str:
    """What the second needs more than the first: two captures, dumps, logs or memory profiles."""
    return _cut(run("compare", base, new, accept=(0, 3, 4)), "name a module's capture")


TOOLS = (report, query, show, what_if, compare)


def server():
    """The server, to be run by who embeds it. Raises ImportError without the package `mcp` (2.x)."""
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.types import ToolAnnotations

    made = MCPServer("oomdb", instructions=INSTRUCTIONS)

    def guarded(tool):
        import functools

        @functools.wraps(tool)
        def call(*arguments, **options):
            try:
                return tool(*arguments, **options)
            except (OomdbError, ValueError, OSError) as error:
                raise ToolError(str(error)) from error

        return call

    for tool in TOOLS:
        made.add_tool(guarded(tool), name=tool.__name__, description=tool.__doc__,
                      annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
    return made


def main():
    try:
        made = server()
    except ImportError as error:
        raise SystemExit(f"oomdb-mcp needs the package mcp: pip install 'oomdb[mcp]' ({error})") from error
    made.run()


if __name__ == "__main__":
    main()
