"""All GET requests that can be made: every route with everything that exists, in all the ways it is requested."""

from __future__ import annotations

import re

from tests.leaks.place import Place
from tests.web.routes import addresses

#: Everybody who sees what participants see. Who organises elsewhere does so, too, and who organises without the right
#: to submissions.
OUTSIDERS = ("anonymous", "participant", "other team", "annotator", "organiser elsewhere", "editor")
#: Asked in other ways, too: as a table for a paper, with borrowed eyes, sorted.
QUERIES = {
    "/table": ("?format=markdown&intervals=true", "?format=latex&intervals=true", "?format=csv"),
    "/citation": ("?format=bibtex", "?format=cff"),
    "/official": ("?format=csv",),
    "/pictures": ("?as=participant", "?as=public"),
    "/pictures/{picture}": ("?as=participant",),
    "/pictures/{picture}.svg": ("?as=participant",),
    "/boards/{board}": ("?as=participant", "?part=private", "?part=public"),
    "/boards/{board}/compare": ("?row={submission_id}", "?as=public"),
    "/results": ("?as=public", "?sort=1"),
    "/report": ("?as=participant",),
    "/api/leaderboards/{board_id}/": ("?phase={phase_id}", "?as=public"),
    "/api/submissions/": ("?phase={phase_id}",),
    "/api/tasks/": ("?competition={competition_id}",),
    # Without a query these are refused.
    "/api/leaderboards/": ("?phase={phase_id}", "?phase={practice_id}"),
    "/api/phases/": ("?competition={competition_id}",),
    "/results.csv": ("?phase={phase_id}",),
}


def paths_of(unscored: Place) -> list[str]:
    """Return the paths of every GET route for everything that exists, and the other ways to request it."""
    paths = []
    for address in addresses(unscored.site.app):
        if address.method == "GET":
            more = next((ways for end, ways in QUERIES.items() if address.template.endswith(end)), ())
            named = [re.sub(r"{(\w+)}", lambda found: unscored.names[found[1]], way) for way in more]
            paths += [f"{path}{way}" for path in unscored.fill_all(address) for way in ("", *named)]
    return paths
