"""``tkdbg fuzz``: random kernels, each run in two ways, and made small where
these differ."""
