"""All guards, those of each part one after another."""

from tests.simulation.guards_callers import CALLER_GUARDS
from tests.simulation.guards_loop import LOOP_GUARDS
from tests.simulation.guards_money import MONEY_GUARDS
from tests.simulation.guards_owners import OWNER_GUARDS
from tests.simulation.guards_policy import POLICY_GUARDS

GUARDS = (*MONEY_GUARDS, *LOOP_GUARDS, *OWNER_GUARDS, *CALLER_GUARDS, *POLICY_GUARDS)
