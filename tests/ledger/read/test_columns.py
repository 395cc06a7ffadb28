"""Columns: rows of a statement as named arrays, what is missing as NaN."""

import numpy as np
import pytest
from sqlalchemy import NullPool, create_engine, literal_column, select, union_all

from predibot.ledger.read.columns import Columns, read_columns


def read(*prices: str, nullable: str = "") -> Columns:
    """Return rows with a number and a price each, as the database says them."""
    rows = [
        select(literal_column(str(n)).label("n"), literal_column(price).label("price"))
        for n, price in enumerate(prices)
    ]
    found = union_all(*rows).subquery()
    with create_engine("sqlite://", poolclass=NullPool).connect() as connection:
        return read_columns(connection, select(found.c.n, found.c.price).order_by(found.c.n), nullable=nullable)


def test_columns_have_the_names_of_the_statement_and_what_is_missing_is_nan() -> None:
    found = read("0.25", "NULL", nullable="price")
    assert found.dtype.names == ("n", "price")
    assert found["n"].tolist() == [0.0, 1.0]
    assert found["price"][0] == 0.25 and np.isnan(found["price"][1])
    assert found[found["price"] > 0.2]["n"].tolist() == [0.0]


def test_of_no_rows_there_are_the_columns() -> None:
    assert read("0.5")[:0].dtype.names == ("n", "price")


@pytest.mark.parametrize("price", ["NULL", "1e999", "'much'", "x'00'"])
def test_what_is_no_finite_number_is_refused(price: str) -> None:
    with pytest.raises((ValueError, TypeError)):
        read("0.25", price)
