// jobcast diff: shows how the server differs from files.

import type { Command } from 'commander'
import { ownerCommand, withClient } from '../define/owner-command.ts'
import { explainFleet } from '../fleet/explain-fleet.ts'
import { planFleet } from '../fleet/plan-fleet.ts'
import { type FleetFlags, fleetOptions, readFleet } from '../fleet/read-fleet.ts'
import { showPlan } from '../fleet/show-plan.ts'

export function diffCommand(): Command {
  const command = ownerCommand('diff')
  for (const option of fleetOptions()) command.addOption(option)
  return command
    .addHelpText('after', '\nExits with 0 if nothing differs, with 6 if something does.\n')
    .action(
      withClient(({ client, out, io }, flags: FleetFlags) =>
        explainFleet(out, async () =>
          showPlan(out, await planFleet(client, await readFleet(io, flags), flags)),
        ),
      ),
    )
}
