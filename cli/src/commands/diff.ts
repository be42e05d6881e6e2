// jobcast diff: shows how the server differs from files.

import type { Command } from 'commander'
import { ownerCommand, withClient } from '../define/owner-command.ts'
import { exitCode } from '../errors/exit-code.ts'
import { explainFleet } from '../fleet/explain-fleet.ts'
import { planFleet } from '../fleet/plan-fleet.ts'
import { planJson, planText } from '../fleet/plan-text.ts'
import { type FleetFlags, fleetOptions, readFleet } from '../fleet/read-fleet.ts'

export function diffCommand(): Command {
  const command = ownerCommand('diff')
  for (const option of fleetOptions()) command.addOption(option)
  return command
    .addHelpText('after', '\nExits with 0 if nothing differs, with 6 if something does.\n')
    .action(
      withClient(({ client, out, io }, flags: FleetFlags) =>
        explainFleet(out, async () => {
          const plan = await planFleet(client, await readFleet(io, flags), flags)
          out.show(planJson(plan), () => planText(plan, out.paint))
          if (plan.hasHidden) {
            out.say(
              'Webhook URLs were compared by scheme and host only: the key does not have the scope MANAGE.',
            )
          }
          if (plan.changes.length === 0) {
            out.say(`No differences: ${plan.unchanged} up to date.`)
            return exitCode.ok
          }
          return exitCode.differs
        }),
      ),
    )
}
