"""Waiting for a turn: in rounds by client, bounded, and lost by nobody who goes away."""

from __future__ import annotations

import asyncio

import pytest

from app.base.errors import Busy
from app.web.http.turns import Turns


def make_turns(at_once: int = 1, waiting_limit: int = 10, waiting_per_client: int = 10) -> Turns:
    message = "Too many."
    return Turns(at_once, waiting_limit=waiting_limit, waiting_per_client=waiting_per_client, message=message)


async def take(turns: Turns, client: str, served: list[str]) -> None:
    async with turns.turn(client):
        served.append(client)
        await asyncio.sleep(0)


async def all_come(turns: Turns, clients: str) -> list[str]:
    """Who was served, in that order, after all of these came while somebody else had the turn."""
    served: list[str] = []
    async with turns.turn("holder"):
        waiting = [asyncio.create_task(take(turns, client, served)) for client in clients]
        while turns.waiting < len(clients):
            await asyncio.sleep(0)
    await asyncio.gather(*waiting)
    return served


def test_clients_are_served_in_rounds() -> None:
    assert "".join(asyncio.run(all_come(make_turns(), "aaaabbc"))) == "abcabaa"


def test_only_so_many_have_their_turn_at_a_time() -> None:
    async def most() -> int:
        turns, inside, most = make_turns(at_once=2), 0, 0

        async def work(client: str) -> None:
            nonlocal inside, most
            async with turns.turn(client):
                inside += 1
                most = max(most, inside)
                await asyncio.sleep(0)
                inside -= 1

        await asyncio.gather(*(work(client) for client in "abcabc"))
        return most

    assert asyncio.run(most()) == 2


@pytest.mark.parametrize(
    ("clients", "turns"),
    [("abc", make_turns(waiting_limit=2)), ("aab", make_turns(waiting_per_client=1))],
    ids=["too many", "too many of one client"],
)
def test_who_would_wait_behind_too_many_is_told_so_at_once(clients: str, turns: Turns) -> None:
    async def come() -> list[object]:
        async with turns.turn("holder"):
            waiting = [asyncio.create_task(take(turns, client, [])) for client in clients]
            while turns.waiting + sum(task.done() for task in waiting) < len(clients):
                await asyncio.sleep(0)
        return await asyncio.gather(*waiting, return_exceptions=True)

    answers = asyncio.run(come())
    assert [type(answer) for answer in answers if answer] == [Busy]


def test_who_goes_away_leaves_the_turn_to_others() -> None:
    """While waiting, and at the very moment when the turn comes."""

    async def come() -> list[str]:
        turns, served = make_turns(), list[str]()
        async with turns.turn("holder"):
            waiting = [asyncio.create_task(take(turns, client, served)) for client in "abc"]
            while turns.waiting < 3:
                await asyncio.sleep(0)
            waiting[0].cancel()
            await asyncio.sleep(0)
        waiting[1].cancel()  # the turn is its own since a moment, and it does not know yet
        await asyncio.gather(*waiting, return_exceptions=True)
        await asyncio.wait_for(take(turns, "d", served), timeout=30)
        return served

    assert asyncio.run(come()) == ["c", "d"]
