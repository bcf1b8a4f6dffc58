"""Command texts for tests: harmless programs only, spelled in every way bash knows.

Only the names in `PROGRAMS` stand where a program may stand, so that a text can be run with
nothing but stand-ins of these names to be found.
"""

from hypothesis import strategies as st

PROGRAMS = ("alpha", "beta", "gamma")

_SPELLED = ("al'ph'a", "\\alpha", '"beta"', "$'alpha'", "be\\ta", "$x", "alph{a,b}", "alph?")
_WORDS = (
    "a", "b1", "-x", "--", "-", "1", "2", "a=b", "-o=\"x y\"", "%", "^", "@", "+", "a..b", "é",
    "'q r'", '"d e"', '"d;e"', "'a'\"b\"c", "''", '""', "'\\'", '"\\\\"', '"\'"', "'\"'", "'#'",
    "\\;", "\\ ", "a\\ ", "x\\ y", "\\#", "\\\\", "\\a", "\\*", "\\$(beta)", "\\`beta\\`",
    "a#b", "#", "~", "a:~", "~x", "!", "a!", '"!"', "$", '"$"', 'a$', '"a$"', "$%",
    "'a\nb'", '"a\\\nb"', "x\\\ny", "\\\n", "$'t\\tn'", "$'a\\'b'", "$'\\x61'", '"a\\"b"', '$"x"',
    "if", "then", "fi", "do", "done", "esac", "case", "in", "time", "function", "coproc", "{", "}",
    "[", "]", "==", "=~", "=", "{}", "{a", "b}", "{a}", "HEAD@{1}", "a{b,c}", "{1..2}", "{a,'b'}",
    "*x", "./x*", "a?b", "[a]", "[!a]", "?", "(a)", "\\(a\\)", "!(a)", "@(a|b)", "$((", "))",
    "$(beta)", '"$(beta b)"', "'$(beta)'", "`beta`", '"a`beta`"', "<(beta)", "$x", "${x}",
    "${x:-a}", "${x:=b}", "${#x}", "$#", "$?", "$((1+1))", "$[1+1]", "\t", "`", '"', "'",
)  # fmt: skip
_REDIRECTIONS = (
    "> o1", ">o1", ">>o1", "2>o1", "2>&1", ">&2", "&>o1", "&>>o1", ">|o1", "<>o1", "3<>o1",
    "<<<x", "<<< 'x y'", '<<<"$(beta)"', ">&o1", ">&-", "2>&-", "1>o1", "a2>o1", "{f}>o1",
    "<<E\nbody\nE\n", "<<'E'\nbo $(beta)\nE\n", "<<E\n$(beta)\nE\n", "<<-E\n\tb\n\tE\n",
    "> 'o 2'", ">&'o3'", "< o1",
)  # fmt: skip
_SEPARATORS = (
    " ; ", " && ", " || ", " | ", "\n", ";", "&&", "||", "|", " |& ", "\n\n", " \\\n", " & ", "&",
)  # fmt: skip

# `{0}` and `{1}` are statements. No loop of these goes round more than a few times.
_FRAMES = (
    "( {0} )", "({0})", "{{ {0}; }}", "{{ {0}\n}}", "! {0}", "if {0}; then {1}; fi",
    "if {0}\nthen {1}\nelse {0}\nfi", "for i in a b; do {0}; done", 
    "for i in '#' \"a b\"\ndo {0}\ndone",
    "case a in a) {0};; *) {1} ;; esac", "while ! alpha; do {0}; done", "until alpha; do {0}; done",
    "f() {{ {0}; }}; f", "[[ a == a ]] && {0}", "[ a = b ] || {0}", "{0} # c", "{0} #{1}\n{1}",
    "time {0}", "alpha $({0})", 'alpha "x $({0})"', "alpha <({0})", "alpha `{0}`",
    "(( 1 + 1 )) && {0}", "((alpha); {0})", "{{ {0}; }} > o1", "({0}) 2>&1", "x=a; {0}",
    "for ((i=0;i<1;i++)); do {0}; done", "{0};", "{0} > o1 && {1}", "export x=a; {0}",
)  # fmt: skip

words = st.one_of(
    st.sampled_from(_WORDS), st.lists(st.sampled_from(_WORDS), min_size=2, max_size=3).map("".join)
)
_programs = st.sampled_from((*PROGRAMS * 8, *_SPELLED))
_parts = st.one_of(words, words, words, words, st.sampled_from(_REDIRECTIONS))


def _joined(program: str, parts: list[str], blank: str) -> str:
    return blank.join((program, *parts))


simple_commands = st.builds(
    _joined,
    _programs,
    st.lists(_parts, max_size=4),
    st.sampled_from((" ", " ", "  ", "\t")),
)


def _listed(first: str, separator: str, second: str) -> str:
    return f"{first}{separator}{second}"


def _framed(frame: str, first: str, second: str) -> str:
    return frame.format(first, second)


def _compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds(_listed, inner, st.sampled_from(_SEPARATORS), inner),
        st.builds(_framed, st.sampled_from(_FRAMES), inner, inner),
    )


statements = st.recursive(simple_commands, _compound, max_leaves=5)
"""Mostly valid bash."""

_SOUP = (*_WORDS, *_REDIRECTIONS, *_SEPARATORS, *PROGRAMS * 8, *(" ",) * 30, "(", ")", "{ ", "; }")
soups = st.lists(st.sampled_from(_SOUP), min_size=1, max_size=14).map("".join)
"""Mostly invalid bash, from pieces that mean something."""

texts = st.one_of(statements, statements, soups)
