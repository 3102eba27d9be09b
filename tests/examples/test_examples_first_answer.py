"""The example says what it always said."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

OUTPUT = """\
1. Load: 13 documents
2. Cut:
   fixed     88 chunks of 37 to 150 characters, 51 end mid-sentence, 3 of 3 facts whole
   paragraph 36 chunks of 188 to 368 characters, 0 end mid-sentence, 3 of 3 facts whole
   sentence  43 chunks of 52 to 300 characters, 0 end mid-sentence, 3 of 3 facts whole
   structure 36 chunks of 188 to 368 characters, 0 end mid-sentence, 3 of 3 facts whole
3. Retrieve: How long do I have to return a bike?
   current: kc-returns-v3:c0, kc-returns-v3:c3 (recall@1 1)
   current, superseded: kc-returns-v3:c0, kc-returns-v2:c0 (recall@1 1)
4. The request to the model:
   <source id="S1" title="Returns policy">
   <heading>Returning a bike</heading>
   You can return a new, unridden bike within 30 days of delivery for a full refund. It has to come in its original box,
   with all the parts that belong to it. The delivery fee is refunded only if the bike was damaged when it arrived.
   </source>
5. Answers:
   How long do I have to return a bike?
     ok: You can return a new, unridden bike within 30 days of delivery for a full refund.
     numbers without support: 0
     Returns policy (Returning a bike, lines 11-12) [kc-returns-v3:c0]: 'within 30 days of delivery'
   When do gift cards expire?
     ok: Gift cards expire 36 months after purchase.
     numbers without support: 0
     Gift cards (When a gift card expires, lines 16-18) [kc-giftcards-v1:c1]: 'expire 36 months after purchase'
   Do you rent out bikes for a weekend?
     model_abstained: The documents found do not answer this. Try a narrower question, or ask whoever maintains the documents.
     numbers without support: 0
   With the threshold the model is not even asked: no_evidence
6. Replies that are not believed:
   an invented number: unsupported_number
   an invented source: unknown_citation
   prose instead of JSON: invalid_json
"""


def test_the_output_of_the_first_answer():
    done = subprocess.run(
        [sys.executable, "-W", "error", ROOT / "examples" / "first_answer.py"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    assert done.stderr == ""
    assert done.stdout == OUTPUT
