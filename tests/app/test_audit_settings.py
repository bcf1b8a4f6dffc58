"""Where the audit log is, and who says what is taken out of it."""

from pathlib import Path

import pytest
from places import Places

from holdfast import Holdfast
from holdfast.app.audit import audit_log_of_this_process
from holdfast.app.settings import Settings, Surroundings
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.contract.audit import NO_AUDIT


def test_without_a_place_for_state_nothing_is_written(tmp_path: Path) -> None:
    hf = Holdfast(settings=Settings(), surroundings=Surroundings(data_home=tmp_path))
    assert hf.session_id
    assert list(tmp_path.iterdir()) == []


@pytest.mark.req("CLI-AUD-06")
def test_the_pattern_is_a_setting_and_the_keys_of_models_are_known(places: Places) -> None:
    loaded = places.load(user='[audit]\nredact = "a,b"\n')
    assert loaded.settings.audit.redact == "a,b"
    told = {**places.environment, "HOLDFAST_AUDIT__REDACT": "sk-[a-z]+;x"}
    loaded = places.load(user='[audit]\nredact = "a,b"\n', variables=told)
    assert loaded.settings.audit.redact == "sk-[a-z]+;x"
    keys = {"OAI_API_KEY": "k1", "OPENAI_API_KEY": "k2", "OTHER_KEY": "k3"}
    around = surroundings_of_this_process(loaded.settings, environment={**told, **keys})
    assert around.model_keys == ("k1", "k2")
    none = surroundings_of_this_process(loaded.settings, environment={"OAI_API_KEY": ""})
    assert none.model_keys == ()


def test_an_untrusted_project_takes_nothing_out_of_the_log(places: Places) -> None:
    loaded = places.load(project='[audit]\nredact = ".*"\n')
    assert loaded.settings.audit.redact == ""
    assert "audit.redact" in loaded.notices[0]


def test_where_nobody_knows_what_to_take_out_nothing_is_written(
    places: Places, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(places.home))
    monkeypatch.chdir(places.project)
    assert audit_log_of_this_process() is not NO_AUDIT
    places.user_file.write_text("[audit]\nredacted = 1\n", "utf-8")
    assert audit_log_of_this_process() is NO_AUDIT
    assert "nothing is written into the audit log" in caplog.messages[0]
