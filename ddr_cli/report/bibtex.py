"""A reference of a method's docstring or a data set's card as a BibTeX entry."""

from __future__ import annotations

import re
import unicodedata

from ddr_cli.show.latex import escaped

_AUTHOR = r"[A-Z][\w'-]*(?: [A-Z][\w'-]*)?, (?:-?[A-Z]\.[ ]?)+"
# A title has periods only in brackets or after an initial.
_TITLE = r"(?:[^.(]|(?<=\b[A-Z])\.|\([^)]*\))+"
_FORMS = [
    # M. Sugiyama, "Local Fisher Discriminant Analysis", ICML 2006, 905-912.
    re.compile(r'(?P<author>[^"]*?),? (?P<title>(?:Comment on )?"[^"]+"),? *(?P<rest>.*)'),
    # Slate, D. (1991). Letter Recognition. UCI Machine Learning Repository. https://doi.org/...
    re.compile(
        rf"(?P<author>{_AUTHOR}(?:(?:, | ?and ){_AUTHOR})*(?:et al\.)?) ?"
        rf"(?:\((?P<year>\d{{4}})\)\. )?(?P<title>{_TITLE})\.? ?(?P<rest>.*)"
    ),
    re.compile(r"(?P<title>[^.]+?)(?: \((?P<year>\d{4})\))?\. (?P<rest>.*)"),
]
_YEAR = r"(?P<year>(?:1[89]|20)\d\d)"
_PAGES = r"(?:, (?P<pages>\d+(?:-\d+)?))?"
_MEETING = r"(?:NIPS|NeurIPS|ICML|SIGIR|[A-Z]\w+(?= \d{4})|[A-Z][\w ]* Workshop[\w ]*)"
_VENUES = [
    ("phdthesis", r"PhD thesis, (?P<school>[^.]+)"),
    ("techreport", r"Technical Report (?P<number>\S+), (?P<institution>[^.]+)"),
    ("techreport", rf"(?P<institution>University [^,]+), undated, about {_YEAR}"),
    ("misc", rf"(?P<howpublished>arXiv:[\d.]+), {_YEAR}"),
    ("book", rf"(?P<edition>\w+) edition, (?P<publisher>[^,]+), {_YEAR}"),
    (
        "inproceedings",
        rf"(?P<booktitle>{_MEETING})(?: (?P<volume>\d\d?)\b)?(?:,? {_YEAR})?{_PAGES}",
    ),
    (
        "article",
        r"(?P<journal>\D+?) (?P<volume>\d+)(?:\((?P<number>\d+)\))?" rf"(?:, {_YEAR})?{_PAGES}",
    ),
    ("misc", r"(?P<howpublished>[^.]+)"),
]
_ORDER = (
    *("author", "title", "journal", "booktitle", "school", "institution", "edition", "publisher"),
    *("howpublished", "volume", "number", "pages", "year", "doi", "url", "note", "key"),
)


def bibtex(reference: str) -> str:
    """Return a reference as a BibTeX entry, without where in the work to look.

    >>> print(bibtex('L. Breiman, "Random Forests", Machine Learning 45, 2001, 5-32.'))
    @article{breiman2001random,
      author = {L. Breiman},
      title = {{Random Forests}},
      journal = {Machine Learning},
      volume = {45},
      pages = {5--32},
      year = {2001},
    }
    """
    text = " ".join(reference.split()).rstrip(".")
    if not text:
        return ""
    form = _FORMS[0] if '"' in text else _FORMS[1]
    found = form.fullmatch(text) or _FORMS[2].fullmatch(f"{text}. ")
    if found is None:
        return f"@misc{{{_ascii(text)[0].lower()},\n  note = {{{escaped(text)}}},\n}}"
    fields = {name: value or "" for name, value in found.groupdict().items()}
    kind, source, rest = _source(fields.pop("rest").removesuffix(". "))
    fields |= source
    if found.re is not _FORMS[0]:
        # In the first form, used for methods, the rest is the place in the work, which is left out.
        fields["note"] = rest
    title = fields["title"]
    if title.startswith('"'):
        title = title.strip('"')
    authors = _authors(fields.get("author", ""))
    words = [word for word in _ascii(title) if len(word) > 3] or _ascii(title)
    names = [fields.get("year", ""), words[0]]
    if authors:
        names.insert(0, _surname(authors[0]))
    else:
        names, fields["key"] = names[::-1], title
    fields |= {"author": " and ".join(authors), "title": re.sub('"(.*)"', r"``\1''", title)}
    lines = [_line(name, fields[name]) for name in _ORDER if fields.get(name)]
    return "\n".join([f"@{kind}{{{''.join(names).lower()},", *lines, "}"])


def _source(text: str) -> tuple[str, dict[str, str], str]:
    """Return the type of a publication, its fields, and the text that follows."""
    kind, venue = next(
        (kind, match)
        for kind, pattern in [*_VENUES, ("misc", "")]
        if (match := re.match(f"(?!http){pattern}" if pattern else "", text))
    )
    fields = {name: value for name, value in venue.groupdict().items() if value}
    rest = text[venue.end() :]
    if address := re.match(r"[. ]*(https?://\S+)", rest):
        doi = address[1].partition("doi.org/")[2]
        fields |= {"doi": doi} if doi else {"url": address[1]}
        rest = rest[address.end() :]
    return kind, fields, rest.strip(". ")


def _line(name: str, value: str) -> str:
    text = value if name in ("doi", "url") else escaped(value)
    if name == "pages":
        text = text.replace("-", "--")
    return f"  {name} = {{{f'{{{text}}}' if name == 'title' else text}}},"


def _authors(text: str) -> list[str]:
    """Return the authors, each as "A. B. Name" or "Name, A. B."."""
    text = text.strip().replace(" et al.", ", others")
    inverted = re.match(_AUTHOR, text) is not None
    names = re.split(r"(?<=\.), | and " if inverted else r", and |, | and ", text)
    # BibTeX takes the last word as the surname, so a suffix such as Jr. must be moved.
    return [re.sub(r"^(.*) (\w+) (III|Jr\.)$", r"\2, \3, \1", name) for name in names if name]


def _surname(author: str) -> str:
    last, comma, _ = author.partition(",")
    return "".join(_ascii(last)) if comma else _ascii(last)[-1]


def _ascii(text: str) -> list[str]:
    """Return the words of a text without accents, at least one."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.findall(r"[A-Za-z]+", plain) or ["reference"]
