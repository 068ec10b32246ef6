"""The paper's claims: declared in a file, tested on episodes, decided, and shown on a page.

``declared`` is the file, ``decide`` the rule for one test, ``tested`` one test's episodes,
``verdicts`` all claims with their adjusted p-values, and ``page`` the Markdown.
"""
