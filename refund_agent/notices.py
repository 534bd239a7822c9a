"""Every sentence that code writes to a customer, and how to say one again in the reader's language.

The English is made when something happens and is stored with it. Whose language is spoken is only known when
somebody reads: then the sentences of code are found in what is stored, whole, and said anew. Whatever is not
one of them, word for word, is somebody else's and stays as it is.
"""

from collections.abc import Mapping
from typing import Final

from refund_agent.languages import Language, Notice
from refund_agent.reasons import REASONS

# --- What became of a refund: the status line -----------------------------------------------------

SENT_WITH_STATUS: Final = Notice(
    "Refund sent: {amount} for order {order}. Reference: {reference}, status: {status}.",
    "Erstattung gesendet: {amount} für Bestellung {order}. Referenz: {reference}, Status: {status}.",
    "Reembolso enviado: {amount} del pedido {order}. Referencia: {reference}, estado: {status}.",
)
SENT: Final = Notice(
    "Refund sent: {amount} for order {order}. Reference: {reference}.",
    "Erstattung gesendet: {amount} für Bestellung {order}. Referenz: {reference}.",
    "Reembolso enviado: {amount} del pedido {order}. Referencia: {reference}.",
)
NOT_CERTAIN: Final = Notice(
    "Refund not certain yet: {amount} for order {order} was requested, and no clear answer came back. "
    "A colleague is checking; you need not ask again.",
    "Erstattung noch nicht sicher: {amount} für Bestellung {order} wurden angefordert, und es kam keine "
    "klare Antwort. Unser Team prüft das; Sie müssen nicht noch einmal fragen.",
    "Reembolso aún sin confirmar: se pidieron {amount} del pedido {order} y no llegó una respuesta clara. "
    "Una persona de nuestro equipo lo comprueba; no hace falta que vuelva a pedirlo.",
)
NOT_MADE: Final = Notice(
    "Refund not made: {amount} for order {order}. No money moved. A colleague will follow up.",
    "Nicht erstattet: {amount} für Bestellung {order}. Es ist kein Geld geflossen. Unser Team meldet sich.",
    "Reembolso no realizado: {amount} del pedido {order}. No se movió dinero. Una persona de nuestro equipo "
    "se ocupará.",
)

# --- The other ends of a reply --------------------------------------------------------------------

CORRECTION: Final = Notice(
    "Correction: no refund was made with this message.",
    "Korrektur: Mit dieser Nachricht wurde nichts erstattet.",
    "Corrección: con este mensaje no se hizo ningún reembolso.",
)
CORRECTED_BELOW: Final = Notice(
    "Correction: see the status of your refund below.",
    "Korrektur: Der Stand Ihrer Erstattung steht unten.",
    "Corrección: vea abajo el estado de su reembolso.",
)
NOT_DECIDED_YET: Final = Notice(
    "No refund has been made yet: a colleague will decide about it.",
    "Es wurde noch nichts erstattet: Unser Team entscheidet darüber.",
    "Todavía no se ha hecho ningún reembolso: lo decidirá una persona de nuestro equipo.",
)
NO_REFUND: Final = Notice(
    "(No refund was made with this message.)",
    "(Mit dieser Nachricht wurde nichts erstattet.)",
    "(Con este mensaje no se hizo ningún reembolso.)",
)

# --- What happens between replies -----------------------------------------------------------------

WAITS: Final = Notice(
    "This refund waits for a colleague's decision.",
    "Diese Erstattung wartet auf die Entscheidung unseres Teams.",
    "Este reembolso espera la decisión de una persona de nuestro equipo.",
)
APPROVED: Final = Notice(
    "A colleague approved your refund. It is being sent.",
    "Unser Team hat Ihre Erstattung genehmigt. Sie wird gerade gesendet.",
    "Una persona de nuestro equipo ha aprobado su reembolso. Se está enviando.",
)
DECLINED: Final = Notice(
    "A colleague declined your refund: {note}",
    "Unser Team hat Ihre Erstattung abgelehnt: {note}",
    "Una persona de nuestro equipo ha rechazado su reembolso: {note}",
)
EXPIRED: Final = Notice(
    "Your refund was not decided in time, so the request has expired. You may ask again.",
    "Über Ihre Erstattung wurde nicht rechtzeitig entschieden, daher ist die Anfrage abgelaufen. Sie können "
    "erneut fragen.",
    "No se decidió a tiempo sobre su reembolso, así que la solicitud ha caducado. Puede volver a pedirlo.",
)
APPROVED_NOT_SENT: Final = Notice(
    "The approved refund was not sent: {reason}",
    "Die genehmigte Erstattung wurde nicht gesendet: {reason}",
    "El reembolso aprobado no se envió: {reason}",
)
CHECKED: Final = Notice(
    "A colleague has checked. {refund}",
    "Unser Team hat nachgesehen. {refund}",
    "Una persona de nuestro equipo lo ha comprobado. {refund}",
)
CHECKED_NOT_REFUNDED: Final = Notice(
    "A colleague has checked: {amount} for order {order} was not refunded, and no money moved. You may ask "
    "for it again.",
    "Unser Team hat nachgesehen: {amount} für Bestellung {order} wurden nicht erstattet, und es ist kein "
    "Geld geflossen. Sie können erneut darum bitten.",
    "Una persona de nuestro equipo lo ha comprobado: no se reembolsaron {amount} del pedido {order} ni se "
    "movió dinero. Puede volver a pedirlo.",
)
UNANSWERED: Final = Notice(
    "This message was not answered.",
    "Diese Nachricht wurde nicht beantwortet.",
    "Este mensaje quedó sin respuesta.",
)
UNANSWERED_WITH_REFUND: Final = Notice(
    "This message was not answered. {refund}",
    "Diese Nachricht wurde nicht beantwortet. {refund}",
    "Este mensaje quedó sin respuesta. {refund}",
)
JOINED: Final = Notice(
    "A colleague has joined the conversation.",
    "Jemand aus unserem Team hat das Gespräch übernommen.",
    "Una persona de nuestro equipo se ha unido a la conversación.",
)
GIVEN_BACK: Final = Notice(
    "The assistant answers again.",
    "Der Assistent antwortet wieder.",
    "Vuelve a responder el asistente.",
)
HANDED_OVER: Final = Notice(
    "Handed to a colleague.",
    "An unser Team übergeben.",
    "Pasado a una persona de nuestro equipo.",
)
HANDED_OVER_BECAUSE: Final = Notice(
    "Handed to a colleague: {why}",
    "An unser Team übergeben: {why}",
    "Pasado a una persona de nuestro equipo: {why}",
)
HANDED_OVER_ABOUT: Final = Notice(
    "Handed to a colleague (order {order}).",
    "An unser Team übergeben (Bestellung {order}).",
    "Pasado a una persona de nuestro equipo (pedido {order}).",
)
HANDED_OVER_ABOUT_BECAUSE: Final = Notice(
    "Handed to a colleague (order {order}): {why}",
    "An unser Team übergeben (Bestellung {order}): {why}",
    "Pasado a una persona de nuestro equipo (pedido {order}): {why}",
)

STATUS_LINES: Final = (SENT_WITH_STATUS, SENT, NOT_CERTAIN, NOT_MADE)
"""The one with more gaps first: the other would take its words for a part of the reference."""
REPLY_ENDS: Final = (*STATUS_LINES, CORRECTION, CORRECTED_BELOW, NOT_DECIDED_YET, NO_REFUND)
MOST_REPLY_ENDS: Final = 2
"""A reply ends with a correction and a status line at most; what stands before them is the model's."""
ENTRIES: Final = (
    *(WAITS, APPROVED, DECLINED, EXPIRED, APPROVED_NOT_SENT, *STATUS_LINES, CORRECTION),
    *(CHECKED, CHECKED_NOT_REFUNDED, UNANSWERED, UNANSWERED_WITH_REFUND, JOINED, GIVEN_BACK),
    *(HANDED_OVER_ABOUT_BECAUSE, HANDED_OVER_ABOUT, HANDED_OVER_BECAUSE, HANDED_OVER),
)

# --- Said again -----------------------------------------------------------------------------------


def reply_in(language: Language, text: str) -> str:
    """Say the ends of a reply that code has written in a language; the model's words stay as they are."""
    said = text.rsplit("\n\n", MOST_REPLY_ENDS)
    for place in reversed(range(len(said))[-MOST_REPLY_ENDS:]):
        again = _say_again(language, said[place], REPLY_ENDS)
        if again is None:
            break
        said[place] = again
    return "\n\n".join(said)


def entry_in(language: Language, text: str) -> str:
    """Say what happened between replies in a language."""
    return _say_again(language, text, ENTRIES) or text


def without_status_line(text: str) -> str:
    """Leave out the status line at the end of a stored text, for whoever shows the refund itself."""
    before, _, last = text.rpartition("\n\n")
    if _find(last, STATUS_LINES):
        return before
    return UNANSWERED.say() if _find(text, (UNANSWERED_WITH_REFUND,)) else text


def _say_again(language: Language, text: str, among: tuple[Notice, ...]) -> str | None:
    """Say a text in a language; None when it is none of these."""
    found = _find(text, among)
    if found is None:
        return None
    notice, gaps = found
    inner = {"refund": STATUS_LINES, "reason": REASONS}
    said = {
        name: _say_again(language, value, inner[name]) or value if name in inner else value
        for name, value in gaps.items()
    }
    return notice.say_in(language, said)


def _find(text: str, among: tuple[Notice, ...]) -> tuple[Notice, Mapping[str, str]] | None:
    for notice in among:
        gaps = notice.read(text)
        if gaps is not None and ("refund" not in gaps or _find(gaps["refund"], STATUS_LINES)):
            return notice, gaps
    return None
