"""A client of the remote serial protocol, for tests that count packets or need
no debugger."""
import subprocess

# What is served to them: a launch of the command line, and a script.
KERNEL = ('tests/gdb/kernels.py', '--kernel', 'counts', '--arg', 'n=3',
          '--arg', 'x_ptr=i32[4]:zeros')
SCRIPT = 'tests/gdb/again.py',


class Client:
    """Packets by two streams; the first one is written to."""

    def __init__(self, out, back, *others):
        self.out, self.back, self.others = out, back, others
        self.packets = 0
        self.ask('QStartNoAckMode')
        self.ask('qSupported:multiprocess+;swbreak+')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for stream in (self.out, self.back, *self.others):
            stream.close()

    def ask(self, text):
        """The reply to a packet; what is printed before it is left out."""
        data = text.encode()
        self.out.write(b'$%s#%02x' % (data, sum(data) % 256))
        self.out.flush()
        self.packets += 1
        while True:
            reply = self.packet()
            if not reply.startswith(b'O') or reply == b'OK':
                return reply.decode('latin-1')

    def packet(self):
        while True:
            c = self.back.read(1)
            if not c:
                return b'X00'
            if c == b'$':
                break
        data = bytearray()
        while (c := self.back.read(1)) != b'#' and c:
            data += c
        self.back.read(2)
        return bytes(data)


class Remote(Client):
    """A server at the other end of two pipes."""

    def __init__(self, argv, **how):
        self.server = subprocess.Popen(argv, stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, **how)
        super().__init__(self.server.stdin, self.server.stdout)

    def __exit__(self, *_):
        self.close()
        self.server.kill()
        self.server.wait()
