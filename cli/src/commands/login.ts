// jobcast login and logout: an address and a key, or a sign-in at an issuer, verified and saved as a profile.

import { text } from 'node:stream/consumers'
import { Jobcast, type OwnKey } from '@jobcast/client'
import type { Command } from 'commander'
import { plainCommand, withOut } from '../define/owner-command.ts'
import { exitCode } from '../errors/exit-code.ts'
import { UsageError } from '../errors/usage-error.ts'
import { ask, canAsk } from '../input/ask.ts'
import type { Io } from '../io.ts'
import { selfFields } from '../output/key-fields.ts'
import { fieldsText } from '../output/print-table.ts'
import { defaultUrl } from '../service/access.ts'
import { isHttpUrl, isLoopback } from '../service/http-url.ts'
import { readAuthConfig, revokeSignIn, signInByCode } from '../service/person-login.ts'
import {
  defaultProfile,
  type Profile,
  profilesFile,
  readProfiles,
  removeProfile,
  saveProfile,
} from '../service/profiles.ts'

type LoginFlags = { url?: string; profile: string; apiKeyStdin?: true; withKey?: true; owner?: string }

export function loginCommand(): Command {
  return plainCommand('login')
    .option('--url <address>', 'address of the service (default: ask)')
    .option('--profile <name>', 'save it under this name', defaultProfile)
    .option('--api-key-stdin', 'read the key from standard input instead of asking')
    .option('--with-key', 'use an API key, even if the service has sign-in with OpenID Connect')
    .option('--owner <name>', 'act for this owner, if you have a role at several')
    .addHelpText(
      'after',
      '\nIf the service has sign-in with OpenID Connect, the command prints an address and a code to enter there.\n\nExample:\n  jobcast login --url https://jobs.example --api-key-stdin < key-file\n',
    )
    .action(
      withOut(async ({ out, io }, flags: LoginFlags) => {
        const url = await urlOf(io, flags)
        if (!url) return exitCode.interrupted
        const isByKey = flags.apiKeyStdin ?? flags.withKey ?? false
        const config = isByKey ? undefined : await readAuthConfig(url)
        const apiKey = config ? undefined : await keyOf(io, flags)
        if (!config && !apiKey) return exitCode.interrupted
        if (isClearText(url)) out.say(`Warning: the key is sent in clear text to ${url}; use https.`)
        const profile: Profile = config
          ? await signInByCode(url, config, flags.owner, (line) => out.say(line))
          : { url, apiKey: apiKey ?? '' }
        // Verified before it is saved: a profile that does not work is worse than none.
        const key = await new Jobcast({ url, apiKey: profile.apiKey, maxRetries: 1 }).keys.self()
        const file = profilesFile(io.env)
        await saveProfile(file, flags.profile, profile)
        out.say(`Saved profile "${flags.profile}" in ${file}. It is now the current profile.`)
        out.show({ profile: flags.profile, url, ...key }, () => fieldsText(shown(url, key), out.paint))
        return exitCode.ok
      }),
    )
}

export function logoutCommand(): Command {
  return plainCommand('logout')
    .option('--profile <name>', 'delete this profile instead of the current one')
    .addHelpText(
      'after',
      '\nA key stays valid; "jobcast keys rm" revokes it. A sign-in with OpenID Connect ends.\n',
    )
    .action(
      withOut(async ({ out, io }, flags: { profile?: string }) => {
        const file = profilesFile(io.env)
        const name = flags.profile ?? readProfiles(file).current
        if (name === undefined) throw new UsageError('there is no current profile; use --profile')
        const { person } = await removeProfile(file, name)
        if (person) await revokeSignIn(person)
        const left = person
          ? 'You are signed out; the last access token expires within 15 minutes.'
          : 'Its key is still valid; "jobcast keys rm" revokes it.'
        out.say(`Deleted profile "${name}". ${left}`)
        if (out.json) out.show({ removed: name }, () => '')
      }),
    )
}

function shown(url: string, key: OwnKey) {
  return { service: url, ...selfFields(key) }
}

/** Undefined if the user gives up. */
async function urlOf(io: Io, { url }: LoginFlags): Promise<string | undefined> {
  const fallback = io.env.JOBCAST_URL || defaultUrl
  if (url !== undefined || !canAsk(io)) return checkedUrl(url ?? fallback)
  const answer = await ask(io, `Address of the service [${fallback}]: `)
  return answer === undefined ? undefined : checkedUrl(answer.trim() || fallback)
}

function checkedUrl(url: string): string {
  if (!isHttpUrl(url)) throw new UsageError(`"${url}" is not an address such as http://127.0.0.1:8080`)
  return url.replace(/\/+$/, '')
}

async function keyOf(io: Io, { apiKeyStdin }: LoginFlags): Promise<string | undefined> {
  if (!apiKeyStdin && !canAsk(io))
    throw new UsageError('cannot ask for the key without a terminal; use --api-key-stdin')
  const given = apiKeyStdin ? await text(io.stdin) : await ask(io, 'API key (hidden): ', { hidden: true })
  if (given === undefined) return undefined
  const apiKey = given.trim()
  // A header cannot carry every character, and the key itself must not appear in a message.
  if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new UsageError('this is not an API key (jc_…)')
  return apiKey
}

function isClearText(url: string): boolean {
  const parsed = new URL(url)
  return parsed.protocol === 'http:' && !isLoopback(parsed)
}
