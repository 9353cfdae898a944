"""The debuggers that sessions are held with: gdb, its machine interface, lldb.

Each gets the case (its `typed` lines), the command line that serves it without
an address, a scratch folder, and prints what the user would see.
"""
import itertools
import os
import re
import shutil
import subprocess
import threading
import time

SECONDS = 120
SETUP = ('set width 0', 'set pagination off', 'set confirm off',
         'set trace-commands on', 'set remotetimeout 60',
         'set breakpoint pending on')


class Gdb:
    """At a terminal: what is typed comes from standard input."""
    program, prompt, target = 'gdb', '(gdb) ', 'remote'

    def argv(self, where):
        argv = [self.program, '-nx', '-q']
        for command in SETUP:
            argv += ['-ex', command]
        return [*argv, '-ex', f'target {self.target} {where}']

    def talk(self, typed, where, env, cwd):
        done = subprocess.run(
            self.argv(where), cwd=cwd, env=env, timeout=SECONDS,
            input='\n'.join(typed) + '\n', text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.stdout

    def hold(self, typed, serve, folder, env, cwd):
        return self.talk(typed, '| ' + serve('--stdio'), env, cwd)

    def tidy(self, text):
        text = re.sub(r'^>*\(gdb\) \+', self.prompt, text, flags=re.M)
        # What gdb says of a command that stands for another, and of the end.
        text = re.sub(r'^\+.*\n', '', text, flags=re.M)
        text = re.sub(r'\(gdb\) quit\n.*\Z', '', text, flags=re.S)
        lines = text.rstrip('\n').split('\n')
        for i, line in enumerate(lines):
            if 'Reading symbols from' in line:
                return lines[i + 1:]
        return lines


class Mi(Gdb):
    """Its machine interface: only what it prints is compared."""

    def argv(self, where):
        argv = super().argv(where)
        argv.insert(1, '--interpreter=mi3')
        at = argv.index('set trace-commands on')
        return argv[:at - 1] + argv[at + 1:]

    def tidy(self, text):
        return [line for line in super().tidy(text)
                if line.strip() != '(gdb)']


class ExtendedGdb(Gdb):
    """It may run the launch again."""
    target = 'extended-remote'


class Multiarch(Gdb):
    """A gdb that knows other machines than this one."""
    program = 'gdb-multiarch'


class Both(Gdb):
    """`tkdbg gdb`, which starts both ends."""

    def hold(self, typed, serve, folder, env, cwd):
        begin = 'set trace-commands on', 'set width 0', 'set confirm off'
        done = subprocess.run(
            serve('').split(), cwd=cwd, env=env, timeout=SECONDS,
            input='\n'.join([*begin, *typed]) + '\n', text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.stdout.partition('+set confirm off\n')[2]

    def tidy(self, text):
        return super().tidy('Reading symbols from\n' + text)


class Lent:
    """Our own debugger's prompt, whose command `gdb` lets gdb have the launch:
    lines behind that command are typed in gdb, up to the next '(tkdbg) '."""
    program, prompt, gdb = 'gdb', ('(tkdbg) ', '(gdb) '), Gdb()
    waits = re.compile(r'(?<=target remote )(\S+)(?= \()')

    def hold(self, typed, serve, folder, env, cwd):
        """gdb's part stands where it begins, ours around it."""
        ours, theirs = self.prompt
        commands = [line[len(ours):] for line in typed if line.startswith(ours)]
        groups = [list(group) for is_theirs, group in itertools.groupby(
            typed, lambda line: line.startswith(theirs)) if is_theirs]
        server = subprocess.Popen(
            serve('').split(), cwd=cwd, env=env, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        timer = threading.Timer(SECONDS, server.kill)
        timer.start()
        text = ''
        with server:
            server.stdin.write('\n'.join(commands) + '\n')
            server.stdin.close()
            for line in server.stdout:
                text += self.waits.sub('ADDRESS', line)
                if where := self.waits.search(line):
                    got = self.gdb.talk(
                        [x[len(theirs):] for x in groups.pop(0)], where[1],
                        env, cwd)
                    text += '\n'.join(self.gdb.tidy(got)) + '\n'
        timer.cancel()
        return text

    def tidy(self, text):
        return text.rstrip('\n').split('\n')


class Lldb:
    """It reads commands from a file, which it carries out one after another,
    and connects to a port."""
    program, prompt = 'lldb', '(lldb) '

    def hold(self, typed, serve, folder, env, cwd):
        port, elf = os.path.join(folder, 'port'), os.path.join(folder, 'k.elf')
        commands = os.path.join(folder, 'commands')
        server = subprocess.Popen(
            serve(f':0 --port-file {port} --write-elf {elf}').split(),
            cwd=cwd, env=env, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self.wait(port, elf)
            with open(port, encoding='ascii') as f:
                connect = f'gdb-remote {f.read().strip()}'
            with open(commands, 'w', encoding='utf-8') as f:
                f.write('\n'.join([
                    'settings set interpreter.stop-command-source-on-error '
                    'false', f'target create {elf}', connect,
                    *(line.replace('FOLDER', folder) for line in typed),
                    'quit']) + '\n')
            done = subprocess.run(
                ['lldb', '-x', '-X', '-s', commands], cwd=cwd, env=env,
                timeout=SECONDS, stdin=subprocess.DEVNULL, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        finally:
            server.kill()
            server.wait()
        return done.stdout.replace(folder, 'FOLDER')

    @staticmethod
    def wait(*paths):
        end = time.monotonic() + SECONDS
        while not all(map(os.path.exists, paths)):
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired('gdbserver', SECONDS)
            time.sleep(0.01)

    def tidy(self, text):
        text = re.sub(r'\(lldb\) quit\n.*\Z', '', text, flags=re.S)
        text = re.sub(r'[ \t]+$', '', text, flags=re.M)
        # A thread of its own says this, at some time.
        text = re.sub(r'^1 location added to breakpoint \d+\n', '', text,
                      flags=re.M)
        lines = text.rstrip('\n').split('\n')
        for i, line in enumerate(lines):
            if line.startswith('(lldb) gdb-remote '):
                return lines[i + 1:]
        return lines


CLIENTS = {'mi': Mi(), 'lldb': Lldb(), 'extended': ExtendedGdb(),
           'arm': Multiarch(), 'both': Both(), 'lent': Lent()}


def client_of(kind):
    return CLIENTS.get(kind) or Gdb()


def is_missing(client):
    return not shutil.which(client.program)
