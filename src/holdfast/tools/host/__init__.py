"""The host profile's own tools: the names of the contract seed, over the same abilities."""

from holdfast.contract.builtin import Builtin
from holdfast.tools.host.render_chart import render_chart
from holdfast.tools.host.share_artifact import share_artifact

HOST: tuple[Builtin, ...] = (share_artifact, render_chart)
