"""What every store must do for the audit log (`store/audit_api.py`)."""

from __future__ import annotations

from dataclasses import replace

from otel_toolselect.store import AuditEntry, Store

ODD = 'a "quoted"\nline \u202e <b> \ud800'


def entry(at: int, name: str, **more: str) -> AuditEntry:
    return AuditEntry(at, name, **{"actor": "ann", "via": "session", "action": "label", **more})


class AuditContract:
    def test_what_was_done_is_there_once_and_equal(self, store: Store) -> None:
        assert store.audit.read(tenant=None).entries == ()
        assert store.audit.actions() == ()
        full = AuditEntry(5, "b", ODD, "oidc", "silence", "s-1", "10.0.0.7", "acme", {"match": [ODD], "n": 2**60})
        store.audit.add([])
        store.audit.add([full, entry(5, "a")])
        store.audit.add([full])
        assert store.audit.read(tenant=None).entries == (full, entry(5, "a"))
        assert store.audit.actions() == ("label", "silence")

    def test_pages_hold_each_entry_once_newest_first(self, store: Store) -> None:
        all_of_it = [entry(i // 3, f"{i:02}") for i in range(11)]
        store.audit.add(all_of_it)
        found: list[AuditEntry] = []
        page = store.audit.read(tenant=None, limit=4)
        while page.next is not None:
            found += page.entries
            store.audit.add([entry(100 + len(found), "later")])
            page = store.audit.read(tenant=None, after=page.next, limit=4)
        assert [*found, *page.entries] == all_of_it[::-1]

    def test_what_is_asked_for(self, store: Store) -> None:
        mine, other = entry(1, "a", tenant="acme"), entry(2, "b", tenant="globex", actor="bob", action="sign-in")
        nobody = replace(mine, id="c", at_ns=3, tenant="")
        store.audit.add([mine, other, nobody])
        read = store.audit.read
        assert read(tenant="acme").entries == (mine,)
        assert read(tenant="").entries == (nobody,)
        assert read(tenant="none").entries == ()
        assert read(tenant=None, actor="bob").entries == (other,)
        assert read(tenant=None, action="label").entries == (nobody, mine)
        assert read(tenant=None, since_ns=2, until_ns=3).entries == (other,)
        assert read(tenant="acme", actor="bob").entries == ()
        assert read(tenant=None, since_ns=-5, until_ns=2**64).entries == (nobody, other, mine)
