"""A card as Croissant metadata (MLCommons' JSON-LD), by which data sets are found and cited."""

from __future__ import annotations

from typing import Any

from ddr_cli.data.card import Card, CardFile

CONFORMS_TO = "http://mlcommons.org/croissant/1.0"

# As the format's first version states it.
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_ENCODINGS = {
    ".csv": "text/csv",
    ".gz": "application/gzip",
    ".json": "application/json",
    ".mat": "application/x-matlab-data",
    ".tar": "application/x-tar",
    ".tgz": "application/gzip",
    ".zip": "application/zip",
}


def croissant(card: Card) -> dict[str, Any]:
    """Return what a card says as JSON-LD; what it doesn't say is left out.

    `distribution` has the files whose download and checksum the card knows. A licence that nobody
    has stated is said to be so.
    """
    facts = [
        f"{value} {name}"
        for name, value in (
            ("samples", card.expect.samples),
            ("features", card.expect.features),
            ("classes", len(card.expect.classes or ()) or None),
        )
        if value is not None
    ]
    described = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": card.name,
        "alternateName": card.title,
        "description": " ".join([card.description or card.title, f"({', '.join(facts)})"]),
        "version": f"{card.version}.0.0",
        "license": card.licence,
        "url": card.home,
        "citeAs": card.citation,
        "identifier": card.expect.fingerprint,
        "distribution": [_file(each) for each in card.files if each.urls and each.sha256],
    }
    return {key: value for key, value in described.items() if value}


def _file(file: CardFile) -> dict[str, Any]:
    url = file.urls[0].url
    ending = next((end for end in _ENCODINGS if url.lower().endswith(end)), "")
    described = {
        "@type": "cr:FileObject",
        "@id": file.path,
        "name": file.path,
        "contentUrl": url,
        "encodingFormat": _ENCODINGS.get(ending, "text/plain"),
        "sha256": file.sha256,
        "contentSize": None if file.bytes is None else f"{file.bytes} B",
    }
    return {key: value for key, value in described.items() if value is not None}
