// jobcast login and logout: an address and a key, checked and kept as a profile.

import { text } from 'node:stream/consumers'
import { type ApiKey, Jobcast } from '@jobcast/client'
import type { Command } from 'commander'
import { plainCommand, withOut } from '../define/owner-command.ts'
import { exitCode } from '../errors/exit-code.ts'
import { UsageError } from '../errors/usage-error.ts'
import { ask, canAsk } from '../input/ask.ts'
import type { Io } from '../io.ts'
import { keyFields } from '../output/key-fields.ts'
import { fieldsText } from '../output/print-table.ts'
import { defaultUrl } from '../service/access.ts'
import {
  defaultProfile,
  profilesFile,
  readProfiles,
  removeProfile,
  saveProfile,
} from '../service/profiles.ts'

type LoginFlags = { url?: string; profile: string; apiKeyStdin?: true }

export function loginCommand(): Command {
  return plainCommand('login')
    .option('--url <address>', 'the service; asked for unless said')
    .option('--profile <name>', 'keep it under this name', defaultProfile)
    .option('--api-key-stdin', 'read the key from standard input instead of asking for it')
    .addHelpText(
      'after',
      '\nExample:\n  jobcast login --url https://jobs.example --api-key-stdin < key-file\n',
    )
    .action(
      withOut(async ({ out, io }, flags: LoginFlags) => {
        const url = await urlOf(io, flags)
        const apiKey = url && (await keyOf(io, flags))
        if (!url || !apiKey) return exitCode.interrupted
        if (isClearText(url)) out.say(`The key travels in clear text to ${url}; https would hide it.`)
        // Before it is kept: a profile that does not work is worse than none.
        const key = await new Jobcast({ url, apiKey, maxRetries: 1 }).keys.self()
        const file = profilesFile(io.env)
        saveProfile(file, flags.profile, { url, apiKey })
        out.say(`Profile "${flags.profile}" is kept in ${file} and used from now on.`)
        out.show({ profile: flags.profile, url, ...key }, () => fieldsText(shown(url, key), out.paint))
        return exitCode.ok
      }),
    )
}

export function logoutCommand(): Command {
  return plainCommand('logout')
    .option('--profile <name>', 'this one instead of the current one')
    .addHelpText('after', '\nThe key itself stays good; "jobcast keys rm" revokes one.\n')
    .action(
      withOut(async ({ out, io }, flags: { profile?: string }) => {
        const file = profilesFile(io.env)
        const name = flags.profile ?? readProfiles(file).current
        if (name === undefined) throw new UsageError('there is no current profile; --profile names another')
        removeProfile(file, name)
        out.say(`Profile "${name}" is gone. Its key is still good; "jobcast keys rm" revokes one.`)
        if (out.json) out.show({ removed: name }, () => '')
      }),
    )
}

function shown(url: string, key: ApiKey) {
  return { service: url, ...keyFields(key) }
}

/** Undefined where the person does not want to go on. */
async function urlOf(io: Io, { url }: LoginFlags): Promise<string | undefined> {
  const fallback = io.env.JOBCAST_URL || defaultUrl
  if (url !== undefined || !canAsk(io)) return checkedUrl(url ?? fallback)
  const answer = await ask(io, `Address of the service [${fallback}]: `)
  return answer === undefined ? undefined : checkedUrl(answer.trim() || fallback)
}

function checkedUrl(url: string): string {
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new UsageError(`"${url}" is not an address like http://127.0.0.1:8080`)
  return url.replace(/\/+$/, '')
}

async function keyOf(io: Io, { apiKeyStdin }: LoginFlags): Promise<string | undefined> {
  if (!apiKeyStdin && !canAsk(io))
    throw new UsageError('nobody can be asked here; --api-key-stdin reads the key from standard input')
  const given = apiKeyStdin ? await text(io.stdin) : await ask(io, 'API key (not shown): ', { hidden: true })
  if (given === undefined) return undefined
  const apiKey = given.trim()
  // A header cannot carry everything, and the key itself must not be in a message.
  if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new UsageError('that is no API key (jc_…)')
  return apiKey
}

function isClearText(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && !/^(?:localhost|127\..*|\[::1\])$/.test(hostname)
}
