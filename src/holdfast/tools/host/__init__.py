"""The host profile's own tools: the names of the contract seed, over the same abilities."""

from holdfast.contract.builtin import Builtin
from holdfast.tools.host.clarify import clarify
from holdfast.tools.host.complete import complete
from holdfast.tools.host.file_read import file_read
from holdfast.tools.host.render_chart import render_chart
from holdfast.tools.host.sandbox_exec import sandbox_exec
from holdfast.tools.host.sandbox_process import sandbox_process
from holdfast.tools.host.sandbox_read_file import sandbox_read_file
from holdfast.tools.host.sandbox_search_files import sandbox_search_files
from holdfast.tools.host.sandbox_write_file import sandbox_write_file
from holdfast.tools.host.share_artifact import share_artifact
from holdfast.tools.host.shell_run import shell_run

HOST: tuple[Builtin, ...] = (
    file_read,
    sandbox_read_file,
    sandbox_write_file,
    sandbox_search_files,
    sandbox_exec,
    sandbox_process,
    shell_run,
    share_artifact,
    render_chart,
    complete,
    clarify,
)
