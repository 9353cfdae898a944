"""Kernels of CUDA Tile (cuda.tile) as kernels of tkdbg's typed form.

A launch asks cuda.tile's own front end for the kernel's intermediate form and
makes the text of the typed form of it; from there on it is a launch like any
other.  The modules, from the bottom:

    model       the intermediate form as plain data
    front       ... as the installed cuda.tile has it: its private names
    statements  the typed form while it is made
    builder     ... by whom, and the table of emitters
    functions   ... bodies of reductions, loops and branches
    moves, numbers, memory    ... an emitter for each operation
    form        ... as text
    signature   arguments and what a kernel is compiled for
    takeover    what is replaced in cuda.tile
"""
