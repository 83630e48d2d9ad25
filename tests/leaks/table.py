# ruff: noqa: E501 (a route is a line)
"""The answers that each visitor gets: every route of the application, a line each, with a status for each of
`place.ROLES`.

The last four organise with one right each. They have their own status where an administrator gets another answer than
an organiser of another competition: where being an organiser does not matter, no right matters either.

The requests are about the competition `idioms`, whose evaluation is over and hidden: its board, its gold, alpha's
submission to it, a round of judging that is not published. Submissions are sent to its practice, which is open. A
missing or superfluous row fails; so whoever adds a route states here who may use it.

- Pages send those who are not logged in to log in (303), the API requires a token (401); a form that succeeded
  redirects its reader (303), too.
- An object that is not the visitor's and that the visitor may not know of is not found (404); access to one that
  everybody knows of is refused (403).
"""

from __future__ import annotations

TABLE = """
#                                                                                                         nob own oth ann els org adm edi sub gol msg
GET    /                                                                                                  200 200 200 200 200 200 200
GET    /account                                                                                           303 200 200 200 200 200 200
GET    /account/confirm-email                                                                             303 404 404 404 404 404 404
POST   /account/confirm-email                                                                             303 404 404 404 404 404 404
POST   /account/confirm-email/send                                                                        303 303 303 303 303 303 303
POST   /account/email                                                                                     303 303 303 303 303 303 303
GET    /account/data                                                                                      303 200 200 200 200 200 200
POST   /account/data/archive                                                                              303 303 303 303 303 303 303
POST   /account/data/deletion                                                                             303 303 303 303 409 303 409
POST   /account/data/deletion/undo                                                                        303 303 303 303 303 303 303
GET    /account/logins                                                                                    303 200 200 200 200 200 200
GET    /account/logins/app                                                                                303 404 404 404 404 404 404
POST   /account/logins/app                                                                                303 404 404 404 404 404 404
POST   /account/logins/app/begin                                                                          303 303 303 303 303 303 303
POST   /account/logins/app/remove                                                                         303 404 404 404 404 404 404
POST   /account/logins/codes                                                                              303 403 403 403 403 403 403
POST   /account/logins/end-others                                                                         303 303 303 303 303 303 303
POST   /account/logins/passkeys                                                                           303 403 403 403 403 403 403
POST   /account/logins/passkeys/begin                                                                     303 403 403 403 403 403 403
POST   /account/logins/passkeys/{passkey_id}/remove                                                       303 404 404 404 404 404 404
POST   /account/logins/{login_id}/end                                                                     303 404 404 404 404 404 404
POST   /account/logins/orcid                                                                              303 303 303 303 303 303 303
POST   /account/logins/{identity_id}/unlink                                                               303 404 404 404 404 404 404
POST   /account/logins/{provider}/link                                                                    303 404 404 404 404 404 404
POST   /account/mail                                                                                      303 303 303 303 303 303 303
GET    /account/organise                                                                                  303 200 200 200 200 200 200
POST   /account/organise                                                                                  303 422 422 422 422 422 422
POST   /account/password                                                                                  303 303 303 303 303 303 303
POST   /account/tokens                                                                                    303 303 303 303 303 303 303
POST   /account/tokens/{token_id}/revoke                                                                  303 303 404 404 404 404 404
GET    /accounts/login/                                                                                   303 303 303 303 303 303 303
POST   /accounts/login/                                                                                   403 403 403 403 403 403 403
GET    /admin                                                                                           303 404 404 404 404 404 200 404 404 404 404
GET    /admin/announcements                                                                             303 404 404 404 404 404 200 404 404 404 404
POST   /admin/announcements                                                                             303 404 404 404 404 404 303 404 404 404 404
POST   /admin/announcements/{announcement_id}/end                                                       303 404 404 404 404 404 404
GET    /admin/looks                                                                                     303 404 404 404 404 404 200 404 404 404 404
POST   /admin/looks                                                                                     303 404 404 404 404 404 422 404 404 404 404
POST   /admin/looks/logos/{scheme}                                                                      303 404 404 404 404 404 415 404 404 404 404
POST   /admin/looks/logos/{scheme}/remove                                                               303 404 404 404 404 404 303 404 404 404 404
GET    /admin/competitions                                                                              303 404 404 404 404 404 200 404 404 404 404
POST   /admin/competitions/{competition}/owner                                                          303 404 404 404 404 404 303 404 404 404 404
GET    /admin/people                                                                                    303 404 404 404 404 404 200 404 404 404 404
POST   /admin/people/ban                                                                                303 404 404 404 404 404 303 404 404 404 404
GET    /admin/people/{username}                                                                         303 404 404 404 404 404 200 404 404 404 404
POST   /admin/people/{username}/block                                                                   303 404 404 404 404 404 303 404 404 404 404
POST   /admin/people/{username}/demote                                                                  303 404 404 404 404 404 303 404 404 404 404
POST   /admin/people/{username}/keep                                                                    303 404 404 404 404 404 303 404 404 404 404
POST   /admin/people/{username}/delete                                                                  303 404 404 404 404 404 303 404 404 404 404
POST   /admin/people/{username}/confirm                                                                 303 404 404 404 404 404 303 404 404 404 404
POST   /admin/people/{username}/organising                                                              303 404 404 404 404 404 303 404 404 404 404
POST   /admin/people/{username}/second-factor                                                           303 404 404 404 404 404 303 404 404 404 404
POST   /admin/people/{username}/unblock                                                                 303 404 404 404 404 404 303 404 404 404 404
GET    /admin/requests                                                                                  303 404 404 404 404 404 200 404 404 404 404
POST   /admin/requests/{request_id}                                                                     303 404 404 404 404 404 404
GET    /admin/health                                                                                     303 404 404 404 404 404 200 404 404 404 404
GET    /admin/limits                                                                                     303 404 404 404 404 404 200 404 404 404 404
GET    /admin/mails                                                                                      303 404 404 404 404 404 200 404 404 404 404
POST   /admin/mails/send-again                                                                           303 404 404 404 404 404 303 404 404 404 404
GET    /admin/moderation                                                                                 303 404 404 404 404 404 200 404 404 404 404
GET    /admin/queue                                                                                      303 404 404 404 404 404 200 404 404 404 404
POST   /admin/queue/again                                                                                303 404 404 404 404 404 303 404 404 404 404
POST   /admin/queue/hold                                                                                 303 404 404 404 404 404 303 404 404 404 404
POST   /admin/queue/resume                                                                               303 404 404 404 404 404 404
GET    /admin/settings                                                                                  303 404 404 404 404 404 200 404 404 404 404
POST   /admin/settings/{setting}                                                                        303 404 404 404 404 404 303 404 404 404 404
POST   /admin/settings/{setting}/reset                                                                  303 404 404 404 404 404 303 404 404 404 404
GET    /admin/storage                                                                                    303 404 404 404 404 404 200 404 404 404 404
POST   /api/api-token-auth/                                                                               400 400 400 400 400 400 400
GET    /api/can_make_submission/{phase_id}/                                                               401 200 200 200 200 200 200
GET    /api/competitions/                                                                                 200 200 200 200 200 200 200
GET    /api/competitions/{competition_id}/                                                                200 200 200 200 200 200 200
GET    /api/competitions/{competition_id}/results.csv                                                     307 307 307 307 307 307 307
GET    /api/competitions/{status_id}/creation_status/                                                     401 404 404 404 404 404 404
POST   /api/data/                                                                                         401 201 201 201 201 201 201
PUT    /api/data/upload_completed/{key}/                                                                  401 404 404 404 404 404 404
POST   /api/datasets/                                                                                     401 201 201 201 201 201 201
PUT    /api/datasets/completed/{key}/                                                                     401 404 404 404 404 404 404
GET    /api/datasets/{key}/download/                                                                      200 200 200 200 200 200 200
GET    /api/leaderboards/                                                                                 200 200 200 200 200 200 200
GET    /api/leaderboards/{board_id}/                                                                      200 200 200 200 200 200 200
GET    /api/my_profile/                                                                                   401 200 200 200 200 200 200
GET    /api/phases/                                                                                       200 200 200 200 200 200 200
GET    /api/phases/{phase_id}/                                                                            200 200 200 200 200 200 200
GET    /api/phases/{phase_id}/get_leaderboard/                                                            200 200 200 200 200 200 200
GET    /api/submissions/                                                                                  401 200 200 200 200 200 200
POST   /api/submissions/                                                                                  401 404 404 404 404 404 404
GET    /api/submissions/{submission_number}/                                                              401 200 404 404 404 200 200 404 200 404 404
GET    /api/submissions/{submission_number}/get_details/                                                  401 200 404 404 404 200 200 404 200 404 404
POST   /api/submissions/{submission_number}/re_run_submission/                                            401 201 404 404 404 403 403 404 403 404 404
GET    /api/submissions/{submission_number}/scores.zip                                                    401 404 404 404 404 200 200 404 200 404 404
GET    /api/tasks/                                                                                        200 200 200 200 200 200 200
GET    /api/tasks/{task_id}/                                                                              200 200 200 200 200 200 200
PUT    /api/uploads/{secret}/                                                                             404 404 404 404 404 404 404
GET    /datasets/download/{key}/                                                                          200 200 200 200 200 200 200
GET    /api/v1/admin/announcements                                                                      401 403 403 403 403 403 200 403 403 403 403
POST   /api/v1/admin/announcements                                                                      401 403 403 403 403 403 201 403 403 403 403
DELETE /api/v1/admin/announcements/{announcement_id}                                                    401 403 403 403 403 403 404 403 403 403 403
GET    /api/v1/admin/looks                                                                              401 403 403 403 403 403 200 403 403 403 403
PATCH  /api/v1/admin/looks                                                                              401 403 403 403 403 403 200 403 403 403 403
PUT    /api/v1/admin/looks/logos/{scheme}                                                               401 403 403 403 403 403 415 403 403 403 403
DELETE /api/v1/admin/looks/logos/{scheme}                                                               401 403 403 403 403 403 200 403 403 403 403
PUT    /api/v1/admin/banned-domains/{domain}                                                            401 403 403 403 403 403 200 403 403 403 403
GET    /api/v1/admin/competitions                                                                       401 403 403 403 403 403 200 403 403 403 403
PUT    /api/v1/admin/competitions/{competition}/owner                                                   401 403 403 403 403 403 200 403 403 403 403
GET    /api/v1/admin/people                                                                             401 403 403 403 403 403 200 403 403 403 403
GET    /api/v1/admin/people/{username}                                                                  401 403 403 403 403 403 200 403 403 403 403
DELETE /api/v1/admin/people/{username}/administration                                                   401 403 403 403 403 403 200 403 403 403 403
DELETE /api/v1/admin/people/{username}/block                                                            401 403 403 403 403 403 200 403 403 403 403
DELETE /api/v1/admin/people/{username}/deletion                                                         401 403 403 403 403 403 200 403 403 403 403
PUT    /api/v1/admin/people/{username}/block                                                            401 403 403 403 403 403 200 403 403 403 403
PUT    /api/v1/admin/people/{username}/deletion                                                         401 403 403 403 403 403 200 403 403 403 403
PUT    /api/v1/admin/people/{username}/confirmation                                                     401 403 403 403 403 403 200 403 403 403 403
PUT    /api/v1/admin/people/{username}/organising                                                       401 403 403 403 403 403 200 403 403 403 403
DELETE /api/v1/admin/people/{username}/second-factor                                                    401 403 403 403 403 403 200 403 403 403 403
GET    /api/v1/admin/requests                                                                           401 403 403 403 403 403 200 403 403 403 403
PUT    /api/v1/admin/requests/{request_id}/answer                                                       401 403 403 403 403 403 404 403 403 403 403
GET    /api/v1/admin/failed-mails                                                                        401 403 403 403 403 403 200 403 403 403 403
POST   /api/v1/admin/failed-mails/send-again                                                             401 403 403 403 403 403 200 403 403 403 403
POST   /api/v1/admin/failed-runs/queue-again                                                             401 403 403 403 403 403 200 403 403 403 403
GET    /api/v1/admin/health                                                                              401 403 403 403 403 403 200 403 403 403 403
DELETE /api/v1/admin/holds                                                                               401 403 403 403 403 403 404 403 403 403 403
PUT    /api/v1/admin/holds                                                                               401 403 403 403 403 403 200 403 403 403 403
GET    /api/v1/admin/queue                                                                               401 403 403 403 403 403 200 403 403 403 403
GET    /api/v1/admin/refused-requests                                                                    401 403 403 403 403 403 200 403 403 403 403
GET    /api/v1/admin/reports                                                                             401 403 403 403 403 403 200 403 403 403 403
GET    /api/v1/admin/settings                                                                           401 403 403 403 403 403 200 403 403 403 403
DELETE /api/v1/admin/settings/{setting}                                                                 401 403 403 403 403 403 200 403 403 403 403
PUT    /api/v1/admin/settings/{setting}                                                                 401 403 403 403 403 403 200 403 403 403 403
GET    /api/v1/admin/storage                                                                             401 403 403 403 403 403 200 403 403 403 403
GET    /api/v1/announcements                                                                            200 200 200 200 200 200 200
GET    /api/v1/audit                                                                                      401 403 403 403 403 403 200 403 403 403 403
GET    /api/v1/competitions                                                                               200 200 200 200 200 200 200
GET    /api/v1/competitions/{competition}                                                                 200 200 200 200 200 200 200
GET    /api/v1/competitions/{competition}/allowances                                                      401 403 403 403 403 200 200 403 200 403 403
PUT    /api/v1/competitions/{competition}/allowances                                                      401 403 403 403 403 200 200 403 200 403 403
DELETE /api/v1/competitions/{competition}/allowances/{allowance_id}                                       401 403 403 403 403 404 404 403 404 403 403
GET    /api/v1/competitions/{competition}/announcements                                                   200 200 200 200 200 200 200
POST   /api/v1/competitions/{competition}/announcements                                                   401 403 403 403 403 201 201 403 403 403 201
GET    /api/v1/competitions/{competition}/announcements.atom                                              200 200 200 200 200 200 200
GET    /api/v1/competitions/{competition}/announcements/receivers                                         401 403 403 403 403 200 200 403 403 403 200
DELETE /api/v1/competitions/{competition}/announcements/{announcement_id}                                 401 403 403 403 403 204 204 403 403 403 204
PUT    /api/v1/competitions/{competition}/announcements/{announcement_id}                                 401 403 403 403 403 200 200 403 403 403 200
GET    /api/v1/competitions/{competition}/citation                                                        200 200 200 200 200 200 200
GET    /api/v1/competitions/{competition}/dates.ics                                                       200 200 200 200 200 200 200
GET    /api/v1/competitions/{competition}/declaration                                                     401 403 403 403 403 200 200 200 403 403 403
PATCH  /api/v1/competitions/{competition}/declaration                                                     401 403 403 403 403 200 200 200 403 403 403
GET    /api/v1/competitions/{competition}/declaration.zip                                                 401 403 403 403 403 200 200 200 403 403 403
GET    /api/v1/competitions/{competition}/downloads                                                       401 403 403 403 403 200 200 403 200 403 403
GET    /api/v1/competitions/{competition}/downloads.csv                                                   401 403 403 403 403 200 200 403 200 403 403
GET    /api/v1/competitions/{competition}/failed-runs                                                     401 403 403 403 403 200 200 403 200 403 403
POST   /api/v1/competitions/{competition}/failed-runs/queue-again                                         401 403 403 403 403 202 202 403 202 403 403
POST   /api/v1/competitions/{competition}/failed-runs/{run_id}/queue-again                                401 403 403 403 403 202 202 403 202 403 403
GET    /api/v1/competitions/{competition}/judging                                                         401 403 403 403 403 200 200 403 200 403 403
DELETE /api/v1/competitions/{competition}/judging/{round_name}                                            401 403 403 403 403 204 204 403 204 403 403
GET    /api/v1/competitions/{competition}/judging/{round_name}                                            404 404 404 404 404 200 200 404 200 404 404
DELETE /api/v1/competitions/{competition}/judging/{round_name}/annotators/{language}/{username}           401 403 403 403 403 404 404 403 404 403 403
PUT    /api/v1/competitions/{competition}/judging/{round_name}/annotators/{language}/{username}           401 403 403 403 403 200 200 403 200 403 403
GET    /api/v1/competitions/{competition}/judging/{round_name}/marks.csv                                  401 403 403 403 403 200 200 403 200 403 403
DELETE /api/v1/competitions/{competition}/judging/{round_name}/publication                                401 403 403 403 403 200 200 403 200 403 403
PUT    /api/v1/competitions/{competition}/judging/{round_name}/publication                                401 403 403 403 403 200 200 403 200 403 403
GET    /api/v1/competitions/{competition}/leaks                                                           401 403 403 403 403 200 200 403 403 200 403
GET    /api/v1/competitions/{competition}/life                                                            401 403 403 403 403 200 200 200 403 403 403
PUT    /api/v1/competitions/{competition}/life                                                            401 403 403 403 403 200 200 200 403 403 403
GET    /api/v1/competitions/{competition}/life/confirmation                                               401 403 403 403 403 200 200 200 403 403 403
PUT    /api/v1/competitions/{competition}/life/confirmation                                               401 403 403 403 403 409 409 409 403 403 403
DELETE /api/v1/competitions/{competition}/life/deletion                                                   401 403 403 403 403 200 200 200 403 403 403
PUT    /api/v1/competitions/{competition}/life/deletion                                                   401 403 403 403 403 409 409 409 403 403 403
GET    /api/v1/competitions/{competition}/participants                                                    401 403 403 403 403 200 200 403 200 403 403
GET    /api/v1/competitions/{competition}/participants.csv                                                401 403 403 403 403 200 200 403 200 403 403
GET    /api/v1/competitions/{competition}/grades.csv                                                      401 403 403 403 403 200 200 403 200 403 403
GET    /api/v1/competitions/{competition}/phases/{phase}                                                  200 200 200 200 200 200 200
GET    /api/v1/competitions/{competition}/phases/{phase}/boards/{board}                                   200 200 200 200 200 200 200
GET    /api/v1/competitions/{competition}/phases/{phase}/boards/{board}.csv                               200 200 200 200 200 200 200
GET    /api/v1/competitions/{competition}/phases/{phase}/boards/{board}/citation                          404 404 404 404 404 200 200 404 200 404 404
GET    /api/v1/competitions/{competition}/phases/{phase}/boards/{board}/compare                           404 404 404 404 404 200 200 404 200 404 404
GET    /api/v1/competitions/{competition}/phases/{phase}/boards/{board}/feed.atom                         200 200 200 200 200 200 200
GET    /api/v1/competitions/{competition}/phases/{phase}/boards/{board}/official                          404 404 404 404 404 200 200 404 200 404 404
GET    /api/v1/competitions/{competition}/phases/{phase}/boards/{board}/official/{number}                 404 404 404 404 404 200 200 404 200 404 404
GET    /api/v1/competitions/{competition}/phases/{phase}/boards/{board}/pictures                          200 200 200 200 200 200 200
GET    /api/v1/competitions/{competition}/phases/{phase}/boards/{board}/pictures/{picture}                404 404 404 404 404 200 200 404 200 404 404
GET    /api/v1/competitions/{competition}/phases/{phase}/boards/{board}/table                             200 200 200 200 200 200 200
GET    /api/v1/competitions/{competition}/phases/{phase}/rankings/{ranking}                               200 200 200 200 200 200 200
GET    /api/v1/competitions/{competition}/phases/{phase}/tasks/{task}                                     200 200 200 200 200 200 200
GET    /api/v1/competitions/{competition}/phases/{phase}/tasks/{task}/files/{name}                        200 200 200 200 200 200 200
GET    /api/v1/competitions/{competition}/phases/{phase}/tasks/{task}/gold                                401 403 403 403 403 200 200 403 403 200 403
POST   /api/v1/competitions/{competition}/phases/{phase}/tasks/{task}/gold                                401 403 403 403 403 201 201 403 403 201 403
POST   /api/v1/competitions/{competition}/phases/{phase}/tasks/{task}/gold/{version}/check                401 403 403 403 403 202 202 403 403 202 403
POST   /api/v1/competitions/{competition}/phases/{phase}/tasks/{task}/gold/{version}/publish              401 403 403 403 403 200 200 403 403 200 403
POST   /api/v1/competitions/{competition}/phases/{phase}/tasks/{task}/judging                             401 403 403 403 403 201 201 403 201 403 403
POST   /api/v1/competitions/{competition}/phases/{phase}/tasks/{task}/judging/marks                       401 403 403 403 403 200 200 403 200 403 403
GET    /api/v1/competitions/{competition}/phases/{phase}/tasks/{task}/rows                                401 403 403 403 403 200 200 403 200 403 403
PUT    /api/v1/competitions/{competition}/phases/{phase}/tasks/{task}/rows                                401 403 403 403 403 200 200 403 200 403 403
DELETE /api/v1/competitions/{competition}/phases/{phase}/tasks/{task}/rows/{mark_id}                      401 403 403 403 403 404 404 403 404 403 403
GET    /api/v1/competitions/{competition}/phases/{phase}/tasks/{task}/starter-kit.zip                     404 404 404 404 404 404 404
POST   /api/v1/competitions/{competition}/phases/{phase}/tasks/{task}/submissions                         401 202 202 202 202 202 202
POST   /api/v1/competitions/{competition}/phases/{phase}/tasks/{task}/validations                         401 202 202 202 202 202 202
GET    /api/v1/competitions/{competition}/predictions.zip                                                 401 403 403 403 403 200 200 403 200 403 403
GET    /api/v1/competitions/{competition}/blocked                                                         401 403 403 403 403 200 200 200 403 403 403
DELETE /api/v1/competitions/{competition}/blocked/{username}                                              401 403 403 403 403 404 404 404 403 403 403
PUT    /api/v1/competitions/{competition}/blocked/{username}                                              401 403 403 403 403 200 200 200 403 403 403
GET    /api/v1/competitions/{competition}/hidden-texts                                                    401 403 403 403 403 200 200 200 200 200 200
POST   /api/v1/competitions/{competition}/hidden-texts                                                    401 403 403 403 403 201 201 403 403 403 201
DELETE /api/v1/competitions/{competition}/hidden-texts/{hidden_id}                                        401 403 403 403 403 204 204 403 403 403 204
GET    /api/v1/competitions/{competition}/reports                                                         401 403 403 403 403 200 200 200 200 200 200
POST   /api/v1/competitions/{competition}/reports                                                         401 201 201 201 201 201 201
PUT    /api/v1/competitions/{competition}/reports/{report_id}/dismissed                                   401 403 403 403 403 204 204 403 403 403 204
PUT    /api/v1/competitions/{competition}/reports/{report_id}/hidden                                      401 403 403 403 403 200 200 403 403 403 200
GET    /api/v1/competitions/{competition}/questions                                                       200 200 200 200 200 200 200
POST   /api/v1/competitions/{competition}/questions                                                       401 201 201 201 201 201 201
PUT    /api/v1/competitions/{competition}/questions/{question_id}/answer                                  401 403 403 403 403 200 200 403 403 403 200
DELETE /api/v1/competitions/{competition}/questions/{question_id}/closed                                  401 403 403 403 403 200 200 403 403 403 200
PUT    /api/v1/competitions/{competition}/questions/{question_id}/closed                                  401 403 403 403 403 200 200 403 403 403 200
GET    /api/v1/competitions/{competition}/publication-consent                                             401 200 200 200 200 200 200
PUT    /api/v1/competitions/{competition}/publication-consent                                             401 200 200 200 200 200 200
GET    /api/v1/competitions/{competition}/registration                                                    401 200 200 200 200 200 200
PUT    /api/v1/competitions/{competition}/registration                                                    401 200 200 200 200 200 200
GET    /api/v1/competitions/{competition}/registrations                                                   401 403 403 403 403 200 200 200 403 403 403
GET    /api/v1/competitions/{competition}/registrations.csv                                               401 403 403 403 403 200 200 200 403 403 403
PUT    /api/v1/competitions/{competition}/registrations                                                   401 403 403 403 403 200 200 200 403 403 403
PUT    /api/v1/competitions/{competition}/registrations/{username}                                        401 403 403 403 403 200 200 200 403 403 403
POST   /api/v1/competitions/{competition}/joining-code                                                    401 403 403 403 403 201 201 201 403 403 403
DELETE /api/v1/competitions/{competition}/joining-code                                                    401 403 403 403 403 204 204 204 403 403 403
GET    /api/v1/competitions/{competition}/rescorings                                                      401 403 403 403 403 200 200 403 200 403 403
POST   /api/v1/competitions/{competition}/rescorings                                                      401 403 403 403 403 201 201 403 403 403 403
GET    /api/v1/competitions/{competition}/rescorings/{rescoring}                                          401 403 403 403 403 200 200 403 200 403 403
GET    /api/v1/competitions/{competition}/rescorings/{rescoring}/diff                                     401 403 403 403 403 200 200 403 200 403 403
POST   /api/v1/competitions/{competition}/rescorings/{rescoring}/drop                                     401 403 403 403 403 200 200 403 403 403 403
POST   /api/v1/competitions/{competition}/rescorings/{rescoring}/publish                                  401 403 403 403 403 200 200 403 403 403 403
GET    /api/v1/competitions/{competition}/revisions                                                       401 403 403 403 403 200 200 200 403 403 403
GET    /api/v1/competitions/{competition}/revisions/{number}                                              401 403 403 403 403 200 200 200 403 403 403
POST   /api/v1/competitions/{competition}/revisions/{number}/apply                                        401 403 403 403 403 200 200 200 403 403 403
GET    /api/v1/competitions/{competition}/roles                                                           401 403 403 403 403 200 200 200 200 200 200
DELETE /api/v1/competitions/{competition}/roles/{role}/{username}                                         401 403 403 403 403 404 404 404 403 403 403
PUT    /api/v1/competitions/{competition}/roles/{role}/{username}                                         401 403 403 403 403 200 200 200 403 403 403
GET    /api/v1/competitions/{competition}/submissions                                                     401 403 403 403 403 200 200 403 200 403 403
PUT    /api/v1/competitions/{competition}/submissions/marks                                               401 403 403 403 403 204 204 403 204 403 403
POST   /api/v1/competitions/{competition}/submissions/rescoring                                           401 403 403 403 403 202 202 403 403 403 403
GET    /api/v1/competitions/{competition}/tasks/{task}/results                                            200 200 200 200 200 200 200
GET    /api/v1/competitions/{competition}/tasks/{task}/results.csv                                        200 200 200 200 200 200 200
DELETE /api/v1/competitions/{competition}/team                                                            401 204 204 404 404 404 404
GET    /api/v1/competitions/{competition}/team                                                            401 200 200 404 404 404 404
POST   /api/v1/competitions/{competition}/team                                                            401 409 409 201 201 201 201
PUT    /api/v1/competitions/{competition}/team/captain                                                    401 404 404 404 404 404 404
DELETE /api/v1/competitions/{competition}/team/invitation                                                 401 404 404 404 404 404 404
POST   /api/v1/competitions/{competition}/team/invitation                                                 401 201 201 404 404 404 404
POST   /api/v1/competitions/{competition}/team/members                                                    401 404 404 404 404 404 404
DELETE /api/v1/competitions/{competition}/team/members/{username}                                         401 404 404 404 404 404 404
GET    /api/v1/competitions/{competition}/team/merging                                                    401 200 200 200 200 200 200
POST   /api/v1/competitions/{competition}/team/merging                                                    401 201 201 404 404 404 404
DELETE /api/v1/competitions/{competition}/team/merging/{offer_id}                                         401 204 204 404 404 404 404
POST   /api/v1/competitions/{competition}/team/merging/{offer_id}/acceptance                              401 204 404 404 404 404 404
PUT    /api/v1/competitions/{competition}/team/name                                                       401 409 409 404 404 404 404
GET    /api/v1/competitions/{competition}/teams/{team:path}                                               200 200 200 200 200 200 200
GET    /api/v1/me                                                                                         401 200 200 200 200 200 200
GET    /api/v1/me/archive                                                                                 401 404 404 404 404 404 404
POST   /api/v1/me/archive                                                                                 401 202 202 202 202 202 202
GET    /api/v1/me/archive/file                                                                            401 404 404 404 404 404 404
GET    /api/v1/me/deletion                                                                                401 200 200 200 200 200 200
POST   /api/v1/me/deletion                                                                                401 403 403 403 403 403 403
DELETE /api/v1/me/deletion                                                                                401 200 200 200 200 200 200
GET    /api/v1/me/mail                                                                                    401 200 200 200 200 200 200
PUT    /api/v1/me/mail                                                                                    401 200 200 200 200 200 200
GET    /api/v1/privacy                                                                                    200 200 200 200 200 200 200
POST   /api/v1/register                                                                                   201 201 201 201 201 201 201
GET    /api/v1/submissions                                                                                401 200 200 200 200 200 200
GET    /api/v1/submissions/{submission_id}                                                                401 200 404 404 404 200 200 404 200 404 404
GET    /api/v1/submissions/{submission_id}/card                                                           401 200 404 404 404 200 200 404 200 404 404
PUT    /api/v1/submissions/{submission_id}/card                                                           401 409 404 404 404 403 403 404 403 404 404
DELETE /api/v1/submissions/{submission_id}/choice                                                         401 409 404 404 404 403 403 404 403 404 404
PUT    /api/v1/submissions/{submission_id}/choice                                                         401 409 404 404 404 403 403 404 403 404 404
GET    /api/v1/submissions/{submission_id}/comparison/{other_id}                                          401 200 404 404 404 200 200 404 200 404 404
GET    /api/v1/submissions/{submission_id}/file                                                           401 200 404 404 404 200 200 404 200 404 404
GET    /api/v1/submissions/{submission_id}/program-log                                                    401 404 404 404 404 404 404
GET    /api/v1/submissions/{submission_id}/report                                                         401 404 404 404 404 200 200 404 200 404 404
GET    /api/v1/submissions/{submission_id}/report.csv                                                     401 404 404 404 404 200 200 404 200 404 404
GET    /api/v1/submissions/{submission_id}/report/{name}.txt                                              401 404 404 404 404 200 200 404 200 404 404
GET    /api/v1/submissions/{submission_id}/problems.csv                                                   401 200 404 404 404 200 200 404 200 404 404
DELETE /api/v1/submissions/{submission_id}/withdrawal                                                     401 200 404 404 404 200 200 404 200 404 404
PUT    /api/v1/submissions/{submission_id}/withdrawal                                                     401 409 404 404 404 403 403 404 403 404 404
GET    /api/v1/tokens                                                                                     401 200 200 200 200 200 200
POST   /api/v1/tokens                                                                                     422 201 201 201 201 201 201
DELETE /api/v1/tokens/{token_id}                                                                          401 204 404 404 404 404 404
GET    /api/v1/validations/{validation_id}                                                                401 200 404 404 404 404 404
GET    /api/v1/validations/{validation_id}/problems.csv                                                   401 200 404 404 404 404 404
GET    /competitions                                                                                      308 308 308 308 308 308 308
GET    /competitions/{competition_id:int}/                                                                303 303 303 303 303 303 303
GET    /competitions/{competition}                                                                        200 200 200 200 200 200 200
GET    /competitions/{competition}/life                                                                   303 403 403 403 403 200 200 200 403 403 403
POST   /competitions/{competition}/life                                                                   303 403 403 403 403 303 303 303 403 403 403
POST   /competitions/{competition}/life/confirmation                                                      303 403 403 403 403 409 409 409 403 403 403
POST   /competitions/{competition}/life/deletion                                                          303 403 403 403 403 409 409 409 403 403 403
POST   /competitions/{competition}/life/deletion/stop                                                     303 403 403 403 403 303 303 303 403 403 403
GET    /competitions/{competition}/allowances                                                             303 403 403 403 403 200 200 403 200 403 403
POST   /competitions/{competition}/allowances                                                             303 403 403 403 403 303 303 403 303 403 403
POST   /competitions/{competition}/allowances/{allowance_id}/take-back                                    303 403 403 403 403 404 404 403 404 403 403
GET    /competitions/{competition}/announcements                                                          200 200 200 200 200 200 200
POST   /competitions/{competition}/announcements                                                          303 403 403 403 403 200 200 403 403 403 200
GET    /competitions/{competition}/announcements/{announcement_id}                                        303 403 403 403 403 200 200 403 403 403 200
POST   /competitions/{competition}/announcements/{announcement_id}                                        303 403 403 403 403 303 303 403 403 403 303
POST   /competitions/{competition}/announcements/{announcement_id}/withdraw                               303 403 403 403 403 303 303 403 403 403 303
GET    /competitions/{competition}/cite                                                                   200 200 200 200 200 200 200
GET    /competitions/{competition}/data                                                                   200 200 200 200 200 200 200
GET    /competitions/{competition}/desk                                                                   303 403 403 403 403 200 200 200 200 200 200
POST   /competitions/{competition}/desk/mail                                                              303 403 403 403 403 303 303 403 403 403 403
GET    /competitions/{competition}/edit                                                                   303 403 403 403 403 200 200 200 403 403 403
POST   /competitions/{competition}/edit                                                                   303 403 403 403 403 200 200 200 403 403 403
GET    /competitions/{competition}/edit/texts                                                             303 403 403 403 403 200 200 200 403 403 403
POST   /competitions/{competition}/edit/texts                                                             303 403 403 403 403 200 200 200 403 403 403
GET    /competitions/{competition}/downloads                                                              303 403 403 403 403 200 200 403 200 403 403
GET    /competitions/{competition}/exports                                                                303 403 403 403 403 200 200 403 200 403 403
GET    /competitions/{competition}/failed                                                                 303 403 403 403 403 200 200 403 200 403 403
POST   /competitions/{competition}/failed/queue-again                                                     303 403 403 403 403 303 303 403 303 403 403
POST   /competitions/{competition}/failed/{run_id}/queue-again                                            303 403 403 403 403 303 303 403 303 403 403
GET    /competitions/{competition}/history                                                                303 403 403 403 403 200 200 200 403 403 403
GET    /competitions/{competition}/history/{number}                                                       303 403 403 403 403 200 200 200 403 403 403
POST   /competitions/{competition}/history/{number}                                                       303 403 403 403 403 200 200 200 403 403 403
GET    /competitions/{competition}/judging                                                                303 403 403 200 403 200 200 403 200 403 403
GET    /competitions/{competition}/judging/{round_name}                                                   404 404 404 404 404 200 200 404 200 404 404
POST   /competitions/{competition}/judging/{round_name}/annotators                                        303 403 403 403 403 303 303 403 303 403 403
POST   /competitions/{competition}/judging/{round_name}/discard                                           303 403 403 403 403 303 303 403 303 403 403
GET    /competitions/{competition}/judging/{round_name}/figures/{name}.svg                                404 404 404 404 404 200 200 404 200 404 404
POST   /competitions/{competition}/edit/images                                                            303 403 403 403 403 422 422 422 403 403 403
GET    /competitions/{competition}/images/{sha256}                                                        404 404 404 404 404 404 404
GET    /competitions/{competition}/judging/{round_name}/items/{language}                                  303 404 404 303 404 404 404
GET    /competitions/{competition}/judging/{round_name}/items/{language}/{place}                          303 404 404 200 404 404 404
POST   /competitions/{competition}/judging/{round_name}/items/{language}/{place}                          303 404 404 303 404 404 404
POST   /competitions/{competition}/judging/{round_name}/items/{language}/{place}/clear                    303 404 404 303 404 404 404
POST   /competitions/{competition}/judging/{round_name}/publish                                           303 403 403 403 403 303 303 403 303 403 403
POST   /competitions/{competition}/judging/{round_name}/withdraw                                          303 403 403 403 403 303 303 403 303 403 403
GET    /competitions/{competition}/leaderboard                                                            303 303 303 303 303 303 303
GET    /competitions/{competition}/phases/{phase}/boards/{board}                                          200 200 200 200 200 200 200
GET    /competitions/{competition}/phases/{phase}/boards/{board}/figures/{name}.svg                       404 404 404 404 404 404 404
GET    /competitions/{competition}/phases/{phase}/boards/{board}/official                                 404 404 404 404 404 200 200 404 200 404 404
GET    /competitions/{competition}/phases/{phase}/boards/{board}/official/{number}                        404 404 404 404 404 200 200 404 200 404 404
GET    /competitions/{competition}/phases/{phase}/boards/{board}/official/{number}/rows/{submission_id}   404 404 404 404 404 200 200 404 200 404 404
GET    /competitions/{competition}/phases/{phase}/boards/{board}/rows/{submission_id}                     404 404 404 404 404 200 200 404 200 404 404
GET    /competitions/{competition}/phases/{phase}/boards/{board}/compare                                  200 200 200 200 200 200 200
GET    /competitions/{competition}/phases/{phase}/boards/{board}/pictures                                 200 200 200 200 200 200 200
GET    /competitions/{competition}/phases/{phase}/boards/{board}/pictures/{picture}.svg                   404 404 404 404 404 200 200 404 200 404 404
GET    /competitions/{competition}/phases/{phase}/rankings/{ranking}                                      200 200 200 200 200 200 200
GET    /competitions/{competition}/phases/{phase}/tasks/{task}/files/{name}                               200 200 200 200 200 200 200
GET    /competitions/{competition}/phases/{phase}/tasks/{task}/gold                                       303 403 403 403 403 200 200 403 403 200 403
POST   /competitions/{competition}/phases/{phase}/tasks/{task}/gold                                       303 403 403 403 403 303 303 403 403 303 403
POST   /competitions/{competition}/phases/{phase}/tasks/{task}/gold/{version}/check                       303 403 403 403 403 303 303 403 403 303 403
POST   /competitions/{competition}/phases/{phase}/tasks/{task}/gold/{version}/publish                     303 403 403 403 403 303 303 403 403 303 403
GET    /competitions/{competition}/phases/{phase}/tasks/{task}/judging                                    303 403 403 403 403 200 200 403 200 403 403
POST   /competitions/{competition}/phases/{phase}/tasks/{task}/judging                                    303 403 403 403 403 303 303 403 303 403 403
POST   /competitions/{competition}/phases/{phase}/tasks/{task}/judging/marks                              303 403 403 403 403 303 303 403 303 403 403
GET    /competitions/{competition}/phases/{phase}/tasks/{task}/rows                                       303 403 403 403 403 200 200 403 200 403 403
POST   /competitions/{competition}/phases/{phase}/tasks/{task}/rows                                       303 403 403 403 403 303 303 403 303 403 403
POST   /competitions/{competition}/phases/{phase}/tasks/{task}/rows/{mark_id}/clear                       303 403 403 403 403 404 404 403 404 403 403
GET    /competitions/{competition}/phases/{phase}/tasks/{task}/submit                                     200 200 200 200 200 200 200
POST   /competitions/{competition}/phases/{phase}/tasks/{task}/submit                                     303 303 303 303 303 303 303
POST   /competitions/{competition}/phases/{phase}/tasks/{task}/validate                                   303 303 303 303 303 303 303
GET    /competitions/{competition}/pictures                                                               303 303 303 303 303 303 303
GET    /competitions/{competition}/moderation                                                             303 403 403 403 403 200 200 200 200 200 200
POST   /competitions/{competition}/moderation/block                                                       303 403 403 403 403 303 303 303 403 403 403
POST   /competitions/{competition}/moderation/unblock                                                     303 403 403 403 403 404 404 404 403 403 403
POST   /competitions/{competition}/moderation/{hidden_id}/show                                            303 403 403 403 403 303 303 403 403 403 303
POST   /competitions/{competition}/moderation/{report_id}/dismiss                                         303 403 403 403 403 303 303 403 403 403 303
POST   /competitions/{competition}/moderation/{report_id}/hide                                            303 403 403 403 403 303 303 403 403 403 303
GET    /competitions/{competition}/report-text                                                            303 200 200 200 200 200 200
POST   /competitions/{competition}/report-text                                                            303 303 303 303 303 303 303
GET    /competitions/{competition}/questions                                                              200 200 200 200 200 200 200
POST   /competitions/{competition}/questions                                                              303 303 303 303 303 303 303
POST   /competitions/{competition}/questions/{question_id}/answer                                         303 403 403 403 403 303 303 403 403 403 303
POST   /competitions/{competition}/questions/{question_id}/close                                          303 403 403 403 403 303 303 403 403 403 303
POST   /competitions/{competition}/questions/{question_id}/reopen                                         303 403 403 403 403 303 303 403 403 403 303
GET    /competitions/{competition}/registration                                                           200 200 200 200 200 200 200
POST   /competitions/{competition}/registration                                                           303 303 303 303 303 303 303
POST   /competitions/{competition}/registration/consent                                                   303 303 303 303 303 303 303
GET    /competitions/{competition}/registrations                                                          303 403 403 403 403 200 200 200 403 403 403
POST   /competitions/{competition}/registrations                                                          303 403 403 403 403 303 303 303 403 403 403
POST   /competitions/{competition}/registrations/{username}                                               303 403 403 403 403 303 303 303 403 403 403
POST   /competitions/{competition}/joining-code                                                           303 403 403 403 403 200 200 200 403 403 403
POST   /competitions/{competition}/joining-code/end                                                       303 403 403 403 403 303 303 303 403 403 403
GET    /competitions/{competition}/rescoring                                                              303 403 403 403 403 200 200 403 200 403 403
POST   /competitions/{competition}/rescoring                                                              303 403 403 403 403 303 303 403 403 403 403
GET    /competitions/{competition}/rescoring/{rescoring}                                                  303 403 403 403 403 200 200 403 200 403 403
POST   /competitions/{competition}/rescoring/{rescoring}/drop                                             303 403 403 403 403 303 303 403 403 403 403
POST   /competitions/{competition}/rescoring/{rescoring}/publish                                          303 403 403 403 403 303 303 403 403 403 403
GET    /competitions/{competition}/runs                                                                   303 200 200 200 200 200 200
GET    /competitions/{competition}/submit                                                                 303 303 303 303 303 303 303
GET    /competitions/{competition}/tasks/{task}/results                                                   200 200 200 200 200 200 200
GET    /competitions/{competition}/submissions                                                            303 403 403 403 403 200 200 403 200 403 403
POST   /competitions/{competition}/submissions                                                            303 403 403 403 403 303 303 403 303 403 403
GET    /competitions/{competition}/team                                                                   303 200 200 200 200 200 200
POST   /competitions/{competition}/team/captain                                                           303 404 404 404 404 404 404
POST   /competitions/{competition}/team/invitation                                                        303 303 303 404 404 404 404
POST   /competitions/{competition}/team/invitation/revoke                                                 303 404 404 404 404 404 404
GET    /competitions/{competition}/team/join                                                              303 404 404 404 404 404 404
POST   /competitions/{competition}/team/join                                                              303 404 404 404 404 404 404
POST   /competitions/{competition}/team/leave                                                             303 303 303 404 404 404 404
POST   /competitions/{competition}/team/merging                                                           303 303 303 404 404 404 404
POST   /competitions/{competition}/team/merging/{offer_id}/accept                                         303 303 404 404 404 404 404
POST   /competitions/{competition}/team/merging/{offer_id}/end                                            303 303 303 404 404 404 404
POST   /competitions/{competition}/team/name                                                              303 409 409 303 303 303 303
POST   /competitions/{competition}/team/remove                                                            303 404 404 404 404 404 404
GET    /competitions/{competition}/teams/{team:path}                                                      200 200 200 200 200 200 200
GET    /docs                                                                                              200 200 200 200 200 200 200
GET    /favicon.ico                                                                                       307 307 307 307 307 307 307
GET    /guide                                                                                             200 200 200 200 200 200 200
GET    /guide/metrics                                                                                     200 200 200 200 200 200 200
GET    /guide/{name}                                                                                      200 200 200 200 200 200 200
GET    /healthz                                                                                           200 200 200 200 200 200 200
GET    /judging                                                                                           303 200 200 200 200 200 200
GET    /login                                                                                             200 303 303 303 303 303 303
POST   /login                                                                                             401 401 401 401 401 401 401
GET    /login/finish                                                                                      404 404 404 404 404 404 404
POST   /login/finish/account                                                                              404 404 404 404 404 404 404
POST   /login/finish/mail                                                                                 404 404 404 404 404 404 404
POST   /login/finish/password                                                                             404 404 404 404 404 404 404
GET    /login/finish/link                                                                                 404 404 404 404 404 404 404
POST   /login/finish/link                                                                                 404 404 404 404 404 404 404
GET    /login/second                                                                                      404 404 404 404 404 404 404
POST   /login/second                                                                                      404 404 404 404 404 404 404
POST   /login/second/passkey                                                                              404 404 404 404 404 404 404
GET    /login/with/{provider}                                                                             404 303 303 303 303 303 303
GET    /login/with/{provider}/callback                                                                    404 404 404 404 404 404 404
POST   /logout                                                                                            303 303 303 303 303 303 303
GET    /mail/unsubscribe                                                                                  404 404 404 404 404 404 404
POST   /mail/unsubscribe                                                                                  404 404 404 404 404 404 404
GET    /metrics                                                                                           403 403 403 403 403 403 403
GET    /organise                                                                                          303 200 200 200 200 200 200
POST   /organise                                                                                          303 403 403 403 403 403 422 403 403 403 403
POST   /organise/bundle                                                                                   303 403 403 403 403 403 422 403 403 403 403
POST   /organise/zip                                                                                      303 403 403 403 403 403 422 403 403 403 403
GET    /organise/{blueprint_id}                                                                           303 404 404 404 404 404 404
POST   /organise/{blueprint_id}/add                                                                       303 404 404 404 404 404 404
POST   /organise/{blueprint_id}/build                                                                     303 404 404 404 404 404 404
POST   /organise/{blueprint_id}/discard                                                                   303 404 404 404 404 404 404
POST   /organise/{blueprint_id}/files                                                                     303 404 404 404 404 404 404
POST   /organise/{blueprint_id}/files/remove                                                              303 404 404 404 404 404 404
GET    /organise/{blueprint_id}/images                                                                    303 404 404 404 404 404 404
POST   /organise/{blueprint_id}/images                                                                    303 404 404 404 404 404 404
GET    /organise/{blueprint_id}/part                                                                      303 404 404 404 404 404 404
POST   /organise/{blueprint_id}/part                                                                      303 404 404 404 404 404 404
GET    /organise/{blueprint_id}/preview                                                                   303 404 404 404 404 404 404
POST   /organise/{blueprint_id}/remove                                                                    303 404 404 404 404 404 404
POST   /organise/{blueprint_id}/yaml                                                                      303 404 404 404 404 404 404
POST   /competitions/{competition}/rewrite                                                                303 403 403 403 403 303 303 303 403 403 403
GET    /competitions/{competition}/setup/{step}                                                           303 403 403 403 403 303 303 303 403 403 403
POST   /competitions/{competition}/setup/{step}                                                           303 403 403 403 403 409 409 409 403 403 403
POST   /competitions/{competition}/setup-items                                                            303 403 403 403 403 409 409 409 403 403 403
POST   /api/v1/competitions                                                                               401 403 403 403 403 403 422 403 403 403 403
GET    /competitions/{competition}/people                                                                 303 403 403 403 403 200 200 200 200 200 200
POST   /competitions/{competition}/people/invite                                                          303 403 403 403 403 303 303 303 403 403 403
POST   /competitions/{competition}/people/invitations/{invitation_id}/take-back                           303 403 403 403 403 404 404 404 403 403 403
POST   /competitions/{competition}/people/revoke                                                          303 403 403 403 403 303 303 303 403 403 403
POST   /competitions/{competition}/people/link                                                            303 403 403 403 403 200 200 200 403 403 403
POST   /competitions/{competition}/people/link/end                                                        303 403 403 403 403 303 303 303 403 403 403
POST   /competitions/{competition}/people/owner                                                           303 403 403 403 403 403 303 403 403 403 403
GET    /invitations                                                                                       303 200 200 200 200 200 200
POST   /invitations/{invitation_id}/accept                                                                303 404 404 404 404 404 404
POST   /invitations/{invitation_id}/decline                                                               303 404 404 404 404 404 404
GET    /join                                                                                              303 404 404 404 404 404 404
POST   /join                                                                                              303 404 404 404 404 404 404
PUT    /api/v1/competitions/{competition}/roles/owner                                                     401 403 403 403 403 403 200 403 403 403 403
POST   /api/v1/competitions/{competition}/roles/invitations                                               401 403 403 403 403 201 201 201 403 403 403
GET    /password/forgot                                                                                   200 200 200 200 200 200 200
POST   /password/forgot                                                                                   200 200 200 200 200 200 200
GET    /password/new                                                                                      404 404 404 404 404 404 404
POST   /password/new                                                                                      404 404 404 404 404 404 404
GET    /readyz                                                                                            503 503 503 503 503 503 503
GET    /register                                                                                          200 303 303 303 303 303 303
POST   /register                                                                                          303 303 303 303 303 303 303
GET    /logo/{sha256}                                                                                   404 404 404 404 404 404 404
GET    /looks.css                                                                                       200 200 200 200 200 200 200
GET    /robots.txt                                                                                        200 200 200 200 200 200 200
GET    /search                                                                                            200 200 200 200 200 200 200
GET    /status                                                                                            200 200 200 200 200 200 200
GET    /submissions                                                                                       303 200 200 200 200 200 200
GET    /submissions/compare                                                                               303 422 422 422 422 422 422
GET    /submissions/{submission_id}                                                                       303 200 404 404 404 200 200 404 200 404 404
GET    /submissions/{submission_id}/card                                                                  303 200 404 404 404 200 200 404 200 404 404
POST   /submissions/{submission_id}/card                                                                  303 409 404 404 404 403 403 404 403 404 404
POST   /submissions/{submission_id}/choice                                                                303 409 404 404 404 403 403 404 403 404 404
GET    /submissions/{submission_id}/live                                                                  204 200 404 404 404 200 200 404 200 404 404
GET    /submissions/{submission_id}/report                                                                303 303 404 404 404 200 200 404 200 404 404
GET    /submissions/{submission_id}/report/figures/{name}.svg                                             303 404 404 404 404 404 404
POST   /submissions/{submission_id}/put-back                                                              303 303 404 404 404 303 303 404 303 404 404
POST   /submissions/{submission_id}/withdrawal                                                            303 409 404 404 404 403 403 404 403 404 404
GET    /validations/{validation_id}                                                                       303 200 404 404 404 404 404
GET    /validations/{validation_id}/live                                                                  204 200 404 404 404 404 404
GET    /competitions/{competition}/phases/{phase}/boards/{board}/picture.png                              404 404 404 404 404 404 404
GET    /embed/competitions/{competition}/phases/{phase}/boards/{board}                                    200 200 200 200 200 200 200
GET    /imprint                                                                                           404 404 404 404 404 404 404
GET    /privacy                                                                                           200 200 200 200 200 200 200
GET    /contact                                                                                           404 404 404 404 404 404 404
GET    /apple-touch-icon.png                                                                              307 307 307 307 307 307 307
GET    /sitemap.xml                                                                                       200 200 200 200 200 200 200
GET    /api/v1/competitions/{competition}/roles/invitations                                               401 403 403 403 403 200 200 200 403 403 403
DELETE /api/v1/competitions/{competition}/roles/invitations/{invitation_id}                               401 403 403 403 403 404 404 404 403 403 403
PUT    /api/v1/competitions/{competition}/roles/organiser/{username}/rights                               401 403 403 403 403 403 200 403 403 403 403
POST   /competitions/{competition}/people/rights                                                          303 403 403 403 403 403 303 403 403 403 403
GET    /api/v1/me/invitations                                                                             401 200 200 200 200 200 200
POST   /api/v1/me/invitations/{invitation_id}/accept                                                      401 404 404 404 404 404 404
POST   /api/v1/me/invitations/{invitation_id}/decline                                                     401 404 404 404 404 404 404
GET    /wheels/                                                                                           200 200 200 200 200 200 200
GET    /wheels/{filename}                                                                                 200 200 200 200 200 200 200
GET    /api/v1/competitions/{competition}/team/webhooks                                                   401 200 200 404 404 404 404
POST   /api/v1/competitions/{competition}/team/webhooks                                                   401 201 201 404 404 404 404
GET    /api/v1/competitions/{competition}/webhooks                                                        401 403 403 403 403 200 200 200 200 200 200
POST   /api/v1/competitions/{competition}/webhooks                                                        401 403 403 403 403 201 201 201 201 201 201
GET    /api/v1/webhooks                                                                                   401 403 403 403 403 403 200 403 403 403 403
POST   /api/v1/webhooks                                                                                   401 403 403 403 403 403 201 403 403 403 403
DELETE /api/v1/webhooks/{webhook_id}                                                                      401 404 404 404 404 204 204 204 404 404 404
GET    /api/v1/webhooks/{webhook_id}                                                                      401 404 404 404 404 200 200 200 404 404 404
PUT    /api/v1/webhooks/{webhook_id}                                                                      401 404 404 404 404 200 200 200 404 404 404
GET    /api/v1/webhooks/{webhook_id}/deliveries                                                           401 404 404 404 404 200 200 200 404 404 404
POST   /api/v1/webhooks/{webhook_id}/replay                                                               401 404 404 404 404 202 202 202 404 404 404
POST   /api/v1/webhooks/{webhook_id}/secret                                                               401 404 404 404 404 200 200 200 404 404 404
POST   /api/v1/webhooks/{webhook_id}/test                                                                 401 404 404 404 404 202 202 202 404 404 404
GET    /competitions/{competition}/team/webhooks                                                          303 200 200 404 404 404 404
POST   /competitions/{competition}/team/webhooks                                                          303 303 303 404 404 404 404
GET    /competitions/{competition}/webhooks                                                               303 403 403 403 403 200 200 200 200 200 200
POST   /competitions/{competition}/webhooks                                                               303 403 403 403 403 303 303 303 303 303 303
GET    /webhooks                                                                                          303 403 403 403 403 403 200 403 403 403 403
POST   /webhooks                                                                                          303 403 403 403 403 403 303 403 403 403 403
GET    /webhooks/{webhook_id}                                                                             303 404 404 404 404 200 200 200 404 404 404
POST   /webhooks/{webhook_id}                                                                             303 404 404 404 404 303 303 303 404 404 404
POST   /webhooks/{webhook_id}/remove                                                                      303 404 404 404 404 303 303 303 404 404 404
POST   /webhooks/{webhook_id}/replay                                                                      303 404 404 404 404 303 303 303 404 404 404
POST   /webhooks/{webhook_id}/secret                                                                      303 404 404 404 404 303 303 303 404 404 404
POST   /webhooks/{webhook_id}/test                                                                        303 404 404 404 404 303 303 303 404 404 404
"""


def rows() -> dict[str, tuple[int, ...]]:
    """Return `METHOD path` -> the statuses, in the order of the roles."""
    found = {}
    for line in TABLE.strip().splitlines()[1:]:
        method, path, *statuses = line.split()
        found[f"{method} {path}"] = tuple(int(status) for status in statuses)
    return found
