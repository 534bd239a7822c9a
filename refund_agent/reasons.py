"""Why a refund was not sent, in the customer's words: what the policy says, and what came in between."""

from typing import Final

from refund_agent.languages import Notice

# --- What the policy says -------------------------------------------------------------------------

NOT_FOUND: Final = Notice(
    "Order not found.",
    "Die Bestellung wurde nicht gefunden.",
    "No se encontró el pedido.",
)
NOT_DELIVERED: Final = Notice(
    "The order cannot be refunded yet or any more: its status is {status}.",
    "Die Bestellung kann noch nicht oder nicht mehr erstattet werden: Ihr Status ist {status}.",
    "El pedido aún no se puede reembolsar, o ya no: su estado es {status}.",
)
FINAL_SALE: Final = Notice(
    "The item was sold as final sale, which is never refunded.",
    "Der Artikel ist vom Umtausch ausgeschlossen und wird nicht erstattet.",
    "El artículo se vendió como venta final, que no se reembolsa nunca.",
)
WINDOW_UNKNOWN: Final = Notice(
    "The return window cannot be told, because the day of delivery is missing.",
    "Die Rückgabefrist lässt sich nicht bestimmen, weil der Tag der Lieferung fehlt.",
    "No se puede saber el plazo de devolución, porque falta el día de entrega.",
)
WINDOW_CLOSED: Final = Notice(
    "The return window is closed: it was delivered {days} days ago, on {day}, and the window is {window} "
    "days.",
    "Die Rückgabefrist ist abgelaufen: Die Lieferung war vor {days} Tagen, am {day}, und die Frist beträgt "
    "{window} Tage.",
    "El plazo de devolución ha vencido: se entregó hace {days} días, el {day}, y el plazo es de {window} "
    "días.",
)
UNDER_REVIEW: Final = Notice(
    "An earlier refund of this order is under review: its outcome is not confirmed yet.",
    "Eine frühere Erstattung dieser Bestellung wird geprüft: Ihr Ergebnis ist noch nicht bestätigt.",
    "Se está revisando un reembolso anterior de este pedido: su resultado aún no está confirmado.",
)
REFUNDED_ON: Final = Notice(
    "This order was already refunded on {day}: {amount} of {paid} went back.",
    "Diese Bestellung wurde bereits am {day} erstattet: {amount} von {paid} wurden zurückgezahlt.",
    "Este pedido ya se reembolsó el {day}: se devolvieron {amount} de {paid}.",
)
REFUNDED: Final = Notice(
    "This order was already refunded: {amount} of {paid} went back.",
    "Diese Bestellung wurde bereits erstattet: {amount} von {paid} wurden zurückgezahlt.",
    "Este pedido ya se reembolsó: se devolvieron {amount} de {paid}.",
)
NOT_THIS_MUCH: Final = Notice(
    "The amount must be more than nothing and at most {amount}.",
    "Der Betrag muss größer als null sein und darf höchstens {amount} betragen.",
    "El importe debe ser mayor que cero y de {amount} como máximo.",
)
NEEDS_APPROVAL: Final = Notice(
    "More than {amount} needs a colleague's approval.",
    "Mehr als {amount} muss unser Team genehmigen.",
    "Más de {amount} requiere la aprobación de una persona de nuestro equipo.",
)

# --- What came in between -------------------------------------------------------------------------
# Their English is a clause, not a sentence: "not sent: …" goes on with it for the model, and "The approved
# refund was not sent: …" for the customer. What is stored is recognised word for word, so it stays as it is.

NO_TIME: Final = Notice(
    "too little time is left in this request; a colleague will follow up",
    "Die Zeit dafür hat nicht gereicht; unser Team meldet sich.",
    "No quedaba tiempo suficiente; una persona de nuestro equipo se ocupará.",
)
NOT_CONFIRMED_YET: Final = Notice(
    "an earlier refund of this order is awaiting confirmation",
    "Eine frühere Erstattung dieser Bestellung ist noch nicht bestätigt.",
    "Un reembolso anterior de este pedido aún no está confirmado.",
)
NOT_WHAT_WAS_APPROVED: Final = Notice(
    "it is not what a colleague approved",
    "Sie ist nicht das, was unser Team genehmigt hat.",
    "No es lo que aprobó nuestro equipo.",
)
NOT_IN_TIME: Final = Notice(
    "it could not be carried out in time. No money moved.",
    "Sie konnte nicht rechtzeitig ausgeführt werden. Es ist kein Geld geflossen.",
    "No se pudo llevar a cabo a tiempo. No se movió dinero.",
)
REFUSED: Final = Notice(
    "it was refused",
    "Sie wurde abgelehnt.",
    "Se rechazó.",
)

REASONS: Final = (
    NOT_FOUND,
    NOT_DELIVERED,
    FINAL_SALE,
    WINDOW_UNKNOWN,
    WINDOW_CLOSED,
    UNDER_REVIEW,
    REFUNDED_ON,
    REFUNDED,
    NOT_THIS_MUCH,
    NEEDS_APPROVAL,
    NO_TIME,
    NOT_CONFIRMED_YET,
    NOT_WHAT_WAS_APPROVED,
    NOT_IN_TIME,
    REFUSED,
)
