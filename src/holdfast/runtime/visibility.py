"""The part of a catalog that an agent can see. A tool filtered out looks as if it did not exist."""

from holdfast.contract.agents import Visibility
from holdfast.runtime.catalog import Catalog


def visible(catalog: Catalog, *visibilities: Visibility) -> Catalog:
    """The catalog an agent gets to see: what each of them admits."""
    return catalog.restrict(
        tool.name for tool in catalog if all(one.admits(tool.name) for one in visibilities)
    )
