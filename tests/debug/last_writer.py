"""A watchpoint and reverse-continue find the last change, from everywhere.

    python3 tests/debug/last_writer.py --build build

Going forward tells when an element changes; from each event of the launch,
going back must come to the last of those that are not after it.
"""
import argparse
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
LAUNCH = ('tests/debug/add.py --kernel add --grid 4 --arg x=i32[32]:arange '
          '--arg y=i32[32]:zeros --arg n=30 --arg B=8').split()
ELEMENTS = 'y[0]', 'y[3]', 'y[12]', 'y[23]', 'y[31]'
FIRST = 1


def events(tkdbg, commands):
    """What each `when` among the commands says."""
    done = subprocess.run(
        [tkdbg, 'debug', *LAUNCH], input='\n'.join([*commands, 'q', '']),
        cwd=ROOT, capture_output=True, text=True, timeout=60)
    return [int(n) for n in re.findall(r'(?m)^event (\d+)', done.stdout)]


def wrong(tkdbg, element, end):
    """Yields what goes wrong with one element."""
    going = ['c', 'when'] * 4
    changes = [e for e in events(tkdbg, [f'watch {element}', *going])
               if e < end]
    # y[0] becomes 0, which is no change; y[31] is masked off
    if len(changes) != (element not in ('y[0]', 'y[31]')):
        yield f'{element} changes at {changes}'
    for event in range(FIRST + 1, end):
        # the store is a program's last statement: who stops at its event
        # stands in it, who goes there before it
        want = max([FIRST] + [e for e in changes if e < event])
        got = events(tkdbg, [f'goto {event}', f'watch {element}', 'rc',
                             'when'])
        if got != [want]:
            yield f'{element}: from event {event} to {got}, not {want}'


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    args = parser.parse_args()
    tkdbg = os.path.join(os.path.abspath(args.build), 'tkdbg')
    # one before the end, where no program is any more
    end = events(tkdbg, ['goto 1000000000', 'reverse-step', 'when'])[0]
    failed = 0
    for element in ELEMENTS:
        faults = list(wrong(tkdbg, element, end))
        failed += bool(faults)
        print(f'{"FAIL" if faults else "ok"} last writer of {element}')
        print('\n'.join(faults[:5]), end='\n' if faults else '')
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
