"""The desk that people hold, over one index."""

from evidencedesk.desk.desk import Desk
from evidencedesk.desk.rebuilding import ReindexReport
from evidencedesk.pipeline import Explanation

__all__ = ["Desk", "Explanation", "ReindexReport"]
