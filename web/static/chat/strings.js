// Every word the chat says by itself: English, German, Spanish. What the service says it is asked for in the same one.

const LANGUAGES = ["en", "de", "es"];

const WORDS = {
  heading: ["Support", "Kundendienst", "Atención al cliente"],
  withPerson: ["You are talking with a colleague", "Sie sprechen mit unserem Team", "Le atiende una persona del equipo"],
  message: ["Your message", "Ihre Nachricht", "Su mensaje"],
  send: ["Send", "Senden", "Enviar"],
  open: ["Open the chat", "Chat öffnen", "Abrir el chat"],
  unread: ["{0} new", "{0} neu", "{0} sin leer"],
  minimise: ["Minimise", "Minimieren", "Minimizar"],
  begin: ["New conversation", "Neues Gespräch", "Nueva conversación"],
  download: ["Save as text", "Als Text speichern", "Guardar como texto"],
  copy: ["Copy", "Kopieren", "Copiar"],
  copied: ["Copied", "Kopiert", "Copiado"],
  notCopied: ["Not copied", "Nicht kopiert", "No se copió"],
  welcome: ["How can we help?", "Wie können wir helfen?", "¿En qué podemos ayudarle?"],
  orders: ["Your orders", "Ihre Bestellungen", "Sus pedidos"],
  more: ["{0} more", "{0} weitere", "{0} más"],
  refundable: ["Can be refunded", "Erstattung möglich", "Se puede reembolsar"],
  not_delivered: ["Not delivered", "Nicht geliefert", "No entregado"],
  final_sale: ["Final sale", "Vom Umtausch ausgeschlossen", "Venta final"],
  return_window_closed: ["Return window closed", "Rückgabefrist abgelaufen", "Plazo de devolución vencido"],
  already_refunded: ["Refunded, or under review", "Erstattet oder in Prüfung", "Reembolsado o en revisión"],
  amount_not_refundable: ["Nothing left to refund", "Nichts mehr zu erstatten", "Nada por reembolsar"],
  needs_approval: ["A colleague decides", "Unser Team entscheidet", "Decide una persona"],
  askRefund: [
    "Please refund {0} for order {1}. ",
    "Bitte erstatten Sie {0} für Bestellung {1}. ",
    "Por favor, reembolse {0} del pedido {1}. ",
  ],
  askOrder: ["About order {0}: ", "Zu Bestellung {0}: ", "Sobre el pedido {0}: "],
  customer: ["You", "Sie", "Usted"],
  assistant: ["Assistant", "Assistent", "Asistente"],
  staff: ["Colleague", "Team", "Equipo"],
  sending: ["Sending", "Wird gesendet", "Enviando"],
  running: ["Working on it", "In Arbeit", "En curso"],
  queued: ["In the queue", "In der Warteschlange", "En la cola"],
  thinking: ["Thinking", "Denkt nach", "Pensando"],
  checking: ["Checking your order", "Prüft Ihre Bestellung", "Revisando su pedido"],
  payments: ["Asking payments", "Fragt die Zahlungsstelle", "Consultando a pagos"],
  person: ["Calling a colleague", "Ruft unser Team", "Avisando al equipo"],
  late: [
    "Still working. The reply will come here.",
    "Noch in Arbeit. Die Antwort kommt hier.",
    "En curso aún. La respuesta llegará aquí.",
  ],
  lost: [
    "No connection. Trying again; your message is never sent twice.",
    "Keine Verbindung, neuer Versuch läuft. Ihre Nachricht wird nie doppelt gesendet.",
    "Sin conexión; se intenta de nuevo. Su mensaje nunca se envía dos veces.",
  ],
  offline: [
    "We cannot be reached now. Trying again.",
    "Wir sind nicht erreichbar, neuer Versuch läuft.",
    "No estamos disponibles; se intenta de nuevo.",
  ],
  retry: ["Try again", "Erneut versuchen", "Reintentar"],
  retryIn: ["Try again in {0} s", "Erneut versuchen in {0} s", "Reintentar en {0} s"],
  edit: ["Edit", "Bearbeiten", "Editar"],
  askAgain: ["Ask again", "Noch einmal fragen", "Preguntar otra vez"],
  "sign-in-required": [
    "Please sign in again, then try again.",
    "Bitte melden Sie sich neu an.",
    "Vuelva a iniciar sesión.",
  ],
  "conversation-busy": [
    "An earlier message is still being answered. It was not sent.",
    "Eine frühere Nachricht wird noch beantwortet. Die Nachricht wurde nicht gesendet.",
    "Aún se responde a un mensaje anterior. No se envió.",
  ],
  "conversation-full": [
    "This conversation is full: edit the message for a new one. It was not sent.",
    "Dieses Gespräch ist voll: für ein neues bearbeiten. Die Nachricht wurde nicht gesendet.",
    "Esta conversación está llena: edite el mensaje para otra. No se envió.",
  ],
  "internal-error": [
    "A mistake of ours. Trying again is safe.",
    "Ein Fehler bei uns. Ein neuer Versuch ist sicher.",
    "Un error nuestro. Reintentar es seguro.",
  ],
  notTaken: [
    "We cannot take the message now. It was not sent.",
    "Die Nachricht wurde nicht gesendet: Wir können sie gerade nicht annehmen.",
    "Ahora no podemos aceptar el mensaje. No se envió.",
  ],
  hand_off: ["A colleague takes over.", "Unser Team übernimmt.", "Le atiende una persona."],
  unanswered: ["This message got no reply.", "Auf diese Nachricht kam keine Antwort.", "Este mensaje quedó sin respuesta."],
  noRefund: [
    "No refund was made with it, and none will be.",
    "Damit wurde und wird nichts erstattet.",
    "No se hizo ningún reembolso con él, ni se hará.",
  ],
  paid: ["Refund sent", "Erstattung gesendet", "Reembolso enviado"],
  unknown: ["We are not sure yet", "Wir sind noch nicht sicher", "Aún no estamos seguros"],
  not_sent: ["Refund not made", "Nicht erstattet", "Reembolso no realizado"],
  unknownNote: [
    "There was no clear answer. A person is checking; you need not ask again.",
    "Es kam keine klare Antwort. Ein Mensch prüft das; Sie müssen nicht noch einmal fragen.",
    "No hubo una respuesta clara. Una persona lo comprueba; no hace falta volver a pedirlo.",
  ],
  not_sentNote: [
    "No money was moved. A colleague will follow up.",
    "Es ist kein Geld geflossen. Unser Team meldet sich.",
    "No se movió dinero. Una persona lo revisará.",
  ],
  order: ["Order", "Bestellung", "Pedido"],
  reference: ["Reference", "Referenz", "Referencia"],
};

/** Make a word longer and bracketed: what is shown without brackets was never translated. */
const pseudo = (word) => `[${word} ~~~]`;

/** Return the language that is spoken where `de-AT`, say, is wanted: English for those that we do not speak. */
export const spoken = (wanted) => LANGUAGES.find((language) => language === wanted.split("-")[0]) ?? "en";

/** Return what says a word where `de-AT`, say, is wanted, as in `say("unread", 3)`; "" for no such word. */
export function wordsOf(wanted) {
  const column = LANGUAGES.indexOf(spoken(wanted));
  return (name, ...given) => {
    const word = WORDS[name]?.[column] ?? "";
    return (word && wanted === "qps" ? pseudo(word) : word).replace(/{(\d)}/g, (_, index) => given[index]);
  };
}
