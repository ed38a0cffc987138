"""Tables whose keys come from a registry, looked up when a file is read, so that users' registrations count."""

from collections.abc import Callable
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, TypeAdapter
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema


class Registered:
    """Annotates a field whose type is what `current` returns at the time of validation."""

    def __init__(self, current: Callable[[], Any]) -> None:
        self.current = current
        self._adapter: tuple[Any, TypeAdapter[Any]] | None = None

    def __get_pydantic_core_schema__(self, _: Any, __: GetCoreSchemaHandler) -> CoreSchema:  # noqa: ANN401
        # Pydantic takes the errors of a nested validation over, each with its place.
        return core_schema.no_info_plain_validator_function(
            lambda value: self._adapted().validate_python(value)
        )

    def __get_pydantic_json_schema__(
        self, _: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return handler(self._adapted().core_schema)

    def _adapted(self) -> TypeAdapter[Any]:
        current = self.current()
        if self._adapter is None or self._adapter[0] is not current:
            self._adapter = current, TypeAdapter(current)
        return self._adapter[1]


def annotation_of(field: FieldInfo) -> Any:  # noqa: ANN401 (typing's own objects)
    """The type of a field at present."""
    current = [each.current() for each in field.metadata if isinstance(each, Registered)]
    return current[0] if current else field.annotation
