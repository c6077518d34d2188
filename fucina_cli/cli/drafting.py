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


def prepare(options: Options, reader: TextReader) -> Callable[[Model, Context], Speculation | None]:
    """Check the flags and read their files; the result makes what drafts, None for nothing.

    For another context of the same model, documents and draft model are not read again. Both raise
    FlagError.
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
    return _Drafting(options, texts).for_context


class _Drafting:
    """What contexts of one model have in common."""

    def __init__(self, options: Options, texts: dict[str, str]) -> None:
        self._options, self._texts = options, texts
        self._references: dict[str, Reference] | None = None
        self._model: Model | None = None

    def for_context(self, model: Model, context: Context) -> Speculation | None:
        """What drafts in `context`; None, with a warning, where nothing can be taken back."""
        options = self._options
        draft_context = self._draft_context(model, context)
        if not model.can_rewind:
            if not options.quiet:
                flag = options.speculation_flag
                output.warning(
                    f"{flag}: this model's state can't be rewound, so nothing is drafted"
                )
            return None
        if self._references is None:
            self._references = {
                name: _index(model, name, text) for name, text in self._texts.items()
            }
        return Speculation(
            cascade=options.spec or bool(self._references),
            references=self._references,
            draft_context=draft_context,
        )

    def _draft_context(self, model: Model, context: Context) -> Context | None:
        options = self._options
        if options.draft_model is None:
            return None
        flag = f"--draft-model ('{options.draft_model}')"
        try:
            with blame(flag):
                if self._model is None:
                    self._model = Model(
                        model_path(flag, options.draft_model, family_of(model.architecture)),
                        exact=options.exact,
                        gpu_layers=-1 if options.gpu_layers is None else options.gpu_layers,
                    )
                    check_draft_model(model, self._model)
                return Context(
                    self._model,
                    n_ctx=context.n_ctx,
                    n_streams=context.n_streams,
                    threads=options.threads,
                )
        except ModelError as error:
            raise FlagError(flag, str(error)) from None


def _index(model: Model, name: str, text: str) -> Reference:
    tokens = model.vocabulary.tokenize(text)
    if len(tokens) > _MOST_TOKENS:
        raise FlagError(
            "--spec-ref",
            f"'{name}' has {len(tokens)} tokens, {_MOST_TOKENS} can be indexed; give a part of it",
        )
    return Reference(tokens)
