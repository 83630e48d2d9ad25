"""The answers about runs: the log of the organisers' own program."""

from __future__ import annotations

from pydantic import Field

from app.base.answers import ApiModel, example


class ProgramLogOut(ApiModel):
    """The log of the organisers' own program in one run. Teams get the parts that the organisers show to them."""

    model_config = example(
        {
            "failure": "ended with exit code 1",
            "exit_code": 1,
            "seconds": 0.42,
            "stdout": "reading answers.csv\n",
            "stderr": "KeyError: 'label'\n",
            "page": None,
            "notes": [],
            "undeclared": {},
        }
    )

    failure: str | None = Field(None, description="as after 'the program'; null: it gave scores")
    exit_code: int | None = Field(None, description="null: it was ended before it ended by itself")
    seconds: float | None = None
    stdout: str | None = Field(None, description="the first MiB")
    stderr: str | None = Field(None, description="the first MiB")
    page: str | None = Field(None, description="HTML that it made, without scripts, styles, forms, images and links")
    notes: list[str] = Field([], description="what is wrong with declared scores")
    undeclared: dict[str, str] = Field({}, description="what it wrote under keys that no metric reads")
