"""The fault table and the contract are held against the marks of the whole suite."""

import json
import subprocess
import sys

import pytest

from tests.faults_report import (
    LATER,
    NOW,
    ROOT,
    Marks,
    contract_sentences,
    fault_rows,
    section_titles,
)

pytestmark = pytest.mark.timeout(240)  # to collect the whole suite takes long on a busy machine


@pytest.fixture(scope="module")
def marks() -> Marks:
    """Every mark of the suite, collected in a process of its own so that this test may run alone."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults_report", "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return Marks(**json.loads(done.stdout))


def test_each_row_has_a_number_of_its_own_and_says_where_it_applies() -> None:
    rows = fault_rows()

    assert len({row.key for row in rows}) == len(rows)
    assert {row.section for row in rows} == set(section_titles())
    assert {row.applies for row in rows} == {NOW, *LATER, "none"}


def test_a_row_that_does_not_apply_says_why() -> None:
    assert [row.key for row in fault_rows() if bool(row.why) != (row.applies == "none")] == []


def test_each_sentence_of_the_contract_has_a_number_of_its_own() -> None:
    numbers = [number for sentences in contract_sentences().values() for number in sentences]

    text = (ROOT / "docs" / "contract.md").read_text()
    assert len(set(numbers)) == len(numbers) == text.count("\n- ")


def test_no_test_is_marked_with_a_row_that_does_not_exist(marks: Marks) -> None:
    assert set(marks.fault) - {row.key for row in fault_rows()} == set()


def test_no_test_is_marked_with_a_sentence_that_does_not_exist(marks: Marks) -> None:
    numbers = {number for sentences in contract_sentences().values() for number in sentences}

    assert set(marks.contract) - numbers == set()


def test_each_row_that_applies_now_has_a_test_or_says_why_not(marks: Marks) -> None:
    due = [row for row in fault_rows() if row.applies == NOW]

    assert [
        f"{row.key}: {row.fault}" for row in due if row.key not in marks.fault and not row.why_untested
    ] == []


def test_no_row_that_has_a_test_says_why_it_has_none(marks: Marks) -> None:
    assert [row.key for row in fault_rows() if row.why_untested and row.key in marks.fault] == []


def test_each_sentence_of_the_contract_has_a_test(marks: Marks) -> None:
    sentences = contract_sentences().values()
    untested = [f"{n}: {text}" for part in sentences for n, text in part.items() if n not in marks.contract]

    assert untested == []
