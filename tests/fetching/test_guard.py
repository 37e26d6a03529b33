"""No spelling of an internal address reaches a listening socket. The tests check the socket, not only the exception."""

import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.contract import GapCategory
from marchwarden.errors import InvalidInput, SourceError
from marchwarden.fetching import AllowedHosts, Fetcher, FetchSettings
from marchwarden.fetching.guard import is_public
from tests.fetching.site import RedirectingNetwork, Site, page, reply, site

PUBLIC = "93.184.215.14"
INTERNAL = {
    "internal.example.org": ["127.0.0.1"],
    "ten.example.org": ["10.1.2.3"],
    "shared.example.org": ["100.64.0.1"],
    "link.example.org": ["169.254.169.254"],
    "zero.example.org": ["0.0.0.0"],
    "broadcast.example.org": ["255.255.255.255"],
    "multicast.example.org": ["224.0.0.1"],
    "wire.example.org": ["168.63.129.16"],
    "six.example.org": ["::1"],
    "any-six.example.org": ["::"],
    "mapped.example.org": ["::ffff:127.0.0.1"],
    "compatible.example.org": ["::127.0.0.1"],
    "sixtofour.example.org": ["2002:7f00:1::"],
    "nat64.example.org": ["64:ff9b::7f00:1"],
    "local-nat64.example.org": ["64:ff9b:1::7f00:1"],
    "teredo.example.org": ["2001:0:4136:e378:8000:63bf:80ff:fffe"],
    "unique.example.org": ["fd00:ec2::254"],
    "link-six.example.org": ["fe80::1%lo"],
    "site-six.example.org": ["fec0::1"],
    "group-six.example.org": ["ff02::1"],
    "mixed.example.org": [PUBLIC, "127.0.0.1"],
    "mixed-six.example.org": ["2606:2800:21f:cb07:6820:80da:af6b:8b2c", "::1"],
    "last.example.org": [PUBLIC, PUBLIC, PUBLIC, PUBLIC, PUBLIC, "192.168.0.1"],
    "gibberish.example.org": ["not an address"],
    "127.0.0.1.nip.example.org": ["127.0.0.1"],
}
SPELLINGS = (
    *(f"http://{name}/" for name in INTERNAL),
    "http://127.0.0.1/",
    "http://127.1/",
    "http://127.0.1/",
    "http://127.255.255.254/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://0177.0.0.0x1/",
    "http://127.0.0.01/",
    "http://127.0.0.1./",
    "http://4294967295/",
    "http://18446744071562067969/",
    "http://0/",
    "http://0.0.0.0/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.1.1/",
    "http://192.0.0.192/",
    "http://198.18.0.1/",
    "http://100.100.100.200/",
    "http://169.254.169.254/latest/meta-data/",
    "http://169.254.170.2/",
    "http://0xa9fea9fe/",
    "http://2852039166/",
    "http://0251.0376.0251.0376/",
    "http://168.63.129.16/",
    "http://[::1]/",
    "http://[::]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[0000::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://[::ffff:0:127.0.0.1]/",
    "http://[2002:7f00:0001::]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[64:ff9b:1::7f00:1]/",
    "http://[2001:0:7f00:1::1]/",
    "http://[fc00::1]/",
    "http://[fd00:ec2::254]/",
    "http://[fe80::1]/",
    "http://[fe80::1%25lo]/",
    "http://[fe80::1%lo]/",
    "http://[::1%25lo]/",
    "http://[fec0::1]/",
    "http://[ff02::1]/",
    "http://[v1.fe80::a]/",
    "http://[::1",
    "http://::1/",
    "http://localhost/",
    "http://LOCALHOST/",
    "http://localhost./",
    "http://localhost../",
    "http://localhost.localdomain/",
    "http://anything.localhost/",
    "http://metadata/",
    "http://metadata.google.internal/",
    "http://metadata.google.internal./",
    "http://instance-data/",
    "http://printer.local/",
    "http://router.lan/",
    "http://host.docker.internal/",
    "http://wiki.corp/",
    "http://1.0.0.127.in-addr.arpa/",
    "http://intranet/",
    "http://user@127.0.0.1/",
    "http://user:pass@example.org/",
    "http://example.org@127.0.0.1/",
    "http://example.org:80@127.0.0.1/",
    "http://127.0.0.1\\@example.org/",
    "http://example.org\\@127.0.0.1/",
    "http://example.org#@127.0.0.1/@x\\",
    "http://example.org%2f@127.0.0.1/",
    "http://127.0.0.1%00.example.org/",
    "http://127.0.0.1%2eexample.org/",
    "http://%31%32%37.0.0.1/",
    "http://127。0。0。1/",
    "http://127．0．0．1/",
    "http://①②⑦.⓪.⓪.①/",
    "http://１２７.0.0.1/",
    "http://ⓛocalhost/",
    "http://loc\u00adalhost/",
    "http://ｌｏｃａｌｈｏｓｔ/",
    "http://example.org:22/",
    "http://example.org:25/",
    "http://example.org:6379/",
    "http://example.org:8080/",
    "http://example.org:0/",
    "http://example.org:65536/",
    "http://example.org:99999/",
    "http://example.org:+80/",
    "http://example.org:８０/",
    "http://example.org:80:80/",
    "http://example.org:-1/",
    "ftp://127.0.0.1/",
    "file:///etc/passwd",
    "file://127.0.0.1/etc/passwd",
    "gopher://127.0.0.1:80/_GET",
    "dict://127.0.0.1:80/",
    "ws://127.0.0.1/",
    "httpſ://127.0.0.1/",
    "javascript:alert(1)",
    "data:text/html,hello",
    "//127.0.0.1/",
    "http:127.0.0.1/",
    "http:/127.0.0.1/",
    "http:///127.0.0.1/",
    "http://",
    "http:// /",
    "http://127.0.0.1 /",
    "http://example.org\r\nHost: 127.0.0.1/",
    "http://example.org/\r\nX: y",
    "http://exam\tple.org/",
    "http://example.org\x00/",
    "http://127.0.0.1\n.example.org/",
    "http://exa mple.org/",
    "http://-example.org/",
    "http://example..org/",
    "http://.example.org/",
    f"http://{'a' * 64}.org/",
    f"http://{'a.' * 130}org/",
    "http://example.org/" + "a" * 5000,
    "http://\ud800.org/",
    "",
)


async def resolver(host: str, _port: int) -> Sequence[str]:
    if host in INTERNAL:
        return INTERNAL[host]
    if host.endswith("example.org") or host == "example.org":
        return [PUBLIC]
    raise socket.gaierror(socket.EAI_NONAME, "no such name")


def fetcher_and_network(served: Site, **changes: object) -> tuple[Fetcher, RedirectingNetwork]:
    network = RedirectingNetwork(served.port)
    return Fetcher(served.settings(hosts=(), **changes), resolver=resolver, network=network), network


async def test_a_public_address_reaches_the_local_site():
    async with site({"/": page("public words")}) as served:
        fetcher, network = fetcher_and_network(served)
        got = await fetcher.get("http://example.org/")
    assert got.content == b"public words"
    assert served.connections == 1
    assert network.dialled == [PUBLIC]


def test_at_least_140_spellings_are_tried():
    assert len(set(SPELLINGS)) >= 140


@pytest.mark.parametrize("url", SPELLINGS)
async def test_no_spelling_reaches_a_listening_socket(url):
    async with site({"/": page(), "/robots.txt": page()}) as served:
        fetcher, network = fetcher_and_network(served)
        if url == "http://example.org#@127.0.0.1/@x\\":
            await fetcher.get(url)
            assert set(network.dialled) == {PUBLIC}
            return
        with pytest.raises(SourceError) as refused:
            await fetcher.get(url)
        assert "\n" not in refused.value.detail and "\x00" not in refused.value.detail
    assert served.connections == 0
    assert network.dialled == []


@pytest.mark.parametrize("url", [url for url in SPELLINGS if url.isprintable()])
async def test_no_redirect_reaches_an_internal_host(url):
    location = url.encode().decode("latin-1")
    async with site({"/": reply(302, Location=location), "/robots.txt": reply(404)}) as served:
        fetcher, network = fetcher_and_network(served)
        with pytest.raises(SourceError):
            await fetcher.get("http://example.org/")
    assert set(network.dialled) == {PUBLIC}
    assert {request.headers["host"] for request in served.requests} == {"example.org"}


async def test_robots_txt_redirect_to_an_internal_host_is_refused():
    async with site({"/robots.txt": reply(301, Location="http://127.0.0.1/"), "/": page()}) as served:
        fetcher, network = fetcher_and_network(served)
        with pytest.raises(SourceError, match="not on the public internet"):
            await fetcher.get("http://example.org/")
    assert network.dialled == [PUBLIC]
    assert served.request_count("/") == 0


async def test_dns_rebinding_is_caught_at_the_second_lookup():
    answers = [[PUBLIC], ["127.0.0.1"]]

    async def rebinding_resolver(_host: str, _port: int) -> Sequence[str]:
        return answers.pop(0)

    closing = reply(404, Connection="close")
    async with site({"/robots.txt": closing, "/": page()}) as served:
        network = RedirectingNetwork(served.port)
        fetcher = Fetcher(served.settings(hosts=()), resolver=rebinding_resolver, network=network)
        with pytest.raises(SourceError, match="not on the public internet"):
            await fetcher.get("http://example.org/")
    assert network.dialled == [PUBLIC]


async def test_the_checked_address_is_the_one_dialled():
    looked_up = []

    async def counting_resolver(host: str, _port: int) -> Sequence[str]:
        looked_up.append(host)
        return [PUBLIC if len(looked_up) == 1 else "127.0.0.1"]

    async with site({"/": page()}) as served:
        network = RedirectingNetwork(served.port)
        await Fetcher(served.settings(hosts=()), resolver=counting_resolver, network=network).get("http://example.org/")
    assert looked_up == ["example.org"]
    assert network.dialled == [PUBLIC]


async def test_an_allowed_host_allows_only_its_exact_spelling_and_port():
    async with site({"/": page()}) as served, site({"/": page()}) as other:
        fetcher = Fetcher(served.settings())
        assert (await fetcher.get(served.url("/"))).content == b"a page"
        for url in (
            other.url("/"),
            served.url("/", "localhost"),
            served.url("/", "127.1"),
            served.url("/", "2130706433"),
            served.url("/", "0x7f.1"),
            served.url("/", "127.0.0.2"),
            served.url("/", "[::ffff:127.0.0.1]"),
            served.url("/", "user@127.0.0.1"),
        ):
            with pytest.raises(SourceError):
                await fetcher.get(url)
    assert other.connections == 0
    assert served.connections == 1


async def test_another_name_for_an_allowed_address_is_refused():
    async def internal_resolver(_host: str, _port: int) -> Sequence[str]:
        return ["127.0.0.1"]

    async with site({"/": page()}) as served:
        network = RedirectingNetwork(served.port)
        settings = FetchSettings(allowed=AllowedHosts.parse("127.0.0.1:80"))
        with pytest.raises(SourceError):
            await Fetcher(settings, resolver=internal_resolver, network=network).get("http://example.org/")
    assert network.dialled == []


async def test_unknown_host_is_source_not_found():
    async with site() as served:
        fetcher, _ = fetcher_and_network(served)
        with pytest.raises(SourceError) as error:
            await fetcher.get("http://missing.example.net/")
    assert error.value.category is GapCategory.SOURCE_NOT_FOUND


@pytest.mark.parametrize(
    "text", ["wiki.corp", ":80", "wiki.corp:", "http://wiki.corp:80", "a b:80", "x:99999", "*:80", "10.0.0.0/8:80"]
)
def test_invalid_allowed_hosts_are_rejected(text):
    with pytest.raises(InvalidInput):
        AllowedHosts.parse(text)


def test_allowed_hosts_are_parsed_and_normalized():
    allowed = AllowedHosts.parse(" Wiki.Corp:443, 127.0.0.1:8080 ,[::1]:9000,")
    assert allowed.pairs == {("wiki.corp", 443), ("127.0.0.1", 8080), ("::1", 9000)}


@given(st.integers(0, 2**32 - 1).map(IPv4Address))
def test_addresses_reserved_in_python_are_not_public(address):
    assert not is_public(str(address)) or (address.is_global and not address.is_multicast)


@given(st.integers(0, 2**32 - 1).map(IPv4Address))
def test_ipv4_embedded_in_ipv6_is_never_public(address):
    value = int(address)
    wrapped = (
        0xFFFF << 32 | value,
        value,
        0x2002 << 112 | value << 80,
        0x64FF9B << 96 | value,
        0x20010000 << 96 | value,
    )
    assert not any(is_public(str(IPv6Address(number))) for number in wrapped)


@pytest.mark.parametrize("text", [PUBLIC, "8.8.8.8", "1.1.1.1", "2606:4700::1111", "2a00:1450:4001::200e"])
def test_public_addresses_are_public(text):
    assert is_public(str(ip_address(text)))
