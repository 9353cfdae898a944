"""make bench-gdb: how fast gdb is over tkdbg's server, beside what it may take.

    python3 tests/bench/gdb.py --build build

All over a port of this machine, timed in gdb's own Python; packets are those
that gdb writes to its log.  Exits with 1 where something takes longer than it
may, on a machine that does nothing else.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# Long enough for what a run takes to be more than what it takes to begin.
MATMUL = ('tests/bench/kernels.py --kernel matmul_kernel --grid 32,32 '
          '--arg a_ptr=f16[2048,2048]:rand --arg b_ptr=f16[2048,2048]:rand '
          '--arg c_ptr=f32[2048,2048]:zeros --arg M=2048 --arg N=2048 '
          '--arg K=2048 --arg BLOCK_M=64 --arg BLOCK_N=64 --arg BLOCK_K=32')
WIDE = '''import triton
import triton.language as tl


@triton.jit
def wide(x, n):
    i = tl.arange(0, 256)[:, None] * 128 + tl.arange(0, 128)[None, :]
    big = tl.load(x + i)
    for j in range(n):
        big += 1.0
    tl.store(x + i, big)
'''
ROUNDS = 5
SCRIPT = '''
import time, gdb
def timed(command, times=1):
    begin = time.perf_counter()
    for _ in range(times):
        gdb.execute(command, to_string=True)
    return (time.perf_counter() - begin) / times * 1e3
def written():
    with open("LOG") as f:
        return sum(line.startswith("w $") for line in f)
def packets(command):
    before = written()
    gdb.execute(command, to_string=True)
    return written() - before
def note(name, value):
    print(f"@ {name} {value:.4g}", flush=True)
'''


def cpu_time(process):
    """Of a process that ends, in seconds."""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime


class Bench:
    def __init__(self, build, folder):
        self.program = os.path.abspath(os.path.join(build, 'tkdbg'))
        self.folder = folder

    def serve(self, launch):
        port = os.path.join(self.folder, 'port')
        server = subprocess.Popen(
            [self.program, 'gdbserver', ':0', '--port-file', port, '--quiet',
             *launch.split()], cwd=ROOT, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not os.path.exists(port):
            time.sleep(0.01)
        with open(port, encoding='ascii') as f:
            number = f.read().strip()
        os.remove(port)
        return server, number

    def gdb(self, launch, code):
        """What code, in gdb's Python, has noted."""
        server, port = self.serve(launch)
        path = os.path.join(self.folder, 'bench.py')
        with open(path, 'w', encoding='utf-8') as f:
            f.write((SCRIPT + code).replace('PORT', port).replace(
                'LOG', os.path.join(self.folder, 'log')))
        done = subprocess.run(
            ['gdb', '-nx', '-q', '-batch', '-ex', 'set confirm off', '-ex',
             'set max-value-size unlimited', '-x', path], cwd=ROOT, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        noted = {'cpu': cpu_time(server)}
        for line in done.stdout.splitlines():
            if line.startswith('@ '):
                _, name, value = line.split()
                noted[name] = float(value)
        if len(noted) == 1:
            sys.exit(done.stdout)
        return noted

    def plain(self, launch):
        """What the run itself takes, as its last line says, in ms; and the
        processor time of the process."""
        with subprocess.Popen([self.program, 'run', *launch.split()], cwd=ROOT,
                              text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT) as p:
            said = p.stdout.read()
            cpu = cpu_time(p)
        time_of, unit = re.search(r' in ([0-9.]+) (ms|s)\b', said).groups()
        return float(time_of) * (1 if unit == 'ms' else 1000), cpu


def measure(bench):
    """Name, value, the most that it may be, unit."""
    steps = bench.gdb(MATMUL, '''
note("attach", timed("target remote :PORT"))
note("next", timed("next", 40))
gdb.execute("kill")
''')
    yield 'attach', steps['attach'], 300, 'ms'
    yield 'next', steps['next'], 5, 'ms'
    path = os.path.join(bench.folder, 'wide.py')
    with open(path, 'w', encoding='utf-8') as f:
        f.write(WIDE)
    launch = f'{path} --kernel wide --arg x=f32[32768]:rand --arg n='
    wide = bench.gdb(launch + '10000', '''
gdb.execute("set remotelogfile LOG")
gdb.execute("target remote :PORT")
gdb.execute("break 10")
gdb.execute("continue")
note("print", packets("print big"))
gdb.execute("delete")
gdb.execute("break 10 if j == 5000")
note("few", packets("continue"))
gdb.execute("delete")
gdb.execute("break 10 if j == 9999")
note("more", packets("continue"))
gdb.execute("kill")
''')
    yield 'print of 256 x 128', wide['print'], 100, 'packets'
    yield '5000 false conditions', wide['more'] - wide['few'], 0, 'packets'
    plain, under = [], []
    for _ in range(ROUNDS):
        plain.append(bench.plain(MATMUL))
        noted = bench.gdb(MATMUL, '''
gdb.execute("target remote :PORT")
note("run", timed("continue"))
''')
        under.append((noted['run'], noted['cpu']))
    for name, i, scale in (('time', 0, 1), ('processor time', 1, 1000)):
        least = min(x[i] for x in plain)
        yield (f'{name} under gdb', min(x[i] for x in under) / least, 1.1,
               f'of {least * scale:.0f} ms')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--build', default='build')
    options = parser.parse_args()
    slow = False
    with tempfile.TemporaryDirectory() as folder:
        for name, value, most, unit in measure(Bench(options.build, folder)):
            slow |= value > most
            print(f'{name:24} {value:8.4g} {unit}, at most {most}'
                  f'{"  TOO MUCH" if value > most else ""}', flush=True)
    return slow


if __name__ == '__main__':
    sys.exit(main())
