"""Scripts, ports, clients that attach, that are wrong, or that vanish."""
import json
import os
import signal
import socket
import subprocess
import tempfile
import time

import adapter
import client
from adapter import (ADD, KERNELS, SCRIPT, Listening, finish, initialized,
                     leave, line, started)
from cases_stops import refused


def script(*args, **more):
    return {'program': SCRIPT, 'python': adapter.python(),
            'args': list(map(str, args)), **more}


# ---- scripts ----------------------------------------


def test_script():
    c = initialized()
    c.begin(script(0, 2), [(KERNELS, [line('pair = ')])])
    s = c.stopped()
    assert s['frame']['name'].startswith('add')
    assert s['frame']['source']['path'] == KERNELS
    assert c.output['stdout'] == 'begins 0 2\n'
    c.go('continue')
    s = c.go('continue')
    program = c.scope(s['frame'], 'Program')
    assert program['launch']['value'] == '2'
    finish(c)
    assert c.output['stdout'].endswith('launched 2\nsum 360.0\n'), c.output
    assert 'ééé' in c.output['stderr']


def test_a_step_beyond_the_end_of_a_launch():
    c = initialized()
    c.begin(script(0, 2), [(KERNELS, [
        {'line': line('tl.store(y + offs, total'), 'condition': 'pid == 1'}])])
    c.stopped()
    c.set_breakpoints(KERNELS, [])
    s = c.go('next')
    assert s['frame']['line'] == line('pid = tl.program_id(0)'), s
    assert c.scope(s['frame'], 'Program')['launch']['value'] == '2'
    finish(c)


def test_script_on_entry():
    c = initialized()
    c.begin(script(stopOnEntry=True))
    s = c.stopped()
    assert s['reason'] == 'entry'
    finish(c)


RAISES = os.path.join(os.path.dirname(adapter.HERE), 'gdb', 'raises.py')


def raising(*filters):
    """A client of a script that raises behind its second launch."""
    c = initialized()
    c.begin({'program': RAISES, 'python': adapter.python()}, then=lambda:
            c.request('setExceptionBreakpoints', filters=filters))
    return c


def test_script_that_raises():
    c = raising('host')
    s = c.stopped()
    assert s['reason'] == 'exception', s
    assert s['description'] == 'AssertionError: x is [1 3 5 6]', s
    assert s['frame']['line'] == line('def shift', RAISES) + 1, s
    assert 'AssertionError: x is' in c.output['stderr']
    assert c.evaluate('x_ptr[3]')['result'] == '6'
    info = c.request('exceptionInfo', threadId=c.thread)
    assert info['exceptionId'] == 'host', info
    assert info['breakMode'] == 'unhandled'
    c.go('next')
    c.go('next')
    assert c.evaluate('x')['result'] == 'int32[4] [0 2 4 0]'
    assert c.go('stepBack')['frame']['line'] == line('def shift', RAISES) + 2
    finish(c, 1)


def test_steps_in_the_last_launch_of_a_script_that_raised():
    c = raising('host')
    c.stopped()
    c.go('next')
    c.go('next')
    c.request('next', threadId=c.thread)
    leave(c, 1)


def test_an_earlier_launch_of_a_script_that_raised():
    c = raising('host')
    c.stopped()
    c.evaluate('launch 1', context='repl')
    assert c.stopped()['frame']['name'].startswith('double')
    finish(c, 1)


def test_script_that_leaves_its_folder():
    folder = os.path.dirname(RAISES)
    c = started(cwd=folder)
    c.initialize()
    c.begin({'program': 'again.py', 'python': adapter.python(),
             'stopOnEntry': True})
    source = c.stopped()['frame']['source']
    assert source['path'] == os.path.join(folder, 'again.py'), source
    finish(c)


def test_script_that_raises_without_the_filter():
    leave(raising(), 1)


def test_requests_between_launches():
    c = initialized()
    c.begin(script(60))
    while 'begins' not in c.output['stdout']:
        c.event('output')
    found = c.set_breakpoints(KERNELS, [line('pair = ')])
    assert found[0]['reason'] == 'pending'
    assert c.request('threads')['threads'] == [
        {'id': 1, 'name': 'no kernel runs'}]
    refused(lambda: c.request('stackTrace', threadId=1), 'no program')
    began = time.monotonic()
    c.request('terminate')
    leave(c, 130)
    assert time.monotonic() - began < 30


def test_pause_before_a_launch():
    c = initialized()
    c.begin(script(1))
    c.request('pause', threadId=1)
    s = c.stopped()
    assert s['reason'] == 'pause', s
    finish(c)


def test_script_that_fails():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'fails.py')
        with open(path, 'w', encoding='utf-8') as f:
            f.write('print("one")\nraise SystemExit(7)\n')
        c = initialized()
        c.begin({'program': path, 'python': adapter.python()})
        leave(c, 7)
        assert c.output['stdout'] == 'one\n'


def test_terminate_at_a_stop():
    c = initialized()
    c.begin(script(0, 5, stopOnEntry=True))
    c.stopped()
    c.request('terminate')
    leave(c)
    assert 'launched 1' not in c.output['stdout']


def test_a_breakpoint_by_another_way_to_the_file():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'one.py')
        with open(KERNELS, encoding='utf-8') as f:
            text = f.read()
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text + 'import numpy as np\n'
                    'x = np.zeros(8, dtype=np.float32)\n'
                    'add[(1,)](x, x, 8, B=8)\n')
        link = os.path.join(folder, 'link.py')
        os.symlink(path, link)
        for where in path, link:
            c = initialized()
            c.begin({'program': 'one.py', 'cwd': folder,
                     'python': adapter.python()},
                    [(where, [line('pair = ', path)])])
            s = c.stopped()
            assert s['frame']['line'] == line('pair = ', path)
            c.request('disconnect')
            c.closes()


def test_folder_and_environment():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'where.py')
        with open(path, 'w', encoding='utf-8') as f:
            f.write('import os\nprint(os.getcwd(), os.environ.get("ONE"), '
                    'os.environ.get("LC_ALL"))\n')
        c = initialized()
        c.begin({'program': 'where.py', 'cwd': folder,
                 'python': adapter.python(),
                 'env': {'ONE': 'two', 'LC_ALL': None}})
        leave(c)
        assert c.output['stdout'] == f'{os.path.realpath(folder)} two None\n'


# ---- what is wrong with a launch ----------------------------------------


def fails(launch, text):
    c = initialized()
    answer = c.response(c.send('launch', launch))
    assert not answer['success'] and text in answer['message'], answer
    assert answer['body']['error']['variables']['text'] == answer['message']
    return c


def test_launches_that_are_wrong():
    for launch, text in (
            ({}, "either 'program' (the script"),
            ({'program': 3}, "either 'program' (the script"),
            (dict(ADD, grid='no'), 'no'),
            (dict(ADD, grid={'x': 3}), "'grid' must be of type"),
            (dict(ADD, kernelArgs='x=3'), "'kernelArgs' must be of type"),
            (dict(ADD, kernelArgs={'x': ['f32']}), "'kernelArgs' must be"),
            (dict(ADD, options=['--nonsense']), 'unknown option'),
            (dict(ADD, options='--json'), "'options' must be"),
            (dict(ADD, cwd='/no/such/folder'), '/no/such/folder'),
            (dict(ADD, env=['A']), "'env' must be"),
            ({'program': '/no/such.py'}, '/no/such.py'),
            (script(python='/no/such/python'), '/no/such/python'),
            ({'program': SCRIPT, 'args': [[]]}, "'args' must be")):
        fails(launch, text)
        adapter.end_all()


def test_kernel_that_is_not_there():
    c = initialized()
    seq = c.send('launch', dict(ADD, kernel='ad'))
    answer = c.response(seq)
    assert not answer['success'] and "'ad'" in answer['message'], answer
    c.event('terminated')
    c.request('disconnect')
    c.closes()
    assert c.process.wait(20) == 2


def test_launch_again_after_a_mistake():
    c = fails({}, "either 'program' (the script")
    c.begin(ADD)
    leave(c)


def test_wrong_file_to_replay():
    with tempfile.NamedTemporaryFile(suffix='.safetensors') as f:
        f.write(b'nonsense')
        f.flush()
        c = initialized()
        answer = c.response(c.send('launch', {'replay': f.name}))
        assert not answer['success'], answer


# ---- order and damage ----------------------------------------


def test_requests_in_a_wrong_order():
    c = started()
    refused(lambda: c.request('configurationDone'), 'nothing has been')
    refused(lambda: c.set_breakpoints(KERNELS, [3]), 'nothing has been')
    refused(lambda: c.request('continue', threadId=1), 'nothing has been')
    refused(lambda: c.request('attach'), 'tkdbg dap --port')
    c.initialize()
    c.begin(dict(ADD, stopOnEntry=True))
    c.stopped()
    refused(lambda: c.request('launch', **ADD), 'launched already')
    finish(c)


def test_arguments_of_wrong_types():
    c, s = adapter.stopped(ADD)
    for command, args in (('stackTrace', {'threadId': 'one'}),
                          ('variables', {}), ('evaluate', {'expression': 3}),
                          ('setBreakpoints', {'source': [], 'breakpoints': 1}),
                          ('scopes', {'frameId': 99}),
                          ('scopes', {'frameId': -1}),
                          ('variables', {'variablesReference': 2**40}),
                          ('stepIn', {'threadId': 0}),
                          ('nonsense', {}),
                          ('readMemory', {'memoryReference': '0x1'})):
        refused(lambda: c.request(command, **args), '')
    answer = c.response(c.send('threads', [1, 2]))
    assert not answer['success']
    answer = c.response(c.send('setBreakpoints', {
        'source': {'path': KERNELS}, 'breakpoints': [{'line': 'x'}, 7]}))
    assert [b['verified'] for b in answer['body']['breakpoints']] == [
        False, False]
    finish(c)


def test_damaged_messages():
    c, s = adapter.stopped(ADD)
    for data in (b'Content-Length: -5\r\n\r\n', b'Content-Length: x\r\n\r\n',
                 b'Content-Length: 99999999999999999999\r\n\r\n{}',
                 b'Nothing: 3\r\n\r\n', b'Content-Length: 4\r\n\r\n{"a"',
                 b'Content-Length: 2\r\n\r\n[]', b'Content-Length: 0\r\n\r\n',
                 b'x' * 10000, b'Content-Length: 3\r\n\r\n{}\0',
                 b'Content-Length: 2\r\n\r\n{}'):
        c.send_bytes(data)
        assert c.request('threads')['threads']
    assert c.output['console'].count('tkdbg: ') >= 8, c.output['console']
    finish(c)


def test_cancel_of_a_request_that_waits():
    c, s = adapter.stopped(ADD)

    def message(seq, command, **arguments):
        body = json.dumps({'seq': seq, 'type': 'request', 'command': command,
                           'arguments': arguments}).encode()
        return b'Content-Length: %d\r\n\r\n%s' % (len(body), body)
    c.send_bytes(message(901, 'threads') + message(902, 'threads') +
                 message(903, 'cancel', requestId=902))
    answers = {m['request_seq']: m for m in (c.arrived() for _ in range(3))}
    assert answers[901]['success'] and answers[903]['success']
    assert answers[902]['message'] == 'cancelled'
    finish(c)


def test_a_client_that_vanishes():
    for launch in (dict(ADD, stopOnEntry=True), script(60),
                   {'program': KERNELS, 'kernel': 'slow', 'grid': 1,
                    'kernelArgs': {'x': 'i32[1]:zeros', 'n': 10**9}}):
        c = initialized()
        c.begin(launch)
        if 'stopOnEntry' in launch:
            c.stopped()
        c.process.stdin.close()
        c.process.wait(30)


# ---- ports ----------------------------------------


def test_port_serves_several():
    server = Listening()
    clients = [server.connect() for _ in range(3)]
    for c in clients:
        c.initialize()
        c.begin(dict(ADD, stopOnEntry=True))
    for c in clients:
        assert c.stopped()['reason'] == 'entry'
    for c in clients:
        c.request('continue', threadId=1)
        assert c.event('exited')['exitCode'] == 0
        c.event('terminated')
        c.request('disconnect')
        c.closes()
    assert server.process.poll() is None


def test_port_once():
    server = Listening('--once')
    c = server.connect()
    c.initialize()
    c.begin(ADD)
    leave(c)


def test_another_interface_needs_a_word():
    p = subprocess.run([os.path.join(adapter.BUILD, 'tkdbg'), 'dap', '--port',
                        '0.0.0.0:0'], capture_output=True, text=True,
                       env=adapter.environment(), timeout=20)
    assert p.returncode == 2 and '--listen-anywhere' in p.stderr, p


def attached(server):
    c = server.connect()
    c.initialize()
    c.begin({'stopOnEntry': True}, how='attach')
    return c, c.stopped()


def test_attach():
    server = Listening(KERNELS, '--kernel', 'add', '--grid', '4', '--arg',
                       'x=f32[30]:arange', '--arg', 'y=f32[30]:zeros', '--arg',
                       'n=30', '--arg', 'B=8')
    c, s = attached(server)
    assert s['reason'] == 'entry', s
    assert s['frame']['name'] == 'add'
    finish(c)


def test_attach_again():
    server = Listening(KERNELS, '--kernel', 'slow', '--grid', '1', '--arg',
                       'x=i32[1]:zeros', '--arg', 'n=1000000000')
    c, s = attached(server)
    c.set_breakpoints(KERNELS, [line('total += i % 7')])
    c.request('disconnect')
    c.closes()
    c, s = attached(server)
    assert s['reason'] == 'pause', s
    assert s['frame']['name'].startswith('slow')
    c.socket.shutdown(socket.SHUT_RDWR)
    c, s = attached(server)
    c.request('disconnect', terminateDebuggee=True)
    c.closes()
    assert server.process.wait(20) == 0


def test_attach_to_a_script():
    server = Listening('--python', adapter.python(), SCRIPT, '0', '2')
    c, s = attached(server)
    assert s['frame']['name'] == 'add'
    c.request('continue', threadId=1)
    leave(c)
    assert 'sum 360.0' in server.process.stdout.read().decode()


def test_attach_at_standard_streams():
    c = initialized('--python', adapter.python(), SCRIPT)
    c.begin({'stopOnEntry': True}, how='attach')
    assert c.stopped()['reason'] == 'entry'
    finish(c)
    assert 'begins' in c.output['stdout']


def test_interrupt_ends_a_server():
    server = Listening()
    server.process.send_signal(signal.SIGINT)
    server.process.wait(20)
    server = Listening(SCRIPT)
    server.process.send_signal(signal.SIGINT)
    server.process.wait(20)
