// jobcast jobs sign: signs jobs in a file with the key of their author.

import { isJobcastError, Jobcast } from '@jobcast/client'
import { audienceProblem } from '@jobcast/contract/signature'
import type { Command } from 'commander'
import { ownerCommand, withOut } from '../define/owner-command.ts'
import { UsageError } from '../errors/usage-error.ts'
import { instantAhead } from '../flags/duration.ts'
import { wholeNumber } from '../flags/whole-number.ts'
import { type AccessFlags, accessOf } from '../service/access.ts'
import { freshAccess } from '../service/fresh-access.ts'
import { readSigningKey } from '../sign/author-key-file.ts'
import { readJobFile } from '../sign/job-file.ts'
import { type SignedResult, type Stored, signJob } from '../sign/sign-job.ts'

type SignFlags = AccessFlags & {
  key: string
  name?: string
  version?: number
  notAfter?: string
  audience?: string
  out?: string
}

export function signCommand(): Command {
  return ownerCommand('sign')
    .description('Sign the jobs in a file, so that devices that trust this key run them.')
    .argument('<file>', 'fleet file, or YAML or JSON file with one job; signatures are written into it')
    .requiredOption('--key <file>', 'private key of the author (jobcast keys author new)')
    .option(
      '--name <jobName>',
      'sign only this job; for a file with one job, its name (default: the name of the file)',
    )
    .option(
      '--version <number>',
      'version to sign (default: ask the service for the next one)',
      wholeNumber(1),
    )
    .option(
      '--not-after <when>',
      'devices do not start it after this: such as 90d or 2027-01-31',
      instantAhead,
    )
    .option('--audience <name>', 'only devices with this --audience, or without one, start it')
    .option('--out <file>', 'write to this file instead')
    .addHelpText(
      'after',
      '\nA signed file gets an additional signature if nothing in it has changed\n' +
        'and the service does not have this version yet; otherwise it is signed again, as the next version.\n' +
        'With --version the service is not contacted, and no API key is needed.\n' +
        '\nExample:\n  jobcast jobs sign restart.yaml --key author.pem && jobcast jobs put restart -f restart.yaml\n',
    )
    .action(
      withOut(async ({ io, out }, file: string, flags: SignFlags) => {
        const key = readSigningKey(flags.key)
        const jobFile = readJobFile(file, flags.name)
        const notAfter = flags.notAfter === undefined ? undefined : wholeSeconds(flags.notAfter)
        const { version, audience } = flags
        const problem = audience === undefined ? undefined : audienceProblem(audience)
        if (problem !== undefined) throw new UsageError(`--audience ${problem}`)
        const stored = (jobName: string) => readStored(flags, io.env, jobName)
        const wish = { version, notAfter, audience, stored, warn: (text: string) => out.say(text) }
        const results: SignedResult[] = []
        for (const job of jobFile.jobs) {
          const result = await signJob(job, key, wish)
          job.setSignatures([result.envelope])
          results.push(result)
        }
        jobFile.write(flags.out ?? file)
        for (const result of results) out.say(inWords(result))
        out.show(
          results.map(({ signed: { jobName, version, notAfter = null, audience = null }, envelope }) => ({
            jobName,
            version,
            notAfter,
            audience,
            keyIds: envelope.signatures.map(({ keyid }) => keyid),
          })),
          () => '',
        )
      }),
    )
}

function inWords({ signed, envelope: { signatures }, replaced }: SignedResult): string {
  const audience = signed.audience === undefined ? '' : `, for ${signed.audience}`
  const until = signed.notAfter === undefined ? '' : `, valid until ${signed.notAfter}`
  const count = signatures.length === 1 ? '1 signature' : `${signatures.length} signatures`
  const before = replaced === 0 ? '' : ' Its previous signatures were for other content and were removed.'
  return `Signed job ${signed.jobName}, version ${signed.version}${audience}${until}: ${count}.${before}`
}

/** Instants in the signed payload have no fractions of a second. */
function wholeSeconds(instant: string): string {
  if (Date.parse(instant) <= Date.now()) throw new UsageError('--not-after must be in the future')
  return instant.replace(/\.\d+Z$/, 'Z')
}

/** Undefined if the job does not exist. */
async function readStored(
  flags: AccessFlags,
  env: NodeJS.ProcessEnv,
  jobName: string,
): Promise<Stored | undefined> {
  const { url, apiKey } = await freshAccess(accessOf(flags, env), env)
  const client = new Jobcast({ url, apiKey })
  try {
    return await client.jobs.get(jobName)
  } catch (error) {
    if (isJobcastError(error, 'J-301')) return undefined
    throw error
  }
}
