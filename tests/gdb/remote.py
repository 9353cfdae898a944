"""A client of the remote serial protocol, for tests that count packets or need
no debugger."""
import subprocess


class Remote:
    """A server at the other end of two pipes."""

    def __init__(self, argv, **how):
        self.server = subprocess.Popen(argv, stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, **how)
        self.packets = 0
        self.ask('QStartNoAckMode')
        self.ask('qSupported:multiprocess+;swbreak+')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.stdin.close()
        self.server.stdout.close()
        self.server.kill()
        self.server.wait()

    def ask(self, text):
        """The reply to a packet; what is printed before it is left out."""
        data = text.encode()
        self.server.stdin.write(b'$%s#%02x' % (data, sum(data) % 256))
        self.server.stdin.flush()
        self.packets += 1
        while True:
            reply = self.packet()
            if not reply.startswith(b'O') or reply == b'OK':
                return reply.decode('latin-1')

    def packet(self):
        stream = self.server.stdout
        while True:
            c = stream.read(1)
            if not c:
                return b'X00'
            if c == b'$':
                break
        data = bytearray()
        while (c := stream.read(1)) != b'#' and c:
            data += c
        stream.read(2)
        return bytes(data)
