"""The data in a page of tkdbg, which stand there made shorter."""
from __future__ import annotations

import base64
import json
import re
import zlib
from typing import Any

ELEMENT = re.compile(r'(id="data" data-bytes=")(\d+)(">)([^<]*)')


def text(html: str) -> str:
    """What the page draws, as JSON."""
    found = ELEMENT.search(html)
    assert found, "the page has no data"
    raw = zlib.decompress(base64.b64decode(found[4]), -zlib.MAX_WBITS)
    assert len(raw) == int(found[2]), (len(raw), found[2])
    return raw.decode()


def read(path: str) -> Any:
    """The data of the page in a file."""
    with open(path, encoding="utf-8") as f:
        return json.loads(text(f.read()))


def replaced(html: str, data: str) -> str:
    """The page with other data, by the codes that it can read."""
    raw = data.encode()
    squeeze = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS, 9,
                               zlib.Z_FIXED)
    made = base64.b64encode(squeeze.compress(raw) + squeeze.flush()).decode()
    return ELEMENT.sub(lambda m: f"{m[1]}{len(raw)}{m[3]}{made}", html, 1)
