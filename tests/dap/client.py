"""A client of the Debug Adapter Protocol, as the sessions of tests/dap use it.

Every message that arrives is checked against the protocol's JSON schema
(debugProtocol.json; debugProtocol.txt says where it is from).
"""
import collections
import functools
import itertools
import json
import os
import queue
import subprocess
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 30


class Refused(Exception):
    """A request was answered with success: false."""


@functools.lru_cache(None)
def validator(definition):
    """What checks messages of one definition of the schema; None: there is
    none of that name, or no library to check with."""
    try:
        import jsonschema
    except ImportError:
        return None
    with open(os.path.join(HERE, 'debugProtocol.json'), encoding='utf-8') as f:
        schema = json.load(f)
    if definition not in schema['definitions']:
        return None
    return jsonschema.Draft4Validator(
        {'$ref': f'#/definitions/{definition}',
         'definitions': schema['definitions']})


def definition_of(message):
    """The name of the schema's definition of a message."""
    if message['type'] == 'event':
        name = message['event']
        return name[0].upper() + name[1:] + 'Event'
    if not message['success']:
        return 'ErrorResponse'
    name = message['command']
    return name[0].upper() + name[1:] + 'Response'


def check(message):
    """Raises AssertionError if the protocol does not allow the message."""
    name = definition_of(message)
    v = validator(name)
    if v is None and validator('Event') is None:
        return
    assert v is not None, f'the protocol has no {name}'
    wrong = next(iter(v.iter_errors(message)), None)
    assert wrong is None, f'{wrong and wrong.message}\n{message}'


class Client:
    """Speaks with one adapter: request() waits for the response, event() for
    an event, both in the order in which messages arrive."""

    def __init__(self, reader, writer):
        self._reader, self._writer = reader, writer
        self._seq = itertools.count(1)
        self._arrived = queue.Queue()
        self.events = collections.deque()
        self.output = collections.defaultdict(str)
        self.capabilities = {}
        self.last = 0
        self.thread = 1  # that stopped last
        threading.Thread(target=self._read, daemon=True).start()

    # ---- messages --------------------------------------------------------

    def _read(self):
        while True:
            length, line = 0, self._reader.readline()
            if not line:
                break
            while line not in (b'\r\n', b''):
                name, _, value = line.partition(b':')
                if name.lower() == b'content-length':
                    length = int(value)
                line = self._reader.readline()
            self._arrived.put(json.loads(self._reader.read(length)))
        self._arrived.put(None)

    def send_bytes(self, data):
        self._writer.write(data)
        self._writer.flush()

    def send(self, command, arguments=None, **more):
        """Sends a request; its number."""
        seq = next(self._seq)
        message = {'seq': seq, 'type': 'request', 'command': command, **more}
        if arguments is not None:
            message['arguments'] = arguments
        body = json.dumps(message).encode()
        self.send_bytes(b'Content-Length: %d\r\n\r\n' % len(body) + body)
        return seq

    def arrived(self):
        """The next message; None: the connection is closed."""
        message = self._arrived.get(timeout=SECONDS)
        if message is None:
            self._arrived.put(None)
            return None
        check(message)
        assert message['seq'] > self.last, message
        self.last = message['seq']
        if message['type'] == 'event' and message['event'] == 'output':
            body = message['body']
            self.output[body.get('category', 'console')] += body['output']
        return message

    def response(self, seq):
        while True:
            message = self.arrived()
            if message is None:
                raise EOFError('the adapter has closed')
            if message['type'] == 'response' and message['request_seq'] == seq:
                return message
            if message['type'] == 'event':
                self.events.append(message)

    def request(self, command, **arguments):
        """The body of the response.  Raises Refused."""
        answer = self.response(self.send(command, arguments))
        if not answer['success']:
            raise Refused(answer['message'])
        return answer.get('body', {})

    def event(self, *names):
        """The body of the next event of one of these names."""
        while True:
            message = self.events.popleft() if self.events else self.arrived()
            if message is None:
                raise EOFError(f'the adapter has closed: no {names}')
            if message['type'] == 'event' and message['event'] in names:
                return message.get('body', {})

    def closes(self):
        """Waits until the adapter has closed."""
        while self.arrived() is not None:
            pass

    # ---- sessions --------------------------------------------------------

    def initialize(self, **more):
        self.capabilities = self.request(
            'initialize', adapterID='tkdbg', linesStartAt1=True,
            columnsStartAt1=True, pathFormat='path',
            supportsVariableType=True, **more)

    def begin(self, launch, breakpoints=(), how='launch', then=None):
        """Up to where the run begins; breakpoints: (path, [line or dict]).
        then(): more to be configured."""
        seq = self.send(how, launch)
        self.event('initialized')
        found = [self.set_breakpoints(path, lines)
                 for path, lines in breakpoints]
        if then:
            then()
        self.request('configurationDone')
        answer = self.response(seq)
        if not answer['success']:
            raise Refused(answer['message'])
        return found

    def set_breakpoints(self, path, lines):
        wanted = [x if isinstance(x, dict) else {'line': x} for x in lines]
        return self.request('setBreakpoints', source={'path': path},
                            breakpoints=wanted)['breakpoints']

    def stopped(self):
        """The next stop, with the frame that it stands in."""
        body = self.event('stopped', 'terminated')
        assert 'reason' in body, f'it ended: {dict(self.output)}'
        self.thread = body['threadId']
        body['frame'] = self.frame(self.thread)
        return body

    def frame(self, thread):
        frames = self.request('stackTrace', threadId=thread)['stackFrames']
        return frames[0] if frames else None

    def go(self, command, thread=None, **more):
        """A move of a program, or the one that stopped last, and where it
        ends."""
        self.request(command, threadId=thread or self.thread, **more)
        return self.stopped()

    def scope(self, frame, name):
        """{name: variable} of a scope of a frame."""
        scopes = self.request('scopes', frameId=frame['id'])['scopes']
        found = [s for s in scopes if s['name'] == name]
        return self.variables(found[0]['variablesReference'])

    def variables(self, reference, **more):
        listed = self.request('variables', variablesReference=reference,
                              **more)['variables']
        return {v['name']: v for v in listed}

    def evaluate(self, expression, frame=None, context='watch', **more):
        if frame:
            more['frameId'] = frame['id']
        return self.request('evaluate', expression=expression,
                            context=context, **more)


def start(tkdbg, *words, cwd=None, env=None):
    """A client of an adapter at standard input and output, and its process."""
    p = subprocess.Popen([tkdbg, 'dap', *words], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, cwd=cwd, env=env)
    return Client(p.stdout, p.stdin), p
