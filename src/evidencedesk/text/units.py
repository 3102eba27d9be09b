"""Units of measure and money: one small explicit table, exact factors only.

A unit is a dimension and a factor to that dimension's base. Units of different dimensions never
compare equal; there is no conversion of currencies, none between days and months, and none that
would need rounding. Names are folded (casefold) except symbols whose case matters (``mW``, ``MW``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple


class Unit(NamedTuple):
    """``factor`` times the base of ``dimension``; ``offset`` is added after (temperatures)."""

    dimension: str
    factor: Fraction
    offset: Fraction = Fraction(0)


PERCENT = Unit("ratio", Fraction(1, 100))
WORKING_DAY = Unit("working day", Fraction(1))

_MINUTE, _HOUR, _DAY = 60, 3600, 86400

_NAMES: Mapping[str, Mapping[str, str]] = {
    "time": {
        "1/1000": "ms msec millisecond milliseconds millisekunde millisekunden milisegundos",
        "1": "s sec secs second seconds sek sekunde sekunden seg segundo segundos seconde secondes"
        " secondo secondi seconden সেকেন্ড सेकंड सेकेंड ثانية ثواني ثوان 秒 秒钟 секунд секунды",
        str(_MINUTE): "min mins minute minutes minuten minuto minutos minuti minuut মিনিট मिनट"
        " دقيقة دقائق 分钟 分 минут минуты",
        str(_HOUR): "h hr hrs hour hours std stunde stunden hora horas heure heures ora ore uur"
        " uren ঘণ্টা ঘন্টা घंटे घंटा घण्टे ساعة ساعات 小时 小時 時間 часов часа",
        str(_DAY): "d day days tag tage tagen tages día días dia dias jour jours giorno giorni dag"
        " dagen দিন দিনের দিনে दिन दिनों يوم يوما أيام ايام 天 日 日間 дней дня",
        str(7 * _DAY): "wk wks week weeks woche wochen semana semanas semaine semaines settimana"
        " settimane weken সপ্তাহ सप्ताह हफ्ते أسبوع أسابيع اسبوع 周 星期 週 недель недели",
    },
    "month": {
        "1": "mo mos mth mths month months monat monate monaten monats mes meses mois mese mesi"
        " maand maanden mês মাস মাসের महीने महीना माह شهر شهرا أشهر اشهر شهور 月 月间 месяцев месяца",
        "3": "quarter quarters quartal quartale trimestre trimestres trimester kwartaal",
        "12": "yr yrs year years jahr jahre jahren jahres año años ans année années anno anni"
        " ano anos jaar jaren annum বছর বছরের साल वर्ष वर्षों سنة سنوات عام أعوام عاما 年 лет года",
        "120": "decade decades jahrzehnt jahrzehnte década décadas décennie décennies",
        "1200": "century centuries jahrhundert jahrhunderte siglo siglos siècle siècles",
    },
    "ratio": {
        "1/100": "% percent per-cent pct prozent prozentig ciento cento cent pourcent procent"
        " শতাংশ प्रतिशत फीसदी بالمئة بالمائة パーセント процентов процента процент 퍼센트",
        "1/1000": "‰ permille promille",
    },
    "percentage point": {"1": "pp percentage-point percentage-points prozentpunkt prozentpunkte"},
    "data": {
        "1": "byte bytes octet octets",
        "1000": "kilobyte kilobytes",
        "1000000": "megabyte megabytes",
        "1000000000": "gigabyte gigabytes",
        "1000000000000": "terabyte terabytes",
        "1000000000000000": "petabyte petabytes",
    },
    "mass": {
        "1/1000000": "µg mcg microgram micrograms mikrogramm",
        "1/1000": "mg milligram milligrams milligramm miligramos",
        "1": "g gram grams gramm gr gramo gramos gramme grammes grammi গ্রাম ग्राम غرام 克",
        "1000": "kg kgs kilo kilos kilogram kilograms kilogramm kilogramos kilogrammes"
        " কেজি किलो किलोग्राम كيلوغرام 公斤 千克",
        "1000000": "t tonne tonnes tonnen toneladas 吨",
    },
    "imperial mass": {"1": "oz ounce ounces", "16": "lb lbs pound pounds", "224": "stone"},
    "length": {
        "1/1000000000": "nm nanometre nanometres nanometer nanometers",
        "1/1000000": "µm micron microns micrometre micrometer",
        "1/1000": "mm millimetre millimetres millimeter millimeters milímetros",
        "1/100": "cm centimetre centimetres centimeter centimeters zentimeter centímetros",
        "1": "m metre metres meter meters metern metro metros mètre mètres মিটার मीटर متر 米",
        "1000": "km kilometre kilometres kilometer kilometers kilometern kilómetros quilômetros"
        " কিলোমিটার कैमी किलोमीटर كيلومتر 公里 千米",
    },
    "imperial length": {
        "1": "inch inches zoll pulgadas",
        "12": "ft foot feet fuß",
        "36": "yd yard yards",
        "63360": "mi mile miles meilen millas",
    },
    "area": {"1": "m² m^2 sqm qm", "1000000": "km² km^2", "10000": "ha hectare hectares hektar"},
    "volume": {
        "1/1000": "ml millilitre millilitres milliliter milliliters mililitros",
        "1/100": "cl centilitre centilitres centiliter",
        "1/10": "dl decilitre deciliter",
        "1": "l litre litres liter liters litro litros লিটার लीटर لتر 升",
        "1000": "m³ m^3 cubic-metre cubic-metres",
    },
    "energy": {"1": "joule joules"},
    "speed": {"1": "kmh km/h kph"},
    "imperial speed": {"1": "mph"},
    "pressure mercury": {"1": "mmhg"},
    "pressure": {"100000": "bar", "6894757/1000": "psi"},
}

# Symbols in which the case tells a thousandfold difference.
_SYMBOLS: Mapping[str, Mapping[str, str]] = {
    "data": {
        "1": "B",
        "1000": "kB KB",
        "1000000": "MB",
        "1000000000": "GB",
        "1000000000000": "TB",
        "1000000000000000": "PB",
        "1024": "KiB",
        "1048576": "MiB",
        "1073741824": "GiB",
        "1099511627776": "TiB",
    },
    "bits": {"1000": "kbit Kbit kb", "1000000": "Mbit Mb", "1000000000": "Gbit Gb"},
    "power": {
        "1/1000": "mW milliwatt milliwatts",
        "1": "W watt watts Watt",
        "1000": "kW kilowatt kilowatts Kilowatt",
        "1000000": "MW megawatt megawatts Megawatt",
        "1000000000": "GW gigawatt gigawatts Gigawatt",
    },
    "work": {"1": "Wh", "1000": "kWh", "1000000": "MWh", "1000000000": "GWh"},
    "voltage": {"1/1000": "mV", "1": "V volt volts Volt", "1000": "kV"},
    "current": {"1/1000": "mA", "1": "A amp amps ampere amperes Ampere"},
    "frequency": {"1": "Hz hertz", "1000": "kHz", "1000000": "MHz", "1000000000": "GHz"},
    "pressure": {"1": "Pa", "100": "hPa", "1000": "kPa", "1000000": "MPa"},
    "energy": {"1": "J", "1000": "kJ", "1000000": "MJ"},
    "calories": {"1": "cal", "1000": "kcal"},
    "amount": {"1/1000": "mmol", "1": "mol"},
    "loudness": {"1": "dB"},
}

_MONEY: Mapping[str, str] = {
    "$": "$ dollar dollars buck bucks dólar dólares دولار ডলার डॉलर 美元 доллар долларов",
    "USD": "usd us$", "CAD": "cad c$ ca$", "AUD": "aud a$ au$", "NZD": "nzd nz$",
    "HKD": "hkd hk$", "SGD": "sgd s$",
    "EUR": "€ eur euro euros euró ইউরো यूरो يورو 欧元 евро",
    "GBP": "£ gbp sterling quid",
    "¥": "¥ ￥",
    "JPY": "jpy yen 円 日元", "CNY": "cny rmb yuan 元 人民币 块",
    "INR": "₹ inr rs rupee rupees रुपये रुपए रुपया 卢比",
    "BDT": "৳ bdt tk taka টাকা",
    "KRW": "₩ krw won 원", "RUB": "₽ rub ruble rubles рублей рубля", "TRY": "₺ try lira",
    "CHF": "chf franken sfr", "SEK": "sek kronor", "NOK": "nok kroner", "DKK": "dkk",
    "PLN": "pln zł zloty", "CZK": "czk kč", "HUF": "huf forint", "ILS": "₪ ils shekel shekels",
    "SAR": "sar riyal riyals ريال ريالا", "AED": "aed dirham dirhams درهم درهما", "EGP": "egp جنيه",
    "BRL": "brl r$ real reais", "MXN": "mxn peso pesos", "ZAR": "zar rand",
    "THB": "฿ thb baht", "VND": "₫ vnd dong", "UAH": "₴ uah hryvnia", "BTC": "₿ btc bitcoin",
}  # fmt: skip

_DOLLARS = frozenset({"$", "USD", "CAD", "AUD", "NZD", "HKD", "SGD"})
_YEN = frozenset({"¥", "JPY", "CNY"})


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _plain_units() -> Iterator[tuple[str, Unit]]:
    for dimension, factors in _NAMES.items():
        for factor, names in factors.items():
            for name in names.split():
                yield name, Unit(dimension, Fraction(factor))


def _money_units() -> Iterator[tuple[str, Unit]]:
    for currency, names in _MONEY.items():
        for name in names.split():
            yield name, Unit(currency, Fraction(1))
    for name in ("pound", "pounds"):
        yield name, Unit("GBP", Fraction(1))
    yield "pence", Unit("GBP", Fraction(1, 100))
    for name in ("cents", "¢", "eurocent", "eurocents", "céntimos", "centimes"):
        yield name, Unit("$", Fraction(1, 100))
        yield name, Unit("EUR", Fraction(1, 100))


def _temperatures() -> Iterator[tuple[str, Unit]]:
    for name in ("°c", "celsius", "centigrade"):
        yield name, Unit("temperature", Fraction(1))
    for name in ("°f", "fahrenheit"):
        yield name, Unit("temperature", Fraction(5, 9), Fraction(-160, 9))
    for name in _words("° degree degrees grad grados degrés gradi ডিগ্রি डिग्री 度"):
        yield name, Unit("degree", Fraction(1))


def _table() -> dict[str, tuple[Unit, ...]]:
    table: dict[str, tuple[Unit, ...]] = {}
    for name, unit in (*_plain_units(), *_money_units(), *_temperatures()):
        key = name.casefold()
        table[key] = (*table.get(key, ()), unit)
    return table


UNITS: Mapping[str, tuple[Unit, ...]] = MappingProxyType(_table())
"""Units by folded name; several where a name is ambiguous (``pounds``)."""

UNIT_SYMBOLS: Mapping[str, Unit] = MappingProxyType(
    {
        name: Unit(dimension, Fraction(factor))
        for dimension, factors in _SYMBOLS.items()
        for factor, names in factors.items()
        for name in names.split()
    }
)
"""Units by symbol, where case matters; looked up before :data:`UNITS`."""

CURRENCY_SIGNS: Mapping[str, str] = MappingProxyType(
    {name: code for code, names in _MONEY.items() for name in names.split()}
)
"""Currency by sign, code or name, folded."""

UNSPACED_UNITS: tuple[str, ...] = tuple(
    sorted(
        (name for name in (*UNITS, "工作日", "営業日") if name[0] >= "\u2e80"),
        key=len,
        reverse=True,
    )
)
"""Unit names of scripts without spaces, longest first."""

WORKING = _words(
    "working business werk arbeits hábiles laborables ouvrables ouvrés lavorativi úteis werkdagen"
    " কর্ম कार्य عمل"
)
"""Words that make the days beside them working days."""

WORKING_DAYS = _words(
    "workday workdays werktag werktage werktagen arbeitstag arbeitstage arbeitstagen werkdagen"
    " কর্মদিবস कार्यदिवस 工作日 営業日"
)


def units_named(name: str) -> tuple[Unit, ...]:
    """The units that ``name`` may mean; empty when it names none."""
    symbol = UNIT_SYMBOLS.get(name)
    if symbol is not None:
        return (symbol,)
    folded = name.casefold()
    if folded in WORKING_DAYS:
        return (WORKING_DAY,)
    return UNITS.get(folded, ())


def dimensions_agree(claimed: str, present: str) -> bool:
    """Whether a quantity of one dimension may be compared with one of the other.

    ``$`` is any dollar and ``¥`` yen or yuan; degrees without a scale fit either scale; days fit
    working days where the claim leaves the word out, not the other way round.
    """
    if claimed == present:
        return True
    pair = {claimed, present}
    if pair <= _DOLLARS:
        return "$" in pair
    if pair <= _YEN:
        return "¥" in pair
    return pair == {"degree", "temperature"}
