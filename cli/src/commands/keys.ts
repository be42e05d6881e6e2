// jobcast keys: API keys and their scopes.

import type { ApiKey, NewApiKey, RevokedKeys } from '@jobcast/client'
import { scopes } from '@jobcast/contract'
import type { Command } from 'commander'
import { groupCommand } from '../define/group-command.ts'
import { listCommand } from '../define/list-command.ts'
import { ownerCommand, withClient } from '../define/owner-command.ts'
import { exitCode } from '../errors/exit-code.ts'
import { choicesOption } from '../flags/choice.ts'
import { collect } from '../flags/collect.ts'
import { instantAhead } from '../flags/duration.ts'
import { confirm } from '../input/ask.ts'
import { restrictionText } from '../output/key-fields.ts'
import { localTime } from '../output/local-time.ts'
import { makerText } from '../output/maker-text.ts'
import { authorCommand } from './keys-author.ts'
import { resetAdminCommand } from './keys-reset-admin.ts'

type NewFlags = {
  scope: NonNullable<NewApiKey['scopes']>
  expires?: string
  owner?: string
  job?: string[]
  where?: string
  address?: string[]
}

type RevokeFlags = { descendants?: true; yes?: boolean }

export function keysCommand(): Command {
  const ls = listCommand<ApiKey, { owner?: string }>(
    [
      { title: 'KEY', of: ({ keyId }) => keyId },
      { title: 'NAME', of: ({ keyName }) => keyName },
      { title: 'SCOPES', of: ({ scopes }) => scopes.join(', ') || null },
      { title: 'RESTRICTED TO', of: restrictionText },
      { title: 'EXPIRES', of: ({ expiresAt }) => localTime(expiresAt) },
      { title: 'REVOKED', of: ({ revokedAt }) => localTime(revokedAt) },
      { title: 'LAST USED', of: ({ lastUsedAt }) => localTime(lastUsedAt) },
      { title: 'CREATED BY', of: makerText },
    ],
    (client, { owner }) => client.keys.list({ limit: 200, ownerId: owner }),
  )
  return groupCommand(
    'keys',
    ls
      .description('List keys, including revoked and expired ones (default).')
      .option('--owner <ownerId>', 'keys of another owner (requires ADMIN)'),
    newCommand(),
    revokeCommand(),
    authorCommand(),
    resetAdminCommand(),
  ).addHelpText(
    'after',
    "\nExample:\n  jobcast keys new ci --scope TRIGGER,READ --job 'update-*' --where tag=kiosk --expires 90d\n",
  )
}

function newCommand(): Command {
  return ownerCommand('new')
    .alias('create')
    .description('Create an API key. It is shown only once.')
    .argument('<keyName>')
    .addOption(
      choicesOption(
        '--scope <scope>',
        'scope of the key; can be repeated or comma-separated',
        scopes,
      ).makeOptionMandatory(),
    )
    .option(
      '--expires <when>',
      'such as 90d or 2027-01-31 (default: the expiry of the key you use)',
      instantAhead,
    )
    .option('--owner <ownerId>', 'create it for another owner (requires ADMIN)')
    .option(
      '--job <name>',
      'restrict it to a job, or to all jobs with a prefix (update-*); can be repeated',
      collect,
    )
    .option(
      '--where <selector>',
      'restrict it to the devices that match a selector of tags, ids and own attributes (tag=kiosk)',
    )
    .option(
      '--address <range>',
      'accept it only from an address or a range such as 10.0.0.0/8; can be repeated',
      collect,
    )
    .action(
      withClient(async ({ client, out }, keyName: string, flags: NewFlags) => {
        const created = await client.keys.create({
          keyName,
          scopes: flags.scope,
          ...(flags.expires !== undefined && { expiresAt: flags.expires }),
          ...(flags.owner !== undefined && { ownerId: flags.owner }),
          ...(flags.job !== undefined && { jobs: flags.job }),
          ...(flags.where !== undefined && { where: flags.where }),
          ...(flags.address !== undefined && { addresses: flags.address }),
        })
        out.say(`Created key ${created.keyId} (${created.keyName}). It is shown only once:`)
        out.show(created, () => created.apiKey)
        if (created.expiresAt === null && !out.json) {
          out.say('This key never expires. To give a key an end, create it with --expires, such as 90d.')
        }
      }),
    )
}

function revokeCommand(): Command {
  return ownerCommand('rm')
    .alias('revoke')
    .description('Revoke keys.')
    .argument('<keyId...>')
    .option(
      '--descendants',
      'also revoke the keys and enrollments that these keys have created, and pause their schedules',
    )
    .option('-y, --yes', 'do not ask for confirmation')
    .addHelpText(
      'after',
      '\nWithout --descendants, keys that a revoked key has created remain valid; "jobcast keys" shows who created them.' +
        '\nIts schedules and its runs with --start-at belong to the owner and continue; with --descendants they are paused.\n',
    )
    .action(
      withClient(async ({ client, out, io }, keyIds: string[], flags: RevokeFlags) => {
        const { descendants = false } = flags
        const what = `key ${keyIds.join(', ')}${descendants ? ' and everything created with it' : ''}`
        const question = `Revoke ${what}? Calls with ${descendants ? 'these keys' : 'this key'} are rejected from now on.`
        if (!(await confirm(io, question, flags))) {
          out.say('Canceled; nothing was changed.')
          return exitCode.interrupted
        }
        const all: RevokedKeys = {
          ...{ revokedKeys: 0, revokedEnrollments: 0, pausedSchedules: [], pausedRuns: [], isMore: false },
        }
        for (const keyId of keyIds) {
          if (!descendants) {
            await client.keys.revoke(keyId)
            out.say(`Revoked key ${keyId}.`)
            continue
          }
          const one = await client.keys.revoke(keyId, { descendants })
          all.revokedKeys += one.revokedKeys
          all.revokedEnrollments += one.revokedEnrollments
          all.pausedSchedules.push(...one.pausedSchedules)
          all.pausedRuns.push(...one.pausedRuns)
          all.isMore ||= one.isMore
          out.say(
            `Revoked key ${keyId}: ${one.revokedKeys} keys and ${one.revokedEnrollments} enrollments in total.`,
          )
          for (const line of pausedLines(one)) out.say(line)
        }
        if (out.json) out.show({ revoked: keyIds, ...(descendants && all) }, () => '')
        return exitCode.ok
      }),
    )
}

function pausedLines({ pausedSchedules, pausedRuns, isMore }: RevokedKeys): string[] {
  const more = isMore ? ', …' : ''
  const schedules = pausedSchedules.map(({ scheduleName }) => scheduleName).join(', ')
  const runs = pausedRuns.map(({ runId }) => runId).join(', ')
  return [
    ...(schedules === '' ? [] : [`Paused schedules: ${schedules}${more}`]),
    ...(runs === '' ? [] : [`Paused runs that had not started: ${runs}${more}`]),
  ]
}
