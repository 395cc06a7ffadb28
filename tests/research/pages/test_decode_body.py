"""Bodies as text: labels by the web's table, wherever they are stated, and what a text looks like where none is."""

import time

import pytest

from predibot.research.pages.decode_body import decode_text

ELECTION = "Президент назначил выборы на март"


@pytest.mark.parametrize(
    ("body", "charset", "text"),
    [
        ("naïve".encode(), None, "naïve"),
        ("naïve".encode("cp1252"), None, "naïve"),
        ("naïve – yes".encode("cp1252"), "ISO-8859-1", "naïve – yes"),
        ("выборы".encode("koi8-r"), "KOI8-R", "выборы"),
        ("<meta charset='shift_jis'>選挙".encode("shift_jis"), None, "<meta charset='shift_jis'>選挙"),
        ("選挙".encode("utf-16"), "utf-8", "選挙"),
        (b"abc", "punycode", "abc"),
        (b"abc", "zip", "abc"),
        (b"\xff\xfe\xff", "utf-8", None),
        # A statement of UTF-8 hides no other set.
        ("日本銀行".encode("iso2022_jp"), "utf-8", "日本銀行"),
        (ELECTION.encode("cp1251"), "utf-8", ELECTION),
        (f"<meta charset=cp1251>{ELECTION}".encode("cp1251"), "utf-8", f"<meta charset=cp1251>{ELECTION}"),
        # A pair that stands for nothing costs one sign and not the line.
        ("日本".encode("big5") + b"\xa3\xe1" + "銀行".encode("big5"), "big5", "日本\ufffd銀行"),
        ("日本".encode("cp949") + b"\xc9\xa1" + "銀行".encode("cp949"), "euc-kr", "日本\ufffd銀行"),
        ("日本".encode("cp932") + b"\x85\x9f" + "銀行".encode("cp932"), "shift_jis", "日本\ufffd銀行"),
        # What a codec of Python does not know is what it is on the web.
        (b"\xd6\xd0\x80 5", "gb2312", "中€ 5"),
        (b"\x93a\x81b\x94", "iso-8859-1", "“a\x81b”"),
        (b"\xfc\xe2\xb6\xb6\xad\xa1", "euc-jp", "髙橋①"),
        (b"\xb6\xb6\xa9\xa1\xb6\xb6", "euc-jp", "橋\ufffd橋"),
    ],
)
def test_bytes_are_decoded_as_they_most_likely_are_meant(body: bytes, charset: str | None, text: str | None) -> None:
    seen, _name = decode_text(body, charset)
    assert text is None or seen.lstrip("\ufeff") == text


@pytest.mark.parametrize(
    ("label", "codec", "text"),
    [
        ("gb2312", "gb18030", "朱镕基 €"),
        ("GB_2312-80", "gbk", "中国"),
        ("x-gbk", "gbk", "喆"),
        ("shift_jis", "cp932", "髙橋①"),
        ("x-sjis", "cp932", "㈱日本"),
        ("windows-31j", "cp932", "選挙"),
        ("euc-jp", "euc_jis_2004", "選挙①"),
        ("csISO2022JP", "iso2022_jp", "選挙"),
        ("euc-kr", "cp949", "똠방각하"),
        ("ks_c_5601-1987", "cp949", "대통령"),
        ("korean", "euc_kr", "선거"),
        ("big5", "big5hkscs", "碁裏選舉"),
        ("cn-big5", "big5", "選舉"),
        ("windows-874", "cp874", "เลือกตั้ง"),
        ("tis-620", "cp874", "เลือกตั้ง"),
        ("iso-8859-9", "cp1254", "İstanbul’da “seçim”"),
        ("iso-8859-8-i", "iso8859-8", "בחירות"),
        ("windows-1256", "cp1256", "انتخابات"),
        ("iso-8859-1", "cp1252", "naïve – “yes” €5"),
        ("us-ascii", "cp1252", "naïve"),
        ("latin2", "iso8859-2", "żółć"),
        ("x-cp1251", "cp1251", ELECTION),
        ("koi", "koi8-r", ELECTION),
        ("koi8-ru", "koi8-u", "Її вибори"),
        ("ibm866", "cp866", ELECTION),
        ("x-mac-cyrillic", "mac-cyrillic", ELECTION),
        ("macintosh", "mac-roman", "Élysée"),
        ("utf8", "utf-8", "naïve 選挙"),
        ("utf-16", "utf-16-le", "選挙"),
    ],
)
def test_a_label_means_what_it_means_on_the_web(label: str, codec: str, text: str) -> None:
    """By the table of the Encoding Standard, https://encoding.spec.whatwg.org/#names-and-labels."""
    assert decode_text(text.encode(codec), label)[0] == text
    if label != "utf-16":
        assert decode_text(f"<meta charset={label}><p>".encode() + text.encode(codec), None)[0].endswith(text)


@pytest.mark.parametrize(
    "before",
    [
        b'<META HTTP-EQUIV="Content-Type" CONTENT="text/html; CHARSET=windows-1251">',
        b"<meta charset = ' windows-1251 ' >",
        b"<!-- " + 100_000 * b"x" + b" --><meta charset=windows-1251>",
        b"<script>" + 9_000 * b'"<meta charset=gbk>"' + b"</script><meta charset=windows-1251>",
        b"<!-- <meta charset=gbk> --><style>/*<meta charset=big5>*/</style><meta charset=windows-1251>",
        b'<meta name=description content="charset=gbk"><meta charset=windows-1251>',
        b"<title><meta charset=gbk></title><meta charset=windows-1251>",
        b'<?xml version="1.0" encoding="windows-1251"?><html>',
        b"<?xml version='1.0' encoding='gbk'?><meta charset=windows-1251>",
        b"<meta charset=utf-8><p>",
        b"<meta charset=no-such-set><p>",
        b"<meta charset=hz-gb-2312><p>",
        b"<p>",
    ],
)
def test_a_statement_counts_wherever_it_stands_and_where_none_fits_the_text_is_looked_at(before: bytes) -> None:
    assert decode_text(before + ELECTION.encode("cp1251"), None)[0].endswith(ELECTION)


@pytest.mark.parametrize(
    ("codec", "text"),
    [
        ("koi8-r", ELECTION),
        ("gbk", "中国人民银行周四宣布下调基准利率以支持经济增长"),
        ("big5", "中央銀行週四宣布將基準利率下調以支持經濟成長與就業"),
        ("cp932", "日本銀行は木曜日に政策金利を引き上げることを決定しました"),
        ("euc_jp", "日本銀行は木曜日に政策金利を引き上げることを決定しました"),
        ("iso2022_jp", "日本銀行は木曜日に政策金利を引き上げた"),
        ("cp949", "한국은행은 목요일에 기준금리를 인하하기로 결정했다고 발표했다"),
        ("iso8859_7", "Ο πρόεδρος ανακοίνωσε εκλογές για τον Μάρτιο"),
        ("cp1254", "Türkiye Cumhurbaşkanı Erdoğan İstanbul’da seçim çağrısı yaptı"),
        ("cp1252", "Le président a annoncé des élections à l’Élysée"),
        ("cp1250", "Prezydent zapowiedział wybory na marzec, poinformował rzecznik rządu"),
        ("iso8859_2", "Prezydent zapowiedział wybory na marzec, poinformował rzecznik rządu"),
        ("cp1250", "Prezident vyhlásil předčasné volby na březen, řekl mluvčí vlády v úterý"),
        ("cp1250", "Az elnök kiírta a választásokat márciusra, közölte a szóvivő csütörtökön"),
        ("cp1257", "Prezidentas paskelbė rinkimus kovo mėnesį, pranešė žiniasklaida šią savaitę"),
        ("iso8859_5", f"{ELECTION}, сообщил представитель правительства во вторник"),
        ("cp1252", "The mayor’s office said it “will cost” £5 or €6 — no more…"),
        ("cp1252", "El señor Muñoz añadió que la situación mejoró"),
        ("cp1252", "Regeringen föreslår höjda skatter på el från årsskiftet"),
        ("cp1256", "أعلن الرئيس عن انتخابات في مارس كما قال المتحدث"),
        ("cp874", "ประธานาธิบดีประกาศการเลือกตั้งในเดือนมีนาคม"),
        ("utf-16-le", "<html>選挙"),
        ("utf-16-be", "<html>選挙"),
    ],
)
def test_where_nothing_is_stated_it_is_what_the_text_looks_like(codec: str, text: str) -> None:
    assert decode_text(text.encode(codec), None)[0] == text


@pytest.mark.parametrize(
    ("codec", "label"),
    [
        ("utf-8", None),
        ("utf-8", "utf-8"),
        ("utf-8-sig", "gbk"),
        ("gb18030", "gb2312"),
        ("cp949", "euc-kr"),
        ("euc_jp", "euc-jp"),
    ],
)
def test_a_byte_that_does_not_fit_costs_one_sign(codec: str, label: str | None) -> None:
    text = "中国中国中国" if codec != "cp949" else "대통령대통령"
    body = text.encode(codec) + b"\xff\r\n" + text.encode(codec.removesuffix("-sig"))
    assert decode_text(body, label)[0] == f"{text}\ufffd\r\n{text}"


@pytest.mark.parametrize("label", ["ISO-8859-1", "iso-8859-15", "windows-1251", "gbk", "euc-kr", "shift_jis"])
def test_a_statement_of_another_set_does_not_break_utf_8(label: str) -> None:
    assert decode_text(f"<meta charset=utf-8>{ELECTION}".encode(), label)[0].endswith(ELECTION)
    assert decode_text(f"<meta charset={label}>{ELECTION}".encode(), None)[0].endswith(ELECTION)


@pytest.mark.parametrize(
    "piece", [b"<!--", b"<meta ", b"<script>", b"<\xff", b"\xff", b"charset=", b"<meta charset=", b"\x00<"]
)
def test_hostile_bodies_are_decoded_in_no_time(piece: bytes) -> None:
    started = time.process_time()
    decode_text(piece * (1_000_000 // len(piece)), None)
    assert time.process_time() - started < 15
