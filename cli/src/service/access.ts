// The address of the service and the API key: from flags, the environment, or a profile. In CI, a token can replace the key.

import { MissingKey, UsageError } from '../errors/usage-error.ts'
import { type CiToken, githubToken, givenToken } from './ci-token.ts'
import { isHttpUrl } from './http-url.ts'
import { profilesFile, readProfile, readProfiles } from './profiles.ts'

export type AccessFlags = { url?: string; apiKey?: string; profile?: string }

/** `urlFrom` and `keyFrom` say where they come from, for error messages. */
export type FoundAccess = {
  url: string
  urlFrom: string
  apiKey: string | undefined
  keyFrom: string
  /** The profile that the key is from. */
  profile?: string
  /** To be exchanged for the key, which is undefined until then. */
  token?: CiToken
}
export type Access = FoundAccess & { apiKey: string }

export const defaultUrl = 'http://127.0.0.1:8080'

type Environment = NodeJS.ProcessEnv
type Source = { url?: Given | undefined; key?: Given | undefined; token?: CiToken | undefined }
type Given = { value: string; from: string }

/** For commands that need a key. If `apiKey` is undefined, there is a token to exchange for one. */
export function accessOf(flags: AccessFlags, env: Environment): FoundAccess {
  const access = findAccess(flags, env)
  if (access.apiKey === undefined && access.token === undefined)
    throw new MissingKey(`No API key for ${access.url}.`)
  return access
}

/**
 * Flags take precedence over the environment, the environment over the current profile. A profile named on the command line
 * takes precedence over the environment. The token of GitHub Actions comes last, because the user did not set it.
 */
export function findAccess(flags: AccessFlags, env: Environment): FoundAccess {
  const profile = profileOf(flags, env)
  const isNamed = flags.profile !== undefined
  const fromFlags = { url: given(flags.url, '--url'), key: given(flags.apiKey, '--api-key') }
  const fromEnv = {
    url: given(env.JOBCAST_URL, 'JOBCAST_URL'),
    key: given(env.JOBCAST_API_KEY, 'JOBCAST_API_KEY'),
    token: givenToken(env),
  }
  const fromCi = { token: githubToken(env) }
  const sources: (Source | undefined)[] = isNamed
    ? [fromFlags, profile, fromEnv, fromCi]
    : [fromFlags, fromEnv, profile, fromCi]
  const url = sources.find((source) => source?.url)?.url ?? { value: defaultUrl, from: 'the default' }
  checkAddress(url)
  // The key of a profile is only sent to the profile's own address.
  const allowed = sources.filter((source) => source !== profile || sameAddress(profile?.url, url))
  const source = allowed.find((each) => each?.key ?? each?.token)
  const { key, token } = source ?? {}
  return {
    ...{ url: url.value, urlFrom: url.from, apiKey: key?.value, keyFrom: (key ?? token)?.from ?? '' },
    ...(!key && token && { token }),
    ...(source === profile && profile?.name !== undefined && { profile: profile.name }),
  }
}

function profileOf(
  flags: AccessFlags,
  env: Environment,
): (Source & { name: string | undefined }) | undefined {
  const name = flags.profile ?? (env.JOBCAST_PROFILE || undefined)
  const profile = readProfile(profilesFile(env), name)
  if (profile === undefined && name !== undefined) throw new UsageError(`profile "${name}" not found`)
  if (profile === undefined) return undefined
  const from = name === undefined ? 'the current profile' : `profile "${name}"`
  const shown = { url: { value: profile.url, from }, key: { value: profile.apiKey, from } }
  return { ...shown, name: name ?? readProfiles(profilesFile(env)).current }
}

/** An empty environment variable counts as unset. */
function given(value: string | undefined, from: string): Given | undefined {
  return value === undefined || value === '' ? undefined : { value, from }
}

function checkAddress({ value, from }: Given): void {
  if (!isHttpUrl(value))
    throw new UsageError(
      `the address "${value}" (${from}) is not valid; it must be like http://127.0.0.1:8080`,
    )
}

function sameAddress(one: Given | undefined, other: Given): boolean {
  const hrefOf = (given: Given | undefined) => URL.parse(given?.value ?? '')?.href.replace(/\/+$/, '')
  return hrefOf(one) === hrefOf(other)
}
