"""Distributions of counts against scipy's, which takes longer to import."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from constraintrot.stats import exact


@pytest.mark.parametrize("n", [0, 1, 2, 7, 300, 4_000])
def test_tosses_of_a_fair_coin(n: int) -> None:
    theirs = stats.binom.pmf(np.arange(n + 1), n, 0.5)
    assert exact.fair_binomial(n) == pytest.approx(theirs, rel=1e-11, abs=1e-290)


@pytest.mark.parametrize(("fewer", "n"), [(0, 1), (0, 6), (1, 6), (3, 6), (40, 120), (999, 2_000)])
def test_the_sign_test(fewer: int, n: int) -> None:
    theirs = float(stats.binomtest(fewer, n).pvalue)
    assert exact.fair_sign_test(fewer, n) == pytest.approx(theirs, rel=1e-12)


def test_fisher_as_scipy_has_it() -> None:
    draw = np.random.default_rng(0)
    for most in (2, 5, 20, 300):
        for table in draw.integers(0, most, (40, 2, 2)).tolist():
            theirs = float(stats.fisher_exact(np.asarray(table)).pvalue)
            assert exact.fisher(table) == pytest.approx(theirs, rel=1e-9, abs=1e-290), table


def test_the_report_imports_neither_inspect_nor_what_is_slow() -> None:
    code = (
        "import sys, constraintrot.report.page.write;"
        "print(*({'inspect_ai', 'scipy.stats', 'statsmodels', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
