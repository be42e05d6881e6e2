// jobcast webhooks test: sends one test request and shows the response.

import type { Command } from 'commander'
import { ownerCommand, withClient } from '../define/owner-command.ts'
import { exitCode } from '../errors/exit-code.ts'
import { plainText } from '../output/text-width.ts'

export function testCommand(): Command {
  return ownerCommand('test')
    .description('Send a signed test request to a webhook now, even if it is paused.')
    .argument('<webhookName>')
    .addHelpText('after', '\nExits with 6 if the receiver did not accept it.\n')
    .action(
      withClient(async ({ client, out }, name: string) => {
        const result = await client.webhooks.test(name)
        const { status, error, ms } = result
        out.show(result, () => `${error === null ? `Accepted with ${status}` : plainText(error)} (${ms} ms)`)
        return error === null ? exitCode.ok : exitCode.unsuccessful
      }),
    )
}
