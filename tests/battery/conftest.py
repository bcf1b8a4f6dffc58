"""One opened world for each law; attempts leave nothing behind in them."""

from pathlib import Path

import pytest
from battery import worlds
from battery.kit import Law, World, open_world
from places import Places, make_places


@pytest.fixture(scope="module")
def all_but(tmp_path_factory: pytest.TempPathFactory) -> World:
    return _opened(tmp_path_factory, worlds.ALL_BUT)


@pytest.fixture(scope="module")
def only(tmp_path_factory: pytest.TempPathFactory) -> World:
    return _opened(tmp_path_factory, worlds.ONLY)


@pytest.fixture(scope="module")
def declared(tmp_path_factory: pytest.TempPathFactory) -> World:
    return _opened(tmp_path_factory, worlds.DECLARED)


@pytest.fixture(scope="module")
def flags(tmp_path_factory: pytest.TempPathFactory) -> World:
    return _opened(tmp_path_factory, worlds.FLAGS)


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> World:
    return _opened(tmp_path_factory, worlds.PLACES)


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> World:
    return _opened(tmp_path_factory, worlds.WATCHED)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return make_places(tmp_path)


def _opened(factory: pytest.TempPathFactory, law: Law) -> World:
    return open_world(factory.mktemp("world"), law)
