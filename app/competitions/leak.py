"""An upper bound on the share of hidden gold that a team can infer from its scores in a phase, from the declaration
alone.

The bound is obtained by counting, see `evergold.scoring.leakage`: no attack infers more, and few infer as much.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from enum import StrEnum

from app.competitions.entry_rules import entry_settings
from app.competitions.limits import DeclaredLimits, declared_limits
from app.competitions.visibility import Declared, declared_of
from app.models import BoardShown, EntryRule, OwnScores, Phase, PhaseTask, Slices
from evergold.scoring.leakage import GoldSize, Shown, bits_of_ladder
from evergold.scoring.task import AnyTask, Options

#: Shares of the gold: below the first a phase is configured well; from the second on organisers are warned.
GREEN, WARNING = 0.1, 0.5
#: Number of teams assumed to combine their results.
COLLUDING = 10
#: Number of remedies that fit in a sentence.
REMEDIES_SHOWN = 3
Score = tuple[str, str]


class Level(StrEnum):
    """Degree to which the gold is hidden."""

    GREEN = "green"
    FAIR = "fair"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class BoardScores:
    """A board of the task: the score that ranks it, and the scores in its columns."""

    rank_by: Score
    columns: tuple[Score, ...]


@dataclass(frozen=True, slots=True)
class Remedy:
    """A setting that lowers the share of the gold that a team could infer.

    setting: as in phases.yaml; share: the share with this setting.
    """

    setting: str
    share: float


@dataclass(frozen=True, slots=True)
class Leak:
    """An upper bound on how much of the gold that decides the final ranks one team can infer in a phase.

    - size: of the gold whose scores teams see; None if unknown.
    - scores: number of scores shown.
    - decimals: of each score; None for all.
    - bits: maximum revealed by one submission.
    - submissions: number allowed per team; None for no limit.
    - total_bits: revealed by all of them together.
    - is_divided: True if a private part decides, about which nothing is revealed.
    - remedies: settings that would lower the share, best first.
    """

    size: GoldSize | None
    scores: int
    decimals: int | None
    bits: float
    submissions: int | None
    total_bits: float
    is_divided: bool
    remedies: tuple[Remedy, ...] = ()

    @property
    def public_share(self) -> float | None:
        """The share of the gold behind visible scores that one team can infer; None if unknown."""
        return self._public_share_of(1)

    @property
    def share(self) -> float | None:
        """The share of the deciding gold that one team can infer; None if unknown."""
        return self.share_of(1)

    def share_of(self, teams: int) -> float | None:
        """Return the share of the deciding gold that teams can infer if they pool their scores."""
        return 0.0 if self.is_divided else self._public_share_of(teams)

    @property
    def level(self) -> Level | None:
        """The level of `share`; None if that is unknown."""
        if self.share is None:
            return None
        if self.share < GREEN:
            return Level.GREEN
        return Level.FAIR if self.share < WARNING else Level.WARNING

    def _public_share_of(self, teams: int) -> float | None:
        if self.size is None:
            return None if self.total_bits else 0.0
        return min(1.0, teams * self.total_bits / self.size.bits) if self.size.bits else 0.0


@dataclass(frozen=True, slots=True)
class LeakSettings:
    """The settings of a task in a phase that determine how much its scores reveal.

    private_share: the share of items in the private part, 0 if there is none.
    """

    phase: Phase
    task: AnyTask
    options: Options
    boards: tuple[BoardScores, ...]
    declared: Declared
    limits: DeclaredLimits
    private_share: float
    ladder_step: float | None


def leak_settings(
    phase: Phase, phase_task: PhaseTask, task: AnyTask, options: Options, boards: Sequence[BoardScores]
) -> LeakSettings:
    """Return the relevant settings of a phase and one of its tasks, which need not be in a database."""
    settings = entry_settings(phase, phase_task)
    return LeakSettings(
        phase,
        task,
        options,
        tuple(boards),
        declared_of(phase, phase_task),
        declared_limits(phase, phase_task),
        float(phase_task.private_part.get("share", 0.0)) if phase_task.private_part else 0.0,
        settings.ladder_step if settings.rule is EntryRule.LADDER else None,
    )


def leak_of(settings: LeakSettings, size: GoldSize | None) -> Leak:
    """Return the bound on what one team can infer. size: of the gold of all items; None if unknown."""
    leak = _leak(settings, size)
    is_good = leak.level in (None, Level.GREEN)
    return leak if is_good else replace(leak, remedies=tuple(_remedies(settings, size, leak)))


def _leak(settings: LeakSettings, size: GoldSize | None) -> Leak:
    declared = settings.declared
    seen = size.part(1 - settings.private_share) if size is not None else None
    shown = _shown(settings)
    bits = sum(one.bits(seen) for one in shown)
    submissions = submissions_in_phase(settings)
    total = _total_bits(settings, bits, submissions)
    return Leak(seen, len(shown), declared.precision, bits, submissions, total, bool(settings.private_share))


def _shown(settings: LeakSettings) -> list[Shown]:
    """Return the scores that a team sees of a submission while it can still submit again."""
    declared, metrics = settings.declared, settings.task.metrics_of(settings.options)
    names: dict[Score, None] = dict.fromkeys(board.rank_by for board in settings.boards)
    if declared.slices is Slices.COLUMNS:
        names |= {score: None for board in settings.boards for score in board.columns}
    elif declared.slices is Slices.ALL:
        names |= {(one.metric, one.split): None for one in settings.task.columns(settings.options)}
    has_statistics = settings.task.sample is not None and declared.has_statistics_while_open
    return [Shown(metrics[name], declared.precision, has_statistics) for name, _ in names if name in metrics]


def submissions_in_phase(settings: LeakSettings) -> int | None:
    """Return the number of submissions per team over the whole phase.

    None if there is no limit, or only limits per day, week or month in a phase without an end.
    """
    limits, phase = settings.limits, settings.phase
    counts = [] if limits.total is None else [limits.total]
    if phase.ends_at is not None:
        first, last = phase.starts_at.astimezone(UTC).date(), phase.ends_at.astimezone(UTC).date()
        weeks = (last.toordinal() - first.toordinal() + first.weekday()) // 7 + 1
        months = 12 * (last.year - first.year) + last.month - first.month + 1
        spans = ((limits.per_day, (last - first).days + 1), (limits.per_week, weeks), (limits.per_month, months))
        counts += [limit * span for limit, span in spans if limit is not None]
    return min(counts, default=None)


def _total_bits(settings: LeakSettings, bits: float, submissions: int | None) -> float:
    """Return the bits revealed by all submissions together.

    A Ladder reveals only its records, a hidden board without own scores only the entry.
    """
    declared = settings.declared
    if settings.ladder_step is not None:
        return (
            math.inf
            if submissions is None
            else min(bits_of_ladder(submissions, settings.ladder_step), bits * submissions)
        )
    if declared.own_scores is OwnScores.NEVER and declared.board is not BoardShown.PUBLIC:
        return bits if declared.public_from is not None else 0.0
    if not bits:
        return 0.0
    return math.inf if submissions is None else bits * submissions


# ----------------------------------------------------------------------------------------------------------- remedies


def _remedies(settings: LeakSettings, size: GoldSize | None, leak: Leak) -> Iterator[Remedy]:
    """Yield settings each of which lowers the share, sufficient ones first."""
    found = [
        Remedy(setting, share)
        for setting, other in _alternatives(settings, leak)
        if (share := _leak(other, size).share) is not None and share < (leak.share or 0.0)
    ]
    yield from sorted(found, key=lambda one: one.share >= GREEN)


def _alternatives(settings: LeakSettings, leak: Leak) -> Iterator[tuple[str, LeakSettings]]:
    declared = settings.declared
    if not settings.private_share and settings.task.part is not None:
        yield "private_part: {share: 0.5, …}", replace(settings, private_share=0.5)
    if (total := _green_total(leak)) is not None:
        yield f"limits.total: {total}", replace(settings, limits=replace(settings.limits, total=total))
    for decimals in range((declared.precision or 5) - 1, 0, -1):
        yield f"visibility.precision: {decimals}", replace(settings, declared=replace(declared, precision=decimals))
    if declared.slices in (Slices.ALL, Slices.COLUMNS):
        yield "visibility.slices: ranked", replace(settings, declared=replace(declared, slices=Slices.RANKED))
    hidden = replace(declared, board=BoardShown.HIDDEN, public_from=declared.closes_at, own_scores=OwnScores.NEVER)
    yield "visibility: {board: hidden, own_scores: never}", replace(settings, declared=hidden)


def _green_total(leak: Leak) -> int | None:
    """Return the largest number of submissions that keeps the share below GREEN; None if not even one does."""
    if leak.size is None or not leak.bits:
        return None
    total = math.ceil(GREEN * leak.size.bits / leak.bits) - 1
    return total if total >= 1 else None


# --------------------------------------------------------------------------------------------------------------- words

LEVEL_WORDS = {Level.GREEN: "well hidden", Level.FAIR: "partly readable", Level.WARNING: "warning: readable"}


def leak_words(leak: Leak) -> str:
    """Return the bound as a sentence for organisers."""
    times = "time" if leak.submissions == 1 else "times"
    sent = f"{'any number of' if leak.submissions is None else f'{leak.submissions:,}'} {times}"
    shown = f"{leak.scores} score{'' if leak.scores == 1 else 's'}"
    digits = "all decimals" if leak.decimals is None else f"{leak.decimals} decimals"
    sentence = f"a submission reveals at most {leak.bits:.1f} bits ({shown}, {digits}), a team may submit {sent}"
    if leak.size is None:
        labels = "any number of" if math.isinf(leak.total_bits) else f"{leak.total_bits:,.0f}"
        return f"{sentence}: as much as {labels} yes/no labels; how many bits the gold has is not known yet"
    taken = "with" if leak.size.is_measured else "taken as"
    gold = f"{leak.size.items:,} items {taken} {leak.size.bits:,.0f} bits"
    if leak.is_divided:
        public = f"one team can infer {percent(leak.public_share)} of it, and nothing of the private part"
        return f"{gold} in the public part; {sentence}: {public}"
    both = (
        f"one team can infer {percent(leak.share)} of the gold, {COLLUDING} teams {percent(leak.share_of(COLLUDING))}"
    )
    return f"{gold}; {sentence}: {both}"


def remedy_words(remedies: Sequence[Remedy]) -> str:
    """Return the remedies as `limits.total: 6 (9 %) or …`; "" without remedies."""
    return " or ".join(f"{one.setting} ({percent(one.share)})" for one in remedies[:REMEDIES_SHOWN])


def percent(share: float | None) -> str:
    """Return a share as `up to 7.1 %`, with one decimal below ten."""
    if share is None:
        return "an unknown share"
    number = 100 * share
    return f"up to {number:.1f} %" if 0 < number < 10 else f"up to {number:.0f} %" if number else "nothing"
