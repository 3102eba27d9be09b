"""Small Office files, books and messages made by hand, so that tests can make them wrong."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_MAIN = {
    "xlsx": ("xl/workbook.xml", "http://schemas.openxmlformats.org/spreadsheetml/2006/main"),
    "pptx": (
        "ppt/presentation.xml",
        "http://schemas.openxmlformats.org/presentationml/2006/main",
    ),
}


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return made.getvalue()


def relations(*targets: tuple[str, str, str]) -> str:
    rows = "".join(
        f'<Relationship Id="{identity}" Type="{_RELATION}/{kind}" Target="{target}"/>'
        for identity, kind, target in targets
    )
    space = "http://schemas.openxmlformats.org/package/2006/relationships"
    return f'<Relationships xmlns="{space}">{rows}</Relationships>'


def workbook(
    sheets: Mapping[str, str],
    *,
    shared: str = "",
    formats: tuple[str, ...] = (),
    state: str = "visible",
    head: str = "",
    extra: Mapping[str, str] = {},
) -> bytes:
    """A workbook from the XML inside each sheet's ``sheetData``; the last sheet has ``state``."""
    part, space = _MAIN["xlsx"]
    names = list(sheets)
    listed = "".join(
        f'<sheet name="{name}" sheetId="{n}" r:id="s{n}"'
        f' state="{state if n == len(names) else "visible"}"/>'
        for n, name in enumerate(names, 1)
    )
    codes = "".join(
        f'<numFmt numFmtId="{200 + n}" formatCode="{code}"/>' for n, code in enumerate(formats)
    )
    styles = "".join(f'<xf numFmtId="{200 + n}"/>' for n in range(len(formats)))
    parts = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": relations(("r1", "officeDocument", part)),
        part: f'<workbook xmlns="{space}" xmlns:r="{_RELATION}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relations(
            ("t", "sharedStrings", "sharedStrings.xml"),
            ("f", "styles", "styles.xml"),
            *((f"s{n}", "worksheet", f"sheet{n}.xml") for n in range(1, len(names) + 1)),
        ),
        "xl/sharedStrings.xml": f'{head}<sst xmlns="{space}">{shared}</sst>',
        "xl/styles.xml": f'<styleSheet xmlns="{space}"><numFmts>{codes}</numFmts>'
        f"<cellXfs>{styles}</cellXfs></styleSheet>",
    }
    for n, name in enumerate(names, 1):
        data, _, after = sheets[name].partition("<!---->")
        parts[f"xl/sheet{n}.xml"] = (
            f'<worksheet xmlns="{space}"><sheetData>{data}</sheetData>{after}</worksheet>'
        )
    return zipped({**parts, **extra})


def text_row(number: int, *cells: str) -> str:
    made = "".join(
        f'<c r="{chr(65 + column)}{number}" t="inlineStr"><is><t>{cell}</t></is></c>'
        for column, cell in enumerate(cells)
        if cell
    )
    return f'<row r="{number}">{made}</row>'


_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"


def shape(*paragraphs: str, kind: str = "") -> str:
    placeholder = f'<p:ph type="{kind}"/>' if kind else ""
    lines = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in paragraphs)
    return (
        f"<p:sp><p:nvSpPr><p:nvPr>{placeholder}</p:nvPr></p:nvSpPr>"
        f"<p:txBody>{lines}</p:txBody></p:sp>"
    )


def presentation(*slides: str, show: str = "1", notes: str = "") -> bytes:
    """A presentation from the XML of each slide's shapes; the last slide has ``show``."""
    part, space = _MAIN["pptx"]
    spaces = f'xmlns:p="{space}" xmlns:a="{_DRAWING}" xmlns:r="{_RELATION}"'
    count = len(slides)
    listed = "".join(f'<p:sldId id="{n}" r:id="s{n}"/>' for n in range(1, count + 1))
    parts = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": relations(("r1", "officeDocument", part)),
        part: f"<p:presentation {spaces}><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(
            *((f"s{n}", "slide", f"slides/slide{n}.xml") for n in range(1, count + 1))
        ),
    }
    for n, content in enumerate(slides, 1):
        shown = show if n == count else "1"
        parts[f"ppt/slides/slide{n}.xml"] = (
            f'<p:sld {spaces} show="{shown}"><p:cSld><p:spTree>{content}</p:spTree></p:cSld></p:sld>'
        )
    if notes:
        parts["ppt/slides/_rels/slide1.xml.rels"] = relations(("n", "notesSlide", "../notes1.xml"))
        parts["ppt/notes1.xml"] = (
            f"<p:notes {spaces}><p:cSld><p:spTree>{shape(notes, kind='body')}"
            "</p:spTree></p:cSld></p:notes>"
        )
    return zipped(parts)


def book(*chapters: tuple[str, str], toc: str = "", encrypted: bool = False) -> bytes:
    """A book from (file name, XHTML) of its chapters in reading order."""
    items = "".join(
        f'<item id="c{n}" href="{name}" media-type="application/xhtml+xml"/>'
        for n, (name, _) in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    contents = '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": "<container><rootfiles>"
        '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
        "OEBPS/book.opf": '<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
        "<dc:title>The Book</dc:title><dc:language>en</dc:language></metadata>"
        f"<manifest>{items}{contents}</manifest><spine>{spine}</spine></package>",
        "OEBPS/toc.ncx": f"<ncx><navMap>{toc}</navMap></ncx>",
    }
    parts |= {f"OEBPS/{name}": content for name, content in chapters}
    if encrypted:
        parts["META-INF/encryption.xml"] = "<encryption/>"
    return zipped(parts)
