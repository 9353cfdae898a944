"""The documentation says what the tests hold and what the library does."""
import os
import re
import subprocess
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))

BUILD = os.environ.get('BUILD') or os.path.join(ROOT, 'build-asserts')


def read(*path):
    with open(os.path.join(ROOT, *path), encoding='utf-8') as f:
        return f.read()


def blocks(name):
    """The titles of a file of tests/language, or one that the build wrote."""
    for root in ROOT, BUILD:
        path = os.path.join(root, 'tests', 'language', name)
        if os.path.exists(path):
            return re.findall(r'^== (.*)$', read(path), re.M)
    return []


def references(text):
    """(file, block or None) of each test named in brackets."""
    for inside in re.findall(r'\[([^][]*\.(?:spec|case|c|md)[^][]*)\](?!\()',
                             text):
        inside = ' '.join(inside.split())
        for part in re.split(r', (?=\w+\.(?:spec|case|c)\b)', inside):
            name, _, block = part.partition(': ')
            yield name, block or None


class Semantics(unittest.TestCase):
    def test_named_tests_exist(self):
        found = list(references(read('docs', 'semantics.md')))
        self.assertGreater(len(found), 50)
        for name, block in found:
            with self.subTest(test=f'{name}: {block}'):
                if name.endswith('.md'):
                    read('docs', name)
                elif name.endswith('.c'):
                    read('tests', 'interp', name)
                elif block:
                    self.assertIn(block, blocks(name))
                else:
                    self.assertTrue(blocks(name))

    def test_every_statement_names_a_test(self):
        text = read('docs', 'semantics.md').split('\n## ', 1)[1]
        text = text.split('\n## What is left open')[0]  # test_semantics.py
        for item in re.split(r'\n- |\n## ', text)[1:]:
            item = item.strip()
            if '.' not in item:
                continue  # a heading
            with self.subTest(statement=' '.join(item.split())[:70]):
                self.assertTrue(list(references(item)))


def script(name, *arguments):
    """Exit status and output of one of our tools."""
    argv = [sys.executable, os.path.join(ROOT, 'tools', name), *arguments]
    library = os.environ.get('TKDBG_LIBRARY')
    if library and '--check' in arguments:
        argv += ['--library', library]
    p = subprocess.run(argv, stdout=subprocess.PIPE, text=True)
    return p.returncode, p.stdout


class Pages(unittest.TestCase):
    def test_promotion_is_what_the_library_says(self):
        status, output = script('promotion.py', '--check')
        self.assertEqual(status, 0, output)

    def test_operations_are_documented_with_examples_that_run(self):
        status, output = script('operations.py', '--check')
        self.assertEqual(status, 0, output)

    def test_instructions_are_what_the_library_says(self):
        status, output = script('instructions.py', '--check')
        self.assertEqual(status, 0, output)

    def test_ptx_is_what_its_tables_say(self):
        status, output = script('ptx.py', '--check')
        self.assertEqual(status, 0, output)

    def test_refusals_are_what_the_table_says(self):
        status, output = script('refusals.py', '--check')
        self.assertEqual(status, 0, output)


class Readme(unittest.TestCase):
    def test_names_every_page(self):
        pages = {name for name in os.listdir(os.path.join(ROOT, 'docs'))
                 if name.endswith('.md')}
        links = re.findall(r'\]\(docs/([^)#]*)', read('README.md'))
        self.assertEqual(set(links), pages)


class Gate(unittest.TestCase):
    def test_every_operation_has_its_tests(self):
        status, output = script('gate.py', '--build', BUILD)
        self.assertEqual(status, 0, output)


if __name__ == '__main__':
    unittest.main()
