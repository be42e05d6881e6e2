// jobcast jobs versions, diff, restore: earlier versions of a job.

import type { Jobcast, JobVersion } from '@jobcast/client'
import { whoInWords } from '@jobcast/contract/words'
import type { Command } from 'commander'
import { ownerCommand, withClient } from '../define/owner-command.ts'
import { exitCode } from '../errors/exit-code.ts'
import { wholeNumber } from '../flags/whole-number.ts'
import { fieldLines } from '../fleet/plan-text.ts'
import { localTime } from '../output/local-time.ts'
import type { Column } from '../output/print-table.ts'
import { maxPageSize, takeItems } from '../service/take-items.ts'

export function versionCommands(): Command[] {
  return [versionsCommand(), diffCommand(), restoreCommand()]
}

function versionsCommand(): Command {
  return ownerCommand('versions')
    .description('List the versions of a job, newest first.')
    .argument('<jobName>')
    .option('--limit <number>', 'maximum number of results', wholeNumber(1), 20)
    .addHelpText('after', '\nExample:\n  jobcast jobs versions restart\n')
    .action(
      withClient(async ({ client, out }, name: string, { limit }: { limit: number }) => {
        const list = client.jobs.versions(name, { limit: Math.min(limit, maxPageSize) })
        const { items, hasMore } = await takeItems(list, limit)
        out.showTable(items, columns)
        if (hasMore) out.say(`More versions exist; raise --limit (${limit}) to see them.`)
      }),
    )
}

function diffCommand(): Command {
  return ownerCommand('diff')
    .description('Show what differs between two versions of a job.')
    .argument('<jobName>')
    .argument('<from>', 'version', wholeNumber(1))
    .argument('[to]', 'version (default: the current one)', wholeNumber(1))
    .addHelpText(
      'after',
      '\nExits with 0 if nothing differs, with 6 if something does.\n\nExample:\n  jobcast jobs diff restart 3 5\n',
    )
    .action(
      withClient(async ({ client, out }, name: string, from: number, to: number | undefined) => {
        const [before, after] = [await read(client, name, from), await read(client, name, to)]
        const fields = changedFields(before, after)
        const lines = Object.entries(fields).flatMap(([field, change]) => fieldLines(field, change))
        out.show({ from: before.version, to: after.version, fields }, () =>
          lines.map(({ mark, text }) => out.paint(styles[mark], text)).join('\n'),
        )
        if (lines.length > 0) return exitCode.differs
        out.say(`No differences between version ${before.version} and ${after.version}.`)
        return exitCode.ok
      }),
    )
}

function restoreCommand(): Command {
  return ownerCommand('restore')
    .description('Create a new version of a job with the content of an earlier one.')
    .argument('<jobName>')
    .argument('<version>', 'version to restore', wholeNumber(1))
    .addHelpText('after', '\nExample:\n  jobcast jobs restore restart 3\n')
    .action(
      withClient(async ({ client, out }, name: string, version: number) => {
        const job = await client.jobs.restore(name, version)
        out.say(`Job ${name} has the content of version ${version} as version ${job.version}.`)
        out.show(job, () => '')
      }),
    )
}

const styles = { '+': 'green', '~': 'yellow', '-': 'red' } as const

async function read(client: Jobcast, name: string, version: number | undefined): Promise<JobVersion> {
  return client.jobs.version(name, version ?? (await client.jobs.get(name)).version)
}

function changedFields(before: JobVersion, after: JobVersion) {
  const [from, to] = [contentOf(before), contentOf(after)]
  const changed = Object.keys(to).filter((field) => JSON.stringify(from[field]) !== JSON.stringify(to[field]))
  return Object.fromEntries(changed.map((field) => [field, { from: from[field], to: to[field] }]))
}

function contentOf(all: JobVersion): Record<string, unknown> {
  const { jobName, version, isCurrent, createdAt, createdBy, createdByName, ...content } = all
  return content
}

const columns: Column<JobVersion>[] = [
  { title: 'VERSION', of: ({ version, isCurrent }) => (isCurrent ? `${version} (current)` : version) },
  { title: 'CREATED', of: ({ createdAt }) => localTime(createdAt) },
  { title: 'BY', of: ({ createdBy, createdByName }) => whoInWords(createdBy, createdByName) },
  { title: 'DESCRIPTION', of: ({ description }) => description || null },
]
