"""Reports, databases and what-if from Python: each call runs the program, or reads its file."""

import html
import json
import os
import pathlib
import sqlite3

from oomdb._program import run

# Reported; part of the input was rejected or truncated.
_REPORTED = (0, 4)


def _paths(paths):
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    return [os.fspath(path) for path in paths]


def _options(options):
    """run="a", fused_attention=True → --run a --fused-attention. None and False leave one out."""
    arguments = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        arguments.append("--" + name.replace("_", "-"))
        if value is not True:
            arguments.append(str(value))
    return arguments


class Report:
    """What `oomdb report` says: `data` is its JSON (docs/reference), `text` what a terminal shows.

    str() is the text; a notebook shows the page with pictures."""

    def __init__(self, arguments):
        self._arguments = arguments
        self.data = json.loads(run("report", *arguments, "--json", "-", accept=_REPORTED))
        self._text = None
        self._html = None

    @property
    def verdict(self):
        """In few words: "too large", "leak", "well", "can't tell", …"""
        return self.data["verdict"]

    @property
    def headline(self):
        """What happened, in a sentence."""
        return self.data["headline"]

    @property
    def findings(self):
        """The findings, the worst first: dicts."""
        return self.data["findings"]

    @property
    def text(self):
        if self._text is None:
            self._text = run("report", *self._arguments, accept=_REPORTED)
        return self._text

    @property
    def html(self):
        """The page: one file that loads nothing."""
        if self._html is None:
            self._html = run("report", *self._arguments, "--html", "-", accept=_REPORTED)
        return self._html

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"<oomdb.Report {self.verdict}: {self.headline}>"

    def _repr_html_(self):
        return (f'<iframe srcdoc="{html.escape(self.html)}" sandbox="allow-scripts" '
                'style="width:100%;height:40em;border:0"></iframe>')


def report(*paths, db=None, **options):
    """A Report on captures, dumps, error logs or folders, or on a database (`db`). Options are those of
    `oomdb report`: run, host, module, capture, set=…, capacity=…. Raises OomdbError when nothing could
    be read."""
    arguments = [path for given in paths for path in _paths(given)]
    if db is not None:
        arguments += ["--db", os.fspath(db)]
    return Report(arguments + _options(options))


def ingest(db, *paths, **options):
    """Stores captures in the database; what the program says of each."""
    files = [path for given in paths for path in _paths(given)]
    return run("ingest", "--db", os.fspath(db), *_options(options), *files, accept=_REPORTED)


def what_if(*paths, db=None, **options):
    """What the program would need if it were changed, as a dict: what_if("logs", donate=True, batch="0.5x")."""
    arguments = [path for given in paths for path in _paths(given)]
    if db is not None:
        arguments += ["--db", os.fspath(db)]
    return json.loads(run("what-if", *arguments, *_options(options), "--format", "json", accept=_REPORTED))


def open(db):  # As sqlite3's and gzip's.
    """A sqlite3 connection that only reads; its rows have names. Raises FileNotFoundError."""
    path = pathlib.Path(db)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such database")
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA trusted_schema = 0")
    return connection


def query(db, sql, parameters=(), kind=None):
    """The rows of a query: a pandas DataFrame, or an Arrow table (kind="arrow"), or a list of dicts
    (kind="dicts"). By default a DataFrame where pandas is installed, else dicts."""
    connection = open(db)
    try:
        cursor = connection.execute(sql, parameters)
        columns = [column[0] for column in cursor.description or ()]
        rows = [tuple(row) for row in cursor]
    finally:
        connection.close()
    if kind == "arrow":
        import pyarrow

        return pyarrow.table({name: [row[i] for row in rows] for i, name in enumerate(columns)})
    if kind in (None, "pandas"):
        try:
            import pandas
        except ImportError:
            if kind == "pandas":
                raise
        else:
            return pandas.DataFrame(rows, columns=columns)
    return [dict(zip(columns, row)) for row in rows]
