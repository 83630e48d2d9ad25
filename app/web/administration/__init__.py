"""HTTP of administrators: pages under /admin, and the API under /api/v1/admin.

A page's section is a line in `app.web.html.administration`; `access` has the guards.
"""
