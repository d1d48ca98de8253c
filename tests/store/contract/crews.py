"""What every store must do for workers that share it (`store/crew_api.py`)."""

from __future__ import annotations

from dataclasses import replace

from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.verdicts import Cell
from otel_toolselect.store import Store
from otel_toolselect.store.crew_api import TraceBonds, Worker
from tests.store.builders import HOUR, decision, run


class CrewsContract:
    def test_workers_are_present_while_they_report(self, store: Store) -> None:
        crews = store.crews
        assert crews.present("c", 60) == ()
        b, a = Worker("b", 2, "view", "[0,[]]"), Worker("a", crews.now())
        crews.report("c", b)
        crews.report("c", a)
        crews.report("other", Worker("x", 1))
        assert crews.present("c", 60) == (a, b)
        crews.report("c", replace(b, view="next"))
        assert crews.present("c", 60) == (a, replace(b, view="next"))
        crews.leave("c", "a")
        assert [w.name for w in crews.present("c", 60)] == ["b"]
        assert crews.present("c", 0) == ()
        crews.report("c", a)
        assert [w.name for w in crews.present("c", 60)] == ["a", "b"]

    def test_bonds_are_told_once_to_each(self, store: Store) -> None:
        crews = store.crews
        big = TraceBonds("t1", (1, 2**64 - 1), ())
        crews.publish("c", "a", 100, [big, TraceBonds("t2", (), (7,))])
        crews.publish("c", "a", 101, [])
        crews.publish("other", "a", 100, [TraceBonds("t9")])
        assert crews.published("c", {}, 100) == ({}, [])  # not after it
        known, told = crews.published("c", {"b": 5}, 99)
        assert known == {"a": 100, "b": 5}
        assert sorted(told, key=lambda t: t.trace_id) == [big, TraceBonds("t2", (), (7,))]
        crews.publish("c", "a", 102, [TraceBonds("t3", (3,))])
        crews.publish("c", "b", 6, [TraceBonds("t4", (4,))])
        known, told = crews.published("c", known, 99)
        assert known == {"a": 102, "b": 6}
        assert [t.trace_id for t in told] == ["t3", "t4"]
        assert crews.published("c", known, 99) == (known, [])

    def test_of_two_writers_the_one_that_read_later_wins(self, store: Store) -> None:
        early, late = store.mark(), store.mark()
        assert early < late
        whole, part = run(), replace(run(), request="less")
        said = decision(run_id=whole.run_id)
        moved: Decision = replace(said, start_ns=said.start_ns + 2 * HOUR, cells=(Cell("x", "y"),))
        store.write_runs([whole], late)
        store.add_judged([], [said], late)
        store.write_runs([part], early)
        store.add_judged([], [replace(said, cells=(Cell("x", "y"),))], early)
        store.retract([whole.run_id], early)
        assert list(store.runs()) == [whole]
        assert list(store.decisions()) == [said]
        assert store.crews.runs(list(whole.trace_ids)) == {whole.run_id: late}
        assert store.crews.runs(["none"]) == {}
        again, later = store.mark(), replace(whole, start_ns=moved.start_ns)
        store.write_runs([later], again)
        store.replace_judged([said.suite], [later], [], [moved], again)
        assert list(store.decisions()) == [moved]
        store.retract([whole.run_id], store.mark())
        assert (list(store.runs()), list(store.decisions())) == ([], [])
