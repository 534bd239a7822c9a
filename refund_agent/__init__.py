"""A refund agent that a support team can trust with money: a map of its modules, in reading order.

Why money cannot move twice, in eight files, top to bottom:
    `outcomes`                  every way a payment call, a claim and a turn can end
    `turn`                      one message on its way to its outcome, and the transcript a checkpoint keeps
    `tools`                     a call's arguments are checked before the tool runs
    `refunds`                   claim, send, settle: the only code that moves money
    adapters/sql_tables.py      the ledger: its primary key is the gate
    adapters/sql_ledger.py      the claim is one INSERT, and the first writer wins
    adapters/http_payments.py   the send: one request, without redirect, retry or reused connection
    `sweeper`                   a dead worker's claim becomes unknown, never sendable again
What is and is not promised, with the test that holds each promise: docs/guarantees.md. What the words mean:
docs/glossary.md.

How a turn runs around that: `ports` is the outside world as one turn needs it, `loop` asks for completions
and runs tool calls, at most five completions and one refund. `runner` is one delivery of a turn's message in
a worker: begin, run, end, wake; `facade` is one waiting request in the web: store, queue, wait, say the
truth. `prompts` says what the model is told; `strict_json`, `plain_text` and `money` read what comes from
outside.

The support agent, on the same loop, gate and ledger: `support_desk` takes a customer's message in,
`support_agent` answers it with `support_tools`, `fallback_model` asks a second provider. `replies` says
about money what the ledger says, `claims` finds sentences that say more, `rewriting` may put the rest
plainly. `notices` and `reasons` are all that code itself says to a customer, in the `languages` that there
are. `identity` is who asks, `sessions` the console's sign-ins, `limits` how much anybody may take,
`injection` with `injection_phrases` flags attempts to steer the model.

The policy decides about refunds: `policy` is its rules as functions, `policies` its numbers by month,
`policy_file` reads them and `policy_text` puts them in words. `orders` are the facts, `eligibility` asks the
policy about them, `seeds` are orders to try it on.

Conversations and approvals: `conversations` is what was said, `transcripts` what the model is given of it,
`retention` what is forgotten. `approvals` are refunds that wait for a person, `approval_desk` decides, and
`approval_agent` sends what was approved.

What a turn tells while it runs: `recorder` wraps the ports, and `journal` keeps the events.

What staff and operators read, and never what decides: `timeline` is a turn as steps, `timeline_reading` and
`timeline_bodies` make it from events, `turn_steps` are its steps. `casebook` finds conversations, `overview`
counts over time, `inspection` is turns and unknown refunds at 3 a.m., `figures` are what /metrics shows,
`alarms` what wakes somebody, `reveals` who was shown what, `logs` the lines.

Settings: `settings`, `settings_support` and `settings_orders` read the environment, `providers` and `prices`
are the models it may name; `doctor`, `doctor_support`, `doctor_orders` and `doctor_celery` judge it.

Wiring: `wiring`, `wiring_support`, `wiring_orders` and `wiring_agents` put all of it together. Only they name
the `adapters`: one module for each piece of an outside system (sql_, redis_, http_ and so on).
"""
