"""Attempts that processes share: tkdbg.workers."""
import os
import signal
import threading
import time
import unittest
from unittest import mock

import support  # noqa: F401: finds the package

from tkdbg import workers
from tkdbg.workers import Limits, Result

TWO, ONE = {0, 1}, {0}


def spend(seconds):
    """Takes time of the processor."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


class Shared(unittest.TestCase):
    """With two processors, and with one."""

    def run_both(self, attempt, check, count=100, limits=Limits(20.0),
                 enough=None):
        for processors in TWO, ONE:
            with self.subTest(processors=len(processors)), mock.patch(
                    "os.sched_getaffinity", lambda _: processors):
                check(workers.run(count, attempt, limits,
                                  enough or threading.Event()))

    def test_results_come_in_the_order_of_the_attempts(self):
        def attempt(number, left):
            self.assertGreater(left, 0)
            spend(0.001 * (number % 7))
            return None if number % 3 else Result(9, number, -number)

        def check(outcome):
            self.assertEqual(outcome.made, 100)
            self.assertEqual(list(outcome.results), list(range(0, 100, 3)))
            self.assertEqual(outcome.results[99], Result(9, 99, -99))
        self.run_both(attempt, check)

    def test_the_time_is_that_of_each_processor(self):
        def attempt(number, _):
            spend(0.05)
            return Result(1, number + 1)

        def check(outcome):
            self.assertLess(outcome.made, 16)
            self.assertEqual(len(outcome.results), outcome.made)
        self.run_both(attempt, check, limits=Limits(0.2))

    def test_little_time_is_left_once_one_has_passed(self):
        def attempt(number, _):
            spend(0.02)
            return Result(1, 0) if number == 2 else None

        def check(outcome):
            self.assertIn(2, outcome.results)
            self.assertLess(outcome.made, 90)
        self.run_both(attempt, check, limits=Limits(20.0, 0.1))

    def test_what_was_found_is_kept_when_it_is_enough(self):
        enough = threading.Event()

        def check(outcome):
            enough.clear()
            self.assertLess(outcome.made, 100)
            self.assertTrue(outcome.results)

        def attempt(number, _):
            if os.getpid() == this:
                enough.set()
            spend(0.03)
            return Result(1, 1)
        this = os.getpid()
        timer = threading.Timer(0.3, enough.set)
        timer.start()
        self.run_both(attempt, check, enough=enough)
        timer.join()

    def test_a_process_that_dies_takes_none_with_it(self):
        this = os.getpid()

        def attempt(number, _):
            if number == 5 and os.getpid() != this:
                os.kill(os.getpid(), signal.SIGKILL)
            return Result(1, 1)

        def check(outcome):
            self.assertLessEqual({0, 1, 2, 3, *range(4, 100, 2)},
                                 set(outcome.results))
        self.run_both(attempt, check)

    def test_no_process_is_left(self):
        self.run_both(lambda *_: None, lambda _: None)
        with self.assertRaises(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)

    def test_an_attempt_that_never_ends_is_ended(self):
        this = os.getpid()

        def attempt(number, _):
            while number == 4 and os.getpid() != this:
                time.sleep(0.01)
            return Result(1, 1)
        with mock.patch("tkdbg.workers.GRACE", 0.1):
            self.run_both(attempt, lambda outcome: self.assertIn(
                3, outcome.results), limits=Limits(0.3))


if __name__ == "__main__":
    unittest.main()
