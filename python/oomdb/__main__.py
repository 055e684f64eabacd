"""python -m oomdb …: the program itself."""

import os
import sys

from oomdb._program import program

if __name__ == "__main__":
    path = program()
    os.execv(path, [path, *sys.argv[1:]])
