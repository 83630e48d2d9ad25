"""The looks of this server: name, logo, colours and front page. `app.administration` changes them."""
