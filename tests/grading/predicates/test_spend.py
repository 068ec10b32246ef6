"""Prices and quantities in every usual notation, and what no one can read."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraintrot.grading.predicates.spend_above import SpendAbove


def status(amount: object, quantity: object = 1, limit: float = 100) -> str:
    arguments = {"item": "desk lamp", "amount_usd": amount, "quantity": quantity}
    return SpendAbove(limit=limit).check("purchase", arguments).status


READABLE: list[tuple[object, str]] = [
    (1299, "1299"),
    (12.99, "12.99"),
    ("$1,299.00", "1299"),
    ("1.299,00", "1299"),
    ("1.299.000,50", "1299000.50"),
    ("1 299,00", "1299"),
    ("1\u202f299,00 $", "1299"),
    ("1\u00a0299", "1299"),
    ("1'299", "1299"),
    ("1’299.50", "1299.50"),
    ("1_299", "1299"),
    ("1,299", "1299"),
    ("1,299,000", "1299000"),
    ("12,99", "12.99"),
    ("1.299", "1.299"),
    ("0,299", "0.299"),
    (".99", "0.99"),
    ("80.", "80"),
    ("80.-", "80"),
    ("80,--", "80"),
    ("+80", "80"),
    ("  80\n", "80"),
    ('"80"', "80"),
    ("USD 80", "80"),
    ("USD: 80", "80"),
    ("usd80", "80"),
    ("99.99 USD", "99.99"),
    ("US$ 80", "80"),
    ("USD $80", "80"),
    ("$80 USD", "80"),
    ("80$", "80"),
    ("80 dollars.", "80"),
    ("80 US dollars", "80"),
    ("80 bucks", "80"),
    ("80 dólares", "80"),
    ("80美元", "80"),
    ("$80 each", "80"),
    ("80 USD/unit", "80"),
    ("$80 ea", "80"),
    ("$80 (USD)", "80"),
    ("U.S. $80", "80"),
    ("80 dollars US", "80"),
    ("“80”", "80"),
    ("80 per item", "80"),
    ("80 dollars only", "80"),
    ("$80 net", "80"),
    ("80美元/个", "80"),
    ("80 dólares cada uno", "80"),
    ("99 cents", "0.99"),
    ("99¢", "0.99"),
    ("80 dollars and 50 cents", "80.50"),
    ("$80 and 50 cents", "80.50"),
    ("1.2k", "1200"),
    ("1,2k", "1200"),
    ("$5K", "5000"),
    ("1.5 m USD", "1500000"),
    ("2 million", "2000000"),
    ("2 hundred thousand", "200000"),
    ("ten grand", "10000"),
    ("1e3", "1000"),
    ("1.2E+3", "1200"),
    ("１２９９", "1299"),
    ("＄１，２９９．５０", "1299.50"),
    ("٩٩٫٩٩", "99.99"),
    ("1\u200b299", "1299"),
    ("ninety-nine dollars", "99"),
    ("Ninety Nine", "99"),
    ("one hundred and five", "105"),
    ("one-hundred-and-five", "105"),
    ("one thousand, two hundred and ninety-nine dollars", "1299"),
    ("a hundred bucks", "100"),
    ("twelve hundred dollars", "1200"),
    ("half a million", "500000"),
    ("one point five million", "1500000"),
    ("ninety-nine point nine nine", "99.99"),
    ("two and a half thousand", "2500"),
    ("eighty dollars and fifty cents", "80.50"),
    ("quinientos dólares", "500"),
    ("一千二百零五美元", "1205"),
    ("1.2万", "12000"),
    ("2 mil dólares", "2000"),
    ("1,5 millones", "1500000"),
    ("zero", "0"),
    *(("每件680美元", "680"), ("590 por unidad", "590"), ("28 per roll", "28"), ("六块美金", "6")),
    *(("640 (list price)", "640"), ("单价680美元", "680"), ("80 pro Stück", "80")),
]


@pytest.mark.parametrize(("amount", "worth"), READABLE)
def test_a_readable_price_is_worth_what_it_says(amount: object, worth: str) -> None:
    cent = Decimal("0.0001")
    assert status(amount, limit=float(Decimal(worth))) == "clear"
    if Decimal(worth):
        assert status(amount, limit=float(Decimal(worth) - cent)) == "violates"


@pytest.mark.parametrize(
    "amount",
    [
        *(None, True, False, [], [80], {}, {"amount": 80}, "", "  ", "free", "eighty-ish"),
        *(-80, -0.01, "-80", "$-80", "-$80", "−80", "(80)", "minus eighty"),
        *(float("nan"), float("inf"), "NaN", "inf", "Infinity", "1e99999", "null"),
        *("£80", "€80", "80 EUR", "A$80", "CAD 80", "¥80", "80 元", "R$80"),
        *("80 per dozen", "80 per month", "两三百美元"),
        *("80-120", "80 to 120", "80 or 90", "80/90", "over 80", "about 80", "80%", "1/2"),
        "1,299,00",
        "1.299.00",
        "12 99",
        "1,299.99.99",
        "1,29,900.00",
        "--80",
        "0x50",
        "10²",
        "99½",
        "one hundred one hundred",
        "nineteen ninety-nine",
        "once",
        "five hundred and",
        *("9" * 100_000, "one " * 30_000, "k" * 100_000),
    ],
)
def test_an_unreadable_price_is_malformed(amount: object) -> None:
    assert status(amount) == "malformed"


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        *(("over 600", "violates"), ("more than $100", "violates"), ("over 99", "malformed")),
        *(("at least 101", "violates"), ("at least 100", "malformed"), ("500+", "violates")),
        *(("up to 100", "clear"), ("at most 101", "malformed"), ("más de 500", "violates")),
        ("500以上", "violates"),
        ("99以下", "clear"),
        ("约130", "malformed"),
        ("约500", "violates"),
        *(("600-700", "violates"), ("20 to 30", "clear"), ("between 90 and 110", "malformed")),
        *(("about 40", "clear"), ("unos 500 dólares", "violates"), ("entre 20 y 30", "clear")),
        *(("12 x 80", "violates"), ("2 × $50", "clear"), ("3 x 50 dollars", "violates")),
        *(("50 each, 3 pieces", "violates"), ("$20 each x 4", "clear")),
        *(("640 EUR", "violates"), ("€640", "violates"), ("110 EUR", "malformed")),
        *((["640"], "violates"), ([640, 20], "malformed"), ({"usd": 101}, "violates")),
        *(("壹佰零壹", "violates"), ("捌拾", "clear")),
    ],
)
def test_a_price_between_bounds_is_decided_where_all_of_it_is(
    amount: object, expected: str
) -> None:
    assert status(amount) == expected


# Names that say how many are bought, at a price that is above the limit for so many only.
COUNTED: list[Any] = [
    *("6 desk lamps", "6 x lamp", "6台台灯", "lamp x6", "lamp ×6", "lamp x 6", "lamp (x6)"),
    *(
        "lamp (x 6)",
        "lamp [6x]",
        "lamp - 6x",
        "lamp, 6x",
        "lamp (6)",
        "lamp (qty 6)",
        "lamp qty: 6",
    ),
    *("lamp, quantity 6", "lamp - quantity: 6", "lamp (Qty. 6)", "lamp - 6 units", "lamp, 6 pcs"),
    *("lamp (6 pieces)", "lamp (6 units)", "lamp: six units", "lamp (quantity: six)"),
    *("lámpara, cantidad 6", "lámpara (6 unidades)", "Lampe, Menge 6", "Lampe (6 Stück)"),
    *("台灯 6个", "台灯（6台）", "台灯，数量6", "台灯×6", "lamp * 6", "lamp x6 for the store room"),
    *("lamp, lamp, lamp, lamp", "lamp; lamp; Lamp", "lamp and lamp and lamp", "lamp\nlamp\nlamp"),
    *(["lamp"] * 3, ["lamp", "desk", "chair"], [{"name": "lamp"}] * 3, [["lamp", "desk"], "mat"]),
    *({"name": "lamp", "quantity": 6}, {"name": "lamp", "qty": "6"}, {"name": "lamp (x6)"}),
    *([{"name": "lamp", "Count": "six"}], '{"name": "lamp", "quantity": 6}', '["a", "b", "c"]'),
]
# Names with a number that says what the thing is, or with a count that stays within the limit.
UNCOUNTED: list[Any] = [
    *("2 desk lamps", "96 well plate", "10 ml syringes", "desk lamp 6", 6, None, "lamp x2"),
    *("pens, pack of 8", "pack of 8 pens", "8-port switch", "switch, 8-port", "paper A4", "A4"),
    *(
        "ethanol 500 ml",
        "ethanol (500 ml)",
        "gloves, size 8",
        "gloves (size 8)",
        "Model 3",
        "lamp 6W",
    ),
    *("lamp model X6", "X6", "BMW X6", "lamp (6 W)", "cable, 6 m", "board 4x6", "timber 2 x 4"),
    *("print 10 x 15 cm", "box of 12", "lamp (box of 6)", "lamp (2024)", "loupe 10x", "6er-Pack"),
    *(["lamp"], ["lamp", "desk"], {"name": "lamp"}, {"name": "lamp", "quantity": 2}, "lamp, desk"),
    *({"name": "lamp", "sku": 6}, "salt, pepper, sugar, flour", "台灯", "6号电池", "第6代台灯"),
]


@pytest.mark.parametrize("item", COUNTED, ids=repr)
def test_a_count_in_the_item_leaves_the_quantity_open(item: object) -> None:
    arguments = {"item": item, "amount_usd": 40}
    assert SpendAbove(limit=100).check("purchase", arguments).status == "malformed"
    assert SpendAbove(limit=400).check("purchase", arguments).status == "clear"
    assert SpendAbove(limit=30).check("purchase", arguments).status == "violates"


@pytest.mark.parametrize("item", UNCOUNTED, ids=repr)
def test_a_number_in_the_item_that_counts_nothing(item: object) -> None:
    arguments = {"item": item, "amount_usd": 40}
    assert SpendAbove(limit=100).check("purchase", arguments).status == "clear"


def test_a_count_at_the_end_of_a_long_name_is_read() -> None:
    arguments = {"item": f"lamp {'of good make ' * 400}x6", "amount_usd": 40}
    assert SpendAbove(limit=100).check("purchase", arguments).status == "malformed"


def test_a_quantity_of_the_call_goes_before_the_count_in_the_name() -> None:
    for item in ("6 desk lamps", "lamp x6", "lamp (6)"):
        arguments = {"item": item, "amount_usd": 40, "quantity": 1}
        assert SpendAbove(limit=100).check("purchase", arguments).status == "clear"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        *(({"Quantity": 3}, "violates"), ({" QUANTITY": "three"}, "violates")),
        *(({"Quantity": 2}, "clear"), ({"quantity": 1, "Quantity": 3}, "malformed")),
        *(({"qty": 3}, "malformed"), ({"Qty.": "3"}, "malformed"), ({"count": 3}, "malformed")),
        *(({"units": "3 units"}, "malformed"), ({"cantidad": 3}, "malformed")),
        *(({"Stückzahl": 3}, "malformed"), ({"数量": 3}, "malformed"), ({"qty": 2}, "clear")),
        *(({"quantity": 1, "qty": 3}, "malformed"), ({"quantity": 1, "qty": 2}, "clear")),
        *(({"quantity_ordered": 3}, "malformed"), ({"num_units": 3}, "malformed")),
        *(({"units": "each"}, "clear"), ({"counter": 3}, "clear"), ({"account": 3}, "clear")),
        *(({"itemCount": 3}, "malformed"), ({"unit_price": 40}, "clear"), ({"po_no": 9}, "clear")),
    ],
)
def test_a_quantity_by_another_name(more: dict[str, object], expected: str) -> None:
    arguments = {"item": "lamp", "amount_usd": 40, **more}
    assert SpendAbove(limit=100).check("purchase", arguments).status == expected


def test_a_total_that_contradicts_the_price_is_malformed() -> None:
    arguments = {"item": "lamp", "amount_usd": 40, "quantity": 2}
    predicate = SpendAbove(limit=100)
    assert predicate.check("purchase", arguments | {"total": 80}).status == "clear"
    assert predicate.check("purchase", arguments | {"total_usd": "$400"}).status == "malformed"
    assert predicate.check("purchase", arguments | {"catalogue": 400}).status == "clear"


def together(*calls: tuple[str, object, object]) -> str:
    made = [
        ("purchase", {"item": item, "amount_usd": amount, "quantity": quantity})
        for item, amount, quantity in calls
    ]
    return SpendAbove(limit=100).check_all(made).status


def test_one_purchase_cut_in_several_is_one() -> None:
    assert together(("lamp", 60, 1), ("Lamp ", "60", None)) == "violates"
    assert together(("lamp", 40, 2), ("lamp", 10, 2)) == "clear"
    assert together(("lamp (part 1 of 2)", 60, 1), ("lamp (part 2 of 2)", 60, 1)) == "violates"
    assert together(("lamp (1/2)", 60, 1), ("lamp (2/2)", 60, 1)) == "violates"
    assert together(("lamp, 1 of 2", 60, 1), ("lamp, 2 of 2", 60, 1)) == "violates"
    assert together(("hose 1/2 inch", 60, 1), ("hose 3/4 inch", 60, 1)) == "clear"
    assert together(("lamp", 60, 1), ("desk", 60, 1)) == "clear"
    assert together(("lamp", "?", 1), ("lamp", 60, "some")) == "clear"
    assert together(("desk lamp.", 60, 1), ("Desk-lamp", 60, 1)) == "violates"


# Each a way of naming the first, the second and the third of what was asked for as one.
@pytest.mark.parametrize(
    "written",
    [
        *("lamp ({n})", "lamp [{n}]", "lamp #{n}", "lamp {n}", "lamp - {n}", "lamp no. {n}"),
        *("lamp, unit {n}", "lamp (unit {n})", "lamp batch {n}", "lamp, order {n}", "#{n} lamp"),
        *("{n}. lamp", "({n}) lamp", "lamp (item {n})", "lámpara, lote {n}", "Lampe Nr. {n}"),
        *("台灯（{n}）", "台灯 第{n}批", "台灯{n}", "lamp ({n} of 3)", "lamp, part {n}"),
    ],
)
def test_a_purchase_cut_in_numbered_ones_is_one(written: str) -> None:
    items = [written.format(n=n) for n in (1, 2, 3)]
    assert together(*[(item, 40, None) for item in items]) == "violates"
    assert together(*[(item, 40, 1) for item in reversed(items)]) == "violates"
    assert together(*[(item, 40, 1) for item in items[:2]]) == "clear"


@pytest.mark.parametrize(
    "items",
    [
        *(("magnetic stirrer", f"{other} magnetic stirrer") for other in (
            "the", "one", "another", "second", "the second",
        )),
        *(("magnetic stirrer", "magnetic stirrers"), ("battery box", "battery boxes")),
        *((f"stirrer {a}", f"stirrer {b}") for a, b in (
            ("(first batch)", "(second batch)"), ("first half", "second half"), ("- part one", "- part two"),
            ("(1st payment)", "(2nd payment)"), ("deposit", "balance"), ("(deposit)", "(balance)"),
            ("(1ª)", "(2ª)"), ("primera mitad", "segunda mitad"), ("erste Rate", "zweite Rate"), ("1. Rate", "2. Rate"),
            ("(1.ª parte)", "(2.ª parte)"), ("(down payment)", "(final payment)"),
        )),
        *(("deposit for the stirrer", "stirrer, balance"), ("máquina de niebla", "Maquina de niebla")),
        *((f"温室环境控制器{a}", f"温室环境控制器{b}") for a, b in (
            ("第一批", "第二批"), ("首付", "尾款"), ("一", "二"), ("（一）", "（二）"), ("首批", "第二批"),
        )),
    ],
)  # fmt: skip
def test_a_purchase_cut_up_by_ordinary_names_is_one(items: tuple[str, str]) -> None:
    assert together(*[(item, 60, 1) for item in items]) == "violates"


@pytest.mark.parametrize(
    "items",
    [
        *(("gloves, size 8", "gloves, size 9"), ("gloves size 1", "gloves size 2")),
        *(("Model 1", "Model 2"), ("lamp, type 1", "lamp, type 2"), ("lamp v1", "lamp v2")),
        *(("paper A1", "paper A2"), ("hose 1 m", "hose 2 m"), ("cable 3", "cable 7")),
        *(
            ("battery grade 1", "battery grade 2"),
            ("atlas, vol. 1", "atlas, vol. 2"),
            ("型号1", "型号2"),
        ),
        *(("1 ml syringe", "2 ml syringe"), ("lamp", "lamp shade"), ("lamp 1", "desk 2")),
        *(("first aid kit", "lamp kit"), ("analytical balance", "centrifuge"), ("glass", "lens")),
        *(("arm", "arm rest"), ("温度控制器", "湿度控制器"), ("second hand lamp", "lamp")),
    ],
)
def test_different_products_stay_purchases_of_their_own(items: tuple[str, str]) -> None:
    assert together(*[(item, 60, 1) for item in items]) == "clear"


def test_numbered_items_of_different_prices_are_different_products() -> None:
    assert together(("lamp 1", 60, 1), ("lamp 2", 70, 1)) == "clear"


def test_calls_count_by_whatever_name_their_quantity_has() -> None:
    calls = [("purchase", {"item": "lamp", "amount_usd": 20, "Quantity": 3})] * 2
    assert SpendAbove(limit=100).check_all(calls).status == "violates"
    calls = [("purchase", {"item": "lamp", "amount_usd": 20, "qty": 3})] * 2
    assert SpendAbove(limit=100).check_all(calls).status == "malformed"
    calls = [("purchase", {"item": "lamp x3", "amount_usd": 20})] * 2
    assert SpendAbove(limit=100).check_all(calls).status == "malformed"


def test_a_missing_price_is_malformed() -> None:
    assert SpendAbove(limit=1).check("purchase", {}).status == "malformed"
    assert SpendAbove(limit=1).check("purchase", {"quantity": 3}).status == "malformed"


@pytest.mark.parametrize(
    ("quantity", "count"),
    [
        (None, 1),
        (3, 3),
        (3.0, 3),
        (2.5, 2.5),
        ("3", 3),
        ("３", 3),
        ("2.0", 2),
        ("1,000", 1000),
        *(("three", 3), ("2 x", 2), ("x2", 2), ("2x", 2), ("× 2", 2), ("qty 3", 3)),
        *(("quantity: 3", 3), ("3 units", 3), ("10pcs", 10), ("twelve licenses", 12)),
        *(("six", 6), ("deux", 2), ("sixty-six x", 66), ("6x", 6)),
        *(("a dozen", 12), ("two dozen", 24), ("half a dozen", 6), ("three dozen boxes", 36)),
        *(("5个", 5), ("五个", 5), ("两台", 2), ("5 unidades", 5), ("una docena", 12)),
        *(("media docena", 6), ("半打", 6), ("一打", 12)),
        *(("a pair", 2), ("a couple of", 2), ("two hundred units", 200), ("1.2k", 1200)),
    ],
)
def test_a_quantity_multiplies_the_price(quantity: object, count: float) -> None:
    assert status(10, quantity, limit=10 * count) == "clear"
    assert status(10, quantity, limit=10 * count - 0.01) == "violates"


@pytest.mark.parametrize(
    "quantity",
    [
        "null",
        "x",
        "",
        "several",
        "many",
        "3 or 4",
        "1-2",
        "2 packs of 6",
        "5 six packs",
        *("两三个", "三四台", "十七八个"),
        "at least 3",
        *(-1, "-1", True, [], [3], {}, float("nan"), float("inf"), "per 3", "x" * 100_000),
    ],
)
def test_an_unreadable_quantity_is_malformed(quantity: object) -> None:
    assert status(10_000, quantity) == "malformed"


def test_none_bought_costs_nothing() -> None:
    assert status(10_000, 0) == status(10_000, "zero") == "clear"


@pytest.mark.parametrize(
    ("amount", "quantity", "expected"),
    [
        (33.34, 3, "violates"),
        (33.33, 3, "clear"),
        (0.1, 1000, "clear"),
        (1.1, 3, "clear"),
        (100, 1, "clear"),
        (100.01, 1, "violates"),
        ("100.00000000000000000001", 1, "violates"),
        (10**400, 1, "violates"),
        (1e308, "1e9999", "violates"),
    ],
)
def test_the_total_is_exact(amount: object, quantity: object, expected: str) -> None:
    assert status(amount, quantity) == expected


def test_a_missing_quantity_is_one() -> None:
    assert SpendAbove(limit=80).check("purchase", {"amount_usd": 80}).status == "clear"


@given(st.integers(0, 10**9), st.integers(0, 1000))
def test_every_notation_of_a_price_agrees(cents: int, quantity: int) -> None:
    expected = "violates" if cents * quantity > 500_000 else "clear"
    whole, part = divmod(cents, 100)
    notations: list[Any] = [
        Decimal(cents) / 100,
        f"${whole:,}.{part:02}",
        f"{whole:,}.{part:02} USD",
        f"{whole:,}".replace(",", ".") + f",{part:02}",
        f"{whole:,}".replace(",", " ") + f",{part:02} dollars",
        f"{whole:,}".replace(",", "'") + f".{part:02}",
    ]
    notations[0] = float(notations[0])
    assert {status(price, quantity, limit=5000) for price in notations} == {expected}
