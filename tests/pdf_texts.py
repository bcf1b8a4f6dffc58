"""PDF files with text, made by hand: pypdf writes pages, and no words onto them."""

from io import BytesIO

import pypdf
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject


def pdf_with(*texts: str) -> bytes:
    """A page for each text."""
    writer, made = pypdf.PdfWriter(), BytesIO()
    for text in texts:
        page = writer.add_blank_page(300, 300)
        font = DictionaryObject(
            {
                NameObject("/Type"): NameObject("/Font"),
                NameObject("/Subtype"): NameObject("/Type1"),
                NameObject("/BaseFont"): NameObject("/Helvetica"),
            }
        )
        fonts = DictionaryObject({NameObject("/F1"): font})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        words = DecodedStreamObject()
        words.set_data(f"BT /F1 12 Tf 10 100 Td ({text}) Tj ET".encode())
        page[NameObject("/Contents")] = writer._add_object(words)  # pyright: ignore[reportPrivateUsage] - there is no other way to add one
    writer.write(made)
    return made.getvalue()
