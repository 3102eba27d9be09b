"""The sample corpora as read by readers that are not ours."""

from pathlib import Path

import docx
import pdfplumber
import yaml
from lxml import html

SAMPLES = Path(__file__).parents[2] / "samples"
MANIFEST = "evidencedesk-folder.yaml"


def files_of(corpus: str) -> list[Path]:
    found = (SAMPLES / corpus).rglob("*")
    return sorted(path for path in found if path.is_file() and path.name != MANIFEST)


def declared(path: Path) -> dict[str, object]:
    """Metadata of a file as its front matter or the manifest beside it says."""
    if path.suffix == ".md":
        return yaml.safe_load(path.read_text(encoding="utf-8").split("---\n")[1])
    manifest = yaml.safe_load((path.parent / MANIFEST).read_text(encoding="utf-8"))
    return manifest["defaults"] | manifest["files"][path.name]


def text_of(path: Path) -> str:
    """The text of a file in reading order, white space folded."""
    readers = {".pdf": _pdf, ".docx": _docx, ".html": _html, ".md": _markdown}
    return " ".join(readers[path.suffix](path).split())


def has_two_columns(page: pdfplumber.page.Page) -> bool:
    middle = page.width / 2
    words = page.extract_words()
    crossing = any(word["x0"] < middle < word["x1"] for word in words)
    return not crossing and any(word["x0"] > middle for word in words)


def _pdf(path: Path) -> str:
    with pdfplumber.open(path) as pdf:
        return " ".join(column.extract_text() for page in pdf.pages for column in _columns(page))


def _columns(page: pdfplumber.page.Page) -> list[pdfplumber.page.Page]:
    if not has_two_columns(page):
        return [page]
    middle = page.width / 2
    return [
        page.crop((0, 0, middle, page.height)),
        page.crop((middle, 0, page.width, page.height)),
    ]


def _docx(path: Path) -> str:
    document = docx.Document(str(path))
    cells = [cell.text for table in document.tables for row in table.rows for cell in row.cells]
    return " ".join([*(paragraph.text for paragraph in document.paragraphs), *cells])


def _html(path: Path) -> str:
    return html.fromstring(path.read_bytes()).find(".//main").text_content()


def _markdown(path: Path) -> str:
    return path.read_text(encoding="utf-8").split("---\n", 2)[2]
