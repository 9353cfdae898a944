"""Random numbers of the virtual device.

They are those of PyTorch's CPU generator, but drawn from a state of their
own: what is drawn on the device moves no number on the CPU, nor the other way
round, as with CUDA's generator.
"""
from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from .. import torch_private
from .marks import HOST

if TYPE_CHECKING:
    from .virtual import VirtualCuda

# Functions of PyTorch that draw, unless they are given a generator.
_NAMES = """
    rand randn randint randperm rand_like randn_like randint_like normal
    bernoulli multinomial poisson binomial normal_ uniform_ random_
    exponential_ cauchy_ log_normal_ geometric_ bernoulli_ dropout dropout_
    alpha_dropout alpha_dropout_ feature_dropout feature_dropout_
    feature_alpha_dropout native_dropout dropout1d dropout2d dropout3d rrelu
    rrelu_ gumbel_softmax scaled_dot_product_attention
    multi_head_attention_forward lstm gru rnn_tanh rnn_relu trunc_normal_
    kaiming_uniform_ kaiming_normal_ xavier_uniform_ xavier_normal_
    fractional_max_pool2d fractional_max_pool3d"""


class Numbers:
    """The state of the device's generator, and who draws from it."""

    def __init__(self, virtual: VirtualCuda) -> None:
        self.virtual = virtual
        self.torch = virtual.torch
        self._real = virtual.torch.Generator
        self._state = None
        self.counter = None  # torch.cuda.default_generators[0]

    def draw_from(self, counter: Any) -> None:
        """What torch.cuda.default_generators[0] is."""
        self.counter = counter

    def specials(self, known: dict[Any, Any]) -> dict[Any, Any]:
        """{function that draws: what runs it}; known: what ran it so far."""
        torch, plain = self.torch, type(self.virtual).plain
        spaces = (torch, torch.Tensor, torch.nn.functional, torch.nn.init,
                  *torch_private.spaces())
        found = {}
        for name, space in itertools.product(_NAMES.split(), spaces):
            function = getattr(space, name, None)
            if function is not None:
                found[function] = self._drawing(known.get(function, plain))
        return found

    def _drawing(self, inner):
        def run(v, func, args, kwargs):
            generator = kwargs.get("generator")
            if generator is not None and generator is self.counter:
                kwargs = {n: a for n, a in kwargs.items() if n != "generator"}
                generator = None
            if generator is not None or self._place(args, kwargs) == HOST:
                return inner(v, func, args, kwargs)
            with self.drawn():
                return inner(v, func, args, kwargs)
        return run

    def _place(self, args, kwargs):
        where, rest = self.virtual.without_device(kwargs)
        if where is None:
            where = self.virtual.where((*args, *rest.values()))
        return self.virtual.default if where is None else where

    @contextlib.contextmanager
    def drawn(self) -> Iterator[Any]:
        """A context in which PyTorch's generator draws the device's
        numbers."""
        generator = self.torch.default_generator
        before = generator.get_state()
        generator.set_state(self.state)
        try:
            yield
        finally:
            self._state = generator.get_state()
            generator.set_state(before)

    @property
    def state(self) -> Any:
        if self._state is None:
            self._state = self._real().get_state()
        return self._state

    # ---- torch.cuda's names ----------------------------------------------

    def seed(self, number: int) -> None:
        self._state = self._real().manual_seed(int(number)).get_state()

    def get(self, device: int | None = None) -> Any:
        return self.virtual.mark(self.state.clone(), HOST)

    def set(self, state: Any, device: int | None = None) -> None:
        self._state = state.clone()

    def functions(self) -> dict[str, Callable[..., Any]]:
        """{name in torch.cuda: function}"""
        return {
            "get_rng_state": self.get, "set_rng_state": self.set,
            "get_rng_state_all": lambda: [self.get()],
            "set_rng_state_all": lambda states: self.set(states[0])}
