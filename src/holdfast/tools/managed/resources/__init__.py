"""Files that all sessions of an agent share: staged, compared, revised, promoted."""

from holdfast.contract.builtin import Builtin
from holdfast.tools.managed.resources.resources_compare_with_substrate import (
    resources_compare_with_substrate,
)
from holdfast.tools.managed.resources.resources_list import resources_list
from holdfast.tools.managed.resources.resources_list_staged_drafts import (
    resources_list_staged_drafts,
)
from holdfast.tools.managed.resources.resources_list_versions import resources_list_versions
from holdfast.tools.managed.resources.resources_promote_to_substrate import (
    resources_promote_to_substrate,
)
from holdfast.tools.managed.resources.resources_read_version import resources_read_version
from holdfast.tools.managed.resources.resources_restore_version import resources_restore_version
from holdfast.tools.managed.resources.resources_stage_from_substrate import (
    resources_stage_from_substrate,
)

RESOURCES: tuple[Builtin, ...] = (
    resources_list,
    resources_stage_from_substrate,
    resources_list_staged_drafts,
    resources_list_versions,
    resources_read_version,
    resources_compare_with_substrate,
    resources_promote_to_substrate,
    resources_restore_version,
)
