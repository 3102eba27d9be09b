"""Numbers of a spreadsheet as the reader of the sheet sees them: dates, percentages, amounts.

Number formats are those of ECMA-376 part 1, 18.8.30 and 18.8.31, as far as they are common: dates and times
become ISO 8601, percentages and amounts keep their sign, decimals and grouping.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation

from lxml import etree

_BUILT_IN = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%",
    14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm", 19: "h:mm:ss",
    20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm", 37: "#,##0", 38: "#,##0", 39: "#,##0.00",
    40: "#,##0.00", 45: "mm:ss", 46: "h:mm:ss", 47: "mm:ss",
}  # fmt: skip
_LITERALS = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]|_.|\*.')
_DIGITS = re.compile(r"[#0?][#0?,.]*")
_SIGNS = frozenset("$€£¥₹৳%()+- ")
_MOST_DECIMALS = 15
_LAST_DAY = 2_958_465
_EPOCHS = {False: datetime(1899, 12, 30), True: datetime(1904, 1, 1)}  # noqa: DTZ001 - sheets know no zone


class NumberFormats:
    """The number formats of a workbook's cell styles."""

    def __init__(self, styles: etree._Element | None, *, from_1904: bool = False) -> None:
        """Read ``xl/styles.xml``; without it every number is shown as it is stored."""
        self._epoch = _EPOCHS[from_1904]
        self._codes: list[str] = []
        if styles is None:
            return
        custom = {
            _number(node.get("numFmtId")): node.get("formatCode", "")
            for node in styles.iter("{*}numFmt")
        }
        for formats in styles.iterchildren("{*}cellXfs"):
            for style in formats.iterchildren("{*}xf"):
                identity = _number(style.get("numFmtId"))
                self._codes.append(custom.get(identity) or _BUILT_IN.get(identity, ""))

    def show(self, stored: str, style: str | None) -> str:
        """The number ``stored`` as a cell of that style shows it."""
        index = _number(style)
        code = self._codes[index] if 0 <= index < len(self._codes) else ""
        try:
            value = Decimal(stored)
        except InvalidOperation:
            return stored
        if not value.is_finite() or abs(value.adjusted()) > 300:
            return stored
        if _is_date(code):
            return self._date(value, code)
        return _amount(value, code)

    def _date(self, value: Decimal, code: str) -> str:
        if not 0 <= value <= _LAST_DAY:
            return _plain(value)
        moment = self._epoch + timedelta(seconds=round(float(value) * 86_400))
        bare = _bare(code)
        clock = "h" in bare or "s" in bare
        time = moment.strftime("%H:%M:%S") if "s" in bare else moment.strftime("%H:%M")
        if clock and not re.search("[dy]", bare):
            return time
        day = moment.date().isoformat()
        return f"{day} {time}" if clock else day


def _number(value: str | None) -> int:
    return int(value) if value and value.isascii() and value.isdigit() and len(value) < 9 else -1


def _bare(code: str) -> str:
    return _LITERALS.sub("", code).lower()


def _is_date(code: str) -> bool:
    bare = _bare(code.partition(";")[0])
    return "general" not in bare and bool(re.search("[ymdhs]", bare))


def _amount(value: Decimal, code: str) -> str:
    sections: Sequence[str] = code.split(";") if code else [""]
    shape = sections[0]
    plain = _LITERALS.sub(lambda found: "".join(filter(None, found.groups())), shape)
    pattern = _DIGITS.search(_LITERALS.sub("", shape))
    if pattern is None or "E" in _LITERALS.sub("", shape) or "/" in shape:
        return _plain(value)
    percent = "%" in plain
    if percent:
        value *= 100
    decimals = len(pattern.group().partition(".")[2].replace(",", ""))
    grouping = "," if "," in pattern.group().partition(".")[0] else ""
    digits = format(abs(value), f"{grouping}.{min(decimals, _MOST_DECIMALS)}f")
    before, _, after = plain.partition(pattern.group())
    prefix = "".join(c for c in before if c.isalnum() or c in _SIGNS).strip()
    suffix = "".join(c for c in after if c.isalnum() or c in _SIGNS).rstrip()
    sign = "-" if value < 0 and digits.strip("0.,") else ""
    return f"{sign}{prefix}{digits}{suffix}"


def _plain(value: Decimal) -> str:
    """At most 15 significant digits, which is what a sheet knows; no exponent while readable."""
    number = float(value)
    text = f"{number:.15g}"
    if "e" not in text:
        return text
    digits = format(Decimal(text), "f")
    return digits if len(digits) <= 24 else text
