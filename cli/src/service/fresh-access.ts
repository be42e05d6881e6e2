// Keys of people, and keys from a CI token, are valid for 15 minutes: they are renewed before a command uses them, and while
// it runs.

import { Jobcast } from '@jobcast/client'
import type { FoundAccess } from './access.ts'
import { withLock } from './file-lock.ts'
import { profilesFile, readProfiles, updateProfile } from './profiles.ts'

const renewBeforeMs = 60_000
const lockLastsMs = 60_000

/** Only a key that can be renewed has `expiresAt`. */
type FreshKey = { apiKey: string | undefined; expiresAt?: number }

export async function freshAccess(access: FoundAccess, env: NodeJS.ProcessEnv): Promise<FoundAccess> {
  return { ...access, apiKey: (await freshKey(access, env)).apiKey }
}

export async function freshKey(access: FoundAccess, env: NodeJS.ProcessEnv): Promise<FreshKey> {
  if (access.token) return exchange(access.url, await access.token.read())
  return personKey(access, env)
}

/** Returns a function that gives the current key. A key that can no longer be renewed is used until it expires. */
export function keepFresh(access: FoundAccess, env: NodeJS.ProcessEnv, first: FreshKey) {
  let current = first
  let renewal: Promise<void> | undefined
  const renew = async () => {
    try {
      current = await freshKey(access, env)
    } catch (error) {
      if ((current.expiresAt ?? 0) < Date.now()) throw error
    }
  }
  return async (): Promise<string> => {
    if (current.expiresAt !== undefined && current.expiresAt - renewBeforeMs <= Date.now()) {
      renewal ??= renew().finally(() => {
        renewal = undefined
      })
      await renewal
    }
    return current.apiKey ?? ''
  }
}

async function exchange(url: string, token: string): Promise<FreshKey> {
  const issued = await new Jobcast({ url }).session.exchange(token)
  return { apiKey: issued.access_token, expiresAt: Date.now() + issued.expires_in * 1000 }
}

async function personKey({ profile: name, apiKey }: FoundAccess, env: NodeJS.ProcessEnv): Promise<FreshKey> {
  const file = profilesFile(env)
  const isFresh = () => {
    const { person } = profileNamed(file, name) ?? {}
    return person === undefined || person.expiresAt - renewBeforeMs > Date.now()
  }
  if (name === undefined) return { apiKey }
  if (!isFresh()) {
    // A refresh token works once: of several concurrent commands, one renews the key for all.
    await withLock(`${file}.renewal.lock`, lockLastsMs, async () => {
      // Not a static import: few commands sign a person in, and the libraries for that take long to load.
      const { renewKey } = await import('./person-login.ts')
      const profile = isFresh() ? undefined : profileNamed(file, name)
      const renewed = profile && (await renewKey(profile))
      if (renewed) await updateProfile(file, name, { from: profile, to: renewed })
    })
  }
  const { person, apiKey: renewedKey = apiKey } = profileNamed(file, name) ?? {}
  return { apiKey: renewedKey, ...(person && { expiresAt: person.expiresAt }) }
}

function profileNamed(file: string, name: string | undefined) {
  return name === undefined ? undefined : readProfiles(file).byName.get(name)
}
