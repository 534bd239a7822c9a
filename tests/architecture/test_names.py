"""One word for one thing, one place for one definition."""

import ast
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SENTENCE_LENGTH = 50


def trees(folder: str, *, deep: bool = True) -> Iterator[tuple[str, ast.Module]]:
    paths = (ROOT / folder).rglob("*.py") if deep else (ROOT / folder).glob("*.py")
    for path in sorted(paths):
        yield str(path.relative_to(ROOT)), ast.parse(path.read_text("utf-8"))


def defined(tree: ast.Module) -> Iterator[str]:
    """Yield the names that a module makes at its top level, other than by importing them."""
    for node in tree.body:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                yield name
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                yield name
            case _:
                pass


def sentences(tree: ast.Module) -> Iterator[str]:
    """Yield what a module says to somebody; docstrings are said to nobody."""
    said_to_nobody = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in said_to_nobody:
            text = node.value
            if isinstance(text, str) and len(text) >= SENTENCE_LENGTH:
                yield text


def made_more_than_once(*, deep: bool, is_asked_for: Callable[[str], bool]) -> dict[str, list[str]]:
    made: dict[str, list[str]] = defaultdict(list)
    for module, tree in trees("refund_agent", deep=deep):
        for name in filter(is_asked_for, defined(tree)):
            made[name].append(module)
    return {name: where for name, where in made.items() if len(where) > 1}


def test_the_name_of_a_class_means_one_thing_in_the_whole_core() -> None:
    def is_class(name: str) -> bool:
        return name[0].isupper() and not name.isupper()

    assert made_more_than_once(deep=True, is_asked_for=is_class) == {}


def test_the_name_of_a_constant_means_one_thing_beside_the_adapters() -> None:
    def is_constant(name: str) -> bool:
        return name[0].isupper() and name.isupper()

    assert made_more_than_once(deep=False, is_asked_for=is_constant) == {}


def test_what_http_answers_is_worded_in_one_place() -> None:
    said: dict[str, list[str]] = defaultdict(list)
    for module, tree in trees("web", deep=False):
        for sentence in sentences(tree):
            said[sentence].append(module)

    assert {sentence: where for sentence, where in said.items() if len(where) > 1} == {}


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("MAX_ARGUMENTS_BYTES", "refund_agent/turn.py"),
        ("MIN_SECRET_BYTES", "refund_agent/identity.py"),
        ("RunsTurns", "refund_agent/turn.py"),
    ],
)
def test_a_limit_that_two_keep_is_defined_where_both_look(name: str, module: str) -> None:
    assert [where for where, tree in trees("refund_agent") if name in defined(tree)] == [module]


def test_which_characters_nobody_sees_is_decided_in_one_place() -> None:
    separators = [
        where
        for where, tree in trees("refund_agent")
        if any(isinstance(node, ast.Constant) and node.value == "Zl" for node in ast.walk(tree))
    ]

    assert separators == ["refund_agent/plain_text.py"]
