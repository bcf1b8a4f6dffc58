"""What stands behind the tools of `tools/managed/permissions`, put together for one session."""

from holdfast.app.managed.basis import Basis
from holdfast.contract.failure import Failure
from holdfast.contract.json_value import JsonObject
from holdfast.contract.managed.permissions import PermissionAdvice
from holdfast.contract.runtime import Ports
from holdfast.runtime.managed.permission_desk import Foreseen, PermissionDesk


def desk_of(basis: Basis) -> PermissionDesk:
    """Who knows what the session may do."""

    async def foresee(tool: str, arguments: JsonObject) -> Foreseen | None:
        if basis.explain is None:
            return None
        found = await basis.explain(tool, arguments)
        return None if isinstance(found, Failure) else found.verdict

    return PermissionDesk(basis.ground, basis.gate, lambda: basis.shell, foresee)


def ports_of(basis: Basis) -> Ports:
    """By port, what each call is handed."""
    desk = desk_of(basis)
    return {PermissionAdvice: lambda _call: desk}
