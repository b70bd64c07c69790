"""What waits for a client: all replies, of each kind of report the newest, in the order in which they came."""

import asyncio

from async_runs import run_async

from hauteur.web.live import MOST_WAITING, MOST_WAITING_BYTES, Mailbox


async def texts(mail: Mailbox, count: int) -> list[str]:
    return [await asyncio.wait_for(mail.next(), 5) for _ in range(count)]


def test_older_reports_are_replaced_and_none_comes_after_the_end_of_its_search() -> None:
    async def check() -> None:
        mail = Mailbox()
        for number in range(100):
            mail.put("latest:report", f"report {number}")
        mail.put("latest:progress", "half")
        mail.put("event", "done")
        mail.put("latest:report", "of the next search")
        assert await texts(mail, 4) == ["report 99", "half", "done", "of the next search"]

    run_async(check())


def test_a_client_that_reads_nothing_is_noticed() -> None:
    mail = Mailbox()
    for number in range(10 * MOST_WAITING):
        mail.put("latest:report", f"report {number}")
    assert not mail.overflowed
    for _ in range(MOST_WAITING + 1):
        mail.put("reply", "reply")
    assert mail.overflowed


def test_replies_that_are_long_together_are_too_much() -> None:
    mail = Mailbox()
    mail.put("reply", "x" * (MOST_WAITING_BYTES // 2))
    mail.put("reply", "x" * (MOST_WAITING_BYTES // 2))
    assert not mail.overflowed
    mail.put("reply", "x")
    assert mail.overflowed
