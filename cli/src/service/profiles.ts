// Profiles: named addresses and keys, in one file that only its owner can read.

import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { systemReason } from '@jobcast/contract/words'
import { UsageError } from '../errors/usage-error.ts'
import { withLock } from './file-lock.ts'

export type Profile = {
  url: string
  /** For a person, the key that the issuer's token was exchanged for. */
  apiKey: string
  person?: ProfilePerson
}

/** A sign-in at an issuer, with which the key is renewed. */
export type ProfilePerson = {
  issuer: string
  clientId: string
  /** Without it, the person must sign in again when the key has expired. */
  refreshToken?: string
  owner?: string
  /** When the key expires, in milliseconds. */
  expiresAt: number
}

type Profiles = {
  /** Used by default. */
  current: string | undefined
  byName: Map<string, Profile>
}

export const defaultProfile = 'default'

/** A change takes a few milliseconds. */
const lockLastsMs = 10_000

/** The named profile, which must exist; or the current one, if any. */
export function readProfile(file: string, name?: string): Profile | undefined {
  const { current, byName } = readProfiles(file)
  if (name !== undefined && !byName.has(name)) throw profileNotFound(name)
  return byName.get(name ?? current ?? '')
}

export function readProfiles(file: string): Profiles {
  const text = readOwnFile(file)
  if (text === undefined) return { current: undefined, byName: new Map() }
  return parseProfiles(file, text)
}

/** Makes it the current profile. */
export async function saveProfile(file: string, name: string, profile: Profile): Promise<void> {
  if (!/^[\w.-]{1,64}$/.test(name)) {
    throw new UsageError(`"${name}" is not a valid profile name: use up to 64 letters, digits, _ . -`)
  }
  await changeProfiles(file, (profiles) => {
    profiles.byName.set(name, profile)
    profiles.current = name
  })
}

/** Does not change which profile is current. One that was deleted or saved anew meanwhile stays as it is. */
export function updateProfile(
  file: string,
  name: string,
  { from, to }: { from: Profile; to: Profile },
): Promise<void> {
  return changeProfiles(file, ({ byName }) => {
    if (!isDeepStrictEqual(byName.get(name), from)) return
    byName.set(name, to)
  })
}

export function useProfile(file: string, name: string): Promise<void> {
  return changeProfiles(file, (profiles) => {
    if (!profiles.byName.has(name)) throw profileNotFound(name)
    profiles.current = name
  })
}

/** After the current profile is removed, none is current. Returns the removed one. */
export function removeProfile(file: string, name: string): Promise<Profile> {
  return changeProfiles(file, (profiles) => {
    const removed = profiles.byName.get(name)
    if (removed === undefined) throw profileNotFound(name)
    profiles.byName.delete(name)
    if (profiles.current === name) profiles.current = undefined
    return removed
  })
}

/** One process at a time, so that no change of another is overwritten. */
async function changeProfiles<T>(file: string, change: (profiles: Profiles) => T): Promise<T> {
  try {
    return await withLock(`${file}.lock`, lockLastsMs, () => {
      const profiles = readProfiles(file)
      const before = structuredClone(profiles)
      const result = change(profiles)
      if (!isDeepStrictEqual(profiles, before)) writeProfiles(file, profiles)
      return result
    })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    throw new UsageError(`cannot write ${file}: ${(error as Error).message}`)
  }
}

function profileNotFound(name: string): UsageError {
  return new UsageError(`profile "${name}" not found; "jobcast profiles ls" lists them`)
}

export function profilesFile(env: NodeJS.ProcessEnv): string {
  return join(configFolder(env), 'jobcast', 'profiles.json')
}

function configFolder(env: NodeJS.ProcessEnv): string {
  if (process.platform === 'win32' && env.APPDATA) return env.APPDATA
  return env.XDG_CONFIG_HOME || join(homedir(), '.config')
}

/** Undefined if it does not exist. Like ssh with keys, refuses a file that others can read. */
function readOwnFile(file: string): string | undefined {
  try {
    const { mode } = statSync(file)
    // Windows has no such mode bits; there the folder belongs to the user.
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new UsageError(
        `${file} contains API keys but is readable by others (mode ${(mode & 0o777).toString(8)}). Run: chmod 600 ${file}`,
      )
    }
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    if (code !== undefined) throw new UsageError(`cannot read ${file}: ${systemReason(error as Error)}`)
    throw error
  }
}

function parseProfiles(file: string, text: string): Profiles {
  const bad = new UsageError(`${file} is malformed. Fix it, or delete it and run "jobcast login" again.`)
  let content: { current?: unknown; profiles?: unknown }
  try {
    content = JSON.parse(text)
  } catch {
    throw bad
  }
  const { current, profiles } = content ?? {}
  if (typeof profiles !== 'object' || profiles === null) throw bad
  const entries = Object.entries(profiles)
  if (!entries.every(isEntry)) throw bad
  return { current: typeof current === 'string' ? current : undefined, byName: new Map(entries) }
}

function isEntry(entry: [string, unknown]): entry is [string, Profile] {
  const { url, apiKey, person } = (entry[1] ?? {}) as Partial<Profile>
  return typeof url === 'string' && typeof apiKey === 'string' && (person === undefined || isPerson(person))
}

function isPerson({
  issuer,
  clientId,
  refreshToken = '',
  owner = '',
  expiresAt,
}: Partial<ProfilePerson>): boolean {
  const areTexts = [issuer, clientId, refreshToken, owner].every((each) => typeof each === 'string')
  return areTexts && typeof expiresAt === 'number'
}

/** Atomic: readers see the previous content until the new one is complete. */
function writeProfiles(file: string, { current, byName }: Profiles): void {
  const content = { current, profiles: Object.fromEntries(byName) }
  const draft = `${file}.${process.pid}.new`
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    // A draft left by a killed login may have another mode.
    rmSync(draft, { force: true })
    const opened = openSync(draft, 'wx', 0o600)
    try {
      writeSync(opened, `${JSON.stringify(content, undefined, 2)}\n`)
      fsyncSync(opened)
    } finally {
      closeSync(opened)
    }
    renameSync(draft, file)
  } catch (error) {
    rmSync(draft, { force: true })
    throw new UsageError(`cannot write ${file}: ${(error as Error).message}`)
  }
}
