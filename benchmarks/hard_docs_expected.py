"""What must hold of each file of the corpus that has an expectation in its manifest, as code."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from benchmarks.hard_docs_checks import (
    Check,
    at_line,
    both,
    chunk_count,
    declared,
    either,
    error,
    flagged,
    has,
    heading_lines,
    labelled,
    lacks,
    longer_than,
    on_page,
    once,
    pages,
    row,
    sane,
    titled,
    under,
    warned,
    within,
)

_PDF: dict[str, Check] = {
    "multicolumn_latex": on_page(
        1, "consectetuer adipiscing elit", "Curabitur dictum gravida mauris"
    ),
    "arabic_habibi_rotated": on_page(2, "habibi"),
    "password_libreoffice": error("encrypted"),
    "latex_4pages_hyphen": on_page(1, "If you read this text, you will get no information."),
    "latex_forms": on_page(1, "Submit"),
    "geotopo_117p_german": on_page(
        2, "Dieses Skript wurde im Wintersemester 2013/2014 von Martin Thoma geschrieben."
    ),
    "rtl_01_arabic": on_page(1, "تحسين الإنتاجية وحل المشكلات من خلال البرمجة"),
    "scan_ocr_test": flagged,
    "scan_ocr_rotated90": flagged,
    "invisible_text_layer": on_page(1, "Visible heading line", "Invisible OCR text layer"),
    "table_borderless": either(
        on_page(1, "Product Code Location Expected Actual Variance Status"),
        row("Product Code", "Location", "Expected", "Actual", "Variance", "Status"),
    ),
    "multicolumn_2p": on_page(1, "Dense Passage Retrieval for Open-Domain Question Answering"),
    "korean_tables": on_page(1, "적립 제외 대상"),
    "huge_619p": both(pages(619), within(10, 500)),
    "copy_protected": on_page(
        1, "LayoutParser: A Unified Toolkit for Deep Learning Based Document Image Analysis"
    ),
    "failure_after_repair": on_page(1, "Understanding"),
    "invalid_structure": on_page(
        1, "Threats Highlight the Importance of Establishing Leadership in Cybersecurity"
    ),
    "negative_coords": on_page(1, "Comprehensive Carbon Footprint Letter of Assurance"),
    "fake_bold_overstrike": both(on_page(1, "BOLD TEXT SAMPLE"), lacks("BBOOLLDD TTEEXXTT")),
    "table_multirow": flagged,
    "memory_error_400p": both(pages(400), within(60, 500)),
    "ligatures": on_page(1, "abcdeffffiflffifflſtstghijklmno"),
    "cjk_noembed_sjis": on_page(1, "あいうえお"),
    "cjk_noembed_eucjp": on_page(1, "あいうえお"),
    "fuzz_poppler_395": sane,
    "fuzz_poppler_742": sane,
    "fuzz_poppler_90": sane,
    "fuzz_poppler_937": sane,
    "fuzz_poppler_67295": on_page(1, "TestString123"),
    # One of its two pages can be read; the rest is reported.
    "pages_tree_cycle": either(error("damaged", "no_text"), flagged),
    "bomb_giant": both(on_page(1, "GIANT JBIG2 BOMB"), within(5, 300)),
    "fuzz_redhat": sane,
    "fuzz_ghostscript": sane,
    "xref_missing": on_page(1, "Reduced test-case"),
    "password_saslprep_r6": error("encrypted"),
    "form_prefilled_f1040": on_page(1, "U.S. Individual Income Tax Return"),
    "text_rise": on_page(1, "is the mass-energy equivalence."),
    "password_r6_user": either(error("encrypted"), has("")),
    "password_r6_empty": on_page(1, "pdf encryption test"),
    "multilang": on_page(1, "مرحبا بالعالم", "สวัสดีชาวโลก", "你好世界"),
    "ocr_layer_vicksburg": on_page(
        1, "A report creeps into camp that Johnston is coming with fifty thousand men"
    ),
    "table_rotated_nics": either(
        on_page(1, "Alabama 18,870 23,022 22,650"), has("Alabama | 18,870 | 23,022 | 22,650")
    ),
    "scotus_line_numbers": on_page(1, "IN THE SUPREME COURT OF THE UNITED STATES"),
    "corrupted_zen": on_page(1, "Beautiful is better than ugly."),
    "evil_xobjects": both(has("Hello world"), within(5)),
    "jp_vertical_449": on_page(1, "Vertical"),
    "hindi_shaping": on_page(1, "इण्टरनेट पर हिन्दी के साधन"),
    "soft_hyphen_fpdf": on_page(1, "Donaudampfschifffahrtsgesellschaftskapitänsmützenstreifen."),
    "optional_hyphen": on_page(1, "optionalhyphen"),
    "tika_rotated": on_page(
        1,
        "Apache Tika is a toolkit for detecting and extracting metadata"
        " and structured text content",
    ),
    "bad_page": on_page(1, "condition that the registrant keep records of such disposals"),
    "password_no_extract_user": error("encrypted"),
    "no_extract_permission": on_page(1, "Hello World"),
    "not_a_pdf": error("damaged"),
    "no_contents": flagged,
    "scan_skew": flagged,
    "scan_francais": flagged,
    "scan_linn": flagged,
    "scan_german": flagged,
    "hindi_weasy": either(warned("unreadable", "character map", "OCR"), flagged),
    "hebrew_weasy": on_page(1, "מחיר הכרטיס הוא 49.90 שקלים לחודש"),
    "arabic_weasy": on_page(1, "سعر الاشتراك 120 جنيها في السنة"),
    "hyphen_2col_footnote": both(
        on_page(
            1,
            "internationalization responsibilities necessarily demonstrates",
            "rate is 3.14 percent",
        ),
        either(has("Red gadget 7 $19.99"), row("Red gadget", "7", "$19.99")),
    ),
    "bomb_flate_1GB": either(
        error("too_large", "memory", "parser_crashed", "refused", "timeout", "no_text"), has("bomb")
    ),
    "truncated_60pct": either(error("damaged"), longer_than(1000)),
    "empty_file": error("damaged"),
    "bengali_chrome": both(
        on_page(1, "ক্ষুদ্রঋণ প্রকল্পের সুদের হার ১২.৫ শতাংশ।"),
        on_page(2, "ক্ষুদ্রঋণ প্রকল্পের সুদের হার ১২.৫ শতাংশ।"),
    ),
    "hebrew_chrome": both(
        on_page(1, "מחיר הכרטיס הוא 49.90 שקלים לחודש"), on_page(2, "יש לשלם עד 31 בדצמבר 2024")
    ),
}

_DOCX: dict[str, Check] = {
    "headers_numbered": under("Paragraph 1.1.1", "Test Document", "Section 1", "Section 1.1"),
    "textbox": once("Student falls ill"),
    "strict_ooxml": has("Some text"),
    "equations": has("is the area formula"),
    "tracked_delins": longer_than(1297),
    "footnotes": has("snoska"),
    "endnotes": has("XXX"),
    "xxe_external_entity": either(error("refused"), has("")),
    "truncated": error("damaged"),
    "multiple_body": has("START BODY 1"),
    "field_simple": has("FldSimple.docx"),
    "fuzz_1": error("damaged"),
    "fuzz_2": error("damaged"),
    "table_in_run": has("Lorem ipsum dolor sit amet, consetetur"),
    "truncated_tika": error("damaged"),
    "optional_hyphen": has("optionalhyphen"),
    "altchunk_html": warned("not read"),
    "sdt_in_textbox": once("rich-text-content-control_inside-text-box"),
    "handbook_872p": both(longer_than(100_000), within(4, 400)),
    "merged_cells": longer_than(1),
    "hyperlinks": has("Three hyperlinks: the first one here, the second one, and the third."),
    "utf8_bom_xml": has("This XML has a byte order mark."),
    "gen_contract": both(
        under("Tracked: keep INSERTED end.", "Master Agreement", "1 Definitions", "1.1 Fees"),
        lacks("DELETED"),
        row("Gold", "$40", "inner1 / inner2"),
        once("Merged cell"),
        under("Para under 2.", "Master Agreement", "2 Next"),
    ),
    "bomb_billion_laughs": error("refused"),
    "xxe_file": both(error("refused"), lacks("root:")),
    "not_a_zip": error("damaged"),
    "truncated_half": error("damaged"),
    "zip_no_document": error("damaged"),
}

_HTML: dict[str, Check] = {
    "steel_utf16.html": has("Japanese steel grading"),
    "cp1252.html": has("My First Heading"),
    "pre_text.htm": has("[107th Congress Public Law 56]"),
    "table_span.html": has("E1 | E2"),
    "wikipedia.html": either(titled("Microsoft - Wikipedia"), has("Microsoft Corporation")),
    "noisy_meta_1.html": has("وأعرب الاتحاد الجزائري"),
    "charset_utf16le.html": has("This is a sample text"),
    "tel_aviv_hebrew.html": has("תל אביב"),
    "beijing_chinese.html": has("北京"),
    "shift_jis_meta.html": has("東京都千代田区"),
    "shift_jis_nometa.html": has("東京都千代田区"),
    "bom_vs_meta.html": has("Привет, мир."),
    "malformed_tables.html": both(
        under("Refunds take 14‑day period.", "Rates & Fees", "Refunds"),
        row("Basic", "$10"),
        lacks("script", "cookie", "Cookie"),
    ),
    "entity_bomb.xhtml": both(lacks("lol" * 40), within(5)),
    "plain_fragment.html": longer_than(5),
    "empty.html": chunk_count(0),
}

_MARKDOWN: dict[str, Check] = {
    "commonmark_spec": at_line(9697, "*process emphasis*"),
    "fences_and_headings": heading_lines(1, 17, 22, 31, 33, 38, 39),
    "unclosed_fence": heading_lines(1),
    "crlf": both(at_line(6, "## Two"), at_line(12, "Last line no newline")),
    "cr_only": at_line(5, "## Two"),
    "bom": both(at_line(1, "Bom Heading"), heading_lines(1)),
    "bom_frontmatter_crlf": both(declared(title="Bom: front"), at_line(5, "# H")),
    "fm_ok": both(declared(version="1.10", country="NO"), at_line(14, "Body line 14.")),
    # behaviour.md wants one clear error here, where the manifest would keep the text.
    "fm_missing_close": error("front_matter_unclosed"),
    "fm_dots_close": at_line(7, "Body text line seven."),
    "fm_hr_inside": at_line(11, "after rule line 11"),
    "fm_starts_with_hr": at_line(3, "This file starts with a thematic break."),
    "fm_python_tag": warned(),
    "fm_dup_keys_tabs": warned(),
    "toml_frontmatter": at_line(5, "# TOML heading"),
    "html_blocks": heading_lines(1, 6, 23),
    "tables_nested": at_line(12, "deep para"),
    "long_line_1mb": both(at_line(5, "## End"), within(2)),
    "pathological_brackets": both(at_line(5, "## End"), within(2)),
    "latin1": at_line(3, "Résumé naïve."),
    "nul_bytes": longer_than(5),
    "empty": chunk_count(0),
}

_TEXT: dict[str, Check] = {
    "utf16le": longer_than(10),
    "utf32": longer_than(10),
    "war_and_peace": both(longer_than(3_000_000), within(5)),
    "empty": chunk_count(0),
    "russian_cp866": has("Однажды, в студеную зимнюю пору"),
    "log_mixed_eol": at_line(6, "no final newline"),
    "form_feed_ls": at_line(3, "line three needle"),
    "invalid_utf8": at_line(3, "third café line"),
    "nfd_combining": longer_than(5),
    "gb18030": at_line(1, "合同期限为三年"),
    "cp1251": at_line(2, "Вторая строка текста."),
    "binary": error("unsupported"),
}

_OTHER: dict[str, Check] = {
    "csv/mskanji.csv": has("髙橋淳"),
    "csv/quoted_newlines.csv": both(at_line(4, 'O"Brien')),
    "csv/semicolon_bom.csv": row("Müller", "3,50"),
    "xlsx/inflated.xlsx": both(row("first", "second", "third"), within(20)),
    "xlsx/xmlbomb.xlsx": error("refused"),
    "xlsx/password_protected.xlsx": error("encrypted"),
    "pptx/group_shapes.pptx": longer_than(5),
    "pptx/table.pptx": both(
        row("Column 1", "Column 2", "Column 3"), labelled("Column 1", "slide 1, row 1")
    ),
    "eml/no_utf8.eml": has("שלום"),
}

EXPECTED: Mapping[str, Check] = MappingProxyType(
    {f"pdf/{name}.pdf": check for name, check in _PDF.items()}
    | {f"docx/{name}.docx": check for name, check in _DOCX.items()}
    | {f"html/{name}": check for name, check in _HTML.items()}
    | {f"md/{name}.md": check for name, check in _MARKDOWN.items()}
    | {f"txt/{name}.txt": check for name, check in _TEXT.items()}
    | _OTHER
)
