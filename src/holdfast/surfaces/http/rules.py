"""The rules in force, and what people allowed for this project."""

import msgspec
from anyio import to_thread

from holdfast.app.grants import GrantFile, grant_id
from holdfast.app.rules_in_force import RuleInForce, rules_in_force
from holdfast.contract.rules import Rule
from holdfast.surfaces.http.house import House
from holdfast.surfaces.http.problems import Problem
from holdfast.surfaces.http.routes import Plain, Route


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """Every rule a session of this project begins with, in the order of their scopes."""

    profile: str
    rules: list[RuleInForce]


class Grant(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody allowed, or refused, for the project."""

    id: str
    rule: Rule


class Grants(msgspec.Struct, frozen=True, kw_only=True):
    """All of them."""

    project: str | None
    grants: list[Grant]


async def list_rules(asked: Plain) -> Rules:
    """Every rule in force, in the order of their scopes."""
    house = asked.house
    remembered = [one.rule for one in await to_thread.run_sync(_remembered, house)]
    found = rules_in_force(house.configuration, house.opened.profile, remembered)
    return Rules(profile=house.opened.profile, rules=found)


async def list_grants(asked: Plain) -> Grants:
    """What was remembered for this project."""
    project = asked.house.configuration.project
    found = await to_thread.run_sync(_remembered, asked.house)
    return Grants(project=None if project is None else str(project), grants=found)


async def revoke(asked: Plain) -> None:
    """Take an answer back that was remembered."""
    name, file = asked.names["grant"], _file(asked.house)
    gone = () if file is None else await to_thread.run_sync(file.forget, [name])
    if not gone:
        raise Problem(404, f"nothing is remembered under {name}")


def _remembered(house: House) -> list[Grant]:
    file = _file(house)
    return [] if file is None else [Grant(id=grant_id(one), rule=one) for one in file.load()]


def _file(house: House) -> GrantFile | None:
    project, home = house.configuration.project, house.around.state_home
    if project is None or home is None:
        return None
    return GrantFile(home, project, house.configuration.workspace)


ROUTES = (
    Route(
        method="GET",
        path="/policy/rules",
        name="list_rules",
        says="Every rule in force, in the order of their scopes.",
        answer=list_rules,
        gives=Rules,
    ),
    Route(
        method="GET",
        path="/policy/grants",
        name="list_grants",
        says="What was remembered for this project.",
        answer=list_grants,
        gives=Grants,
    ),
    Route(
        method="DELETE",
        path="/policy/grants/{grant}",
        name="revoke",
        says="Take an answer back that was remembered.",
        answer=revoke,
        status=204,
        fails=(404,),
    ),
)
