"""Promise: Egress.
Attacker: a dozen tools with egress. Means: as many connections to the proxy as each can make, held
open, so that the calling program, in which the proxy is, has no descriptor left for anything else.

Expected: connections are accepted up to the limit, the rest is refused, and the caller opens files
and runs other tools as before.
"""
COUNT = 250  # of what may be at once, many times as much; and as many as the tool itself may have


def test_caller_keeps_its_descriptors(egress_cell):
    egress_cell.succeeds_inside("breach_net", "reach", "127.0.0.1", 3128)
    egress_cell.box.host("host_swarm", egress_cell.jail, COUNT, policy=egress_cell.policy)
