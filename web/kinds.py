"""Every kind of problem that this service answers with. The API document's table is made from it."""

from enum import Enum


class Kind(Enum):
    """A kind of problem: its status, its title, and what a caller should do about it."""

    MALFORMED_BODY = (400, "The body cannot be read", "Fix the caller.")
    MALFORMED_KEY = (400, "The Idempotency-Key is malformed", "Fix the caller.")
    TOKEN_REQUIRED = (401, "A valid portal token is required", "Send `Authorization: Bearer <token>`.")
    SIGN_IN_REQUIRED = (
        401,
        "A valid token is required",
        "Send `Authorization: Bearer <token>`, a fresh one.",
    )
    CROSS_ORIGIN = (403, "The request came from elsewhere", "Open the page anew and repeat it there.")
    NOT_ALLOWED = (403, "This is not for the token's role", "Use a token of the role it needs.")
    NOT_FOUND = (404, "There is nothing at this path", "Fix the path; a trailing slash counts.")
    NO_SUCH_TURN = (404, "There is no such turn", "Look for its id in `X-Turn-Id`.")
    NO_SUCH_CONVERSATION = (404, "There is no such conversation", "Look for its id in an earlier answer.")
    NO_SUCH_APPROVAL = (404, "There is no such approval", "List the approvals again.")
    METHOD_NOT_ALLOWED = (405, "This path does not take this method", "Use a method listed in `Allow`.")
    BODY_TOO_SLOW = (408, "The body did not arrive in time", "Send the request again, whole.")
    CONVERSATION_BUSY = (409, "The conversation has a turn running", "Wait for its end, then send again.")
    STATE_CHANGED = (409, "It is not in that state any more", "Look at what stands now.")
    BODY_TOO_LARGE = (413, "The body is over the size limit", "Send at most 64 kB.")
    WRONG_CONTENT_TYPE = (415, "The body is not of the type this path takes", "Fix the caller.")
    INVALID_BODY = (422, "The body has the wrong shape", "Fix what `errors` names.")
    KEY_REUSED = (422, "The Idempotency-Key belongs to another request", "Use a new key for a new request.")
    TOO_MANY_STREAMS = (429, "The customer has too many streams open", "Close one, or poll the turn.")
    TOO_FAST = (429, "The customer sends too many messages", "Try again after `Retry-After`.")
    TOKENS_USED_UP = (429, "The customer's tokens for today are used up", "Try again after `Retry-After`.")
    CONVERSATION_FULL = (429, "The conversation is full", "Start a new conversation.")
    INTERNAL_ERROR = (500, "The service made a mistake", "Act on `refund`, and tell us the turn's id.")
    BUDGET_EXHAUSTED = (502, "The assistant did not come to a reply", "Act on `refund`.")
    PROVIDER_FAILED = (502, "The model's provider failed", "Act on `refund`.")
    NOT_STORED = (503, "The request was not taken: no database", "Try again after `Retry-After`.")
    KEY_UNREADABLE = (503, "The key's turn cannot be read", "Send the same request with the same key again.")
    NOT_QUEUED = (503, "The request was not taken: no queue", "Try again after `Retry-After`.")
    NOT_READABLE = (503, "The turn cannot be read now", "Try again after `Retry-After`.")
    STREAMS_FULL = (503, "All streams are taken", "Poll the turn, or try again after `Retry-After`.")
    NO_ROOM = (503, "There is no room for another turn", "Try again after `Retry-After`.")
    LIMITER_AWAY = (503, "The limits cannot be checked now", "Try again after `Retry-After`.")
    TICKETS_AWAY = (503, "Tickets cannot be checked now", "Try again after `Retry-After`.")
    SESSIONS_AWAY = (503, "Sign-ins cannot be checked now", "Try again after `Retry-After`.")
    NOT_READY = (503, "The service is not ready", "Try again after `Retry-After`.")
    PROVIDER_TIMED_OUT = (504, "The model's provider timed out", "Act on `refund`.")
    DEADLINE_PASSED = (504, "The turn took too long", "Act on `refund`.")
    QUEUE_LOST = (504, "The queue failed while the turn ran", "Act on `refund`; do not repeat the request.")
    STILL_RUNNING = (504, "The key's turn still runs", "Send the same request with the same key again.")
    OUTCOME_UNREADABLE = (504, "The turn's outcome cannot be read", "Do not repeat the request; ask later.")

    def __init__(self, status: int, title: str, advice: str) -> None:
        self.status = status
        self.title = title
        self.advice = advice

    @property
    def type(self) -> str:
        """The `type` member: a URN, the same wherever the service runs."""
        return f"urn:refund-agent:problem:{self.name.lower().replace('_', '-')}"
