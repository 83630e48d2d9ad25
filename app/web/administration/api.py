"""The API of administrators: settings that change while the server runs, and announcements to everybody."""

from __future__ import annotations

from app.administration import announcements, settings
from app.administration.live import list_announcements
from app.administration.views import ServerAnnouncementList, ServerAnnouncementOut, SettingList, SettingOut
from app.base.db import writing
from app.web.administration.access import ApiAdmin, ApiAdminVisit
from app.web.administration.schemas import NewServerAnnouncement, SettingChange
from app.web.http.context import ServerHere
from app.web.http.errors import error_responses
from app.web.http.routers import api_router
from app.web.http.schemas import RowId
from app.web.http.visit import PublicVisit

router = api_router("administration")


@router.get(
    "/announcements",
    operation_id="read_server_announcements",
    summary="Current announcements to everybody",
    description="For everybody: the banner of the pages.",
    responses=error_responses(),
)
def read_server_announcements(visit: PublicVisit) -> ServerAnnouncementList:
    return ServerAnnouncementList(announcements=visit.server.live.announcements(visit.now))


@router.get(
    "/admin/announcements",
    operation_id="list_server_announcements",
    summary="Announcements to everybody, including coming ones",
    responses=error_responses(401, 403),
)
def list_server_announcements(visit: ApiAdminVisit) -> ServerAnnouncementList:
    return ServerAnnouncementList(announcements=list_announcements(visit.session, visit.now))


@router.post(
    "/admin/announcements",
    operation_id="announce_to_server",
    summary="Announce something to everybody",
    status_code=201,
    responses=error_responses(401, 403, 413, 422),
)
def post_announcement(server: ServerHere, user: ApiAdmin, form: NewServerAnnouncement) -> ServerAnnouncementOut:
    wanted = announcements.NewAnnouncement(form.text, form.severity, form.starts_at, form.ends_at)
    with writing(server.engine) as session:
        made = announcements.announce(server.act(session, user), wanted)
    server.live.look(server.engine)
    return made


@router.delete(
    "/admin/announcements/{announcement_id}",
    operation_id="end_server_announcement",
    summary="End an announcement to everybody",
    status_code=204,
    responses=error_responses(401, 403, 404, 422),
)
def delete_announcement(server: ServerHere, user: ApiAdmin, announcement_id: RowId) -> None:
    with writing(server.engine) as session:
        announcements.end_announcement(server.act(session, user), announcement_id)
    server.live.look(server.engine)


@router.get(
    "/admin/settings",
    operation_id="list_settings",
    summary="Settings that may change while the server runs",
    responses=error_responses(401, 403),
)
def list_settings(visit: ApiAdminVisit) -> SettingList:
    return SettingList(settings=settings.list_settings(visit.session, visit.server.environment))


@router.put(
    "/admin/settings/{setting}",
    operation_id="change_setting",
    summary="Change a setting while the server runs",
    description="Overrides the environment from then on; other processes notice within two seconds.",
    responses=error_responses(401, 403, 404, 413, 422),
)
def put_setting(server: ServerHere, user: ApiAdmin, setting: str, form: SettingChange) -> SettingOut:
    with writing(server.engine) as session:
        changed = settings.change_setting(
            server.act(session, user), setting, form.value, environment=server.environment
        )
    server.live.look(server.engine)
    return changed


@router.delete(
    "/admin/settings/{setting}",
    operation_id="reset_setting",
    summary="Reset a setting to the value of the environment",
    responses=error_responses(401, 403, 404, 422),
)
def delete_setting(server: ServerHere, user: ApiAdmin, setting: str) -> SettingOut:
    with writing(server.engine) as session:
        reset = settings.reset_setting(server.act(session, user), setting, environment=server.environment)
    server.live.look(server.engine)
    return reset
