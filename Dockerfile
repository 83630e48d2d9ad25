# Images from one file: `web` (no gold, no workers' code, no torch), `lean-worker` (holds the gold at run time, no web server
# started), `program-worker` (that, with a sandbox for organisers' own programs) and `worker` (with torch and an encoder model: it
# scores paraphrases as well).
# Build: docker build --target web -t evergold-web . && docker build --target worker -t evergold-worker .

FROM python:3.12-slim-bookworm AS base
ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    EVERGOLD_DATA_DIR=/srv/data \
    EVERGOLD_SEALED_DIR=/srv/sealed \
    EVERGOLD_CACHE_DIR=/srv/cache \
    EVERGOLD_PHASES_FILE=/srv/competitions/phases.yaml
WORKDIR /srv/evergold
# A fixed number, so that both images may share the storage volume.
RUN groupadd --gid 10001 evergold \
    && useradd --uid 10001 --gid evergold --home-dir /srv/data --no-create-home evergold \
    && mkdir -p /srv/data /srv/sealed /srv/cache /srv/competitions \
    && chown evergold:evergold /srv/data /srv/sealed /srv/cache
COPY requirements/run.txt requirements/s3.txt requirements/
RUN pip install --requirement requirements/run.txt --requirement requirements/s3.txt
COPY pyproject.toml README.md LICENSE ./
COPY evergold evergold
COPY app app
COPY migrations migrations
# Installed where it lies, so that `evergold` has the server's commands; later stages add to the folder. Nobody may write there
# while it runs: compiled now, a process starts in four fifths of the time.
RUN pip install --no-deps --no-build-isolation --editable ./evergold --editable . \
    && python -m compileall -q evergold app migrations
ENTRYPOINT ["python", "-m", "evergold.cli"]

FROM base AS web
COPY docs docs
# One heap for all threads: Python lets one of them work at a time, and each heap keeps what its threads once needed.
ENV MALLOC_ARENA_MAX=1
USER 10001:10001
EXPOSE 8321
HEALTHCHECK --interval=15s --timeout=3s --start-period=20s \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8321/healthz', timeout=2)"]
CMD ["web", "--host", "0.0.0.0", "--port", "8321"]

FROM base AS lean-worker
COPY workers workers
ENV EVERGOLD_GOLD_DIR=/srv/gold \
    EVERGOLD_GOLD_KEY_FILE=/srv/keys/workers.key
RUN python -m compileall -q workers && mkdir -p /srv/gold /srv/keys
USER 10001:10001
CMD ["worker", "--concurrency", "1"]

FROM lean-worker AS program-worker
# The sandbox of organisers' own programs, and the environment of those that declare none; others are built into the same folder.
USER 0:0
RUN apt-get update \
    && apt-get install --yes --no-install-recommends "bubblewrap=0.8.*" \
    && rm -rf /var/lib/apt/lists/*
ENV EVERGOLD_ENVIRONMENTS_DIR=/srv/environments
RUN mkdir -p /srv/environments \
    && python -m evergold.cli environments build \
    && chown -R evergold:evergold /srv/environments
USER 10001:10001
CMD ["worker", "--queues", "auto", "--concurrency", "1"]

FROM lean-worker AS worker
# The model is fetched and recorded while the image is built, by root, for whoever runs it to read; at run time nothing is
# downloaded. An image for NVIDIA cards has another torch: --build-arg TORCH_INDEX=https://download.pytorch.org/whl/cu126
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
ARG MODEL=bert-base-multilingual-cased
ARG MODEL_REVISION=
USER 0:0
COPY requirements/bertscore.txt requirements/bertscore.txt
RUN grep -E '^[a-zA-Z].*==' requirements/bertscore.txt > /tmp/pins.txt \
    && grep -E '^torch==' /tmp/pins.txt > /tmp/torch.txt \
    && grep -iE '^(bert-score|transformers|sudachipy|sudachidict-core)==' /tmp/pins.txt > /tmp/encoders.txt \
    && pip install --index-url "$TORCH_INDEX" --requirement /tmp/torch.txt \
    && pip install --constraint /tmp/pins.txt --requirement /tmp/encoders.txt \
    && rm /tmp/pins.txt /tmp/torch.txt /tmp/encoders.txt
ENV EVERGOLD_MODELS_DIR=/srv/models \
    EVERGOLD_SELFCHECK_DIR=/srv/selfcheck \
    EVERGOLD_VECTORS_DIR=/srv/vectors
RUN mkdir -p /srv/vectors /srv/models /srv/selfcheck \
    && chown evergold:evergold /srv/vectors \
    && python -m evergold.cli models fetch "$MODEL" --revision "$MODEL_REVISION" \
    && python -m evergold.cli selfcheck --record \
    && chmod -R a+rX /srv/models /srv/selfcheck
ENV HF_HUB_OFFLINE=1 \
    TRANSFORMERS_OFFLINE=1
USER 10001:10001
CMD ["worker", "--queues", "auto", "--concurrency", "1"]
