"""Texts that are wholly understood: which commands they run and which files the shell opens."""

import pytest

from holdfast.policy.shell.analysis import Redirection, analyse

READ, WRITE = "read", "write"

UNDERSTOOD: list[tuple[str, list[str]]] = [
    ("git log", ["git|log"]),
    ("  git   log\t-1 ", ["git|log|-1"]),
    ("git log; rm x", ["git|log", "rm|x"]),
    ("git log;rm x;", ["git|log", "rm|x"]),
    ("git log && git diff || true", ["git|log", "git|diff", "true"]),
    ("git log | grep x | wc -l", ["git|log", "grep|x", "wc|-l"]),
    ("git log |& cat", ["git|log", "cat"]),
    ("git log |\n cat", ["git|log", "cat"]),
    ("git log &&\n# why\ncat", ["git|log", "cat"]),
    ("ls -l\ngit status", ["ls|-l", "git|status"]),
    ("ls\n\n\nls", ["ls", "ls"]),
    ("(ls -l; git log) | git diff", ["ls|-l", "git|log", "git|diff"]),
    ("{ ls; pwd; }", ["ls", "pwd"]),
    ("{ ls; pwd\n}", ["ls", "pwd"]),
    ("! grep -q x f", ["grep|-q|x|f"]),
    ("if ls; then pwd; fi", ["ls", "pwd"]),
    ("if ls\nthen pwd\nelif id; then w; else who\nfi", ["ls", "pwd", "id", "w", "who"]),
    ("while ls; do pwd; done", ["ls", "pwd"]),
    ("until ls; do pwd; done", ["ls", "pwd"]),
    ("for i in 1 2; do ls; done", ["ls"]),
    ("for i; do ls; done", ["ls"]),
    ("select i in a; do ls; done", ["ls"]),
    ("case x in a) ls;; b|c*) pwd;; esac", ["ls", "pwd"]),
    ("case x in (a) ls ;; *) pwd\n;;\nesac", ["ls", "pwd"]),
    ("case x in # why\n a) ls ;; esac", ["ls"]),
    ("[ -f x ]", ["[|-f|x|]"]),
    ("[ ! -f x ] && ls", ["[|!|-f|x|]", "ls"]),
    ("[ a = b ] || ls", ["[|a|=|b|]", "ls"]),
    ("[[ a == b && c != d ]]", ["[[|a|==|b|&&|c|!=|d|]]"]),
    ("[[ ( a ) ]]", ["[[|(|a|)|]]"]),
    ("[[ 1 -eq 2 ]]", ["[[|1|-eq|2|]]"]),
    ("test -f x", ["test|-f|x"]),
    ("((1 + 1)) && ls", ["ls"]),
    ("ls # rm x", ["ls"]),
    ("# rm x\nls", ["ls"]),
    ("eval; ls", ["eval", "ls"]),
    ("ls;# rm x\npwd", ["ls", "pwd"]),
    ("ls # rm \\\npwd", ["ls", "pwd"]),
    ("ls \\\n -l", ["ls|-l"]),
    ("echo a#b", ["echo|a#b"]),
    ("echo a\\ #b", ["echo|a #b"]),
    ('echo "a; b && c"', ["echo|a; b && c"]),
    ("echo 'a; b' ';' '|'", ["echo|a; b|;|\\PIPE"]),
    ("echo 'a'\"b\"c\\d", ["echo|abcd"]),
    ("echo ''", ["echo|"]),
    ("echo \"a\\\"b\\$c\\`d\\\\e\\f\"", ['echo|a"b$c`d\\e\\f']),
    ('echo "a \\\nb"', ["echo|a b"]),
    ("echo 'a\nb'", ["echo|a\nb"]),
    ("echo $'a\\tb\\x41\\101\\u0042\\'\\\\'", ["echo|a\tbAAB'\\"]),
    ("$'\\x72m' x", ["rm|x"]),
    ("\\rm x", ["rm|x"]),
    ("r\\m x", ["rm|x"]),
    ("r''m x", ["rm|x"]),
    ('"rm" x', ["rm|x"]),
    ("'r'm x", ["rm|x"]),
    ("/bin/rm x", ["/bin/rm|x"]),
    ('grep "foo$" x$', ["grep|foo$|x$"]),
    ('grep "a$ b" $', ["grep|a$ b|$"]),
    ("git show HEAD@{1} stash@{0}", ["git|show|HEAD@{1}|stash@{0}"]),
    ("echo {} {a} a{ }b", ["echo|{}|{a}|a{|}b"]),
    ("echo a,b 1..2", ["echo|a,b|1..2"]),
    ("echo if then } done !", ["echo|if|then|}|done|!"]),
    ("echo == x =~ y", ["echo|==|x|=~|y"]),
    ("rm a=b c", ["rm|a=b|c"]),
    ("echo [", ["echo|["]),
    ("git commit -m 'café ✓'", ["git|commit|-m|café ✓"]),
    ("dd if=a of=b", ["dd|if=a|of=b"]),
    ("ls ./*.py docs/[a-c]?", ["ls|./*.py|docs/[a-c]?"]),
    ("ls ~ ~/x", ["ls|~|~/x"]),
    ("ls a~b", ["ls|a~b"]),
    (":", [":"]),
    ("", []),
    ("  \n ", []),
    ("# only a comment", []),
    ("set -euo pipefail; ls", ["set|-euo|pipefail", "ls"]),
    ("cd docs && ls", ["cd|docs", "ls"]),
    ("exec", ["exec"]),
    ("trap - EXIT; trap", ["trap|-|EXIT", "trap"]),
    ("command -v git", ["command|-v|git"]),
    ("printf '%s' x", ["printf|%s|x"]),
    ("awk '{print $1}' f", ["awk|{print $1}|f"]),
    ("awk 'NR>1' f", ["awk|NR>1|f"]),
    ("sed -n '1,5p' f", ["sed|-n|1,5p|f"]),
    ("sed -i 's/a/b/g;3d' f", ["sed|-i|s/a/b/g;3d|f"]),
    ("sed -e 's|a|b|' -e '$d' f", ["sed|-e|s\\PIPEa\\PIPEb\\PIPE|-e|$d|f"]),
    ("sed 's/a\\;b/c/' f", ["sed|s/a\\;b/c/|f"]),
    ("python script.py -c x", ["python|script.py|-c|x"]),
    ("python3.11 -m pytest -c x", ["python3.11|-m|pytest|-c|x"]),
    ("python3 -u script.py - -c x", ["python3|-u|script.py|-|-c|x"]),
    ("python3 -Wignore -X dev script.py", ["python3|-Wignore|-X|dev|script.py"]),
    ("python3 -mpytest -i", ["python3|-mpytest|-i"]),
    ("python3 -mpytest", ["python3|-mpytest"]),
    ("deno run -A app.ts", ["deno|run|-A|app.ts"]),
    ("bun run build", ["bun|run|build"]),
    ("git grep -eTODO -fNOTES", ["git|grep|-eTODO|-fNOTES"]),
    ("python3 --version", ["python3|--version"]),
    ("node -v", ["node|-v"]),
    ("node app.js", ["node|app.js"]),
    ("bash script.sh -c x", ["bash|script.sh|-c|x"]),
    ("bash --version", ["bash|--version"]),
    ("git -C x -c user.name=me log", ["git|-C|x|-c|user.name=me|log"]),
    ("git rebase main", ["git|rebase|main"]),
    ("git", ["git"]),
    ("docker ps", ["docker|ps"]),
    ("docker compose up -d", ["docker|compose|up|-d"]),
    ("npm install exec", ["npm|install|exec"]),
    ("tar -xf a.tar", ["tar|-xf|a.tar"]),
    ("ldconfig -p", ["ldconfig|-p"]),
    ("find . -name '*.py'", ["find|.|-name|*.py"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), UNDERSTOOD)
def test_every_command_is_found_and_nothing_is_in_doubt(text: str, expected: list[str]) -> None:
    found = analyse(text)
    assert found.doubts == ()
    assert not found.background
    pipe = "\\PIPE"
    assert [list(command.argv) for command in found.commands] == [
        [word.replace(pipe, "|") for word in line.split("|")] for line in expected
    ]


REDIRECTED: list[tuple[str, list[str], list[tuple[str, str | None]]]] = [
    ("ls > f", ["ls"], [(WRITE, "f")]),
    ("ls >f -l", ["ls -l"], [(WRITE, "f")]),
    ("ls >> 'a b'", ["ls"], [(WRITE, "a b")]),
    ("ls >| f", ["ls"], [(WRITE, "f")]),
    ("ls &> f -l", ["ls -l"], [(WRITE, "f")]),
    ("ls &>> f", ["ls"], [(WRITE, "f")]),
    ("ls >& f", ["ls"], [(WRITE, "f")]),
    ("ls 2> f", ["ls"], [(WRITE, "f")]),
    ("ls a2>f", ["ls a2"], [(WRITE, "f")]),
    ("ls 2 >f", ["ls 2"], [(WRITE, "f")]),
    ("cat < f > g 2>> h", ["cat"], [(READ, "f"), (WRITE, "g"), (WRITE, "h")]),
    ("> f cat x", ["cat x"], [(WRITE, "f")]),
    (">f", [], [(WRITE, "f")]),
    ("ls 2>&1", ["ls"], []),
    ("ls >&2 x", ["ls x"], []),
    ("ls 2>&- x", ["ls x"], []),
    ("ls <&3", ["ls"], []),
    ("2>&1 ls", ["ls"], []),
    ("ls > /dev/null 2>&1", ["ls"], []),
    ("ls < /dev/null", ["ls"], []),
    ("cat <<< 'a b' x", ["cat x"], []),
    ("(ls; pwd) > f", ["ls", "pwd"], [(WRITE, "f")]),
    ("{ ls; } 2>f", ["ls"], [(WRITE, "f")]),
    ("if ls; then pwd; fi > f", ["ls", "pwd"], [(WRITE, "f")]),
    ("while ls; do pwd; done < f", ["ls", "pwd"], [(READ, "f")]),
    ("[ -f x ] > f", ["[ -f x ]"], [(WRITE, "f")]),
    ("ls && pwd > f", ["ls", "pwd"], [(WRITE, "f")]),
    ("ls | wc > f", ["ls", "wc"], [(WRITE, "f")]),
    ("cat > f <<'E'\n$x `y`\nE\n", ["cat"], [(WRITE, "f")]),
    ("cat <<E > f\nplain\nE\nls", ["cat", "ls"], [(WRITE, "f")]),
    ("cat <<'E' && ls | wc\nx\nE\n", ["cat", "ls", "wc"], []),
    ("cat <<'E' | wc\nx\nE\n", ["cat", "wc"], []),
    ("cat <<E x\nbody\nE\n", ["cat x"], []),
    ("cat <<E 2>&1 x\nbody\nE\n", ["cat x"], []),
    ("cat <<-E\n\tbody\n\tE\nls", ["cat", "ls"], []),
    ("git commit -F - <<'E'\nx\nE\n", ["git commit -F -"], []),
    ("cat a - - <<'E' b\nx\nE\nls", ["cat a - - b", "ls"], []),
    ("cat - <<'E' | wc\nx\nE\n", ["cat -", "wc"], []),
    ("cat - 2>&1 1>f", ["cat -"], [(WRITE, "f")]),
    ("bash -c 'ls > f'", ["bash -c 'ls > f'", "ls"], [(WRITE, "f")]),
    ("cd /tmp && ls > /tmp/f", ["cd /tmp", "ls"], [(WRITE, "/tmp/f")]),
    ("cat < 'a;b'", ["cat"], [(READ, "a;b")]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "commands", "files"), REDIRECTED)
def test_a_redirection_is_a_file_the_shell_opens(
    text: str, commands: list[str], files: list[tuple[str, str | None]]
) -> None:
    found = analyse(text)
    assert found.doubts == ()
    assert [command.text for command in found.commands] == commands
    assert [(opened.mode, opened.target) for opened in found.redirections] == files


def test_a_file_opened_both_ways_is_reported_both_ways_although_the_grammar_stumbles() -> None:
    found = analyse("cat <> f")
    assert set(found.redirections) == {Redirection("read", "f"), Redirection("write", "f")}
    assert found.doubts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("git   log    -1", "git log -1"),
        ('git  commit -m "a  b"', 'git commit -m "a  b"'),
        ("git log > f -1 # c", "git log -1"),
        ("A=b git log", "git log"),
        ("git log \\\n  -1", "git log -1"),
        ("/usr/bin/git log", "/usr/bin/git log"),
    ],
)
def test_text_is_the_words_as_written_with_single_blanks(text: str, expected: str) -> None:
    assert analyse(text).commands[0].text == expected


def test_a_command_says_whether_the_shell_still_replaces_words_of_it() -> None:
    assert analyse("ls ./*").commands[0].expands
    assert not analyse("ls './*'").commands[0].expands
