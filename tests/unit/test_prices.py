"""What completions cost: whole millionths of a dollar, and unknown where it is not known."""

import pytest

from refund_agent.prices import NotPrices, Price, add_cost, read_prices

MINI = Price(read_cents=15, written_cents=60)


@pytest.mark.parametrize(
    ("tokens", "read_tokens", "cost"),
    [
        (1_000_000, 1_000_000, 150_000),
        (2_000_000, 1_000_000, 750_000),
        (1_235, 1_200, 201),  # 180 and 21
        (2, 1, 1),  # less than one is one: nothing that costs is free
        (0, 0, None),
        (100, 0, None),
        (100, 101, None),
    ],
)
def test_a_completion_costs_what_its_tokens_cost_and_an_uncounted_one_is_unknown(
    tokens: int, read_tokens: int, cost: int | None
) -> None:
    assert MINI.of(tokens=tokens, read_tokens=read_tokens) == cost


@pytest.mark.parametrize(("before", "more", "sum_"), [(1, 2, 3), (None, 2, None), (1, None, None)])
def test_what_is_partly_unknown_is_unknown(before: int | None, more: int | None, sum_: int | None) -> None:
    assert add_cost(before, more) == sum_


def test_prices_are_listed_by_model() -> None:
    assert read_prices("") == {}
    assert read_prices("a-model=15/60, vendor/other:1=100/500,") == {
        "a-model": MINI,
        "vendor/other:1": Price(100, 500),
    }


@pytest.mark.parametrize("listed", ["a-model", "a=1", "a=1.5/2", "a=-1/2", "a=1/2,a=1/2", "=1/2", "a=1/2/3"])
def test_whatever_is_no_list_of_prices_is_refused(listed: str) -> None:
    with pytest.raises(NotPrices):
        read_prices(listed)
