"""HTTP of administrators: pages under /admin, and the API under /api/v1/admin. A page's section is a line in
`sections`; who may come in is `access`."""
