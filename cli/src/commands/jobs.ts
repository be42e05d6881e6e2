// jobcast jobs: jobs, which devices can run.

import { isJobcastError, type Job, type JobContent, type Jobcast } from '@jobcast/client'
import { whoInWords } from '@jobcast/contract/words'
import type { Command } from 'commander'
import { groupCommand } from '../define/group-command.ts'
import { withClient } from '../define/owner-command.ts'
import { resourceCommands } from '../define/resource-commands.ts'
import { priorityOption } from '../flags/priority-option.ts'
import { wholeNumber } from '../flags/whole-number.ts'
import { readContent } from '../input/read-content.ts'
import { approvalText } from '../output/approval-text.ts'
import { localTime } from '../output/local-time.ts'
import { whoWithId } from '../output/maker-text.ts'
import { signatureFields } from '../output/signature-fields.ts'
import { versionCommands } from './job-versions.ts'
import { signCommand } from './jobs-sign.ts'

type PutFlags = {
  file?: string
  description?: string
  expireAfterSeconds?: number
  timeoutSeconds?: number
  deadlineSeconds?: number
  window?: string
  priority?: number
}

const jobs = resourceCommands('jobs')

export function jobsCommand(): Command {
  return groupCommand(
    'jobs',
    jobs.ls([
      { title: 'JOB', of: ({ jobName }) => jobName },
      { title: 'VERSION', of: ({ version }) => version },
      { title: 'DESCRIPTION', of: ({ description }) => description || null },
      { title: 'UPDATED', of: ({ updatedAt }) => localTime(updatedAt) },
      { title: 'BY', of: ({ updatedBy, updatedByName }) => whoInWords(updatedBy, updatedByName) },
    ]),
    jobs.get((job) => ({ fields: fieldsOf(job) })),
    putCommand(),
    signCommand(),
    removeCommand(),
    ...versionCommands(),
  ).addHelpText('after', '\nExample:\n  jobcast jobs put restart -f restart.yaml\n')
}

function removeCommand(): Command {
  return jobs
    .rm(
      'Executions that have already been triggered continue.',
      (client, name, { force }: { force?: boolean }) => client.jobs.delete(name, { force }),
    )
    .option('--force', 'even if schedules or waiting runs need it; its schedules are paused')
}

function fieldsOf(job: Job) {
  return {
    job: job.jobName,
    version: job.version,
    description: job.description || null,
    document: JSON.stringify(job.document),
    parameters: job.parameters && JSON.stringify(job.parameters),
    expireAfterSeconds: job.expireAfterSeconds,
    timeoutSeconds: job.timeoutSeconds,
    deadlineSeconds: job.deadlineSeconds,
    retry: job.retry && JSON.stringify(job.retry),
    rollout: job.rollout && JSON.stringify(job.rollout),
    ...(job.approval && { approval: approvalText(job.approval) }),
    ...(job.window && { window: job.window }),
    priority: job.priority,
    ...signatureFields(job),
    created: localTime(job.createdAt),
    updated: localTime(job.updatedAt),
    by: whoWithId(job.updatedBy, job.updatedByName),
  }
}

function putCommand(): Command {
  return jobs
    .put()
    .option('-f, --file <file>', 'YAML or JSON file with the complete job; - is standard input')
    .option('--description <text>', 'what the job does')
    .option('--expire-after-seconds <number>', 'how long an execution may wait to start', wholeNumber(1))
    .option('--timeout-seconds <number>', 'how long a device may work on an execution', wholeNumber(1))
    .option('--deadline-seconds <number>', 'how long an execution may take in total', wholeNumber(1))
    .option('--window <name>', 'window in which its executions are offered to devices')
    .addOption(priorityOption('5'))
    .addHelpText('after', '\nWithout --file, fields without a flag keep their value.\n')
    .action(
      withClient(async ({ client, out, io }, name: string, flags: PutFlags) => {
        const file = flags.file === undefined ? undefined : await readContent(io, flags.file)
        const before = await readJob(client, name, file !== undefined)
        const base = file ?? contentOf(before)
        const { description, expireAfterSeconds, timeoutSeconds, deadlineSeconds, window, priority } = flags
        const limits = { expireAfterSeconds, timeoutSeconds, deadlineSeconds }
        const changes = { description, ...limits, window, priority }
        const given = Object.entries(changes).filter(([, value]) => value !== undefined)
        const { created, value } = await client.jobs.put(name, { ...base, ...Object.fromEntries(given) })
        const isSame = !created && value.version === before?.version
        const done = isSame ? `Job ${name} is unchanged` : `${created ? 'Created' : 'Updated'} job ${name}`
        out.say(`${done}, version ${value.version}.`)
        out.show(value, () => '')
      }),
    )
}

/** Undefined if the job does not exist or, if it is optional, the key must not read it. */
async function readJob(client: Jobcast, name: string, isOptional: boolean): Promise<Job | undefined> {
  try {
    return await client.jobs.get(name)
  } catch (error) {
    if (isJobcastError(error, 'J-301') || (isOptional && isJobcastError(error))) return undefined
    throw error
  }
}

function contentOf(job: Job | undefined): JobContent {
  if (job === undefined) return {}
  const { jobName, version, createdAt, updatedAt, updatedBy, updatedByName, ...content } = job
  return Object.fromEntries(Object.entries(content).filter(([, value]) => value !== null)) as JobContent
}
