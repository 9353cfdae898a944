"""A tk_launch that is kept for one signature and filled anew each time."""
from __future__ import annotations

import time
from collections.abc import Sequence
from ctypes import byref, c_char_p, c_int, c_size_t, c_void_p
from typing import TYPE_CHECKING, Any

from . import (_capi, arguments, binder, compiled, device, environment,
               errors, scratch)

if TYPE_CHECKING:
    from .launch import JITFunction
    from .session import Session


class Prepared:
    """A tk_launch for one signature, filled anew for each launch."""

    _extras = 0  # memory that it was told of last
    _fixed: frozenset[str] = frozenset()  # parameters of compile-time values
    _grid: Any = None    # that C knows
    _is_proved = False   # it is in the table of proofs
    shared: Any = None   # bytes, once it is compiled
    scratch = 0          # bytes of global memory for each program
    registers = 0, 0     # of a thread: all, those in memory
    threads, most_threads, most_shared = 0, 1, 1

    def __init__(self, function: JITFunction, session: Session,
                 values: Sequence[Any], options: dict[Any, Any]) -> None:
        self.function = function
        self.session = session
        self.options = options
        self._fixed = frozenset(p.name for p in function.params
                                if p.is_constexpr)
        out = c_void_p()
        session.runs.free_garbage()
        session.check(session.lib.tk_launch_new(
            session.ptr, function.open(session), byref(out)),
            function.__name__)
        self.ptr = out.value or 0
        self.slots = [
            arguments.make_slot(session, self.ptr, p, v)
            for p, v in zip(function.params, values)]
        for p in function.params:
            if p.do_not_specialize:
                session.lib.tk_launch_no_specialize(self.ptr,
                                                    p.name.encode())
        known = arguments.Specialization(function.params, values)
        self.kernel = compiled.CompiledKernel(self, known, dict(
            function.with_settings(options),
            **{p.name: v for p, v in zip(function.params, values)
               if p.name in binder.OPTIONS}), arguments.attributes(
                   function.params, values, known.signature))
        self.threads = self.kernel.metadata.num_warps * device.WARP_SIZE
        self.most_threads = device.most_threads(0)
        self.most_shared = device.properties()["max_shared_mem"]
        arch = device.model().arch
        for name, text in environment.compile_options(options, arch):
            session.check(session.lib.tk_launch_compile_option(
                self.ptr, name.encode(), text.encode()), function.__name__)
        for name, most in _capi.launch_options(session.lib):
            value = getattr(self.kernel.metadata, name, None)
            if value is not None:
                session.check(session.lib.tk_launch_option(
                    self.ptr, name.encode(), max(0, min(int(value), most))),
                    function.__name__)

    def __del__(self) -> None:
        if getattr(self, "ptr", None):
            self.session.runs.garbage.append(self.ptr)

    def fill(self, values: Sequence[Any]) -> None:
        """Sets every argument; raises what is wrong with one."""
        reader = self.session.reader
        for slot, value in reader.each(self.slots, values):
            status = slot.set(value, reader)
            if status:
                self.session.check(status, self.function.__name__)

    def compile(self) -> None:
        session = self.session
        session.check(
            session.guarded(session.lib.tk_launch_compile, self.ptr),
            self.function.__name__)
        shared, registers, most = c_size_t(), c_int(), c_int()
        session.attended(
            session.lib.tk_launch_resources, self.ptr,
            device.model().arch, byref(shared), byref(registers),
            byref(most))
        self.shared = shared.value
        self.registers = device.registers(registers.value, most.value)
        self.most_threads = device.most_threads(self.registers[0])
        self.scratch = session.attended(
            session.lib.tk_launch_scratch, self.ptr, device.model().arch)
        self.kernel.learn_resources(self.shared, self.registers, self.scratch)

    def fill_and_compile(self, values: Sequence[Any]) -> None:
        """Compiles for these values, which run() sets again."""
        session = self.session
        session.reader.begin(compiling=True)
        try:
            self.fill(values)
            self.compile()
        finally:
            session.reader.finish()

    def use_shared(self, nbytes: int) -> None:
        """How much shared memory a block needs, as somebody knows better."""
        self.shared = nbytes

    def ir(self) -> str:
        """The typed form of the kernel as text; it compiles."""
        with self.session.lock:
            text = self.session.attended(self.session.lib.tk_launch_ir,
                                         self.ptr)
            if text is None:
                self.compile()
            return _capi.text(text)

    def _prove(self):
        """Prints what `tkdbg prove` says of the launch, unless it said the
        same of an earlier one."""
        session, proof = self.session, c_void_p()
        runs, lib = session.runs, session.lib
        if not runs.is_next(self.function.__name__):
            return
        assume = "\n".join(session.options.assume).encode()
        told = session.sizes.relations() if session.sizes else ""
        smt_out = session.options.smt_out
        began = time.thread_time()  # whatever else the machine does
        with session.lock:
            session.check(session.attended(
                lib.tk_launch_prove, self.ptr,
                byref(_capi.ProveOptions(
                    assume=assume, told=told.encode(),
                    smt_out=smt_out and smt_out.encode(),
                    all_forms=session.options.all_forms)),
                byref(proof)))
            as_json = session.options.json or session.options.table
            write = lib.tk_proof_json if as_json else lib.tk_proof_text
            text = _capi.text(write(self.ptr, proof))
            verdict = lib.tk_proof_worst(proof)
            if session.options.junit is not None:
                session.check(session.guarded(
                    lib.tk_proof_junit, self.ptr, proof,
                    session.options.junit.encode()))
        runs.proved(verdict)
        if session.options.table:
            runs.table.add(text, time.thread_time() - began)
        elif text not in runs.staged:
            runs.staged.add(text)
            print(text, end="")

    def _prove_once(self):
        """Proves the form for a table, unless it is in there; a launch that
        nothing can be proved about goes on."""
        if not self._is_proved:
            self._is_proved = True
            try:
                self._prove()
            except (errors.KernelError, errors.UsageError) as e:
                self.session.runs.table.refuse(self.function.__name__, str(e))

    def _stage(self):
        """What `tkdbg compile` prints of the kernel."""
        options, text = self.session.options, c_char_p()
        with self.session.lock:
            self.session.check(self.session.attended(
                self.session.lib.tk_launch_emit, self.ptr,
                byref(_capi.EmitOptions(
                    emit=options.emit.encode(), arch=options.arch.encode(),
                    skip=(options.skip_pass or "").encode(),
                    output=options.output and options.output.encode(),
                    after_all=options.after_all,
                    by=options.by.encode())), byref(text)))
            return _capi.text(text.value)

    def check_resources(self) -> None:
        """Raises OutOfResources for more than a block can have."""
        for required, limit, name in (
                (self.shared or 0, self.most_shared, "shared memory"),
                (self.threads, self.most_threads, "threads")):
            if required > limit:
                raise self.session.real.error_class(errors.OutOfResources)(
                    required, limit, name)

    def allocate(self, grid: tuple[int, int, int]) -> None:
        """Asks the program for the scratch memory of a launch."""
        self.check_resources()
        scratch.allocate(self.scratch * self.kernel.metadata.num_ctas,
                         grid)

    def run(self, values: Sequence[Any],
            grid: tuple[int, int, int] | None) -> None:
        """Launches; values in the order of the parameters."""
        __tracebackhide__ = True
        session = self.session
        if grid is not None:
            self.check_resources()
        session.reader.begin(compiling=grid is None)
        try:
            self.fill(values)
            if session.addresses or self._extras:
                self._set_extras(session.reader.extras())
            if grid is None or 0 in grid:
                self.compile()
            else:
                if grid != self._grid:
                    session.check(session.lib.tk_launch_grid(self.ptr, *grid))
                    self._grid = grid
                if (session.options.print_ir or session.options.compile or
                        session.options.ir):
                    self._print_forms()
                if session.options.prove:
                    if session.options.table:
                        self._prove_once()
                    else:
                        self._prove()
                graphs = session.runs.graphs
                if graphs is not None and graphs.capturing:
                    self._capture(graphs, values, grid)
                session.runs.run(
                    self.ptr, self.function.__name__,
                    dict(zip(self.function.arg_names, values)), grid,
                    self.function.model, self._fixed)
                session.fresh.ran()
        finally:
            session.reader.finish()

    def _capture(self, graphs, values, grid):
        """A CUDA graph is captured: it launches this again."""
        tensors = [v for v in values
                   if arguments.kind_of(type(v)) == "torch"]

        def again():
            with self.session.lock:
                self.run(values, grid)
        graphs.launched(again, tensors)

    def _set_extras(self, storages):
        """Tells the launch of the memory whose address the program asked
        for; what it was told of before, and has gone, is empty."""
        byte = self.session.dtypes.number("int8")
        gone = [(0, 0, 0)] * (self._extras - len(storages))
        self._extras = len(storages)
        for i, (address, nbytes, where) in enumerate(storages + gone):
            tensor = _capi.Tensor(data=address, dtype=byte, rank=1,
                                  storage=address, storage_bytes=nbytes,
                                  device_address=where)
            tensor.shape[0], tensor.strides[0] = nbytes, 1
            self.session.check(self.session.lib.tk_launch_extra(
                self.ptr, f"data_ptr#{i}".encode(), byref(tensor)))

    def _print_forms(self):
        """Prints what is asked for of each form once: other numbers may make
        another form of the same types."""
        runs, options = self.session.runs, self.session.options
        form = self.ir()
        if options.print_ir and form not in runs.printed:
            runs.printed.add(form)
            print(form, end="")
        if (not (options.compile or options.ir) or form in runs.staged or
                not runs.is_next(self.function.__name__)):
            return
        if options.output:
            runs.staged.clear()  # the file has that of the last launch
        runs.staged.add(form)
        print(form if options.ir else self._stage(), end="")
