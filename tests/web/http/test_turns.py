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
    """Return who was served, in order, after all of these came while somebody else had the turn."""
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


def test_who_leaves_its_turn_to_others_gets_another_one() -> None:
    async def leave() -> list[str]:
        turns, served = make_turns(), list[str]()
        async with turns.turn("a") as turn:
            async with turn.released():
                await asyncio.wait_for(take(turns, "b", served), timeout=30)
            served.append("a")
            waiting = asyncio.create_task(take(turns, "c", served))
            while not turns.waiting:
                await asyncio.sleep(0)
        await waiting
        return served

    assert asyncio.run(leave()) == ["b", "a", "c"]


@pytest.mark.parametrize("is_back", [False, True], ids=["while it is with others", "while it waits for its next one"])
def test_who_goes_away_from_a_turn_that_is_with_others_passes_nothing_on(is_back: bool) -> None:
    async def go() -> list[str]:
        turns, left, served = make_turns(), asyncio.Event(), list[str]()

        async def leave(until: asyncio.Event) -> None:
            async with turns.turn("a") as turn, turn.released():
                left.set()
                await until.wait()

        until = asyncio.Event()
        leaving = asyncio.create_task(leave(until))
        await left.wait()
        async with turns.turn("b"):
            if is_back:
                until.set()
                while not turns.waiting:
                    await asyncio.sleep(0)
            leaving.cancel()
            await asyncio.gather(leaving, return_exceptions=True)
            waiting = asyncio.create_task(take(turns, "c", served))
            for _ in range(5):
                await asyncio.sleep(0)
            served.append("b")
        await waiting
        return served

    assert asyncio.run(go()) == ["b", "c"], "there is one turn, and it was taken"
