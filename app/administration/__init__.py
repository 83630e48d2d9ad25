"""Administration of the whole server: people, competitions, settings, announcements; each use case once, with its entry
in the audit log. Pages, API and `evergold admin` call it; what one competition's organisers do is not here."""
