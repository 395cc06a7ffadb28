"""PDF files made by hand, small enough to read."""

from collections.abc import Sequence


def pdf_of(texts: Sequence[str]) -> bytes:
    """Return a PDF with one line of text on each page."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(texts)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(texts)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for n, text in enumerate(texts):
        drawn = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * n} 0 R"
            " /Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream")
    return pdf_file(objects)


def pdf_file(objects: Sequence[str | bytes]) -> bytes:
    """Return a PDF of objects, the first of which is its catalog, with their table."""
    body = bytearray(b"%PDF-1.4\n")
    places = []
    for number, written in enumerate(objects, start=1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, written if isinstance(written, bytes) else written.encode())
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    tail = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    return (
        bytes(body)
        + f"{tail}trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n".encode()
    )
