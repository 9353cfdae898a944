"""The ctypes layer against the header it describes."""
import ctypes
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import support
from tkdbg import _capi, errors


def header():
    text = ""
    for path in support.HEADER, support.HEADER.replace("tkdbg.h",
                                                       "gdbserver.h"):
        with open(path) as f:
            text += re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    return text


class Header(unittest.TestCase):
    def test_every_function_has_a_prototype(self):
        found = set(re.findall(r"\b(tk_\w+)\s*\(", header()))
        declared = {n for n in found if re.search(
            rf"^[\w \*]+\b{n}\s*\(", header(), re.M)}
        self.assertEqual(set(_capi.PROTOTYPES), declared)

    def test_argument_counts(self):
        for name, (_, args) in _capi.PROTOTYPES.items():
            found = re.search(rf"\b{name}\s*\(([^;]*?)\);", header(), re.S)
            listed = found.group(1).strip()
            count = 0 if listed == "void" else listed.count(",") + 1
            self.assertEqual(len(args), count, name)

    def test_changes_between_versions_are_documented(self):
        path = os.path.join(support.ROOT, "docs", "semantics.md")
        with open(path, encoding="utf-8") as f:
            page = f.read()
        lib, version = _capi.load(), ctypes.c_char_p()
        for i in range(1000):
            text = lib.tk_triton_change(i, ctypes.byref(version))
            if text is None:
                break
            row = f"| {version.value.decode()} | {text.decode()} |"
            self.assertIn(row, page)
        self.assertGreater(i, 3)

    def test_status_order(self):
        body = re.search(r"enum tk_status \{(.*?)\}", header(), re.S)
        names = re.findall(r"TK_(\w+)", body.group(1))
        self.assertEqual([getattr(_capi, n) for n in names],
                         list(range(len(names))))

    def test_value_kinds_order(self):
        body = re.search(r"enum tk_value_kind \{(.*?)\}", header(), re.S)
        names = re.findall(r"TK_(V_\w+)", body.group(1))
        self.assertEqual([getattr(_capi, n) for n in names],
                         list(range(len(names))))

    def test_version(self):
        found = re.search(r'TK_VERSION "(.*?)"', header()).group(1)
        self.assertEqual(found, _capi.VERSION)

    def test_run_time_kinds_exist(self):
        path = os.path.join(support.ROOT, "include", "tkdbg", "diag.def")
        with open(path) as f:
            known = set(re.findall(r'DIAG\(\w+, \w+, "(.*?)"\)', f.read()))
        self.assertEqual(errors.RUN_TIME - known, set())

    def test_option_kinds_order(self):
        body = re.search(r"enum tk_option_kind \{(.*?)\}", header(), re.S)
        names = re.findall(r"TK_(OPTION_\w+)", body.group(1))
        self.assertEqual([getattr(_capi, n) for n in names],
                         list(range(len(names))))


def structs():
    """{name in C: ctypes structure} of all that _capi describes."""
    found = {"tk_" + re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower(): cls
             for name, cls in vars(_capi).items()
             if isinstance(cls, type) and issubclass(cls, ctypes.Structure)
             and cls is not ctypes.Structure}
    assert len(found) >= 8, found
    return found


def members(c_name):
    """The names of a struct's members in the header, in order."""
    body = re.search(rf"struct {c_name} \{{(.*?)\n\}}", header(), re.S)
    for declaration in body.group(1).split(";"):
        pointer = re.search(r"\(\*(\w+)\)", declaration)
        if pointer:
            yield pointer.group(1)
        elif declaration.strip():
            for part in declaration.split(","):
                yield re.search(r"(\w+)\s*(\[.*\])?\s*$", part).group(1)


class Layouts(unittest.TestCase):
    """Every structure has the members of its struct in the header, each
    where the compiler puts it and as large."""

    def test_members(self):
        for c_name, struct in structs().items():
            ours = [field[0].rstrip("_") for field in struct._fields_]
            self.assertEqual(ours, list(members(c_name)), c_name)

    @unittest.skipUnless(shutil.which("cc"), "no C compiler")
    def test_offsets(self):
        lines, expected = [], []
        for c_name, struct in structs().items():
            lines.append(f'printf("%zu 0\\n", sizeof({c_name}));')
            expected.append((c_name, "", ctypes.sizeof(struct), 0))
            for name, *_ in struct._fields_:
                member = name.rstrip("_")
                lines.append(
                    f'printf("%zu %zu\\n", offsetof({c_name}, {member}), '
                    f'sizeof((({c_name} *)0)->{member}));')
                field = getattr(struct, name)
                expected.append((c_name, member, field.offset, field.size))
        found = [tuple(map(int, line.split()))
                 for line in self.printed(lines)]
        self.assertEqual([e[:2] + f for e, f in zip(expected, found)],
                         expected)

    def printed(self, lines):
        """The lines that C statements print."""
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "sizes.c")
            with open(source, "w") as f:
                f.write("#include <stdio.h>\n#include <stddef.h>\n"
                        '#include "tkdbg/gdbserver.h"\nint main(void) {'
                        + "".join(lines) + "return 0; }\n")
            program = os.path.join(folder, "sizes")
            subprocess.run(["cc", "-I", os.path.join(support.ROOT, "include"),
                            source, "-o", program], check=True)
            return subprocess.run(
                [program], capture_output=True, text=True,
                check=True).stdout.splitlines()


class Loading(unittest.TestCase):
    def test_candidates_obey_the_environment(self):
        before = os.environ.get("TKDBG_LIBRARY")
        os.environ["TKDBG_LIBRARY"] = "/nowhere/lib.so"
        try:
            self.assertEqual(_capi.candidates(), ["/nowhere/lib.so"])
        finally:
            if before is None:
                del os.environ["TKDBG_LIBRARY"]
            else:
                os.environ["TKDBG_LIBRARY"] = before

    def test_text(self):
        self.assertEqual(_capi.text(None), "")
        self.assertEqual(_capi.text("añ".encode()), "añ")
        self.assertEqual(_capi.text(b"\xff"), "\ufffd")

    @unittest.skipIf(support.library() is None, "libtkdbg.so is not built")
    def test_dtype_names(self):
        from tkdbg import session
        s = session.current()
        self.assertEqual(s.dtype_names[0], "int1")
        for spelling in ("fp32", "float32", "f32"):
            self.assertEqual(s.dtype_names[s.dtype(spelling)], "fp32")
        self.assertIsNone(s.dtype("float31"))


if __name__ == "__main__":
    unittest.main()
