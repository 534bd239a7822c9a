"""What a model or a customer wrote can never become a part of a page: every template escapes, always."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEMPLATES = sorted((ROOT / "web").rglob("templates/**/*"))
ESCAPES_NOTHING = re.compile(r"\|\s*safe\b|autoescape|Markup|\b(?:href|src|action)=\"\{\{(?! asset\()")
IN_LINE = re.compile(r"<script(?![^>]*\bsrc=)|<style\b|\sstyle=|\son[a-z]+=|javascript:|https?://")


@pytest.mark.parametrize("template", [one for one in TEMPLATES if one.is_file()], ids=lambda one: one.name)
def test_a_template_escapes_everything_and_has_no_code_in_line(template: Path) -> None:
    text = template.read_text()
    assert template.suffix == ".html", "only these are escaped"
    assert ESCAPES_NOTHING.findall(text) == []
    assert IN_LINE.findall(text) == []


def test_there_are_templates() -> None:
    assert len(TEMPLATES) > 1


def test_no_code_makes_html_of_text() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {word}"
        for folder in ("web", "refund_agent", "tasks")
        for path in (ROOT / folder).rglob("*.py")
        for word in re.findall(r"\bMarkup\b|render_template_string", path.read_text())
    ]
    assert found == []


def test_no_script_makes_html_of_text() -> None:
    sinks = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc")
    found = [
        f"{path.relative_to(ROOT)}: {word}"
        for path in (ROOT / "web" / "static").rglob("*.js")
        for word in sinks.findall(path.read_text())
    ]
    assert found == []
