"""Our modules under the name ``triton``, one file for each of Triton's that
has more than names; finder.py brings them, table.py says what is where."""
