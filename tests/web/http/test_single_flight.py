"""Many who ask the same at the same time: few questions, and no answer older than its question."""

from __future__ import annotations

import asyncio

import pytest

from app.web.http.turns import SingleFlight


def test_who_comes_while_one_is_answered_gets_the_next_answer_together() -> None:
    asked: list[int] = []
    gate = asyncio.Event()

    async def ask() -> int:
        asked.append(len(asked))
        number = asked[-1]
        await gate.wait()
        return number

    async def story() -> list[int]:
        together: SingleFlight[int] = SingleFlight()
        first = asyncio.create_task(together.answer("board", ask))
        while not asked:
            await asyncio.sleep(0)
        later = [asyncio.create_task(together.answer("board", ask)) for _ in range(50)]
        await asyncio.sleep(0.01)
        assert asked == [0]  # one at a time
        gate.set()
        return [await first, *[await one for one in later]]

    assert asyncio.run(story()) == [0, *50 * [1]]
    assert asked == [0, 1]


def test_different_questions_do_not_wait_for_each_other() -> None:
    async def story() -> str:
        together: SingleFlight[str] = SingleFlight()
        never = asyncio.create_task(together.answer("one", asyncio.Event().wait))  # type: ignore[arg-type]
        await asyncio.sleep(0)
        told = await asyncio.wait_for(together.answer("other", _other), timeout=60)
        never.cancel()
        return told

    async def _other() -> str:
        return "other"

    assert asyncio.run(story()) == "other"


def test_an_answer_is_as_new_as_the_question_under_way() -> None:
    """Check that everybody who requests a change gets it, whatever was under way."""
    stand = 0

    async def ask() -> int:
        read = stand
        await asyncio.sleep(0)
        return read

    async def asker(together: SingleFlight[int]) -> None:
        nonlocal stand
        for _ in range(200):
            stand += 1
            mine = stand
            assert await together.answer("board", ask) >= mine

    async def story() -> None:
        together: SingleFlight[int] = SingleFlight()
        await asyncio.gather(*(asker(together) for _ in range(10)))

    asyncio.run(story())


def test_a_failure_is_told_to_all_who_waited_and_not_to_those_after() -> None:
    tries = 0

    async def ask() -> str:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise OSError("away")
        return "back"

    async def story() -> None:
        together: SingleFlight[str] = SingleFlight()
        answers = await asyncio.gather(*(together.answer("board", ask) for _ in range(3)), return_exceptions=True)
        assert [str(answer) for answer in answers] == 3 * ["away"]
        assert await together.answer("board", ask) == "back"

    asyncio.run(story())


def test_who_goes_away_takes_nobody_along() -> None:
    gate = asyncio.Event()

    async def ask() -> str:
        await gate.wait()
        return "told"

    async def story() -> str:
        together: SingleFlight[str] = SingleFlight()
        gone = asyncio.create_task(together.answer("board", ask))
        stays = asyncio.create_task(together.answer("board", ask))
        await asyncio.sleep(0)
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
        gate.set()
        return await stays

    assert asyncio.run(story()) == "told"
