"""Administration of the whole server: people, competitions, settings, announcements.

Each use case is here once, with its entry in the audit log; pages, API and `evergold admin` call it. Actions of a
competition's organisers are elsewhere.
"""
