"""The two pages people work in, by what a person sees of them: labels, roles and words."""

import re
from dataclasses import dataclass

from playwright.sync_api import Locator, Page, expect

from tests.browser.shop import ADA

DANA, ROBIN, SAM = "Dana (staff)", "Robin (staff)", "Sam (only reads)"


@dataclass(frozen=True)
class Chat:
    """The customer's chat on `/chat`, as one of the seeded customers."""

    page: Page

    @classmethod
    def open(cls, page: Page, *, by: str = ADA) -> "Chat":
        page.goto("/chat")
        page.get_by_label("Customer").select_option(by)
        chat = cls(page)
        expect(chat.welcome.or_(chat.log.locator("time").first)).to_be_visible()
        return chat

    @property
    def box(self) -> Locator:
        return self.page.get_by_role("textbox", name="Your message")

    @property
    def log(self) -> Locator:
        return self.page.get_by_role("log")

    @property
    def welcome(self) -> Locator:
        return self.page.get_by_role("heading", name="How can we help?")

    @property
    def status(self) -> Locator:
        return self.page.locator("refund-chat").get_by_role("status")

    @property
    def trouble(self) -> Locator:
        """What stands in the way of the message, or of the whole chat."""
        return self.page.locator("refund-chat").get_by_role("alert")

    @property
    def retry(self) -> Locator:
        return self.page.locator("[part~=retry]")

    @property
    def amount(self) -> Locator:
        return self.page.locator("[part~=card-amount]")

    @property
    def cards(self) -> Locator:
        """The refund cards, which are made from the ledger."""
        return self.page.locator("[part~=card]")

    def say(self, text: str) -> None:
        """Write a message and send it."""
        self.box.fill(text)
        self.page.get_by_role("button", name="Send", exact=True).click()

    def reads(self, words: str | re.Pattern[str]) -> None:
        """Wait until the conversation says these words."""
        expect(self.log).to_contain_text(words)


@dataclass(frozen=True)
class Console:
    """The agent console, signed in as one of the staff that AUTH_MODE=dev offers."""

    page: Page

    @classmethod
    def open(cls, page: Page, path: str = "", *, by: str = DANA) -> "Console":
        page.goto(f"/console/{path}")
        page.get_by_role("button", name=by).click()
        expect(page.get_by_role("button", name="Sign out")).to_be_visible()
        return cls(page)

    def go(self, path: str) -> None:
        self.page.goto(f"/console/{path}")

    def waiting(self, order_id: str) -> Locator:
        """The card of an order in one of the queues."""
        heading = self.page.get_by_role("heading", name=f"for order {order_id}")
        return self.page.get_by_role("listitem").filter(has=heading)

    def decide(self, order_id: str, button: str, *, because: str) -> None:
        """Approve or decline the refund of an order, on the page of approvals."""
        card = self.waiting(order_id)
        card.get_by_label("Reason").fill(because)
        card.get_by_role("button", name=button).click()
        expect(self.page.get_by_role("status").filter(has_text=order_id)).to_be_visible()

    def say_it_moved(self, order_id: str, *, reference: str) -> None:
        """Answer that payments did move the money of an unknown refund."""
        card = self.waiting(order_id)
        card.get_by_label("Reference at payments").fill(reference)
        card.get_by_role("button", name="Save: it moved").click()
        expect(self.page.get_by_role("status").filter(has_text=order_id)).to_be_visible()

    def say_it_did_not(self, order_id: str, *, note: str) -> None:
        """Answer that payments did not move the money of an unknown refund."""
        card = self.waiting(order_id)
        card.get_by_label("Note: where did you look?").fill(note)
        card.get_by_role("button", name="Save: it did not move").click()
        expect(self.page.get_by_role("status").filter(has_text=order_id)).to_be_visible()
