"""The program that the wheel carries: where it is, and how it is run."""

import os
import shutil
import subprocess
import sysconfig


class OomdbError(RuntimeError):
    """What the program says of an input that it can't read; `exit_code` as in `oomdb --help`."""

    def __init__(self, message, exit_code):
        super().__init__(message)
        self.exit_code = exit_code


def program():
    """The path of the program: $OOMDB_PROGRAM, else the one installed beside this package, else the
    one on the path. Raises FileNotFoundError."""
    given = os.environ.get("OOMDB_PROGRAM")
    if given:
        return given
    folders = [sysconfig.get_path("scripts")]
    user = f"{os.name}_user"
    if user in sysconfig.get_scheme_names():
        folders.append(sysconfig.get_path("scripts", user))
    for folder in folders:
        path = os.path.join(folder, "oomdb")
        if os.access(path, os.X_OK):
            return path
    path = shutil.which("oomdb")
    if path is None:
        raise FileNotFoundError("the program oomdb is neither installed beside this package nor on the path")
    return path


def run(*arguments, accept=(0,)):
    """What the program prints. Raises OomdbError for an exit code that is not in `accept`."""
    done = subprocess.run([program(), *map(str, arguments)], capture_output=True, text=True, encoding="utf-8",
                          errors="replace", check=False)
    if done.returncode not in accept:
        message = done.stderr.strip() or f"oomdb ended with {done.returncode}"
        raise OomdbError(message, done.returncode)
    return done.stdout
