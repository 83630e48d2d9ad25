"""Looks of this server: its name, logo, colours and front page. Changes to them are in `app.administration`."""
