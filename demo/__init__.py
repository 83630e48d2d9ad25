"""The demo competition: hand-written items in three languages, and simple real systems that answer them."""
