"""A site of its own origin that embeds the chat, under the policy that docs/integrate.md says is enough."""

from collections.abc import Callable

from sandbox.answers import Reply, Request

POLICY = (
    "default-src 'none'; script-src 'self' {chat}; connect-src 'self' {chat}; frame-src {chat}; "
    "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
PAGES = {
    "/": """
<script type="module" src="/element.js"></script>
<script type="module" src="{chat}/chat/refund-chat.js"></script>
<refund-chat launcher></refund-chat>
""",
    "/framed": """
<iframe src="{chat}/chat/embed?lang=de" title="Chat" width="500" height="600"></iframe>
<script type="module" src="/host.js"></script>
""",
    "/opens": """
<button>Open the chat</button>
<script type="module" src="/host.js"></script>
""",
}
SCRIPTS = {
    "/element.js": """
document.querySelector("refund-chat").token = async () => (await fetch("/token")).text();
""",
    "/host.js": """
const CHAT = "{chat}";
const frame = document.querySelector("iframe")?.contentWindow;
let opened;
document.querySelector("button")?.addEventListener("click", () => (opened = open(`${CHAT}/chat/embed`)));
window.heard = [];
addEventListener("message", async ({ source, origin, data }) => {
  if (origin !== CHAT || (source !== frame && source !== opened)) return;
  heard.push(data.type);
  if (data.type !== "refund-chat-token") return;
  const token = await (await fetch("/token")).text();
  source.postMessage({ type: "refund-chat-token", id: data.id, token }, CHAT);
});
""",
}


class Portal:
    """The site. A test says where the chat is and whose token the site hands over."""

    chat_url = ""
    token: Callable[[], str] = staticmethod(lambda: "")

    def opening(self, path: str) -> None:
        return None

    def answer(self, request: Request) -> Reply:
        if request.path == "/token":
            return Reply(200, self.token().encode(), "text/plain")
        if script := SCRIPTS.get(request.path):
            return Reply(200, script.replace("{chat}", self.chat_url).encode(), "text/javascript")
        if page := PAGES.get(request.path):
            html = f"<!doctype html><html lang=en><title>Shop</title><main><h1>Shop</h1>{page}</main>"
            policy = ("Content-Security-Policy", POLICY.replace("{chat}", self.chat_url))
            return Reply(200, html.replace("{chat}", self.chat_url).encode(), "text/html", (policy,))
        return Reply(404)
