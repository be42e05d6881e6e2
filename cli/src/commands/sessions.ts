// jobcast sessions: who is signed in to the console.

import type { Session } from '@jobcast/client'
import type { Command } from 'commander'
import { groupCommand } from '../define/group-command.ts'
import { listCommand } from '../define/list-command.ts'
import { removeCommand } from '../define/remove-command.ts'
import { localTime } from '../output/local-time.ts'

export function sessionsCommand(): Command {
  const ls = listCommand<Session, { owner?: string }>(
    [
      { title: 'SESSION', of: ({ sessionId }) => sessionId },
      { title: 'KEY', of: ({ keyName, keyId }) => `${keyName} (${keyId})` },
      { title: 'SIGNED IN', of: ({ createdAt }) => localTime(createdAt) },
      { title: 'LAST USED', of: ({ lastUsedAt }) => localTime(lastUsedAt) },
      { title: 'EXPIRES', of: ({ expiresAt }) => localTime(expiresAt) },
      { title: 'ADDRESS', of: ({ address }) => address },
      { title: 'BROWSER', of: ({ userAgent }) => userAgent },
    ],
    (client, { owner }) => client.sessions.list({ limit: 200, ownerId: owner }),
  )
  const rm = removeCommand({
    argument: 'sessionId',
    verb: ['End', 'Ended'],
    noun: 'session',
    consequence: 'Its browser has to sign in again.',
    remove: (client, name) => client.sessions.end(name),
  })
  return groupCommand(
    'sessions',
    ls
      .description('List the sessions of the console that are still valid (default).')
      .option('--owner <ownerId>', 'sessions of another owner (requires ADMIN)'),
    rm.description('End sessions, and those created from them.'),
  )
}
