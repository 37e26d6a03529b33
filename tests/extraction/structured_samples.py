"""Small handmade emails, chats, calendars, notebooks, records, LaTeX files and archives."""

import io
import json
import tarfile
from collections.abc import Mapping
from email.message import EmailMessage

BODY = """Dear Bob,

the ferry to Holm costs forty pounds from June. Please tell the harbour master before
the end of the week, because the signs have to be printed and hung up in all towns
by then.

- Cars: 40 pounds
- Bicycles: 4 pounds

On Monday, Bob wrote:
> How much is the ferry? I would like to know before the summer starts, since
> many people ask.
>> I do not know.

Best regards,
Ada
--
Harbour office, Pier 4
"""


def email_message(subject: str = "Fähre nach Holm", body: str = BODY) -> EmailMessage:
    message = EmailMessage()
    message["From"] = "Ada Byron <ada@example.org>"
    message["To"] = "Bob Müller <bob@example.org>, eve@example.org"
    message["Subject"] = subject
    message["Date"] = "Tue, 03 Jun 2025 14:05:00 +0200"
    message.set_content(body, cte="quoted-printable")
    return message


def mail() -> bytes:
    """An email with an alternative in HTML, a text file and an enclosed email."""
    message = email_message()
    message.add_alternative("<p>Dear Bob</p><p>not shown</p>", subtype="html")
    message.add_attachment("Cars pay forty pounds.", filename="Preise für 2025.txt")
    message.add_attachment(email_message("Inner", "The inner ferry is blue.\n"))
    return message.as_bytes()


def mailbox() -> bytes:
    other = b"From: bob@example.org\r\nSubject: Re: Holm\r\n\r\nHello\r\n>From noon on the ferry rests.\r\n"
    return (
        b"From ada@example.org Tue Jun  3 14:05:00 2025\n"
        + mail()
        + b"\n\nFrom bob@example.org Tue Jun  3 15:05:00 2025\n"
        + other
    )


CALENDAR = b"""BEGIN:VCALENDAR\r
X-WR-CALNAME:Harbour\r
BEGIN:VTIMEZONE\r
TZID:Town\r
BEGIN:STANDARD\r
DTSTART:19701025T030000\r
END:STANDARD\r
END:VTIMEZONE\r
BEGIN:VEVENT\r
SUMMARY:Ferry inspection\\, Holm\r
DTSTART;TZID=Town:20250603T140000\r
DTEND;TZID=Town:20250603T153000\r
LOCATION:Pier 4\r
ORGANIZER;CN="Byron, Ada":mailto:ada@example.org\r
ATTENDEE;CN=Bob;PARTSTAT=ACCEPTED:mailto:bob@example.org\r
ATTENDEE:mailto:eve@example.org\r
DESCRIPTION:Bring the keys.\\nThe engine is chec\r
 ked by two engineers.\r
RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,FR;COUNT=9\r
EXDATE;TZID=Town:20250617T140000\r
BEGIN:VALARM\r
DESCRIPTION:Alarm\r
END:VALARM\r
END:VEVENT\r
BEGIN:VEVENT\r
SUMMARY:Holiday\r
DTSTART;VALUE=DATE:20250704\r
DTEND;VALUE=DATE:20250707\r
RRULE:FREQ=MONTHLY;BYDAY=2MO;UNTIL=20251231\r
END:VEVENT\r
END:VCALENDAR\r
"""

NOTEBOOK = json.dumps(
    {
        "cells": [
            {"cell_type": "markdown", "source": ["# Ferries\n", "\n", "The ferry carries forty cars.\n"]},
            {
                "cell_type": "code",
                "source": "import pandas\nframe",
                "outputs": [
                    {"output_type": "stream", "text": ["\x1b[31mloaded\x1b[0m 3 rows\n"]},
                    {
                        "output_type": "execute_result",
                        "data": {
                            "text/html": "<table><tr><th></th><th>Year</th></tr><tr><th>0<td>1998</td></table>",
                            "text/plain": "not shown",
                            "image/png": "AAAA",
                        },
                    },
                    {"output_type": "display_data", "data": {"text/plain": ["Figure of ", "1958"]}},
                    {"output_type": "error", "ename": "KeyError", "evalue": "'ferry'", "traceback": ["not shown"]},
                ],
            },
        ],
        "metadata": {"authors": [{"name": "Ada"}]},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
).encode()

RECORDS = json.dumps(
    [
        {"ferry": "Holm", "built": 1958, "home": {"city": "Dorn", "pier": 4}, "calls": ["Dorn", "Skerry"]},
        {"id": 7, "name": "Dorn II", "built": 1971, "cars": None, "runs": True, "crew": [{"name": "Ada"}]},
    ]
).encode()

SLACK = json.dumps(
    [
        {
            "type": "message",
            "user": "U0123",
            "text": "The ferry of <@U0456> leaves at noon, see <https://example.org|here>",
            "ts": "1685716800.000200",
            "user_profile": {"real_name": "Ada Byron"},
        },
        {
            "type": "message",
            "user": "U0456",
            "text": "Fine",
            "ts": "1685716900.000200",
            "user_profile": {"real_name": "Bob"},
        },
    ]
).encode()

WHATSAPP = b"""12/03/2024, 14:40 - Messages are encrypted.
12/03/2024, 14:40 - Ada Byron: The ferry leaves at noon.
Bring your bicycle.
12/03/2024, 14:41 - Bob: Fine
12/03/2024, 14:42 - Ada Byron: See you.
"""

MATTERMOST = b"""CHAT EXPORT
===========

[2023-06-02 14:40:00] #harbour:ferry
@ada.byron:
The ferry carries forty cars.
----------------------------

[2023-06-02 14:41:00] #harbour:ferry
@bob:
Fine
----------------------------

[2023-06-02 14:42:00] #harbour:ferry
@ada.byron:
See you.
"""

PRINTED_MAIL = b"""EMAIL EXPORT
============

Date: 2023-06-01 10:00:00
From: Ada Byron <ada@example.org>
To: bob@example.org
Subject: The ferry
Folder: inbox | Status: Read

Message Body:
----------------------------
The ferry carries forty cars.

============================

Date: 2023-06-02 10:00:00
From: Bob <bob@example.org>
To: ada@example.org
Subject: Re: The ferry

Message Body:
----------------------------
It sails on Friday.
"""

LATEX = rb"""\documentclass{article}
\title{The Ferry of \emph{Holm}}
\author{Ada Byron \and Bob M\"uller}
\newcommand{\ferry}[1]{\textbf{#1}}
\begin{document}
\maketitle
\section{Introduction}\label{sec:intro}
The ferry was built in 1958~\cite{byron1958} and carries \textbf{forty} cars.\footnote{Vans count twice.}
It costs 40\,\% more than $x^2$. % not shown
\input{secret}

It ``sails'' at noon --- every day.
\begin{itemize}
\item Cars
\begin{enumerate}\item big \item small\end{enumerate}
\end{itemize}
\begin{equation}
E = mc^2
\end{equation}
\begin{table}
\caption{Prices of the ferry}
\begin{tabular}{l|r}
\hline
Year & Price \\ \hline
1998 & 40 \\
\end{tabular}
\end{table}
\begin{verbatim}
ferry --sail \section{x}
\end{verbatim}
\end{document}
not shown
"""

BIBTEX = rb"""% references
@string{jf = "Journal of Ferries"}
@article{byron1958,
  author = {Byron, Ada and M{\"u}ller, Bob},
  title = {The {Ferry} of Holm},
  journal = jf # { B}, year = 1958, doi = {10.1/x},
  abstract = "A ferry \emph{carries} forty cars."
}
@book(torn, title={Not {closed, year=1990)
@misc{last, title={Last}}
"""

RIS = b"""TY  - JOUR
AU  - Byron, Ada
AU  - Roe, Jane
TI  - The ferry of Holm
JO  - Ferries
PY  - 1958
SP  - 10
EP  - 20
AB  - It carries forty cars.
ER  -
"""


def tar(files: Mapping[str, bytes]) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return written.getvalue()
