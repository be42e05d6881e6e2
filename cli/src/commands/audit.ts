// jobcast audit: lists who changed what, and exports it in a form that can be verified.

import type { AuditEntry } from '@jobcast/client'
import type { Command } from 'commander'
import { groupCommand } from '../define/group-command.ts'
import { listCommand } from '../define/list-command.ts'
import { ownerCommand, withClient } from '../define/owner-command.ts'
import { exitCode } from '../errors/exit-code.ts'
import { localTime } from '../output/local-time.ts'
import { verifyCommand } from './audit-verify.ts'

type AuditFlags = { principal?: string; action?: string; subject?: string; after?: string; before?: string }

export function auditCommand(): Command {
  const ls = listCommand<AuditEntry, AuditFlags>(
    [
      { title: 'ENTRY', of: ({ auditId }) => String(auditId) },
      { title: 'AT', of: ({ at }) => localTime(at) },
      { title: 'WHO', of: ({ name, principal }) => name ?? principal },
      { title: 'ADDRESS', of: ({ address }) => address },
      { title: 'ACTION', of: ({ action }) => action },
      { title: 'SUBJECT', of: ({ subject }) => subject },
      { title: 'NOTE', of: ({ note }) => note },
    ],
    (client, { principal, action, subject, after, before }) =>
      client.audit.list({ limit: 200, principal, action, subject, after, before }),
  )
  return groupCommand(
    'audit',
    ls
      .description('List entries of the audit log, newest first (default; requires AUDIT).')
      .option('--principal <principal>', 'only of this principal, such as key:3f9aZ0qLxw')
      .option('--action <action>', 'only this action, such as job.changed, or job.* for all of a noun')
      .option('--subject <subject>', 'only of this subject, such as job:restart')
      .option('--after <instant>', 'only later than this, such as 2026-11-15T09:30:00Z')
      .option('--before <instant>', 'only earlier than this'),
    exportCommand(),
    checkpointCommand(),
    verifyCommand(),
  )
}

function exportCommand(): Command {
  return ownerCommand('export')
    .description('Print all sealed entries and their seals, one per line.')
    .addHelpText('after', '\nExample:\n  jobcast audit export > audit.ndjson\n')
    .action(
      withClient(async ({ client, io }) => {
        const decoder = new TextDecoder()
        for await (const piece of client.audit.export())
          io.stdout.write(decoder.decode(piece, { stream: true }))
        return exitCode.ok
      }),
    )
}

function checkpointCommand(): Command {
  return ownerCommand('checkpoint')
    .description('Print the last seal and the key that verifies it. Keep it outside of the service.')
    .addHelpText('after', '\nExample:\n  jobcast audit checkpoint > checkpoint.json\n')
    .action(
      withClient(async ({ client, io }) => {
        io.stdout.write(`${JSON.stringify(await client.audit.checkpoint())}\n`)
        return exitCode.ok
      }),
    )
}
