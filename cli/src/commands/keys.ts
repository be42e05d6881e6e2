// jobcast keys: API keys and their scopes.

import type { ApiKey, NewApiKey } from '@jobcast/client'
import { scopes } from '@jobcast/contract'
import type { Command } from 'commander'
import { groupCommand } from '../define/group-command.ts'
import { listCommand } from '../define/list-command.ts'
import { ownerCommand, withClient } from '../define/owner-command.ts'
import { removeCommand } from '../define/remove-command.ts'
import { choicesOption } from '../flags/choice.ts'
import { instantAhead } from '../flags/duration.ts'
import { localTime } from '../output/local-time.ts'

type NewFlags = { scope: NonNullable<NewApiKey['scopes']>; expires?: string; owner?: string }

export function keysCommand(): Command {
  const ls = listCommand<ApiKey, { owner?: string }>(
    [
      { title: 'KEY', of: ({ keyId }) => keyId },
      { title: 'NAME', of: ({ keyName }) => keyName },
      { title: 'SCOPES', of: ({ scopes }) => scopes.join(', ') || null },
      { title: 'EXPIRES', of: ({ expiresAt }) => localTime(expiresAt) },
      { title: 'REVOKED', of: ({ revokedAt }) => localTime(revokedAt) },
      { title: 'LAST USED', of: ({ lastUsedAt }) => localTime(lastUsedAt) },
    ],
    (client, { owner }) => client.keys.list({ limit: 200, ownerId: owner }),
  )
  const rm = removeCommand({
    argument: 'keyId',
    verb: ['Revoke', 'Revoked'],
    noun: 'key',
    consequence: 'Calls with this key are rejected from now on.',
    remove: (client, name) => client.keys.revoke(name),
  })
  return groupCommand(
    'keys',
    ls
      .description('List keys, including revoked and expired ones (default).')
      .option('--owner <ownerId>', 'keys of another owner (requires ADMIN)'),
    newCommand(),
    rm.description('Revoke keys.'),
  ).addHelpText('after', '\nExample:\n  jobcast keys new ci --scope TRIGGER,READ --expires 90d\n')
}

function newCommand(): Command {
  return ownerCommand('new')
    .description('Create an API key. It is shown only once.')
    .argument('<keyName>')
    .addOption(
      choicesOption(
        '--scope <scope>',
        'scope of the key; can be repeated or comma-separated',
        scopes,
      ).makeOptionMandatory(),
    )
    .option('--expires <when>', 'such as 90d or 2027-01-31 (default: never)', instantAhead)
    .option('--owner <ownerId>', 'create it for another owner (requires ADMIN)')
    .action(
      withClient(async ({ client, out }, keyName: string, flags: NewFlags) => {
        const created = await client.keys.create({
          keyName,
          scopes: flags.scope,
          ...(flags.expires !== undefined && { expiresAt: flags.expires }),
          ...(flags.owner !== undefined && { ownerId: flags.owner }),
        })
        out.say(`Created key ${created.keyId} (${created.keyName}). It is shown only once:`)
        out.show(created, () => created.apiKey)
      }),
    )
}
