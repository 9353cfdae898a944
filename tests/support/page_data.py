"""The data in a page of tkdbg, which stand there made shorter."""
from __future__ import annotations

import base64
import json
import re
import zlib
from typing import Any

ELEMENT = re.compile(r'(id="data">)([^<]*)')


def text(html: str) -> str:
    """What the page draws, as JSON."""
    found = ELEMENT.search(html)
    assert found, "the page has no data"
    raw = base64.b64decode(found[2])
    return zlib.decompress(raw, -zlib.MAX_WBITS).decode()


def read(path: str) -> Any:
    """The data of the page in a file."""
    with open(path, encoding="utf-8") as f:
        return json.loads(text(f.read()))


def replaced(html: str, data: str) -> str:
    """The page with other data."""
    squeeze = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    made = base64.b64encode(squeeze.compress(data.encode()) + squeeze.flush())
    return ELEMENT.sub(lambda m: m[1] + made.decode(), html, 1)
