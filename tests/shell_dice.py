"""Random command texts by a grammar: bash of every kind, soups of its pieces, slips of the hand.

Only the names in `shell_texts.PROGRAMS`, builtins that stay in the shell, and shells stand where a
program may stand, so that a text can be run where nothing but stand-ins of these names is found.
No path leads out of the folder, no loop goes round more than a few times.
"""

import random
import re

_HOLE = re.compile(r"«(\w+)»")

USUAL: dict[str, tuple[str, ...]] = {
    "text": ("«list»", "«list»", "«list»«nl»«list»"),
    "list": ("«pipe»",) * 8 + (
        "«list» ; «pipe»", "«list»;«pipe»", "«list» && «pipe»", "«list»||«pipe»",
        "«list»«nl»«pipe»", "«list» &&«nl»«pipe»", "«list» # «remark»«nl»«pipe»",
        "«list» & «pipe»", "«list»&«pipe»", "«list»«nl»#«remark»«nl»«pipe»",
        "«list» \\\n && «pipe»", "«list»;«nl»«nl»«pipe»", "«list»«nl»«prog» #'",
        '«list»«nl»«prog» #"',
    ),
    "pipe": ("«stmt»",) * 14 + (
        "«pipe» | «stmt»", "«pipe»|«stmt»", "«pipe» |& «stmt»", "! «stmt»", "«pipe» |«nl»«stmt»",
        "! «pipe»", "time «stmt»", "time -p «stmt»",
    ),
    "stmt": ("«simple»",) * 14 + ("«compound»",) * 5 + ("«builtin»",) * 4 + ("«nested»",) * 2,
    "simple": (
        "«prog»", "«prog» «word»", "«prog» «word» «word»", "«prog» «word» «word»",
        "«prog» «word» «word» «word»", "«prog»\t«word»  «word»", "«prog» «word» \\\n «word»",
        "«prog» «word» «redir»", "«prog» «redir» «word»", "«redir» «prog» «word»",
        "«prog» «redir» «redir» «word»", "«prog» «word»«redir»", "«assign» «prog» «word»",
        "«redir»", "«prog» «word»#«word»", "wc «word» «word»", "echo «word»",
        "wc «word» «redir» «word»", "«prog» #«remark»", "«prog» «word» #«remark»",
        "«assign» «prog» «redir» «word»", "«redir» «assign» «prog»",
    ),
    "prog": ("alpha", "beta", "gamma") * 5 + (
        "al'ph'a", "\\alpha", '"beta"', "$'alpha'", "be\\ta", "''alpha", "$'\\x61lpha'",
        "\"al\"pha", "be\"t\"a", "gam''ma", "al$'ph'a",
    ),
    "word": ("«atom»",) * 8 + ("«atom»«atom»",) * 3 + ("«atom»«atom»«atom»",),
    "atom": (
        "a", "b1", "-x", "--", "-", "1", "2", "a=b", "%", "^", "@", "+", "a..b", "é", ",", ":",
        "_", "'q r'", '"d e"', '"d;e"', "''", '""', "'\\'", '"\\\\"', '"\'"', "'\"'", "'#'",
        '"a\\b"', "\\;", "x\\ y", "\\#", "\\\\", "\\a", "\\*", "\\`beta\\`", "\\&", "\\|",
        "\\(a\\)", "a#b", "#", "~", "a:~", "~x", "a=~", "~+", "!", "!!", "!x", '"!"', '"\\!"',
        "$", '"$"', "a$", "'a\nb'", '"a\nb"', "$'t\\tn'", "$'a\\'b'", "$'\\x61'", "$'\\141\\n'",
        "'$(beta)'", '"a\\"b"', "$'\\u61'", "$'\\e'", "$'q\"r'", '"$\'a\'"', "'a'\"b\"c",
        '"\\$(beta)"', "if", "then", "fi", "do", "done", "esac", "case", "in", "time", "function",
        "coproc", "{", "}", "[", "]", "[[", "]]", "=", "{}", "{a", "b}", "{a}", "HEAD@{1}",
        "a{b,c}", "{1..2}", "{a,'b'}", "{a,}", "{,a}", "{a\\,b}", "{a,b}{c,d}", "'{a,b}'",
        "{a..c}", "{a,b", "{'a,b'}", "{a,\\ b}", "{01..2}", "{a,{b,c}}", "{\"a\",b}", "{a}{,}",
        "$'{a,b}'", "{a,b,c}", "{3..1}", "*x", "./x*", "a?b", "[a]", "[!a]", "?", "*", "x[12]",
        "./*", "sub/*", "'*'", '"*"x', "**", "$?", "$#", "$$", '"$#"', '"$?"', '"a$?b"',
        "$((1+1))", '"$((1+1))"', "\t", ";", "[a", "a]", "\"$(cat <<'E'\n«body»\nE\n)\"",
        "\"$(cat <<'EOF'\n«body»\nE\nEOF\n)\"", "\\é", "'é'", '"é"', "ß", "é$?", "1$#",
    ),
    "sub": ("$(«list»«fl»)",),
    "plain": ("a", "b1", "-x", "x", "1"),
    "remark": ("", " c", "c; beta", " \\", " 'x", " «prog»", " $(beta)", " `beta`", ' "', " ("),
    "file": ("o1", "o1", "'o 2'", "o3", '"o1"', "o\\1", "$'o1'", "sub/o4", "./o1"),
    "redir": (
        "> «file»", ">«file»", ">> «file»", "2>«file»", "2>&1", ">&2", "&>«file»", "&>>«file»",
        ">|«file»", "<<<«word»", "<<< «word»", ">&«file»", ">&-", "2>&-", "1>«file»", "a2>«file»",
        "< «file»", "<«file»", "<&0", "<&-", "2>&1-", "10>«file»", ">> «file» 2>&1",
        "< /dev/null", "> /dev/null", "2>/dev/null", "«here»", "«here»", "«here»", "&> /dev/null",
        "12>&1", "> «file» < «file»", "2 >«file»",
    ),
    "assign": (
        "LANG=C", "LC_ALL=C", "LC_ALL=C.UTF-8", "TZ=UTC", "TZ=Europe/Berlin", "NO_COLOR=1", "CI=",
        "CI=true", "TERM=dumb", "LANG=C LC_ALL=C", "COLUMNS=80",
    ),
    "builtin": (
        "echo «word» «word»", ": «word»", "cd sub", "cd sub && «simple»", "test «word»",
        "[ «word» ]", "[ «word» = «word» ]", "[ -f «word» ]", "[[ «word» ]]",
        "[[ «word» == «word» ]]", "[[ «word» =~ «word» ]]", "[[ a && «word» ]]",
        "[[ -n «word» || a < b ]]", "[[ ! ( a ) ]]", "printf '%s' «word»", "true", "false",
        "eval '«simple»'", "eval «simple»", 'eval "«simple»"', "eval «word» «word»",
        "trap '«prog» «plain»' EXIT", "trap «word» EXIT", 'trap "«prog»" 0', "exec «simple»",
        "command «simple»", "builtin echo «word»", "command -p «prog» «word»",
        "command -v «prog»", "set -e; «simple»", "type «prog»", "set +x; «simple»",
        "exit 0; «prog»", "! true", "wait", "exec > o1; «simple»", "exec 3>o1", "shift", "return",
        "break", "umask 077", "pushd sub; «simple»", "exec -c «prog» «word»", "command -- «prog»",
        "builtin eval '«simple»'", "command eval '«simple»'", "command exec «prog» «word»",
        "set -o pipefail", "for i in a; do break; done", "command trap '«prog»' EXIT",
        "trap '«prog» «plain»' DEBUG; «simple»", "trap -- '«prog»' ERR; false",
    ),
    "nested": (
        "bash -c '«simple»'", 'bash -c "«simple»"', "bash -c «word»", "bash -c '«compound»'",
        "bash -ec '«prog» «plain»'", "bash -c -- '«prog»'", "sh -c '«prog» «plain»'",
        "bash -o pipefail -c '«simple»'", "bash +o posix -c '«prog»'", "sh -c '«simple»'",
        "bash -c $'«prog» \\'«plain»\\''", "bash -co pipefail '«prog»'", "sh -c '«compound»'",
        "sh -ec '«prog»; «simple»'", "bash -x -c '«prog»'", "bash -c '«prog» «plain» #' '«prog»'",
    ),
    "compound": (
        "( «list»«fl» )", "(«list»«fl»)", "{ «list»«fl»; }", "{ «list»«nl»}", "( «list» )«redir»",
        "if «list»; then «list»; fi", "if «list»«nl»then «list»«nl»else «list»«nl»fi",
        "if «list»; then «list»; elif «list»; then «list»; fi",
        "for i in «word» «word»; do «list»; done", "for i in «word»«nl»do «list»«nl»done",
        "for i; do «prog»; done", "! ( «list» )", "case «word» in «word») «list»;; esac",
        "case a in a) «list»;; *) «list» ;; esac",
        "case a in (a|b) «list»;& c) «list»;;& *) «prog»; esac", "case a in a) «list»«nl»;; esac",
        "case «word» in\n*) «list»\nesac", "case a in esac", "while ! alpha; do «list»; done",
        "until alpha; do «list»; done", "while alpha; do «prog»; break; done", "( («list») )",
        "[[ a == a ]] && «stmt»", "(( 1 + 1 )) && «stmt»", "((1)) «redir»", "{ «list»; } «redir»",
        "if «list»; then «list»; fi «redir»", "for i in a; do «list»; done «redir» | «stmt»",
        "{ «list»; }; «simple»", "(«list»)|«simple»", "{ «simple» }; }", "{ «prog» {; }",
        "time { «list»; }", "! { «list»; }", "time ( «list» )", "if «list»; then fi",
    ),
    "body": (
        "body", "«prog» 'a", "E \n«prog» 'a", "\tE\n«prog» \"a", " E\n«prog» 'a", "EE\n«prog» 'a",
        "a\nb", "$x", "$(beta)", "`beta`", "\\", "«prog»", "'", '"', "a\n\tb", "", "E ", " E",
        "$((1))", "x\\\ny", "\\$(beta)", "EE", ")", "a)b", "(", "é", "%s\n\n", "a\n\n\n", "\\E",
        "\tE",
    ),
}  # fmt: skip
"""What is mostly understood."""

ODD: dict[str, tuple[str, ...]] = {
    "pipe": ("«stmt»|! «stmt»", "! ! «stmt»", "time ! «stmt»", "! time «stmt»"),
    "simple": ("«assign»", "«assign» «assign»", "«prog» «assign» «word»"),
    "prog": (
        "$x", "alph{a,b}", "alph?", "a\\\nlpha", "${x}alpha", "!", "$?", "$'\\cA'", "{alpha,a}",
        "\\\nalpha", "~alpha", "alpha\\\n", "[", "{", "}",
    ),
    "atom": (
        "«sub»", "«sub»", "«sub»", "«sub»", "\\ ", "\\$(beta)", '"a\\\nb"', "x\\\ny", '$"x y"',
        "$'a\\\nb'", "$'\\cA'", "==", "=~", "${a,b}", "(a)", "!(a)", "@(a|b)", "+(a)", "*(x)",
        "$((", "))", "((", "(", ")", "$x", "${x}", "${x:-a}", "${x:=b}", "${#x}", "$!", "$_",
        "$-", "$0", "$1", "$*", "$@", '"$@"', '"${x}"', "$[1+1]", "`", '"', "'", "\\", "|", "<",
        ">", "&", "\r", "\u00a0", "\u3000", "\u2028", "a\\\tb", "\x0b", "\x0c", "\x7f", "${#}",
        "${?}", "$((x))", "$((1+$(beta)))", "$(())", "{a,$(beta)}", "{a,`beta`}", "{$x,b}",
        "{a,b\\\n}", "{1..3..2}", "{a..}", "{..a}", "a{,b", "$((08))",
    ),
    "sub": (
        '"$(«list»«fl»)"', "`«prog» «plain»`", '"a`«prog»`"', "<(«list»«fl»)", ">(«list»«fl»)",
        "$( «list»«nl»)", "${x:-$(«list»«fl»)}", '"${x:-$(«prog»)}"', "$((1+$(«prog»)))",
        "$(<«file»)", "$(#«remark»\n«prog»)", '"$(«prog» "«plain»")"',
        "\"$(cat <<'E'\n«body»\nE)\"", '"$(cat <<E\n«body»\nE\n)"', "$(cat <<'E'\n«body»\nE\n)",
        "\"$(«prog» <<'E'\n«body»\nE\n)\"", "\"$(cat <<'E' «word»\n«body»\nE\n)\"",
        "\"$(cat <<'E'\n«body»\nE\n«prog»)\"", "\"$(cat <<-'E'\n«body»\n\tE\n)\"",
        "\"$( cat<<'E'\n«body»\nE\n )\"", "\"$(cat <<'E' | «prog»\n«body»\nE\n)\"",
    ),
    "file": ("«word»", "$x", "«sub»", "/dev/stdout", "&1", ""),
    "redir": (
        "<>«file»", "3<>«file»", "> & «file»", "{f}>«file»", "<& «word»", ">&$x", "&>>\\\n«file»",
        "2>\\\n&1", ">«nl»«file»", "> >(«prog»)", "< <(«prog»)", "<<<$(«prog»)", "{f}<<<a",
        "1-2>«file»", ">&1-", "&>&1", "<<«word»", ">>|«file»", "&|", "<<<", "<<",
    ),
    "assign": (
        "LC_ALL=«word»", 'TZ="«plain»"', "CI=«word»", "TZ=a{b,c}", "CI=$((1+1))", "TERM='a b'",
        "CI=~", "TZ=*", "CI=$?", "x=a", "x=", "x='a b'", "x=$(«prog»)", "x+=a", "x[1]=b",
        "x=(a b)", "x=(«word» «word»)", "PATH=sub", 'x="«word»"', "x=~", "x=*", "x=a\\ b",
        "IFS=a", "é=1", "1x=a", "x==a", 'TZ="$(«prog»)"', "CI=1 x=a", "TERM+=a", "CI[0]=a",
        "CI=(a b)", "CI=`beta`", "TZ=<(«prog»)", "LC_é=a", "CI =a", "CI= a", "C\\I=a", "'CI'=a",
        "CI\\\n=a", "CI=\\\na", "LC_[0]=a", "LC_=a",
    ),
    "builtin": (
        "coproc «simple»", "coproc { «list»; }", "set -- «word»; «prog» $1",
        "shopt -s extglob; «simple»", "source ./s1", ". ./s1",
        "shopt -s expand_aliases\nalias a1='«prog» x'\na1 «word»", "local x", "export x=«word»",
        "unset x", "declare x=«word»", "let x=1+1", "read x <<< «word»; «prog» $x",
        "x=«word»; «prog» $x", "mapfile x < s1", "hash -p ./s1 alpha; alpha", "exec -a x «prog»",
        "command . ./s1", "builtin . ./s1", "set -f; «prog» *", "set -C",
        "alias alpha=beta; alpha", "for CI in a b; do «prog»; done", "set -H; «prog» !!",
        "set -k; «prog» PATH=sub", "set -n; «prog»", "cd sub; ./s1", "command builtin «simple»",
        "exec {f}>o1", "printf -v x a", "shopt -s nullglob", "eval -- «simple»",
        "trap -p; «prog»", "trap beta EXIT INT", "trap 'exec beta' 0", "fc -s", "select",
        "set -o posix; «simple»", "builtin command «simple»", "builtin builtin eval beta",
        "trap EXIT beta", "enable -n echo; echo", "complete -C beta x", "compgen -C beta x",
        "readonly x", "unset -f x",
    ),
    "nested": (
        "bash -c '«prog» $1' a «word»", "bash -c '«prog» \"$0\"' «word»",
        "bash <<'E'\n«prog»\nE\n", "bash -c", "bash -O extglob -c '«simple»'", "bash -s <<< beta",
        "bash -i -c beta", "bash --posix -c beta", "bash -n -c beta", "bash -cbeta",
        "bash -c+x beta", "bash --norc -ce «word»", "bash - -c beta", "bash -c '' beta",
        "bash -x +c beta", "bash -ci beta", "bash -c \\beta", "bash -ao pipefail -c beta",
        "sh -c 'beta' a b", "sh - -c beta", "sh -o errexit -c beta", "sh +e -c beta",
        "sh -c -e beta", "bash --rcfile s1 -c beta", "bash --init-file s1 -c beta",
        "bash -l -c beta", "bash -D -c beta",
    ),
    "compound": (
        "for i in a b; do «prog» $i; done", "for i in a b; { «list»; }",
        "for x in a«redir»; do «prog»; done", "for i in; do «prog»; done",
        "for ((i=0;i<1;i++)); do «list»; done",
        "select i in a b; do «prog» $i; break; done < /dev/null", "f() { «list»; }; f «word»",
        "function f { «list»; }; f", "f() ( «list» ); f", "alpha() { «prog»; }; alpha",
        "((«prog»); «list»)", "(( «word» ))", "( «list» ) «word»", "coproc f { «list»; }",
        "function «prog» { beta; }; «simple»", "{«list»; }", "(( 1 ) ; «list»)",
        "if «list»; then; «list»; fi", "case a in a|) «list»;; esac", "while; do «list»; done",
        "{ }", "( )", "«list» ;;", "case a in a) «list» esac", "f () «compound»; f",
        "if ! «list»; then «list»; fi", "while «list» do alpha; break; done",
        "for i in a\ndo «list»; done", "for i do «list»; break; done",
        "for i in a b do «list»; done", "«list» }", "fi; «list»",
        "case a in\n# «remark»\na) «list» ;; esac", "case x in a) ;; x) «list» ;; esac",
        "case «list» in a) beta;; esac",
    ),
}  # fmt: skip
"""What is mostly not."""

_HERE = (
    ("<<E", "E"), ("<< E", "E"), ("<<'E'", "E"), ('<<"E"', "E"), ("<<\\E", "E"), ("<<-E", "\tE"),
    ("<<-'E'", "\tE"), ("<<E''", "E"), ("3<<E", "E"), ("<<'E F'", "E F"), ("<<$x", "$x"),
    ("<<E2", "E2"),
    ("<<-\tE", "E"), ("<<E\\\n", "E"),
)  # fmt: skip
_PIECES = (
    " ", "\n", "\t", ";", "&", "|", "&&", "||", "!", "(", ")", "{ ", "}", "; }", "{", "<", ">",
    ">>", "<<<", "<<E", "<<'E'", "<<-E", "\nE\n", "\nE", "E\n", "E", "\tE\n", "E \n", "&>", ">|",
    ">&", "<&", "2>", "2", "1-", "-", "'", '"', "\\", "\\\n", "\\\\", "$", "$'", '$"', "#", " #",
    "=", "a=", "[[ ", " ]]", "[ ", " ]", "((", "))", "if ", "then ", "fi", "; fi", "else ",
    "for i in ", "do ", "; done", "done", "while ", "case a in ", "a) ", ";;", ";&", "esac",
    " esac", "time ", "time", "-p ", "eval ", "exec ", "command ", "bash -c ", "sh -c ", "trap ",
    " EXIT", "function ", "() ", "o1", ">o1", "*", "?", "[", "]", "~", ",", "{a,", "b}", "$?",
    "$#", "`", "$(", "CI=1 ", "LC_ALL=C ", "coproc ", "cat ", "\"$(cat <<'E'\n", "\nE\n)\"",
    "wc ", "echo ", "--", "-c ", "+c ", "select ", "until ", "in ", "\r", "é",
)  # fmt: skip
_TYPED = "ab -;&|<>(){}[]$`'\"\\#*!=~\n\t?,:1E"
_DEEPEST = 9
_ODD_SHARE = 0.04


class Dice:
    """Makes texts, the same ones for the same seed."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)
        self._bodies: list[str] = []

    def text(self) -> str:
        """One text: mostly by the grammar, sometimes with a slip of the hand."""
        kind = self._dice.random()
        if kind < 0.3:
            return self._soup()
        text = self._whole("text")
        return text if kind < 0.6 else self._mistyped(text)

    def _whole(self, symbol: str) -> str:
        self._bodies = []
        text = self._made(symbol, 0)
        return text + (self._flushed() if self._bodies else "")

    def _flushed(self) -> str:
        bodies, self._bodies = self._bodies, []
        return "\n" + "".join(bodies)

    def _made(self, symbol: str, depth: int) -> str:
        match symbol:
            case "nl":
                return self._flushed()
            case "fl":
                return self._flushed() if self._bodies else ""
            case "here":
                mark, end = self._dice.choice(_HERE)
                body = self._made("body", depth + 1)
                self._bodies.append(f"{body}\n{end}\n")
                return mark
            case _:
                return self._filled(symbol, depth)

    def _filled(self, symbol: str, depth: int) -> str:
        choices = USUAL[symbol]
        if symbol in ODD and self._dice.random() < _ODD_SHARE:
            choices = ODD[symbol]
        # Beyond the depth the first of each is taken, and those lead to an end.
        template = choices[0] if depth > _DEEPEST else self._dice.choice(choices)
        return self._filled_in(template, depth)

    def _filled_in(self, template: str, depth: int = _DEEPEST) -> str:
        return "".join(
            self._made(piece, depth + 1) if index % 2 else piece
            for index, piece in enumerate(_HOLE.split(template))
        )

    def _soup(self) -> str:
        """Few kinds of pieces in one text, so that they meet each other often."""
        pool = [*_PIECES, *USUAL["atom"], *USUAL["prog"], *ODD["atom"]]
        kinds = [self._filled_in(piece) for piece in self._dice.sample(pool, 5)]
        kinds += self._dice.sample(_PIECES, 5)
        kinds += ["alpha ", "beta", " ", " "]
        return "".join(self._dice.choices(kinds, k=self._dice.randint(3, 14)))

    def _mistyped(self, text: str) -> str:
        for _ in range(self._dice.randint(1, 3)):
            place = self._dice.randint(0, len(text))
            match self._dice.randint(0, 3):
                case 0:
                    text = text[:place] + text[place + 1 :]
                case 1:
                    text = text[:place] + self._dice.choice(_TYPED) + text[place:]
                case 2:
                    text = text[:place] + self._dice.choice(_TYPED) + text[place + 1 :]
                case _:
                    other = self._dice.randint(0, len(text))
                    first, last = min(place, other), max(place, other)
                    text = text[:first] + text[first:last][:12] + text[first:]
        return text
