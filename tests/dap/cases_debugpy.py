"""Sessions that a client of others drives: the messages of debugpy."""
import os
import queue
import subprocess
import unittest

import adapter
from adapter import ADD, KERNELS, line


class Events:
    """What debugpy's channel calls for messages that are no responses."""

    def __init__(self):
        self.queue = queue.Queue()

    def event(self, event):
        self.queue.put((event.event, event.body))

    def disconnect(self):
        pass

    def next(self, name):
        while True:
            got, body = self.queue.get(timeout=60)
            if got == name:
                return body


def channel():
    try:
        from debugpy.common import messaging
    except ImportError:
        raise unittest.SkipTest('debugpy is not installed') from None
    p = subprocess.Popen([os.path.join(adapter.BUILD, 'tkdbg'), 'dap'],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         env=adapter.environment())
    adapter._running.append(p)
    events = Events()
    c = messaging.JsonMessageChannel(
        messaging.JsonIOStream.from_process(p, 'tkdbg'), events, 'tkdbg')
    c.start()
    return c, events, p


def test_a_session():
    c, events, p = channel()
    found = c.request('initialize', {'adapterID': 'tkdbg'})
    assert found['supportsStepBack'] is True
    launch = c.send_request('launch', ADD)
    events.next('initialized')
    points = c.request('setBreakpoints', {
        'source': {'path': KERNELS},
        'breakpoints': [{'line': line('pair = ')}]})['breakpoints']
    assert len(points) == 1
    c.request('configurationDone')
    launch.wait_for_response()
    stop = events.next('stopped')
    assert stop['reason'] == 'breakpoint'
    frames = c.request('stackTrace', {'threadId': stop['threadId']})
    frame = frames['stackFrames'][0]
    assert frame['line'] == line('pair = ')
    value = c.request('evaluate', {'expression': 'tl.sum(total)',
                                   'frameId': frame['id']})
    assert value['result'] == '84.0'
    c.request('setBreakpoints', {'source': {'path': KERNELS},
                                 'breakpoints': []})
    c.request('continue', {'threadId': stop['threadId']})
    assert events.next('exited')['exitCode'] == 0
    c.request('disconnect')
    assert p.wait(20) == 0


def test_a_refusal():
    c, events, p = channel()
    c.request('initialize', {'adapterID': 'tkdbg'})
    try:
        c.request('launch', {})
    except Exception as e:
        assert "either 'program' (the script" in str(e)
    else:
        raise AssertionError('not refused')
    c.request('disconnect')
    assert p.wait(20) == 0
