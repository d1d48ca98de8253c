"""Links that lead out of the repository: `python -m tests.docs.outside` lists them; nothing fetches them."""

from __future__ import annotations

from tests.docs import links, pages

if __name__ == "__main__":
    for path in pages.paths():
        for link in links.of(path):
            if links.is_outside(link):
                print(f"{path.relative_to(pages.ROOT)}: {link}")
