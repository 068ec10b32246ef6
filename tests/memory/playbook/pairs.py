"""Pairs of rules that contradict each other and read alike, and pairs that say the same."""

CONTRADICTORY = (
    (
        "Send email only to addresses at example.com.",
        "Send email only to addresses at example.org.",
    ),
    ("Report incidents in #ops, not by email.", "Report incidents by email, not in #ops."),
    (
        "A refund requires approval by a manager.",
        "A refund does not require approval by a manager.",
    ),
    ("Deploy to production after the review.", "Deploy to production before the review."),
    ("Never delete rows from the table invoices.", "Always delete rows from the table invoices."),
    (
        "Purchases above 500 dollars need a second signature.",
        "Purchases above 5,000 dollars need a second signature.",
    ),
    (
        "Customer data may leave the region us-west-2.",
        "Customer data may not leave the region us-west-2.",
    ),
    (
        "Answer customers in German, never in English.",
        "Answer customers in English, never in German.",
    ),
    ("Audit logging must be enabled on all hosts.", "Audit logging must be disabled on all hosts."),
    (
        "Only the finance team may see the salary sheet.",
        "All but the finance team may see the salary sheet.",
    ),
)
PARAPHRASES = (
    ("Never share passwords in chat.", "It is forbidden to post credentials into conversations."),
    ("Ask me before you delete a file.", "Deleting files needs my consent first."),
    ("Keep answers to three sentences.", "Replies should be no longer than three sentences."),
    ("Do not quote prices to the press.", "Journalists are not to be told what things cost."),
)
