// jobcast owners: the tenants. Requires a key with ADMIN.

import type { Owner } from '@jobcast/client'
import type { Command } from 'commander'
import { groupCommand } from '../define/group-command.ts'
import { listCommand } from '../define/list-command.ts'
import { ownerCommand, withClient } from '../define/owner-command.ts'
import { localTime } from '../output/local-time.ts'

export function ownersCommand(): Command {
  const ls = listCommand<Owner>(
    [
      { title: 'OWNER', of: ({ ownerId }) => ownerId },
      { title: 'NAME', of: ({ ownerName }) => ownerName },
      { title: 'CREATED', of: ({ createdAt }) => localTime(createdAt) },
    ],
    (client) => client.owners.list({ limit: 200 }),
  )
  return groupCommand('owners', ls.description('List owners (default).'), newCommand()).addHelpText(
    'after',
    '\nExample:\n  jobcast keys new first --scope MANAGE,READ,TRIGGER --owner $(jobcast owners new north)\n',
  )
}

function newCommand(): Command {
  return ownerCommand('new')
    .description('Create an owner and print its ownerId. "jobcast keys new … --owner" creates its first key.')
    .argument('<ownerName>')
    .action(
      withClient(async ({ client, out }, ownerName: string) => {
        const owner = await client.owners.create({ ownerName })
        out.say(`Created owner ${ownerName}:`)
        out.show(owner, () => owner.ownerId)
      }),
    )
}
