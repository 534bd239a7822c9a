"""The chat element as the one module that a portal embeds, joined at start-up from its readable parts.

The parts are plain modules in `static/chat`. The join leaves out their imports of one another, comments and
spaces, and puts the style sheet in as text, for `adoptedStyleSheets`. So a page makes one request, and never
runs parts of two versions.
"""

import re
from functools import cache
from importlib.resources import files
from typing import Final, cast

import rjsmin

PARTS: Final = (
    "strings.js",
    "formats.js",
    "api.js",
    "message.js",
    "conversation.js",
    "view.js",
    "element.js",
)
"""Each after what it imports. Names at the top level share one space: one that is there twice is an error."""
STYLES: Final = "styles.css"

_JOINT: Final = re.compile(r'^import \{[^}]*\} from "\./[a-z]+\.js";\n|^export ', re.MULTILINE)
_CSS_COMMENT: Final = re.compile(r"/\*.*?\*/", re.DOTALL)
_CSS_SPACE: Final = re.compile(r"\s*([{};,>])\s*|(?<=[a-z]:)\s+")

_CSS_ZERO: Final = re.compile(r"(?<!\d)0(?=\.\d)")


@cache
def chat_module() -> bytes:
    """Return the module."""
    code = "".join(_JOINT.sub("", _read(name)) for name in PARTS)
    styles = _CSS_SPACE.sub(lambda found: found[1] or "", _CSS_COMMENT.sub("", _read(STYLES)))
    styles = _CSS_ZERO.sub("", styles.replace(";}", "}")).strip()
    return f"const STYLES=`{styles}`;\n{cast('str', rjsmin.jsmin(code))}\n".encode()


def _read(name: str) -> str:
    return files("web").joinpath("static", "chat", name).read_text(encoding="utf-8")
