"""Why did a JAX program run out of device memory?

    import oomdb
    report = oomdb.report("logs")             # a capture, a dump, an error log, a folder of them
    print(report.verdict, report.headline)    # in a notebook the page is shown
    oomdb.query("oom.db", "SELECT * FROM findings")

    with oomdb.record("oom"):                 # writes what explains a failure, when one comes
        train()

Nothing here imports JAX before it is needed.
"""

from oomdb import record
from oomdb._program import OomdbError, program
from oomdb.api import Report, ingest, open, query, report, what_if
from oomdb.record import capture, install

__all__ = ["OomdbError", "Report", "capture", "ingest", "install", "open", "program", "query", "record",
           "report", "what_if"]
