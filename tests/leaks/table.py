"""Who gets which answer: every route of the application, a line each, with a status for each of `place.ROLES`.

Asked of the competition `idioms`, whose evaluation is over and hidden: its board, its gold, alpha's submission to it, a
round of judging that is not published. Submissions are sent to its practice, which is open. A row that is missing, or
too many, fails; so whoever adds a route says here who may.

- Pages send those who are not logged in to log in (303), the API asks for a token (401); a form that did what it was
  asked sends its reader on (303), too.
- What is not yours and could not be known is not there (404); what everybody knows to be there is refused (403).
"""

from __future__ import annotations

TABLE = """
#                                                                                             nobody own  team anno else orga admin
GET    /                                                                                         200 200 200 200 200 200 200
GET    /account                                                                                  303 200 200 200 200 200 200
POST   /account/email                                                                            303 422 422 422 422 422 422
POST   /account/password                                                                         303 422 422 422 422 422 422
POST   /account/tokens                                                                           303 200 200 200 200 200 200
POST   /account/tokens/{token_id}/revoke                                                         303 303 404 404 404 404 404
"""
