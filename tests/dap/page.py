"""The sessions of docs/vscode.md: blocks fenced as ```dap.

A line that is not indented is what somebody does in an editor; the indented
lines behind it are what the editor shows, '...' standing for any characters.

    Launch JSON                what launch.json has; it may go on, indented
    Breakpoint LINE [if EXPR]  of the launch's program
    Start | Continue | Step over | Step into | Step out | Step back | Reverse
                               shows where it stops
    Variables SCOPE            ... a scope of the pane
    Watch EXPR | Console LINE  ... its value, what the console says
    Set NAME = VALUE           ... of a local variable
    Stop

    python3 tests/dap/page.py --build build

writes what is shown into the page, to be read before it is kept.
"""
import argparse
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PAGE = os.path.join(ROOT, 'docs', 'vscode.md')
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(ROOT, 'tests', 'support'))
import adapter  # noqa: E402

MOVES = {'Continue': 'continue', 'Step over': 'next', 'Step into': 'stepIn',
         'Step out': 'stepOut', 'Step back': 'stepBack',
         'Reverse': 'reverseContinue'}


def blocks(lines):
    """(first line, line behind) of each session."""
    for i, line in enumerate(lines):
        if line == '```dap':
            yield i + 1, lines.index('```', i)


def actions(lines):
    """[(what is done, [lines that are shown])]; JSON goes on, indented."""
    done = []
    for line in lines:
        if not line.startswith('  '):
            done.append((line, []))
        elif done[-1][0].startswith('Launch'):
            done[-1] = (done[-1][0] + '\n' + line, [])
        else:
            done[-1][1].append(line)
    return done


class Session:
    def __init__(self):
        self.c = adapter.initialized(cwd=ROOT)
        self.breakpoints, self.frame = [], None

    def do(self, text):
        """The lines that the editor shows after something was done."""
        word, _, rest = text.partition(' ')
        if text in MOVES:
            return self.where(self.c.go(MOVES[text]))
        return getattr(self, word.lower())(rest.strip())

    def where(self, stop):
        self.frame = stop['frame']
        name = {t['id']: t['name']
                for t in self.c.request('threads')['threads']}
        shown = [f'stopped: {stop["reason"]}, {name[stop["threadId"]]}']
        if 'description' in stop:
            shown.append(stop['description'])
        place = self.frame
        return [*shown, f'{place["name"]} at {place["source"]["name"]}:'
                        f'{place["line"]}']

    def launch(self, text):
        self.launched = json.loads(text)
        self.path = os.path.join(ROOT, self.launched['program'])
        return []

    def breakpoint(self, text):
        line, _, condition = text.partition(' if ')
        point = {'line': int(line)}
        if condition:
            point['condition'] = condition
        self.breakpoints = [b for b in self.breakpoints
                            if b['line'] != point['line']] + [point]
        if self.frame:
            self.c.set_breakpoints(self.path, self.breakpoints)
        return []

    def start(self, _):
        self.c.begin(self.launched, [(self.path, self.breakpoints)])
        return self.where(self.c.stopped())

    def variables(self, scope):
        return [f'{v["name"]}: {v["value"]}'
                for v in self.c.scope(self.frame, scope).values()]

    def watch(self, text):
        return [self.c.evaluate(text, self.frame)['result']]

    def console(self, text):
        return self.c.evaluate(text, self.frame, 'repl')['result'].split('\n')

    def set(self, text):
        name, _, value = text.partition(' = ')
        scopes = self.c.request('scopes', frameId=self.frame['id'])['scopes']
        local = [s for s in scopes if s['name'] == 'Locals'][0]
        self.c.request('setVariable', name=name, value=value,
                       variablesReference=local['variablesReference'])
        return []

    def stop(self, _):
        self.c.request('disconnect')
        self.c.closes()
        return []


def shown(lines):
    """The session's lines again, with what is shown now."""
    session, out = Session(), []
    for done, _ in actions(lines):
        out += done.split('\n')
        out += [('  ' + x).rstrip() for x in session.do(done)]
    return out


def main():
    parser = argparse.ArgumentParser(description='Updates docs/vscode.md.')
    parser.add_argument('--build', default='build')
    adapter.BUILD = os.path.abspath(parser.parse_args().build)
    with open(PAGE, encoding='utf-8') as f:
        lines = f.read().rstrip('\n').split('\n')
    for start, end in reversed(list(blocks(lines))):
        lines[start:end] = shown(lines[start:end])
    with open(PAGE, 'w', encoding='utf-8') as f:
        f.write('\n'.join(lines) + '\n')
    adapter.end_all()


if __name__ == '__main__':
    main()
