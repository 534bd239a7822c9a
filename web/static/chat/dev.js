// A developer's machine: pick a seeded customer, and play a scenario with one press. Never there in production.

const chat = document.querySelector("refund-chat");
const customer = document.querySelector("#customer");
const scenarios = document.querySelector("#scenarios");

async function read(path, options) {
  const response = await fetch(path, options);
  return response.json();
}

async function tokenOf(id) {
  const headers = { "Content-Type": "application/json" };
  return (await read("/dev/token", { method: "POST", headers, body: JSON.stringify({ id }) })).token;
}

function make(tag, text, properties = {}) {
  return Object.assign(document.createElement(tag), { textContent: text, ...properties });
}

/** Begin as another customer, and show what that one may say. */
function signIn(listed) {
  const { value } = customer;
  sessionStorage.setItem("dev-customer", value);
  chat.token = () => tokenOf(value);
  const rows = listed.filter((scenario) => scenario.customer_id === value);
  scenarios.replaceChildren(
    ...rows.map(({ say, about, expect }) => {
      const item = document.createElement("li");
      const play = make("button", say, { type: "button" });
      play.addEventListener("click", () => chat.send(say) || chat.compose(say));
      item.append(make("p", about, { className: "about" }), play, make("p", expect));
      return item;
    }),
  );
}

const [people, listed] = await Promise.all([read("/dev/customers"), read("/chat/scenarios.json")]);
const customers = people.filter(({ role }) => role === "customer");
customer.append(...customers.map(({ id, name }) => new Option(name, id)));
const before = sessionStorage.getItem("dev-customer");
if (customers.some(({ id }) => id === before)) customer.value = before;
customer.addEventListener("change", () => signIn(listed));
for (const [id, name] of [["language", "lang"], ["theme", "theme"]]) {
  const choice = document.querySelector(`#${id}`);
  const choose = () => chat.setAttribute(name, choice.value);
  choice.addEventListener("change", choose);
  choose(); // a reload keeps what was chosen
}
signIn(listed);
