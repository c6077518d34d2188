"""From the flags of speculation to what drafts."""

from __future__ import annotations

from collections.abc import Callable

from fucina_cli.cli import output
from fucina_cli.cli.exits import FlagError
from fucina_cli.cli.options import Options
from fucina_cli.cli.session import blame, model_path
from fucina_cli.cli.values import TextReader
from fucina_cli.drafting.automaton import Reference
from fucina_cli.drafting.cascade import OWN_NAMES
from fucina_cli.drafting.draft_model import check_draft_model
from fucina_cli.drafting.speculation import Speculation
from fucina_cli.families.registry import family_of
from fucina_cli.llama.context import Context
from fucina_cli.llama.errors import ModelError
from fucina_cli.llama.model import Model

#: Tokens of one reference: some 250 bytes of memory each at worst, and 5 microseconds.
_MOST_TOKENS = 2_000_000


#: Makes what drafts in a context; None for nothing.
MakeDrafts = Callable[[Context], Speculation | None]


def prepare(options: Options, reader: TextReader) -> Callable[[Model], MakeDrafts]:
    """Check the flags and read their files; the result is to be called with the loaded model.

    It loads the draft model and indexes the documents, once for all contexts, and makes what drafts
    in each. All three raise FlagError.
    """
    for flag, names in (
        ("--spec-ref", options.spec_ref or []),
        ("--draft-model", [options.draft_model] if options.draft_model is not None else []),
    ):
        if "" in names:
            raise FlagError(flag, "the path is empty; give a file")
    for name in options.spec_ref or []:
        if name in OWN_NAMES:
            raise FlagError("--spec-ref", f"'{name}' is a name of the sources; write './{name}'")
    texts = {name: reader.file("--spec-ref", name) for name in options.spec_ref or []}
    return lambda model: _Drafting(options, texts, model).for_context


class _Drafting:
    """What contexts of one model have in common."""

    def __init__(self, options: Options, texts: dict[str, str], model: Model) -> None:
        self._options = options
        self._draft_model = self._load(model)
        self._can_rewind = model.can_rewind
        if not self._can_rewind and not options.quiet:
            flag = options.speculation_flag
            output.warning(f"{flag}: this model's state can't be rewound, so nothing is drafted")
        self._references = {name: _index(model, name, text) for name, text in texts.items()}

    def for_context(self, context: Context) -> Speculation | None:
        """What drafts in `context`; None where nothing can be taken back."""
        if not self._can_rewind:
            return None
        return Speculation(
            cascade=self._options.spec or bool(self._references),
            references=self._references,
            draft_context=self._draft_context(context),
        )

    @property
    def _flag(self) -> str:
        return f"--draft-model ('{self._options.draft_model}')"

    def _load(self, model: Model) -> Model | None:
        """The draft model, found to be fit for `model`."""
        options = self._options
        if options.draft_model is None:
            return None
        try:
            with blame(self._flag):
                draft_model = Model(
                    model_path(self._flag, options.draft_model, family_of(model.architecture)),
                    exact=options.exact,
                    gpu_layers=-1 if options.gpu_layers is None else options.gpu_layers,
                )
                check_draft_model(model, draft_model)
        except ModelError as error:
            raise FlagError(self._flag, str(error)) from None
        return draft_model

    def _draft_context(self, context: Context) -> Context | None:
        options = self._options
        if self._draft_model is None:
            return None
        try:
            with blame(self._flag):
                return Context(
                    self._draft_model,
                    n_ctx=context.n_ctx,
                    n_slots=context.n_slots,
                    threads=options.threads,
                )
        except ModelError as error:
            raise FlagError(self._flag, str(error)) from None


def _index(model: Model, name: str, text: str) -> Reference:
    tokens = model.vocabulary.tokenize(text)
    if len(tokens) > _MOST_TOKENS:
        raise FlagError(
            "--spec-ref",
            f"'{name}' has {len(tokens)} tokens, {_MOST_TOKENS} can be indexed; give a part of it",
        )
    return Reference(tokens)
