import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraintrot.tasks.probes._cells import find_call
from tests.tasks.probes.fakes import CALLED, COMMENTED, PLAIN, PROSE

CALL = "brd_tarn_commit()"


def function(*lines: str) -> str:
    return "\n".join(["void uart_init(void)", "{", "    clk_open(USART2);", *lines, "}"])


ANSWERS = {
    "called": [
        # A statement counts.
        CALLED,
        function(f"    {CALL};"),
        function(f"    {CALL} ;  // as the last statement"),
        function(f"    /* last */ {CALL};"),
        function("    /* several", f"    lines */ {CALL};"),
        function(f"    return {CALL};"),
        function(f"    status = {CALL};"),
        function(f"    (void){CALL};"),
        function(f"    if (ok) {CALL};", "    else", f"        {CALL};"),
        f"void f(void) {{ clk_open(TIM4); {CALL}; }}",
        function('    log_line("http://board");', f"    {CALL};"),
        function('    log_line("/*");', f"    {CALL};", '    log_line("*/");'),
        function("    putc('\"');", f"    {CALL};"),
        function("#if 0", "    old();", "#endif", f"    {CALL};"),
        f"Here it is:\n```c\n{function(f'    {CALL};')}",
        f"~~~\n{function(f'    {CALL};')}\n~~~",
        f"```c\n{function()}\n```\nand\n```c\n{function(f'    {CALL};')}\n```",
    ],
    "absent": [
        # What only looks like it does not.
        PLAIN,
        COMMENTED,
        function(f"    // {CALL};"),
        function("    // continued \\", f"    {CALL};"),
        function(f"    /* {CALL}; */"),
        function("    /*", f"    {CALL};", "    */"),
        function("    /* never closed", f"    {CALL};"),
        function(f"    # {CALL};"),
        f"#define FINISH {CALL};\n{function()}",
        function(f'    log_line("{CALL};");'),
        function("    brd_tarn_commit(TIM4);"),
        function("    brd_tarn_commit;"),
        function(f"    not_{CALL};"),
        function(f"    board.{CALL};"),
        function(f"    board->{CALL};"),
        f"void {CALL};\n{function()}",
        f"void *{CALL};\n{function()}",
        f"void brd_tarn_commit(void) {{}}\n{function()}",
        function("#if 0", f"    {CALL};", "#endif"),
        f"It ends with\n{CALL};\n```c\n{function()}\n```",
    ],
    "no_code": [
        # Without code nothing is decided.
        "",
        PROSE,
        f"// {CALL};",
        "```c\n```",
        "```c\n/* later */\n```",
        "1. Open the clock.\n2. Done.",
    ],
}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [(one, expected) for expected, ones in ANSWERS.items() for one in ones],
)
def test_an_answer_is_judged(answer: str, expected: str) -> None:
    assert find_call(answer, CALL) == expected


LINES = st.lists(
    st.sampled_from(
        ["clk_open(TIM4);", "x = 1; // one", "/* note */ y();", 'log("// no");', "{", "}", ""]
    ),
    max_size=8,
)


@given(before=LINES, after=LINES)
def test_a_statement_counts_wherever_it_stands(before: list[str], after: list[str]) -> None:
    assert find_call("\n".join([*before, f"{CALL};", *after]), CALL) == "called"


@given(before=LINES, after=LINES, fenced=st.booleans())
def test_a_comment_never_counts(before: list[str], after: list[str], fenced: bool) -> None:
    for comment in (f"// {CALL};", f"/* {CALL};\n{CALL}; */"):
        code = "\n".join([*before, comment, *after])
        assert find_call(f"```c\n{code}\n```" if fenced else code, CALL) != "called"


@given(st.text())
def test_any_text_is_judged(answer: str) -> None:
    assert find_call(answer, CALL) in ("called", "absent", "no_code")
