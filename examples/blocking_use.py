"""Holdfast from synchronous code: a plain `with`, several threads, no event loop in sight.

Run it: python examples/blocking_use.py
"""

from concurrent.futures import ThreadPoolExecutor

from holdfast import tool
from holdfast.blocking import Holdfast


@tool
def square(n: int) -> dict[str, int]:
    """Square a number."""
    return {"square": n * n}


def main() -> None:
    with Holdfast(tools=[square]) as hf:
        print(hf.settle("square", {"n": "12"}).result)

        def ask(n: int) -> object:
            return hf.settle("square", {"n": n}).result

        with ThreadPoolExecutor(4) as threads:
            print(list(threads.map(ask, range(5))))


if __name__ == "__main__":
    main()
