"""The agent console: pages for staff, made on the server and readable without a script.

`door` lets a member of staff in, `pages` makes a page, and each other module is one part of the console.
"""

from web.console.console import install

__all__ = ["install"]
