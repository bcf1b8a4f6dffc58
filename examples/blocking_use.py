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

        with ThreadPoolExecutor(4) as threads:
            answers = threads.map(lambda n: hf.settle("square", {"n": n}), range(5))
            print([answer.result for answer in answers])


if __name__ == "__main__":
    main()
