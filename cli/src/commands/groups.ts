// jobcast groups: named selectors.

import { type GroupContent, isJobcastError } from '@jobcast/client'
import { whoInWords } from '@jobcast/contract/words'
import type { Command } from 'commander'
import { groupCommand } from '../define/group-command.ts'
import { withClient } from '../define/owner-command.ts'
import { resourceCommands } from '../define/resource-commands.ts'
import { localTime } from '../output/local-time.ts'
import { whoWithId } from '../output/maker-text.ts'

type PutFlags = { description?: string; window?: string | false }

const groups = resourceCommands('groups')

export function groupsCommand(): Command {
  return groupCommand(
    'groups',
    groups.ls([
      { title: 'GROUP', of: ({ groupName }) => groupName },
      { title: 'WHERE', of: ({ where }) => where },
      { title: 'WINDOW', of: ({ window }) => window },
      { title: 'BY', of: ({ updatedBy, updatedByName }) => whoInWords(updatedBy, updatedByName) },
      { title: 'DESCRIPTION', of: ({ description }) => description || null },
    ]),
    getCommand(),
    putCommand(),
    removeCommand(),
  ).addHelpText('after', "\nExample:\n  jobcast groups put kiosks 'tag=kiosk and site in (berlin, lima)'\n")
}

function removeCommand(): Command {
  return groups
    .rm('Its devices are kept.', (client, name, { force }: { force?: boolean }) =>
      client.groups.delete(name, { force }),
    )
    .option(
      '--force',
      'even if groups, jobs, schedules or runs refer to it; these are then rejected or paused',
    )
}

/** The selector names a deleted group, so it has no counts; the other fields can be shown. */
function unlessUnknown(error: unknown): { total?: number; online?: number } {
  if (isJobcastError(error, 'J-309')) return {}
  throw error
}

function getCommand(): Command {
  const show = groups.get(async (group, client) => {
    const { groupName, where, description, window, createdAt, updatedAt } = group
    const { total = null, online = null } = await client.devices.count(where).catch(unlessUnknown)
    return {
      value: { ...group, total, online },
      fields: {
        group: groupName,
        where,
        description,
        window,
        devices:
          total === null ? 'unknown: it refers to a group that does not exist' : `${total}, ${online} online`,
        created: localTime(createdAt),
        'created by': whoWithId(group.createdBy, group.createdByName),
        updated: localTime(updatedAt),
        'updated by': whoWithId(group.updatedBy, group.updatedByName),
      },
    }
  })
  return show.description('Show a group, and how many devices it has now.')
}

function putCommand(): Command {
  return groups
    .put()
    .description('Create or change a group.')
    .argument('<where>', 'selector')
    .option('--description <text>', 'what it is for')
    .option('--window <name>', 'offer work to its devices only while this window is open')
    .option('--no-window', 'remove the window of the group')
    .addHelpText('after', '\nFields without a flag keep their value.\n')
    .action(
      withClient(async (context, name: string, where: string, flags: PutFlags) => {
        const base = await groups.contentOf(context.client, name)
        // The type lists every field of a group, so that none is missed here.
        const content: Record<keyof GroupContent, unknown> = {
          where,
          description: flags.description ?? base.description,
          window: flags.window === false ? null : (flags.window ?? base.window),
        }
        await groups.save(context, name, content as GroupContent)
      }),
    )
}
