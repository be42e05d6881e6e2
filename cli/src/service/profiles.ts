// Profiles: addresses and keys by name, kept in one file that only its owner may read.

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
import { UsageError } from '../errors/usage-error.ts'

export type Profile = { url: string; apiKey: string }

export type Profiles = {
  /** The one that is used where none is named. */
  current: string | undefined
  byName: Map<string, Profile>
}

export const defaultProfile = 'default'

/** The named one, which must be there; or the current one, if there is one. */
export function readProfile(file: string, name?: string): Profile | undefined {
  const { current, byName } = readProfiles(file)
  if (name !== undefined && !byName.has(name)) throw noSuchProfile(name)
  return byName.get(name ?? current ?? '')
}

export function readProfiles(file: string): Profiles {
  const text = readOwnFile(file)
  if (text === undefined) return { current: undefined, byName: new Map() }
  return parseProfiles(file, text)
}

/** It becomes the current one. */
export function saveProfile(file: string, name: string, { url, apiKey }: Profile): void {
  if (!/^[\w.-]{1,64}$/.test(name)) {
    throw new UsageError(`"${name}" cannot name a profile: letters, digits and _ . - only, at most 64`)
  }
  const { byName } = readProfiles(file)
  byName.set(name, { url, apiKey })
  writeProfiles(file, { current: name, byName })
}

export function useProfile(file: string, name: string): void {
  const { byName } = readProfiles(file)
  if (!byName.has(name)) throw noSuchProfile(name)
  writeProfiles(file, { current: name, byName })
}

/** When the current one goes, none is current. */
export function removeProfile(file: string, name: string): void {
  const { current, byName } = readProfiles(file)
  if (!byName.delete(name)) throw noSuchProfile(name)
  writeProfiles(file, { current: current === name ? undefined : current, byName })
}

function noSuchProfile(name: string): UsageError {
  return new UsageError(`there is no profile "${name}"; "jobcast profiles ls" lists them`)
}

export function profilesFile(env: NodeJS.ProcessEnv): string {
  return join(configFolder(env), 'jobcast', 'profiles.json')
}

function configFolder(env: NodeJS.ProcessEnv): string {
  if (process.platform === 'win32' && env.APPDATA) return env.APPDATA
  return env.XDG_CONFIG_HOME || join(homedir(), '.config')
}

/** Undefined where there is no such file. As ssh does with keys, one that others can read is refused. */
function readOwnFile(file: string): string | undefined {
  try {
    const { mode } = statSync(file)
    // Windows keeps no such bits; there the folder is the user's own.
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new UsageError(
        `${file} holds API keys and is open to others (mode ${(mode & 0o777).toString(8)}). Close it: chmod 600 ${file}`,
      )
    }
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    if (code !== undefined) throw new UsageError(`${file} cannot be read: ${message}`)
    throw error
  }
}

function parseProfiles(file: string, text: string): Profiles {
  const bad = new UsageError(
    `${file} is not what "jobcast login" writes. Mend it, or delete it and log in again.`,
  )
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
  const { url, apiKey } = (entry[1] ?? {}) as Partial<Profile>
  return typeof url === 'string' && typeof apiKey === 'string'
}

/** Whole or not at all: whoever reads meanwhile gets the one before. */
function writeProfiles(file: string, { current, byName }: Profiles): void {
  const content = { current, profiles: Object.fromEntries(byName) }
  const draft = `${file}.${process.pid}.new`
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    // What a login that was killed has left under this name may have another mode.
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
    throw new UsageError(`${file} cannot be written: ${(error as Error).message}`)
  }
}
