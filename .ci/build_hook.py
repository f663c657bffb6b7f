"""The README of the package index: links and images lead to the repository, at this version."""

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface


class ReadmeHook(MetadataHookInterface):
    """Adds the README, with absolute addresses, to the metadata."""

    def update(self, metadata):
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        at = f"{metadata['urls']['Repository']}/{{}}/v{metadata['version']}/".format
        text = re.sub(r"(!\[[^]]*\]\()(?!https?:|#)", lambda m: m[1] + at("raw"), text)
        text = re.sub(r"(?<!!)(\[[^]]*\]\()(?!https?:|#)", lambda m: m[1] + at("blob"), text)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
