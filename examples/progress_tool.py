"""A tool that tells how far it is: an async generator. Its last item is the result.

Run it: python examples/progress_tool.py
"""

from collections.abc import AsyncGenerator

import anyio

from holdfast import Holdfast, Progress, Runtime, tool


@tool(interrupt_behavior="cancel")
async def count_words(rt: Runtime, texts: list[str]) -> AsyncGenerator[Progress | dict[str, int]]:
    """Count the words of several texts."""
    words = 0
    for done, text in enumerate(texts, 1):
        if rt.abort.aborted:
            break
        words += len(text.split())
        yield Progress(message=f"read text {done}", done=done, total=len(texts))
        await anyio.sleep(0.01)
    yield {"texts": len(texts), "words": words}


def show(progress: Progress) -> None:
    if progress.message is not None:
        print(f"{progress.done:.0f}/{progress.total:.0f} {progress.message}")


async def main() -> None:
    async with Holdfast(tools=[count_words], progress=show) as hf:
        envelope = await hf.settle("count_words", {"texts": ["one two", "three", "four five six"]})
        print(envelope.result)


if __name__ == "__main__":
    anyio.run(main)
