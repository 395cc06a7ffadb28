"""The one tree of errors, named by what the caller should do next.

```
PredibotError
├── UsageError          fix the request: an option, a URL, a file name
│   ├── RecipeError     fix the recipe at the file and line it names
│   ├── PluginError     fix the plug-in, or its name or arguments
│   ├── NotTrusted      read the folder, and say `predibot trust` if it may do what it wants
│   ├── VenueMissing    look for the recording: it is not where it was
│   └── ArtefactPruned  do without a trace, or look into a backup: it was pruned
├── RunConflict         choose: go on with the stored run, or start a new one
├── AnswerError         fix the answer; the text says how, a model may read it
├── MarketClosed        skip this decision: its market closed meanwhile
├── ModelError
│   ├── ModelUnavailable   try again later: rate limits, outages, time-outs
│   ├── ModelRefused       fix key, model name or request; trying again does not help
│   └── NoAnswer           read the model's messages: none was an answer, and each try costs
├── BudgetSpent         stop spending: hand in what there is, or abstain
├── VenueError
│   ├── VenueUnavailable   try again later
│   └── VenueChanged       stop: the venue breaks its contract
└── LedgerError
    ├── LedgerUnusable  fix the database: it is missing, locked, full or too new
    └── ClaimLost       stop: another process does this work now
```

A message says what was wrong, what was seen, and what to do.
"""

from datetime import datetime


class PredibotError(Exception):
    """An error that predibot reports to its user in one line."""

    @property
    def kind(self) -> str:
        """Return the name of the class."""
        return type(self).__name__


class UsageError(PredibotError):
    """The request cannot be carried out as it is."""


class RecipeError(UsageError):
    """A recipe has a mistake."""


class PluginError(UsageError):
    """A plug-in does not exist, does not load, or refuses its arguments."""


class NotTrusted(UsageError):
    """A folder needs a power that its user did not allow."""


class VenueMissing(UsageError):
    """The file or folder of a venue is not there: it was moved, or never existed."""


class ArtefactPruned(UsageError):
    """A trace or page was removed on purpose; its hash is kept."""

    def __init__(self, message: str, *, pruned_at: datetime) -> None:
        """Keep the message and the instant of the removal."""
        super().__init__(message)
        self.pruned_at = pruned_at


class RunConflict(PredibotError):
    """The stored run of this slot was made with other settings."""


class AnswerError(PredibotError):
    """A decision breaks a rule of its game; the message says what to fix."""


class MarketClosed(PredibotError):
    """A market stopped trading between the question and the answer."""


class ModelError(PredibotError):
    """A model or its provider failed."""


class ModelUnavailable(ModelError):
    """The provider did not answer in time, or demanded too long a wait."""


class ModelRefused(ModelError):
    """The provider refuses the request for good, such as a wrong key or an unknown model."""


class NoAnswer(ModelError):
    """A model gave no usable answer: unreadable, cut off, refused, or out of steps or time."""


class BudgetSpent(PredibotError):
    """The next step would pass a limit."""


class VenueError(PredibotError):
    """A venue failed."""


class VenueUnavailable(VenueError):
    """The venue could not be reached, or did not answer in time."""


class VenueChanged(VenueError):
    """The venue's answer breaks its contract."""


class LedgerError(PredibotError):
    """The database failed."""


class LedgerUnusable(LedgerError):
    """The database cannot be opened, read or written."""


class ClaimLost(LedgerError):
    """The claim on a piece of work belongs to another process now."""


def describe_error(error: BaseException) -> str:
    """Return the class and the message of a foreign error, even where reading its message fails.

    Examples:
        >>> describe_error(KeyError("x")), describe_error(RuntimeError())
        ("KeyError: 'x'", 'RuntimeError')
    """
    try:
        message = str(error)
    except BaseException:  # noqa: BLE001 - the code that records a failure must not fail itself
        message = "its message cannot be read"
    return f"{type(error).__name__}: {message}".removesuffix(": ")
