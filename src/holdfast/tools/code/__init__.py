"""Tools for work on source code, outside of the lock: another host may have its own instead."""

from holdfast.contract.builtin import Builtin
from holdfast.tools.code.apply_patch import apply_patch
from holdfast.tools.code.lsp import lsp
from holdfast.tools.code.plan import plan
from holdfast.tools.code.plan_exit import plan_exit
from holdfast.tools.code.repo_clone import repo_clone
from holdfast.tools.code.repo_overview import repo_overview
from holdfast.tools.code.view_image import view_image

CODE: tuple[Builtin, ...] = (
    apply_patch,
    repo_overview,
    repo_clone,
    lsp,
    plan,
    plan_exit,
    view_image,
)
