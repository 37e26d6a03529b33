"""Small handmade documents in every supported format."""

import io
import zipfile

import docx


def pdf(pages: list[str], *, title: str = "", encrypted: bool = False) -> bytes:
    """A PDF with one line per page, written object by object."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count %d /Kids [%s] >>"
        % (len(pages), b" ".join(b"%d 0 R" % (5 + 2 * at) for at in range(len(pages)))),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Title (%s) /Author (Jane Roe) /CreationDate (D:20190504120000Z) >>" % title.encode(),
    ]
    for at, page in enumerate(pages):
        drawing = b"BT /F1 12 Tf 20 700 Td (%s) Tj ET" % page.encode()
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R"
            b" /Resources << /Font << /F1 3 0 R >> >> >>" % (6 + 2 * at)
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(drawing), drawing))
    written = io.BytesIO()
    written.write(b"%PDF-1.4\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(written.tell())
        written.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    table = written.tell()
    written.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    written.writelines(b"%010d 00000 n \n" % place for place in places)
    lock = (
        b" /ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>]"
        b" /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <" + b"11" * 32 + b"> /U <" + b"22" * 32 + b"> >>"
    )
    trailer = b"trailer << /Size %d /Root 1 0 R /Info 4 0 R%s >>\nstartxref\n%d\n%%%%EOF\n"
    written.write(trailer % (len(objects) + 1, lock if encrypted else b"", table))
    return written.getvalue()


def word() -> bytes:
    document = docx.Document()
    document.core_properties.title = "Minutes"
    document.core_properties.author = "Ada"
    document.add_heading("Decisions", 1)
    document.add_paragraph("The bridge will be painted green.")
    table = document.add_table(rows=2, cols=2)
    for at, text in enumerate(["item", "price", "paint", "40 pounds"]):
        table.cell(at // 2, at % 2).text = text
    document.add_paragraph("The meeting closed at noon.")
    written = io.BytesIO()
    document.save(written)
    return written.getvalue()


def archive(entries: dict[str, bytes]) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in entries.items():
            packed.writestr(name, content)
    return written.getvalue()


CONTAINER = (
    b'<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    b'<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
)
PACKAGE = b"""<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">
<metadata><dc:title>The Whale</dc:title><dc:creator>H. M.</dc:creator><dc:date>1851-10-18</dc:date></metadata>
<manifest><item id="two" href="two.xhtml"/><item id="one" href="ch%20one.xhtml"/></manifest>
<spine><itemref idref="one"/><itemref idref="gone"/><itemref idref="two"/></spine></package>"""


def epub(package: bytes = PACKAGE) -> bytes:
    chapter = "<html><head><title>x</title></head><body><h1>%s</h1>\n<p>%s</p></body></html>"
    return archive(
        {
            "mimetype": b"application/epub+zip",
            "META-INF/container.xml": CONTAINER,
            "OEBPS/book.opf": package,
            "OEBPS/ch one.xhtml": (chapter % ("Loomings", "Call me <i>Ishmael</i>\nthen.")).encode(),
            "OEBPS/two.xhtml": (chapter % ("The Carpet-Bag", "I stuffed a shirt or two.")).encode(),
        }
    )


PAGE = b"""<!DOCTYPE html><html><head><title>Tides - The Daily</title>
<meta name="author" content="Mary Shore"><meta property="article:published_time" content="2021-03-04T10:00:00Z">
</head><body><nav><a href="/">Home</a> <a href="/buy">Subscribe now</a></nav><article><h1>Tides</h1>
<p>The tide in the Bay of Fundy rises sixteen metres, which is more than anywhere else on Earth.</p>
<p>Boats that float at noon lie on mud by the evening, and the fishermen plan their days by it.</p>
<p>Scientists explain the range by the length of the bay, whose water swings in step with the Moon.</p>
</article><footer>Cookies and imprint</footer></body></html>"""
