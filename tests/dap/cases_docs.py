"""What is written down of the protocol is what the library says: docs/vscode.md
and its session, the schema of the extension, a test for every request."""
import ctypes
import glob
import json
import os
import re

import adapter
import page
import transcript

EXTENSION = os.path.join(page.ROOT, 'gdbstub', 'editors', 'vscode',
                         'package.json')


def library():
    lib = ctypes.CDLL(os.path.join(adapter.BUILD, 'libtkdbg.so'))
    for name in ('tk_dap_request', 'tk_dap_request_doc', 'tk_dap_attribute',
                 'tk_dap_attribute_type', 'tk_dap_attribute_doc'):
        getattr(lib, name).restype = ctypes.c_char_p
        getattr(lib, name).argtypes = [ctypes.c_size_t]
    return lib


def listed(function):
    for i in range(1000):
        text = function(i)
        if text is None:
            return
        yield text.decode()


def read(path):
    with open(path, encoding='utf-8') as f:
        return f.read()


def test_session_of_the_page():
    lines = read(page.PAGE).split('\n')
    found = list(page.blocks(lines))
    assert found
    for start, end in found:
        got = '\n'.join(page.shown(lines[start:end])) + '\n'
        wrong = transcript.compare(lines[start:end], 0, got)
        assert wrong is None, wrong


def test_attributes():
    lib, text = library(), read(page.PAGE)
    properties = {}
    for name, kinds, doc in zip(listed(lib.tk_dap_attribute),
                                listed(lib.tk_dap_attribute_type),
                                listed(lib.tk_dap_attribute_doc)):
        kinds = kinds.split('|')
        row = f'| `{name}` | {" or ".join(kinds)} | {doc} |'
        assert row in text, row
        properties[name] = {'type': kinds if len(kinds) > 1 else kinds[0],
                            'description': doc}
    debugger = json.loads(read(EXTENSION))['contributes']['debuggers'][0]
    assert (debugger['configurationAttributes']['launch']['properties']
            == properties)


def test_requests():
    lib, text = library(), read(page.PAGE)
    sessions = ''.join(map(read, glob.glob(os.path.join(page.HERE, '*.py'))))
    for name, doc in zip(listed(lib.tk_dap_request),
                         listed(lib.tk_dap_request_doc)):
        assert f'| `{name}` | {doc} |' in text, name
        assert re.search(rf"'{name}'", sessions), f'{name} has no test'


def test_extension_starts_it():
    debugger = json.loads(read(EXTENSION))['contributes']['debuggers'][0]
    program = os.path.join(os.path.dirname(EXTENSION), debugger['program'])
    env = dict(os.environ,
               TKDBG_COMMAND=os.path.join(adapter.BUILD, 'tkdbg'))
    import client
    import subprocess
    p = subprocess.Popen([program, *debugger['args']], env=env,
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    c = client.Client(p.stdout, p.stdin)
    c.initialize()
    c.request('disconnect')
    c.closes()
    assert p.wait(20) == 0
