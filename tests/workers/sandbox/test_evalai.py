"""Evaluation scripts of EvalAI, as its own examples are built, run in the sandbox."""

from __future__ import annotations

import json

from tests.workers.sandbox.conftest import LIMITS, Place
from workers.sandbox import Ended, Environment, Outcome, Program, run
from workers.sandbox.evalai import evalai_command

MAIN = """
import os
from .lengths import length

class Scalar:
    '''As numpy's: no number for json.'''
    def __init__(self, value):
        self.value = value
    def tolist(self):
        return self.value

def evaluate(test_annotation_file, user_submission_file, phase_codename, **kwargs):
    print("Starting Evaluation.....", os.path.basename(test_annotation_file), os.path.basename(user_submission_file))
    gold, answer = open(test_annotation_file).read(), open(user_submission_file).read()
    output = {"result": [{"train_split": {"Accuracy": Scalar(float(gold == answer)), "Length": length(answer)}}]}
    if phase_codename == "test":
        output["result"].append({"test_split": {"Accuracy": 0.5}})
        output["error"] = [{"test_split": {"Length": 0.1}}]
    output["submission_result"] = print(kwargs["submission_metadata"]["method"])
    return output
"""


def call(place: Place, phase: str) -> Outcome:
    program = Program(place.program, evalai_command(phase, {"method": "CRF, $input"}))
    return run(program, place.gold, place.submission, Environment(place.environment), LIMITS)


def test_script_gets_paths_with_their_names_and_its_result_becomes_scores(place: Place) -> None:
    place.write({"program/__init__.py": "from .main import evaluate\n", "program/main.py": MAIN})
    place.write({"program/lengths.py": "length = len\n"})
    outcome = call(place, "dev")
    assert outcome.ended is Ended.FINISHED, outcome.stderr.decode()
    expected = {"train_split/Accuracy": 1.0, "train_split/Length": 6, "Accuracy": 1.0, "Length": 6}
    assert json.loads(outcome.scores or b"") == expected
    assert outcome.stdout == b"Starting Evaluation..... gold.txt answer.txt\nCRF, $input\n"
    outcome = call(place, "test")
    assert json.loads(outcome.scores or b"") == {
        "train_split/Accuracy": 1.0,
        "train_split/Length": 6,
        "test_split/Accuracy": 0.5,
        "errors": [{"test_split": {"Length": 0.1}}],
    }


def test_script_may_lie_in_a_folder_of_its_zip_or_be_main_py_alone(place: Place) -> None:
    place.write({"program/evaluation_script/__init__.py": "from .main import evaluate\n"})
    place.write({"program/evaluation_script/main.py": MAIN, "program/evaluation_script/lengths.py": "length = len\n"})
    assert call(place, "dev").ended is Ended.FINISHED
    (place.program / "main.py").write_text("evaluate = lambda a, b, c, **kwargs: {'result': [{'s': {'x': 1}}]}\n")
    assert json.loads(call(place, "dev").scores or b"") == {"s/x": 1, "x": 1}


def test_script_that_raises_or_returns_nothing_fails(place: Place) -> None:
    place.write({"program/__init__.py": "def evaluate(*paths, **kwargs):\n    raise ValueError('wrong columns')\n"})
    outcome = call(place, "dev")
    assert outcome.ended is Ended.FAILED
    assert outcome.stderr.endswith(b"ValueError: wrong columns\n")
    place.write({"program/__init__.py": "def evaluate(*paths, **kwargs):\n    return None\n"})
    outcome = call(place, "dev")
    assert (outcome.ended, outcome.stderr) == (Ended.FAILED, b"evaluate() returned no list `result`\n")
    place.write({"program/__init__.py": ""})
    assert call(place, "dev").stderr == b"the evaluation script has no function evaluate()\n"
