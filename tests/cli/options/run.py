"""Runs the table of options, options.txt; see there.

    python3 tests/cli/options/run.py [TEXT]     only rows with TEXT

Prints a line for each pair of an option and a command: 'ok' or 'not ok'.  Of
the commands that a row names for scripts, which start Python, one is tried, but
with ROWS=all; all kinds of FILE, and all commands of the other kinds, are.
"""
import concurrent.futures
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', '..', 'support'))
import rows as rows_  # noqa: E402

KERNELS = os.path.join(HERE, 'kernels.py')
LIMIT = 30  # seconds of a run
STOPS = 20  # after which gdb leaves

GROUPS = {'LAUNCHING': 'run debug gdbserver gdb dap why profile view diff',
          'DEBUGGING': 'debug gdbserver gdb dap'}
FILES = {'ir': ('direct', 'record'), 'replay': ('record',),
         'report': ('record',), 'bisect': ('record',),
         'fuzz': ('none', 'script'),
         **dict.fromkeys('run debug gdbserver gdb dap why profile view diff '
                         'prove compile'.split(),
                         ('script', 'direct', 'record'))}
ARGUMENTS = {
    'add': '--grid 2 --arg x=f32[8]:arange --arg y=f32[8]:zeros --arg n=8 '
           '--arg BLOCK=4',
    'mix': '--grid 1 --arg a=f32[32,32]:rand(0) --arg b=f32[32,32]:rand(1) '
           '--arg c=f32[32,32]:zeros',
    'says': '--grid 2 --arg y=f32[8]:zeros',
    'undefined': '--grid 1 --arg x=f32[8]:arange --arg y=f32[8]:zeros'}
ARGUMENTS['twice'] = ARGUMENTS['noise'] = ARGUMENTS['add']
OUTPUT = {'add': 'y', 'twice': 'y', 'noise': 'y', 'mix': 'c', 'says': 'y',
          'undefined': 'y'}


class Row:
    """A line of the table."""

    def __init__(self, number, line):
        parts = [part.strip() for part in line.split(' | ')]
        if len(parts) != 5:
            raise SystemExit(f'options.txt:{number}: five columns are needed')
        self.number = number
        self.option, commands, files, self.words, wanted = parts
        self.commands = [c for word in commands.split()
                         for c in GROUPS.get(word, word).split()]
        self.files = files.split()
        self.verdict, _, self.wanted = wanted.partition(':')
        self.wanted = self.wanted.strip()
        if self.verdict not in ('works', 'refused') or not self.wanted:
            raise SystemExit(f"options.txt:{number}: 'works: ...' or "
                             "'refused: ...' is needed")

    def tried(self):
        """Pairs of a command and a kind of FILE that are tried."""
        for kind in self.files:
            for i, command in enumerate(self.commands):
                if kind != 'script' or rows_.are_all() or (
                        i == self.number % len(self.commands)):
                    yield command, kind


def table():
    with open(os.path.join(HERE, 'options.txt'), encoding='utf-8') as f:
        return [Row(number, line.rstrip('\n'))
                for number, line in enumerate(f, 1)
                if line.strip() and not line.startswith('#')]


def known():
    """{command: its options}, as tkdbg itself tells a shell."""
    script = subprocess.run(['tkdbg', 'help', '--completion', 'bash'],
                            capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^ +(\w+):-\*\) words='(.*)' ;;$", script, re.M)
    return {command: [w[2:] for w in words.split()]
            for command, words in found}


def uncovered(rows):
    """Pairs, with each kind of FILE that the command takes, of no row."""
    have = {(row.option, command, kind) for row in rows
            for command in row.commands for kind in row.files}
    for command, options in known().items():
        for option in options:
            for kind in FILES.get(command, ('none',)):
                if (option, command, kind) not in have:
                    yield f'{option} | {command} | {kind}'


# ---- command lines ----------------------------------------------------------

def kernel_of(words):
    named = [b for a, b in zip(words, words[1:]) if a == '--kernel']
    return named[-1] if named and named[-1] in ARGUMENTS else 'add'


def command_line(command, kind, words, shared):
    """The command line; words: the row's, perhaps with the script's arguments
    behind '--'."""
    at = words.index('--') if '--' in words else len(words)
    words, own = words[:at], words[at + 1:]
    line = ['tkdbg', command]
    kernel = kernel_of(words)
    if kind != 'none' and command not in ('report', 'bisect', 'fuzz') and \
            not {'--quiet', '-q'} & set(words):
        line.append('--quiet')
    if command == 'gdbserver' and not {'--listen', '--stdio'} & set(words):
        line.append('--stdio')
    if command == 'diff' and not {'--backend', '--ir'} & set(words):
        line += ['--backend', 'ptx']
    if command == 'why' and kind != 'script' and '--expect' not in words:
        line += ['--expect', f'{OUTPUT[kernel]}=@{shared}/{kernel}.npy']
    if kind == 'direct':
        line += shlex.split(ARGUMENTS[kernel])
        if '--kernel' not in words and '--ir' not in words:
            line += ['--kernel', kernel]
    file = {'script': KERNELS, 'direct': KERNELS, 'none': None,
            'record': os.path.join(shared, 'add.safetensors')}[kind]
    if '--ir' in words and kind == 'direct':
        file = os.path.join(shared, 'add.ttir')
        at = line.index('BLOCK=4')
        del line[at - 1:at + 1]
    return line + words + ([file] if file and not own[:1] == ['FILE'] else []) \
        + (own[1:] if own[:1] == ['FILE'] else own)


def remove(words, option):
    """words without the option and its value."""
    kept, skip = [], False
    for word, after in zip(words, [*words[1:], '--']):
        if skip:
            skip = False
        elif word == f'--{option}':
            skip = not after.startswith('-')
        else:
            kept.append(word)
    return kept


# ---- clients ----------------------------------------------------------------

def message(number, command):
    text = (f'{{"seq": {number}, "type": "request", "command": "{command}", '
            '"arguments": {}}')
    return f'Content-Length: {len(text)}\r\n\r\n{text}'.encode()


REQUESTS = (message(1, 'initialize') + message(2, 'attach')
            + message(3, 'configurationDone'))


def converse(process):
    """gdb, which goes on until the server says that the program has ended, or
    has stopped too often."""
    said, all_said, stops = b'', b'', 0
    try:
        process.stdin.write(b'+$c#63')
        process.stdin.flush()
        for byte in iter(lambda: process.stdout.read(1), b''):
            said += byte
            all_said += byte
            packet = re.search(rb'\$([^#$]*)#..$', said)
            if not packet:
                continue
            said = b''
            stopped = packet.group(1)[:1] in (b'T', b'S')
            stops += stopped
            if packet.group(1)[:1] in (b'W', b'X', b'E') or stops > STOPS:
                break
            process.stdin.write(b'+$c#63' if stopped else b'+')
            process.stdin.flush()
    except BrokenPipeError:
        pass
    rest, _ = process.communicate()
    return all_said + rest


def attend(process):
    """An editor, which leaves when the program has ended."""
    said = b''
    try:
        process.stdin.write(REQUESTS)
        process.stdin.flush()
    except BrokenPipeError:
        pass
    for byte in iter(lambda: process.stdout.read(1), b''):
        said += byte
        if said.endswith(b'"terminated"'):
            break
    rest, _ = process.communicate()
    return said + rest


def run(line, folder, command):
    """(status, what was printed)"""
    env = dict(os.environ, BROWSER='true',
               GDB=os.path.join(folder, '..', 'gdb'),
               NO_COLOR='1', HOME=folder,
               TKDBG_CACHE_DIR=os.path.join(folder, 'cache'))
    with open(os.path.join(folder, 'said'), 'wb') as err, subprocess.Popen(
            line, cwd=folder, env=env, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=err) as process:
        late = threading.Timer(LIMIT, process.kill)
        late.start()
        try:
            if '--stdio' in line:
                out = converse(process)
            elif command == 'dap':
                out = attend(process)
            else:
                out, _ = process.communicate(
                    b'continue\n' * 20 if command == 'debug' else b'')
        finally:
            late.cancel()
    with open(os.path.join(folder, 'said'), 'rb') as f:
        return process.returncode, (out + f.read()).decode('utf-8', 'replace')


# ---- verdicts ---------------------------------------------------------------

def problem(row, command, kind, folder, shared):
    """What is wrong with a row for one command and kind of FILE; None."""
    words = shlex.split(row.words.replace('SHARED', shared))
    if words == ['-']:
        words = []
    line = command_line(command, kind, words, shared)
    status, text = run(line, folder, command)
    shown = f'{shlex.join(line)}\nstatus {status}\n{text}'
    if command == 'gdb' and '--help' not in words:  # hands them to gdbserver
        passed = f'--{row.option}' in text and status == 0
        refused = status == 2 and row.verdict == 'refused' and re.search(
            row.wanted, text)
        return None if passed or refused else shown
    if row.verdict == 'refused':
        good = status == 2 and re.search(row.wanted, text)
        return None if good else f'not refused: {shown}'
    how, _, what = row.wanted.partition(' ')
    if how == 'status':
        return None if status == int(what) else shown
    if how == 'exists':
        there = os.path.exists(os.path.join(folder, what))
        return None if there else f'no {what}: {shown}'
    if how == 'says':
        return None if re.search(what, text) else f'not said: {shown}'
    if how == 'silent':
        return f'said: {shown}' if re.search(what, text) else None
    if how == 'changes':
        return unchanged(row, command, kind, folder, shared, words, what, text)
    return f"options.txt:{row.number}: unknown effect '{how}'"


def unchanged(row, command, kind, folder, shared, words, what, text):
    """None if the file `what`, or what is said if that is '', is another one
    without the option."""
    def result(text):
        if not what:
            return text
        try:
            with open(os.path.join(folder, what), 'rb') as f:
                return f.read()
        except OSError:
            return None
    first = result(text)
    without = command_line(command, kind, remove(words, row.option), shared)
    _, other = run(without, folder, command)
    return None if first != result(other) else f'the same without it: {text}'


def attempt(row, command, kind, root):
    with tempfile.TemporaryDirectory(dir=root) as folder:
        return problem(row, command, kind, folder,
                       os.path.join(root, 'shared'))


def prepare(root):
    """What rows share: launch files, arrays, a typed form, a gdb."""
    shared = os.path.join(root, 'shared')
    os.mkdir(shared)
    for kernel, output in OUTPUT.items():
        subprocess.run(
            ['tkdbg', 'run', '--quiet', '--no-asserts', '--kernel', kernel,
             *shlex.split(ARGUMENTS[kernel]),
             '--record', f'{shared}/{kernel}.safetensors',
             '--save', f'{output}={shared}/{kernel}.npy', KERNELS],
            check=True, stdout=subprocess.DEVNULL)
    with open(f'{shared}/add.ttir', 'wb') as f:
        subprocess.run(['tkdbg', 'ir', f'{shared}/add.safetensors'],
                       stdout=f, check=True)
    with open(f'{shared}/none.supp', 'w', encoding='utf-8') as f:
        f.write('undef kernels.py:*\n')
    gdb = os.path.join(root, 'gdb')
    with open(gdb, 'w', encoding='utf-8') as f:
        f.write('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    os.chmod(gdb, 0o755)


def has_ptx(root):
    """Whether code for a GPU can be made here."""
    status, _ = run(['tkdbg', 'run', '--quiet', '--engine', 'ptx', '--kernel',
                     'add', *shlex.split(ARGUMENTS['add']), KERNELS],
                    os.path.join(root, 'shared'), 'run')
    return status == 0


def main():
    only = sys.argv[1] if len(sys.argv) > 1 else ''
    root = tempfile.mkdtemp()
    try:
        prepare(root)
        rows, ptx = table(), has_ptx(root)
        bad = list(uncovered(rows))
        for pair in bad:
            print(f'not ok no row for {pair}')
        runs = [(row, command, kind) for row in rows
                for command, kind in row.tried()
                if only in f'{row.option} | {command} | {kind}']
        lost = [r for r in runs if not ptx and (
            r[1] == 'diff' or re.search(r'\b(ptx|cubin)\b', r[0].words))]
        for row, command, kind in lost:
            print(f'skip {row.option} of {command}, {kind}: no LLVM for PTX')
        runs = [r for r in runs if r not in lost]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            done = pool.map(lambda r: attempt(*r, root), runs)
            for (row, command, kind), wrong in zip(runs, done):
                name = f'{row.option} of {command}, {kind} (line {row.number})'
                print(f'not ok {name}: {wrong}' if wrong else f'ok {name}',
                      flush=True)
    finally:
        shutil.rmtree(root)


if __name__ == '__main__':
    main()
