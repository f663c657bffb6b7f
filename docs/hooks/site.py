"""What `mkdocs build` adds to the pages in docs/: those made from the code, and what they link to.

Pages link to files of the repository as its own folders have them, such as ``../results/...``. The
site has its pages at its top, and the other files below the names that they have in the repository.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import methods
import reference
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Link, Navigation, Section

ROOT = Path(__file__).parents[2]
AT_THE_TOP = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
REPORT = "results/report"
# What `make site` writes before it builds the site, by its title in the menu.
WEB_PAGES = {
    "Report": f"{REPORT}/index.html",
    "Leaderboard": f"{REPORT}/suite_lite/index.html",
}
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s:#]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are made, those from the top of the repository, and all linked files."""
    made = {**methods.pages(ROOT), **reference.pages()}
    for name, text in made.items():
        if (template := files.get_file_from_path(name)) is not None:
            files.remove(template)
        files.append(File.generated(config, name, content=text))
    for path in [*AT_THE_TOP, *_written()]:
        files.append(_copy(config, path))
    for page in list(files.documentation_pages()):
        for target in _targets(page.src_uri, page.content_string):
            known = files.get_file_from_path(_on_the_site(target)) is not None
            if (ROOT / target).is_file() and not known:
                files.append(_copy(config, target))
    return files


def on_nav(nav: Navigation, files: Files, **_: Any) -> None:
    """Link to the report and the leaderboard if they are written."""
    links = [Link(title, path) for title, path in WEB_PAGES.items() if path in files.src_uris]
    if links:
        nav.items.insert(1, Section("Results", links))


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn the links to files of the repository into links to where the site has them."""
    here = page.file.src_uri

    def link(found: re.Match[str]) -> str:
        mark, text, target, anchor = found.groups()
        path = _in_the_repository(here, target)
        if (ROOT / path).is_dir():
            # A folder has no page: its name has to do.
            return text if "`" in text else f"{text} (`{path}/`)"
        there = os.path.relpath(_on_the_site(path), str(PurePosixPath(here).parent))
        return f"{mark}[{text}]({there}{anchor or ''})"

    return LINK.sub(link, markdown)


def _written() -> list[str]:
    files = (path for path in (ROOT / REPORT).rglob("*") if path.is_file())
    return sorted(path.relative_to(ROOT).as_posix() for path in files)


def _copy(config: Any, path: str) -> File:
    return File.generated(config, _on_the_site(path), abs_src_path=str(ROOT / path))


def _targets(src_uri: str, text: str) -> Iterator[str]:
    for found in LINK.finditer(text):
        yield _in_the_repository(src_uri, found[3])


def _in_the_repository(src_uri: str, target: str) -> str:
    """Return what a link on a page of the site means, as a path of the repository."""
    from_top = {there: here for here, there in AT_THE_TOP.items()}
    source = from_top.get(src_uri, src_uri if src_uri.startswith("results/") else f"docs/{src_uri}")
    return os.path.normpath(os.path.join(os.path.dirname(source), target))  # noqa: PTH118, PTH120


def _on_the_site(path: str) -> str:
    return AT_THE_TOP.get(path, path.removeprefix("docs/"))
