"""Reads the policy's numbers from a dated file, strictly: a file that is not wholly understood is refused."""

import re
import tomllib
from datetime import date
from pathlib import Path
from typing import Final, NoReturn, cast, get_args

from refund_agent.money import MAX_CENTS
from refund_agent.orders import OrderStatus
from refund_agent.policy import Rules

POLICIES: Final = Path(__file__).parent / "policies"
MAX_DAYS: Final = 36_500
MAX_FILE_BYTES: Final = 16 * 1024

MONTH: Final = re.compile(r"[0-9]{4}-(?:0[1-9]|1[0-2])")


class PolicyUnreadable(Exception):
    """There is no policy, or its file is wrong; the message names the file and the key."""


def load_rules(path: Path) -> Rules:
    """Return the rules in the file; raise `PolicyUnreadable`. Its name without the ending is the version."""
    try:
        text = path.read_bytes()
        if len(text) > MAX_FILE_BYTES:
            raise PolicyUnreadable(f"{path.name}: longer than {MAX_FILE_BYTES} bytes")
        given = tomllib.loads(text.decode("utf-8"))
    except OSError as error:
        raise PolicyUnreadable(f"{path.name}: cannot be read: {type(error).__name__}") from error
    except ValueError as error:  # not TOML, or not UTF-8
        raise PolicyUnreadable(f"{path.name}: {error}") from error
    return _Reader(path, given).rules()


def rules_in_force(today: date, *, folder: Path = POLICIES) -> Rules:
    """Return the rules of the newest file that is not of a month to come; raise `PolicyUnreadable`."""
    begun = [path for path in dated_files(folder) if path.stem <= f"{today:%Y-%m}"]
    if not begun:
        raise PolicyUnreadable(
            f"no policy is in force on {today}: {folder.name}/ has none of that month or before"
        )
    return load_rules(begun[-1])


def dated_files(folder: Path = POLICIES) -> list[Path]:
    """Return the policy files, oldest first; raise `PolicyUnreadable` for one that is not named YYYY-MM."""
    found = sorted(folder.glob("*.toml"))
    for path in found:
        if not MONTH.fullmatch(path.stem):
            raise PolicyUnreadable(f"{path.name}: a policy is named for its month, such as 2026-11.toml")
    return found


class _Reader:
    """Takes the keys of one file one by one; what nobody took is unknown."""

    def __init__(self, path: Path, given: dict[str, object]) -> None:
        self._path = path
        self._given = given

    def rules(self) -> Rules:
        read: Rules = Rules(
            version=self._path.stem,
            return_window_days=self._whole("return_window_days", least=0, most=MAX_DAYS),
            one_refund_per_order=self._yes_or_no("one_refund_per_order"),
            escalate_above_cents=self._whole("escalate_above_cents", least=0, most=MAX_CENTS),
            approval_expiry_days=self._whole("approval_expiry_days", least=1, most=MAX_DAYS),
            refundable_statuses=self._statuses("refundable_statuses"),
            refund_final_sale=self._yes_or_no("refund_final_sale"),
        )
        for key in self._given:
            self._wrong(key, "is not a key of a policy")
        return read

    def _whole(self, key: str, *, least: int, most: int) -> int:
        value = self._take(key)
        if type(value) is not int:
            self._wrong(key, f"must be a whole number, not {_kind(value)}")
        if not least <= value <= most:
            self._wrong(key, f"must be from {least} to {most}, not {value}")
        return value

    def _yes_or_no(self, key: str) -> bool:
        value = self._take(key)
        if not isinstance(value, bool):
            self._wrong(key, f"must be true or false, not {_kind(value)}")
        return value

    def _statuses(self, key: str) -> frozenset[OrderStatus]:
        value = self._take(key)
        known = get_args(OrderStatus)
        if not isinstance(value, list):
            self._wrong(key, f"must be a list, not {_kind(value)}")
        listed = cast("list[object]", value)
        if not listed:
            self._wrong(key, "must not be empty")
        for status in listed:
            if status not in known:
                self._wrong(key, f"has {status!r}, which is none of {', '.join(known)}")
        return frozenset(cast("list[OrderStatus]", listed))

    def _take(self, key: str) -> object:
        if key not in self._given:
            self._wrong(key, "is missing")
        return self._given.pop(key)

    def _wrong(self, key: str, what: str) -> NoReturn:
        raise PolicyUnreadable(f"{self._path.name}: {key} {what}")


def _kind(value: object) -> str:
    return f"{type(value).__name__} {value!r}"[:80]
