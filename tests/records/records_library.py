"""The library that the tests of receipts ask about, and who asks."""

from __future__ import annotations

from collections.abc import Callable

from evidencedesk.access import Principal
from evidencedesk.desk import Desk

RETURNS = """---
id: returns
title: Returns policy
version: "3"
roles: [everyone]
---
## Returning a bike
You can return a new bike within 30 days of delivery for a full refund.

## Helmets
Opened helmets cannot be returned.
"""
GIFT_CARDS = """---
id: gift-cards
title: Gift cards
roles: [everyone]
---
## Expiry
Gift cards expire 36 months after purchase.
"""
SALARIES = """---
id: salaries
title: Salaries
roles: [staff]
---
## Payment
Salaries are paid on the last working day of the month.
"""
RETURN = "How long do I have to return a new bike?"
GIFT = "When do gift cards expire?"
SALARY = "When are salaries paid?"
NONSENSE = "Which comet did the shop photograph?"

ANNA = Principal(roles=frozenset({"everyone"}), subject="anna")
BEN = Principal(roles=frozenset({"everyone", "staff"}), subject="ben")
CHIEF = Principal(subject="chief", administrator=True)

OpenDesk = Callable[..., Desk]
