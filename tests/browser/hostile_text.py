"""Texts that do harm where they are taken for markup, and how to see that they were not.

A page that takes one of them for HTML makes an element with `data-injected`, opens a dialog, asks another
host or breaks its policy: `assert_is_text` looks for the first, the watch of every test for the others.
"""

from typing import Final

from playwright.sync_api import Locator, expect

ELSEWHERE: Final = "http://elsewhere.example"
HOSTILE: Final = (
    "<script data-injected>alert(1)</script>",
    f'<img src="{ELSEWHERE}/a.png" onerror="alert(1)" data-injected>',
    "<img src=x onerror=alert(1) data-injected>",
    "<svg/onload=alert(1) data-injected>",
    "<svg><script data-injected>alert(1)</script></svg>",
    '<a href="javascript:alert(1)" data-injected>your refund</a>',
    f'<iframe src="{ELSEWHERE}" srcdoc="<script>alert(1)</script>" data-injected></iframe>',
    f'<form action="{ELSEWHERE}" data-injected><input name=token autofocus onfocus=alert(1)></form>',
    f'<meta http-equiv=refresh content="0;url={ELSEWHERE}" data-injected>',
    f'<base href="{ELSEWHERE}/" data-injected>',
    f'<link rel=stylesheet href="{ELSEWHERE}/a.css" data-injected>',
    "<style data-injected>* { display: none }</style>",
    "<math><mi xlink:href=javascript:alert(1) data-injected>",
    "<details open ontoggle=alert(1) data-injected>",
    "<template><b data-injected>b</b></template>",
    "</p></div></template><b data-injected>out of its element</b>",
    "</textarea><b data-injected>out of the field</b>",
    "</title><b data-injected>out of the title</b>",
    "</script><script data-injected>alert(1)</script>",
    "</style><b data-injected>out of the sheet</b>",
    '"><b data-injected>out of an attribute</b>',
    "'><b data-injected>out of an attribute</b>",
    '" onmouseover="alert(1)" data-injected="',
    "--><b data-injected>out of a comment</b>",
    "]]><b data-injected>out of CDATA</b>",
    "&lt;b data-injected&gt;already escaped&lt;/b&gt; &amp;amp;",
    "{{ 7*7 }} ${7*7} #{7*7} <%= 7*7 %> {% raw %} {0} %s",
    "[your refund](javascript:alert(1)) ![](x) **bold** `code`",
    "javascript:alert(1)",
    "\N{RIGHT-TO-LEFT OVERRIDE}dnufer\N{POP DIRECTIONAL FORMATTING} \N{ARABIC LETTER ALEF} 12.50",
    "data: {}\n\nevent: ended\ndata: {}",
    '=HYPERLINK("http://elsewhere.example","refund")',
)


def assert_is_text(within: Locator, text: str) -> None:
    """Hold that the text stands there as it is, and that nothing was made of it."""
    expect(within.get_by_text(text).first).to_be_attached()
    expect(within.page.locator("[data-injected]")).to_have_count(0)
