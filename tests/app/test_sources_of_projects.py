"""What a project names of servers, programs and plugins counts once a person trusts it."""

import json
from pathlib import Path

import pytest
from places import Places

from holdfast.app.problems import ConfigurationError
from holdfast.app.project_folder import read_project
from holdfast.app.source_settings import McpSettings
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
    assert f"{places.project_file.with_name('mcp.json')}: mcp.json: " in told
    assert f"{places.project_file}: mcp.toml: " in told
    assert f"{places.project_file}: mcp.json: " not in told
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
    places.project_file.write_text('[mcp.x]\ncommand = ["/usr/bin/server", "a"]', "utf-8")
    trust(places)
    assert places.load().settings.mcp["x"].command == ("/usr/bin/server", "a")


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


def in_folder(places: Places, *names: str) -> None:
    for name in names:
        path = places.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("print('code')", "utf-8")


@pytest.mark.parametrize(
    "command",
    [
        ["python", "tools/x.py"],
        ["python", "x.py"],
        ["python3.11", "-I", "gone.py"],
        ["node", "./tools/x.js"],
        ["bash", "-c", "./tools/run"],
        ["bash", "-c", "cd tools && ./run"],
        ["sh", "-c", "exec python x.py"],
        ["python", "-m", "x"],
        ["python", "-m", "package.inside"],
        ["node", "--require", "./tools/x.js", "server"],
        ["some-server", "--config=tools/x.json"],
        ["some-server", "tools/x.json"],
        ["python", "{project}/tools/x.py"],
        ["python", "{project}/tools/later.py"],
        ["python", "${{PLACE}}/tools/x.py"],
        ["bash", ".holdfast/../tools/run"],
        ["env", "python3", "-mtools.x", "plain"],
        ["env", "python3", "./package"],
        ["env", "python3", "{project}/package"],
        ["env", "perl", "-Itools", "server"],
        ["env", "/proc/self/cwd/tools/run"],
        ["/usr/bin/${{X:-../..{project}/tools/run}}"],
    ],
    ids=" ".join,
)
def test_code_of_the_project_that_trust_does_not_cover_is_refused(
    places: Places, command: list[str]
) -> None:
    files = ("tools/x.py", "x.py", "tools/x.js", "tools/run", "tools/x.json")
    in_folder(places, *files, "package/__main__.py")
    words = [word.format(project=places.project) for word in command]
    servers(places, theirs={"command": words[0], "args": words[1:]})
    assert places.load().settings.mcp == {}  # until it is trusted, nothing of it counts
    trust(places)
    with pytest.raises(ConfigurationError, match="which is all that trust covers"):
        places.load(variables={"PLACE": str(places.project)})


@pytest.mark.parametrize("variable", ["PYTHONPATH", "NODE_OPTIONS", "BASH_ENV", "LD_PRELOAD"])
def test_variables_that_name_code_are_a_persons_to_set(places: Places, variable: str) -> None:
    entry: dict[str, object] = {"command": "python3", "args": ["-m", "plain"]}
    entry["env"] = {variable: "tools"}
    servers(places, theirs=entry)
    trust(places)
    with pytest.raises(ConfigurationError, match=f"{variable} says where programs find code"):
        places.load()


@pytest.mark.parametrize("key", ["cwd", "token_file"])
def test_a_variable_leads_no_file_into_the_project(places: Places, key: str) -> None:
    in_folder(places, "tools/x.py")
    table = f'[mcp.x]\ncommand = ["python3"]\n{key} = "/srv/${{PLACE}}"\n'
    places.project_file.write_text(table, "utf-8")
    trust(places)
    places.load(variables={"PLACE": "data"})
    with pytest.raises(ConfigurationError, match="which is all that trust covers"):
        places.load(variables={"PLACE": f"..{places.project}/tools"})


@pytest.mark.parametrize(
    "word", ["./x.py", "x.py", ".holdfast/x.py", "{project}/.holdfast/x.py", "${{PLACE}}/x.py"]
)
def test_what_it_covers_is_started_from_the_copy_and_a_change_needs_trust_again(
    places: Places, word: str
) -> None:
    in_folder(places, ".holdfast/x.py")
    servers(places, theirs={"command": "python", "args": [word.format(project=places.project)]})
    kept = trust(places)
    variables = {"PLACE": str(places.project / ".holdfast")}
    found = places.load(variables=variables).settings.mcp["theirs"].command
    assert found == ("python", str(kept / "x.py"))
    (places.project / ".holdfast" / "x.py").write_text("print('other code')", "utf-8")
    assert places.load(variables=variables).settings.mcp == {}


@pytest.mark.parametrize(
    "command",
    [
        ["npx", "-y", "@scope/server-files", "."],
        ["python", "-m", "installed_server", "--level", "debug"],
        ["node", "/usr/lib/server/index.js", "--root", "tools"],
        ["uvx", "mcp-server-git", "--repository", "."],
        ["docker", "run", "-i", "--rm", "-e", "TOKEN", "some/image:latest"],
        ["bash", "-c", "exec some-server --quiet"],
        ["some-server", "https://example.com/a/b"],
        ["python", "-c", "print(1)"],
    ],
    ids=" ".join,
)
def test_words_that_name_no_file_of_the_project_stay_as_they_are(
    places: Places, command: list[str]
) -> None:
    in_folder(places, "tools/x.py")
    servers(places, theirs={"command": command[0], "args": command[1:]})
    trust(places)
    assert list(places.load().settings.mcp["theirs"].command) == command


def test_what_is_doubtful_about_a_server_is_told_by_its_name(places: Places) -> None:
    entries = {"old": {"type": "sse", "url": "http://a"}, "odd": {"command": "x", "odder": 1}}
    own = {"mcpServers": {**entries, "fine": {"command": "x"}}}
    (places.home / "mcp.json").write_text(json.dumps(own), "utf-8")
    servers(places, theirs={"type": "sse", "url": "http://a"})
    loaded = places.load(project="")
    assert list(loaded.server_notices) == ["old", "odd"]
    assert "has been replaced" in loaded.server_notices["old"][0]
    assert not any("mcp server" in notice for notice in loaded.notices)
    trust(places)
    assert list(places.load().server_notices) == ["old", "odd", "theirs"]
    (places.home / "mcp.json").write_text('{"nothing": {}}', "utf-8")
    assert any('no "mcpServers" in it' in notice for notice in places.load().notices)


def test_a_projects_server_stands_alone_whatever_the_persons_says(places: Places) -> None:
    servers(places, both={"type": "http", "url": "https://theirs.example/mcp"})
    trust(places)
    own = """
[mcp.both]
url = "https://mine.example/mcp"
headers = { Authorization = "Bearer ${MINE}" }
token_file = "token"
trust = true
requires = { read = ["/**"] }

[mcp.mine]
url = "https://mine.example/mcp"
"""
    loaded = places.load(user=own)
    both = loaded.settings.mcp["both"]
    assert both == McpSettings(url="https://theirs.example/mcp")
    assert loaded.settings.mcp["mine"].url == "https://mine.example/mcp"
    assert any("mcp.both: the server of this name" in one for one in loaded.notices)


@pytest.mark.parametrize("key", ["command", "cwd", "token_file"])
def test_a_place_that_a_variable_names_is_none_of_the_folders(places: Places, key: str) -> None:
    table = {"command": '["${HOME}/bin/x"]', "cwd": '"${HOME}/x"', "token_file": '"${HOME}/t"'}[key]
    more = "" if key == "command" else 'command = ["x"]\n'
    found = places.load(user=f"[mcp.x]\n{more}{key} = {table}").settings.mcp["x"]
    assert str(getattr(found, key)).lstrip("('").startswith("${HOME}/")
    servers(places, x={"command": "${HOME}/bin/x"})
    trust(places)
    with pytest.raises(ConfigurationError, match="which is all that trust covers"):
        places.load()


MODELS = """
[model.played]
kind = "scripted"
file = "turns.toml"

[model.weights]
kind = "local"
file = "/opt/models/small.gguf"

[model.shared]
kind = "openai"
model = "theirs"
base_url = "https://models.example/v1"
"""


def test_models_of_a_trusted_project_count_and_take_nothing_of_yours(places: Places) -> None:
    own = '[model.shared]\nkind = "openai"\nmodel = "mine"\nkey_variable = "MY_KEY"\n'
    places.load(user=own, project=MODELS)
    (places.project_file.parent / "turns.toml").write_text("", "utf-8")
    kept = trust(places)
    loaded = places.load(user=own, project=MODELS)
    models = loaded.settings.model
    assert models["played"].file == str(kept / "turns.toml")
    assert models["weights"].file == "/opt/models/small.gguf"
    assert (models["shared"].model, models["shared"].key_variable) == ("theirs", None)
    assert any("model.shared: the model of this name that you" in one for one in loaded.notices)


def test_a_script_outside_of_a_trusted_folder_is_refused(places: Places) -> None:
    places.load(project='[model.played]\nkind = "scripted"\nfile = "/tmp/turns.toml"\n')
    trust(places)
    with pytest.raises(ConfigurationError, match=r"model\.played\.file: .* is not in"):
        places.load()
