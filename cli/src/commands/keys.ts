// jobcast keys: who may call.

import type { ApiKey, NewApiKey } from '@jobcast/client'
import { scopes } from '@jobcast/contract'
import type { Command } from 'commander'
import { groupCommand } from '../define/group-command.ts'
import { listCommand } from '../define/list-command.ts'
import { ownerCommand, withClient } from '../define/owner-command.ts'
import { removeCommand } from '../define/remove-command.ts'
import { collectWords } from '../flags/collect.ts'
import { instantAhead } from '../flags/duration.ts'
import { localTime } from '../output/local-time.ts'

type NewFlags = { scope: string[]; expires?: string; owner?: string }

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
    word: 'key',
    consequence: 'Whoever calls with it is refused from then on.',
    remove: (client, name) => client.keys.revoke(name),
  })
  return groupCommand(
    'keys',
    ls
      .description('List keys, revoked and expired ones too; also without "ls".')
      .option('--owner <ownerId>', 'of another owner (needs ADMIN)'),
    newCommand(),
    rm.description('Revoke keys.'),
  ).addHelpText('after', '\nExample:\n  jobcast keys new ci --scope TRIGGER,READ --expires 90d\n')
}

function newCommand(): Command {
  return ownerCommand('new')
    .description('Make an API key. It is shown this once.')
    .argument('<keyName>')
    .requiredOption('--scope <scope>', `what it may do: ${scopes.join(', ')}; one each time`, collectWords)
    .option('--expires <when>', 'like 90d or 2027-01-31 (default: never)', instantAhead)
    .option('--owner <ownerId>', 'for another owner (needs ADMIN)')
    .action(
      withClient(async ({ client, out }, keyName: string, flags: NewFlags) => {
        const made = await client.keys.create({
          keyName,
          scopes: flags.scope.map((scope) => scope.toUpperCase()) as NonNullable<NewApiKey['scopes']>,
          ...(flags.expires !== undefined && { expiresAt: flags.expires }),
          ...(flags.owner !== undefined && { ownerId: flags.owner }),
        })
        out.say(`Key ${made.keyId} (${made.keyName}), shown this once:`)
        out.show(made, () => made.apiKey)
      }),
    )
}
