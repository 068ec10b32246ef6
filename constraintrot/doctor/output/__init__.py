"""The doctor's findings on the terminal, as HTML, JSON and JUnit, and as pins."""
