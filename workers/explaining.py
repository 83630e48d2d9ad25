"""Problems of a gold version with their values, sealed to the browser that uploaded it.

The public key is in the file's binding, fixed when it was sealed; a key from the database could have been replaced by
somebody with write access. No process of the server has the private key: the web process stores and shows what it
cannot open. Logs contain none of this.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence

from nacl.exceptions import CryptoError
from nacl.public import Box, PrivateKey, PublicKey

from evergold.scoring.errors import Problem

#: Maximum number of explained problems, the same as the number shown with lines.
EXPLAINED = 20


def sealed_explanation(problems: Sequence[Problem], omitted: int, reader: str) -> str | None:
    """Return public key, nonce and box as base64; None for an invalid key.

    reader: the key, 64 hexadecimal digits. The box holds `problems` (sentences with line, column, allowed values and
    the value) and `omitted`, the number of further problems.
    """
    more = omitted + max(0, len(problems) - EXPLAINED)
    document = {"problems": [str(problem) for problem in problems[:EXPLAINED]], "omitted": more}
    ours = PrivateKey.generate()
    try:
        box = Box(ours, PublicKey(bytes.fromhex(reader)))
    except (CryptoError, ValueError):  # such as a point of low order, which would give everybody the same key
        return None
    sealed = box.encrypt(json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    return base64.b64encode(bytes(ours.public_key) + bytes(sealed)).decode()
