"""What the doctor found: on the terminal, as HTML, JSON and JUnit, and as pins."""
