"""The one tree of errors, named by what the caller should do next.

```
PredibotError
├── UsageError          fix what was asked for: an option, a URL, a file name
│   ├── RecipeError     fix the recipe at the file and line it names
│   ├── PluginError     fix the plug-in, or its name or arguments
│   ├── NotTrusted      read the folder, and say `predibot trust` if it may do what it asks for
│   ├── VenueMissing    look for what was recorded: it is not where it was
│   └── ArtefactPruned  do without a trace, or look into a backup: it was pruned
├── RunConflict         choose: go on with the stored run, or start a new one
├── AnswerError         fix the answer; the text says how, a model may read it
├── MarketClosed        let this decision go: its market closed meanwhile
├── ModelError
│   ├── ModelUnavailable   try again later: rate limits, outages, time-outs
│   ├── ModelRefused       fix key, model name or request; trying again does not help
│   └── NoAnswer           look what the model said: none of it was an answer, and each try is paid for
├── BudgetSpent         stop spending: hand in what there is, or abstain
├── VenueError
│   ├── VenueUnavailable   try again later
│   └── VenueChanged       stop: the venue does not keep its contract any more
└── LedgerError
    ├── LedgerUnusable  fix the database: it is missing, locked, full or too new
    └── ClaimLost       stop: somebody else does this work now
```

A message says what was wrong, what was seen, and what to do.
"""

from datetime import datetime


class PredibotError(Exception):
    """Anything predibot refuses to go on with."""

    @property
    def kind(self) -> str:
        """Return the error's name as programs read it."""
        return type(self).__name__


class UsageError(PredibotError):
    """What was asked for cannot be done as it was asked."""


class RecipeError(UsageError):
    """A recipe does not say what a recipe may say."""


class PluginError(UsageError):
    """A plug-in does not exist, does not load, or refuses its arguments."""


class NotTrusted(UsageError):
    """A folder asks for what its user did not allow it."""


class VenueMissing(UsageError):
    """What a venue is kept in is not there: it was moved, or never was."""


class ArtefactPruned(UsageError):
    """What is asked for was removed on purpose; its hash is kept."""

    def __init__(self, said: str, *, pruned_at: datetime) -> None:
        """Say so, with the instant."""
        super().__init__(said)
        self.pruned_at = pruned_at


class RunConflict(PredibotError):
    """The stored run of this slot was made with other settings."""


class AnswerError(PredibotError):
    """A decision breaks a rule of its game; the message says what to fix."""


class MarketClosed(PredibotError):
    """A market stopped trading between the question and the answer."""


class ModelError(PredibotError):
    """Something about a model or its provider."""


class ModelUnavailable(ModelError):
    """The provider did not answer in time, or asked to wait for too long."""


class ModelRefused(ModelError):
    """The provider refuses the request for good, such as a wrong key or an unknown model."""


class NoAnswer(ModelError):
    """No answer of a model could be taken: unreadable, cut off, refused, or steps or time were used up before it."""


class BudgetSpent(PredibotError):
    """A limit would be passed by the next step."""


class VenueError(PredibotError):
    """Something about a venue."""


class VenueUnavailable(VenueError):
    """The venue could not be reached, or did not answer in time."""


class VenueChanged(VenueError):
    """The venue answered something its contract does not allow."""


class LedgerError(PredibotError):
    """Something about the database."""


class LedgerUnusable(LedgerError):
    """The database cannot be opened, read or written."""


class ClaimLost(LedgerError):
    """The claim on a piece of work belongs to somebody else now."""


def words_of(error: BaseException) -> str:
    """Return the class and the message of an error that is not ours, whatever its own code does when it is read.

    Examples:
        >>> words_of(KeyError("x")), words_of(RuntimeError())
        ("KeyError: 'x'", 'RuntimeError')
    """
    try:
        said = str(error)
    except BaseException:  # noqa: BLE001 - what records a failure must not fail itself
        said = "its message cannot be read"
    return f"{type(error).__name__}: {said}".removesuffix(": ")
