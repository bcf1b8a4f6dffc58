"""What a project names of servers, programs and plugins counts once a person trusts it."""

import json
from pathlib import Path

import pytest
from places import Places

from holdfast.app.problems import ConfigurationError
from holdfast.app.project_folder import read_project
from holdfast.app.trust import TrustFile

TABLES = """
[manifest.theirs]
file = "tools.json"

[mcp.toml]
command = ["./server.py", "x"]

[plugins]
load = ["./plugin", "installed"]
"""


def trust(places: Places) -> Path:
    """Trust the project as it is; gives the copy that is read in its place."""
    project = places.project.resolve()
    seen = read_project(project)
    assert seen is not None
    trusted = TrustFile(places.home / "state")
    trusted.trust(project, seen)
    kept = trusted.kept(project)
    assert kept is not None
    return kept


def servers(places: Places, **entries: dict[str, object]) -> None:
    text = json.dumps({"mcpServers": entries})
    (places.project_file.parent / "mcp.json").write_text(text, "utf-8")


def test_until_then_nothing_of_it_counts_and_it_is_told(places: Places) -> None:
    servers(places, json={"command": "sh", "args": ["-c", "id"]})
    loaded = places.load(project=TABLES)
    settings = loaded.settings
    assert (settings.mcp, settings.manifest, settings.plugins.load) == ({}, {}, ())
    told = "\n".join(loaded.notices)
    for name in ("mcp.json", "mcp.toml", "manifest.theirs", "plugins.load"):
        assert name in told


def test_a_strangers_broken_file_of_servers_stops_nobody(places: Places) -> None:
    (places.project_file.parent / "mcp.json").write_text("{", "utf-8")
    loaded = places.load(project="")
    assert loaded.settings.mcp == {}
    assert any("it is no JSON" in notice for notice in loaded.notices)


def test_once_trusted_all_it_names_is_in_the_copy(places: Places) -> None:
    servers(places, json={"command": "./own.sh"}, found={"command": "node"})
    places.project_file.write_text(TABLES, "utf-8")
    kept = trust(places)
    settings = places.load().settings
    assert settings.manifest["theirs"].file == str(kept / "tools.json")
    assert settings.mcp["toml"].command == (str(kept / "server.py"), "x")
    assert settings.mcp["json"].command == (str(kept / "own.sh"),)
    assert settings.mcp["found"].command == ("node",)
    assert settings.plugins.load == (str(kept / "plugin"), "installed")


@pytest.mark.parametrize(
    "table",
    [
        '[manifest.x]\nfile = "../tools.json"',
        '[manifest.x]\nfile = "/srv/tools.json"',
        '[mcp.x]\ncommand = ["../server.py"]',
        '[plugins]\nload = ["/srv/plugin"]',
        '[plugins]\nload = ["../plugin"]',
    ],
)
def test_what_trust_does_not_cover_is_refused(places: Places, table: str) -> None:
    places.project_file.write_text(table, "utf-8")
    trust(places)
    with pytest.raises(ConfigurationError, match="which is all that trust covers"):
        places.load()


def test_a_program_of_the_project_outside_of_the_folder_is_refused(places: Places) -> None:
    program = places.project / "server.py"
    places.project_file.write_text(f'[mcp.x]\ncommand = ["{program}"]', "utf-8")
    trust(places)
    with pytest.raises(ConfigurationError, match="which is all that trust covers"):
        places.load()


def test_an_installed_program_may_be_named_by_its_path(places: Places) -> None:
    places.project_file.write_text('[mcp.x]\ncommand = ["/usr/bin/node", "a"]', "utf-8")
    trust(places)
    assert places.load().settings.mcp["x"].command == ("/usr/bin/node", "a")


def test_a_persons_own_names_files_from_where_they_stand(places: Places) -> None:
    (places.home / "mcp.json").write_text(
        json.dumps({"mcpServers": {"json": {"command": "./own.sh"}}}), "utf-8"
    )
    settings = places.load(user=f"{TABLES}\n[mcp.json]\nseconds = 5").settings
    assert settings.manifest["theirs"].file == str(places.home / "tools.json")
    assert settings.mcp["toml"].command == (str(places.home / "server.py"), "x")
    assert (settings.mcp["json"].command, settings.mcp["json"].seconds) == (
        (str(places.home / "own.sh"),),
        5,
    )


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('[mcp.x]\ncomand = ["a"]', "did you mean"),
        ("[manifest.x]", "file is missing"),
        ('[mcp.x]\ncommand = ["a"]\nrequires = { read = ["{nowhere}/x"] }', "mcp.x.requires.read"),
        ('[manifest.x]\nfile = "a"\nrequires = { hosts = ["{"] }', "manifest.x.requires.hosts"),
    ],
)
def test_a_table_that_cannot_be_meant_is_named(places: Places, table: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        places.load(user=table)
