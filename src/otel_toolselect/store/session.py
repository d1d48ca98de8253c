"""One connection to ClickHouse: the only caller of clickhouse-connect's statements, for both engines alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from otel_toolselect.errors import StoreError
from otel_toolselect.store import queries
from otel_toolselect.store.cluster import Cluster
from otel_toolselect.store.dsn import DEFAULT_DATABASE
from otel_toolselect.store.faults import broken, stranger, translated
from otel_toolselect.store.patience import patiently

if TYPE_CHECKING:
    import pyarrow as pa
    from clickhouse_connect.driver.client import Client

# an insert is written when it returns, and a replay of a year is one insert into 365 daily partitions
# one that takes so long that a reader of arrivals would not look for it any more is given up, and sent again
# repeats within an insert are left to merges and readers, as those in several inserts are: looking costs a fifth
_INSERT_SETTINGS = {
    "async_insert": 0,
    "max_partitions_per_insert_block": 0,
    "max_execution_time": 45,
    "optimize_on_insert": 0,
}
# of an engine whose version is ours: the index of texts to search in costs a fifth of what a run does. It is made when
# parts are merged; a fresh part without it is small, and read as a whole
_EMBEDDED_SETTINGS = {"exclude_materialize_skip_indexes_on_insert": "idx_text"}
_INSERT_BYTES = 64 * 2**20


class Session:
    """Statements in, columns of Python values out; errors are `StoreError`. Safe for threads.

    `seconds`: how long one query may take; None: as long as it takes.
    """

    def __init__(
        self, client: Client, where: str, database: str = DEFAULT_DATABASE, cluster: Cluster | None = None
    ) -> None:
        self.where = where
        self.database = database
        self.cluster = cluster
        self.seconds: float | None = None
        self._client: Client | None = client

    def _open(self) -> Client:
        if self._client is None:
            raise StoreError(f"the store at {self.where} is closed", retryable=False)
        return self._client

    @patiently
    def select(self, sql: str, params: Mapping[str, Any] | None = None) -> dict[str, list[Any]]:
        """Run a query of `queries`; columns by name, all of one length. No row: the lists are empty or absent."""
        from otel_toolselect.store.columns import BrokenStreamError, from_ipc

        with translated(self.where):
            limit = "" if self.seconds is None else f", max_execution_time = {self.seconds:g}"
            text = sql + queries.READ_SETTINGS + limit
            body = self._open().raw_query(text, parameters=dict(params or {}), fmt="ArrowStream")
        try:
            return from_ipc(body)
        except BrokenStreamError as error:
            raise broken(body, str(error), self.where) from error

    def execute(self, sql: str, params: Mapping[str, Any] | None = None) -> None:
        """Run a statement without a result."""
        with translated(self.where):
            self._open().command(sql, parameters=dict(params or {}))

    @patiently
    def insert(self, table: str, columns: Mapping[str, pa.Array]) -> None:
        """Insert rows; on disk and visible on return. Large inserts go in parts, each of them at once or not."""
        from otel_toolselect.store.columns import to_ipc

        for body in to_ipc(columns, _INSERT_BYTES, self._codec()):
            with translated(self.where):
                client = self._open()
                embedded = client.uri.startswith("chdb:")
                settings = _INSERT_SETTINGS | (_EMBEDDED_SETTINGS if embedded else {})
                answer = client.raw_insert(table, list(columns), body, settings=settings, fmt="Arrow")
            # whatever answers 200 in place of ClickHouse (a proxy, a page that asks to log in) has written nothing
            if not embedded and not answer.query_id():
                raise stranger(self.where)

    def _codec(self) -> pa.Codec | None:
        """How rows are compressed on their way, as the client was told: 1 % more work, a ninth of the bytes."""
        import pyarrow as pa

        wanted = self._open().write_compression
        return None if wanted is None else pa.Codec(wanted, compression_level=1)

    def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close()
