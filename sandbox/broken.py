"""Ways an HTTP answer can go wrong on its way, for both stand-ins. Each ends with the connection closed."""

import gzip

from sandbox.answers import Raw, Reply, Wire, head

BIG_BYTES = 100 * 1024 * 1024
CHUNK = b" " * 65536
HTML = b"<!doctype html><html><head><title>Gateway</title></head><body><h1>Sorry</h1></body></html>"


def html(status: int, *headers: tuple[str, str]) -> Reply:
    """What a gateway says in the service's place."""
    return Reply(status, HTML, "text/html; charset=utf-8", headers)


def hang(wire: Wire) -> None:
    """Never answer."""
    wire.wait_until_gone()


def drop(_: Wire) -> None:
    """Close without an answer."""


def reset(wire: Wire) -> None:
    """Close with a TCP reset."""
    wire.reset()


def dripped_headers(reply: Reply, *, interval_seconds: float) -> Raw:
    """Send everything byte by byte, from the status line on."""
    return lambda wire: wire.drip(reply.encode(), interval_seconds=interval_seconds)


def dripped_body(reply: Reply, *, interval_seconds: float) -> Raw:
    """Send the headers at once and the body byte by byte."""

    def answer(wire: Wire) -> None:
        whole = reply.encode()
        start = len(whole) - len(reply.body)
        wire.send(whole[:start])
        wire.drip(whole[start:], interval_seconds=interval_seconds)

    return answer


def cut_content_length(reply: Reply) -> Raw:
    """Promise 100 bytes more than are sent."""
    promised = ("Content-Length", str(len(reply.body) + 100))
    return lambda wire: wire.send(
        head(reply.status, ("Content-Type", reply.content_type), promised) + reply.body
    )


def cut_chunked(reply: Reply) -> Raw:
    """Send the body as one chunk and close before the last, empty one."""
    start = head(reply.status, ("Content-Type", reply.content_type), ("Transfer-Encoding", "chunked"))
    return lambda wire: wire.send(start + b"%x\r\n%s\r\n" % (len(reply.body), reply.body))


def cut_without_length(reply: Reply) -> Raw:
    """Send half of the body with no length at all: only the JSON shows that it was cut."""
    start = head(reply.status, ("Content-Type", reply.content_type), ("Connection", "close"))
    return lambda wire: wire.send(start + reply.body[: len(reply.body) // 2])


def two_content_lengths(reply: Reply) -> Raw:
    """Send two lengths that differ."""
    lengths = (("Content-Length", str(len(reply.body))), ("Content-Length", str(len(reply.body) + 1)))
    return lambda wire: wire.send(
        head(reply.status, ("Content-Type", reply.content_type), *lengths) + reply.body
    )


def huge(reply: Reply) -> Raw:
    """Send the body and then blanks, 100 MB in all: valid JSON for whoever reads it to the end."""

    def answer(wire: Wire) -> None:
        length = ("Content-Length", str(len(reply.body) + BIG_BYTES))
        wire.send(head(reply.status, ("Content-Type", reply.content_type), length) + reply.body)
        for _ in range(BIG_BYTES // len(CHUNK)):
            wire.send(CHUNK)

    return answer


def gzip_bomb(reply: Reply) -> Reply:
    """Send 140 kB of gzip that unpack to the body and 100 MB of blanks; valid JSON again."""
    blanks = gzip.compress(CHUNK, mtime=0)
    body = gzip.compress(reply.body, mtime=0) + blanks * (BIG_BYTES // len(CHUNK))  # members may follow on
    return Reply(reply.status, body, reply.content_type, (("Content-Encoding", "gzip"),))


def bad_gzip(reply: Reply) -> Reply:
    """Say gzip and send plain JSON."""
    return Reply(reply.status, reply.body, reply.content_type, (("Content-Encoding", "gzip"),))


def unknown_encoding(reply: Reply) -> Reply:
    """Say an encoding that no client knows."""
    return Reply(reply.status, reply.body, reply.content_type, (("Content-Encoding", "rot13"),))


def continue_then(reply: Reply) -> Raw:
    """Send 100 Continue unasked, then the answer."""
    return lambda wire: wire.send(head(100) + reply.encode())


def continue_then_nothing(wire: Wire) -> None:
    """Send 100 Continue and fall silent."""
    wire.send(head(100))
    wire.wait_until_gone()
