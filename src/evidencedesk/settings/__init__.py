"""Settings: one table of names, units, defaults and help, and where each value came from."""

from evidencedesk.settings.load import (
    FILE_NAME,
    LoadedSettings,
    Origin,
    find_settings_file,
    load_settings,
)
from evidencedesk.settings.render import effective, masked, render_markdown, render_toml
from evidencedesk.settings.table import Row, Settings, rows, tables

__all__ = [
    "FILE_NAME",
    "LoadedSettings",
    "Origin",
    "Row",
    "Settings",
    "effective",
    "find_settings_file",
    "load_settings",
    "masked",
    "render_markdown",
    "render_toml",
    "rows",
    "tables",
]
