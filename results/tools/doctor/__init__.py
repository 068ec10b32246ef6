"""How right the doctor is: sessions made by hand in seven formats, and what it says of them."""
