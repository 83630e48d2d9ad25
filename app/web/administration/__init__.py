"""HTTP routes for administrators: pages under /admin, and the API under /api/v1/admin.

The sections of the pages are listed in `app.web.html.administration`; `access` has the guards.
"""
