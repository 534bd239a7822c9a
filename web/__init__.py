"""HTTP: translates, decides nothing. `create_app` builds the application from what it is given."""

from web.app import create_app
from web.services import WebServices

__all__ = ["WebServices", "create_app"]
