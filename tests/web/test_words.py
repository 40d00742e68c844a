"""The texts of the pages: one file has them all, and each language has a text for each."""

import html
import json
import re
import subprocess

import pytest

from solver.export.site import WEB
from tests.exports import needs_node

SITE = WEB / "site"
LANGUAGES = ("de", "he")


@pytest.fixture(scope="module")
def tables():
    """The texts by language and key."""
    script = (
        f'import {{ ENGLISH }} from "{SITE}/words.js";'
        + "".join(f' import {{ WORDS as {name} }} from "{SITE}/words-{name}.js";' for name in LANGUAGES)
        + f" console.log(JSON.stringify({{ en: ENGLISH, {', '.join(LANGUAGES)} }}));"
    )
    done = subprocess.run(
        ["node", "--input-type=module", "-e", script], capture_output=True, text=True, encoding="utf-8", check=True
    )
    return json.loads(done.stdout)


@needs_node
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_has_every_text_with_its_values(tables, language):
    assert list(tables[language]) == list(tables["en"])
    for key, text in tables["en"].items():
        wanted, found = (sorted(re.findall(r"\{\w+\}", one)) for one in (text, tables[language][key]))
        assert wanted == found, key


@needs_node
def test_the_html_has_the_english_texts(tables):
    page = (SITE / "index.html").read_text("utf-8") + (WEB / "index" / "index.html").read_text("utf-8")
    seen = set()
    for key, text in re.findall(r'data-words="(\w+)"[^>]*>([^<]*)<', page):
        assert html.unescape(text.strip()) == tables["en"][key], key
        seen.add(key)
    for tag, pairs in re.findall(r'(<[^>]*data-label="([^"]+)"[^>]*>)', page):
        for attribute, key in (pair.split(":") for pair in pairs.split()):
            assert re.search(rf'{attribute}="([^"]*)"', tag)[1] == tables["en"][key], key
            seen.add(key)
    assert len(seen) > 50


@needs_node
def test_every_text_is_used_and_every_key_known(tables):
    paths = [
        path for folder in (SITE, WEB / "index") for path in folder.iterdir() if path.name.endswith((".js", ".html"))
    ]
    scripts = {f"{path}": path.read_text("utf-8") for path in paths}
    others = {name: text for name, text in scripts.items() if "/words" not in name}
    for name, text in others.items():
        for key in re.findall(r'phrase\(\s*"(\w+)"', text):
            assert key in tables["en"], (name, key)
    everything = "".join(others.values())
    sides = (
        "black",
        "white",
        "red",
        "blue",
        "yellow",
        "amber",
        "green",
        "sky",
        "fox",
        "hare",
        "hounds",
        "north",
        "south",
    )
    for key in tables["en"]:
        base = key.removesuffix("One")
        known = key.startswith("short") or key in sides or re.search(rf'["\':]{base}\b|\b{base}:', everything)
        assert known, f"nothing says {key}"
