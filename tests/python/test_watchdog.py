"""What takes too long, by the time of one thread."""
import hashlib
import threading
import time
import unittest

from tkdbg.watchdog import Watchdog, thread_clock


class Library:
    """Stands in for the library: keeps which sessions were interrupted."""

    def __init__(self):
        self.interrupted = []

    def tk_interrupt(self, session):
        self.interrupted.append(session)


def work(seconds):
    """Keeps the processor busy, without the lock of Python."""
    ends = time.thread_time() + seconds
    while time.thread_time() < ends:
        hashlib.sha256(bytes(1 << 20)).digest()


def work_elsewhere(seconds):
    thread = threading.Thread(target=work, args=(seconds,))
    thread.start()
    thread.join()


class Clock(unittest.TestCase):
    def test_other_threads_do_not_count(self):
        clock = thread_clock()
        begun, all_begun = clock(), time.process_time()
        work_elsewhere(0.3)
        self.assertGreaterEqual(time.process_time() - all_begun, 0.3)
        self.assertLess(clock() - begun, 0.15)

    def test_other_threads_can_ask(self):
        clock, said = thread_clock(), []
        work(0.2)
        thread = threading.Thread(target=lambda: said.append(clock()))
        thread.start()
        thread.join()
        self.assertGreaterEqual(said[0], 0.2)


class Interrupts(unittest.TestCase):
    def setUp(self):
        self.library = Library()

    def test_a_run_that_takes_too_long(self):
        with Watchdog(self.library) as dog:
            dog.begins(7, 0.1)
            for _ in range(100):
                if self.library.interrupted:
                    break
                work(0.05)
        self.assertEqual(self.library.interrupted, [7])

    def test_threads_beside_it(self):
        with Watchdog(self.library) as dog:
            dog.begins(7, 0.2)
            work_elsewhere(0.5)
            dog.ended()
        self.assertEqual(self.library.interrupted, [])


if __name__ == "__main__":
    unittest.main()
