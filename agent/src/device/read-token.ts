// Reads and checks the device's token; its file must be readable only by its owner.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { systemReason } from '@jobcast/contract/words'

/** Exactly what the server issues: an id, a secret and a checksum in base 62. It goes into headers and files. */
const form = /^jd_[0-9A-Za-z]{48}$/
const longestFile = 1024
const forOthers = 0o077

export function isDeviceToken(value: unknown): value is string {
  return typeof value === 'string' && form.test(value)
}

/** Throws an error whose message says how to fix the file. */
export function readTokenFile(path: string): string {
  return checkToken(readPasswordFile(path), path)
}

/** The password for the user's own broker; it may have any form. */
export function readPasswordFile(path: string): string {
  return readPrivateFile(path, 'token file', longestFile).trim()
}

/** Throws if other users can read it. */
export function readPrivateFile(path: string, what: string, longest: number): string {
  const file = openPrivate(path, what)
  try {
    const { mode } = fstatSync(file)
    if (mode & forOthers) {
      const shown = (mode & 0o777).toString(8).padStart(4, '0')
      throw new Error(`others can read the ${what} ${path} (mode ${shown}): chmod 600 ${path}`)
    }
    const bytes = Buffer.alloc(longest)
    return bytes.toString('utf8', 0, readSync(file, bytes))
  } finally {
    closeSync(file)
  }
}

function openPrivate(path: string, what: string): number {
  try {
    return openSync(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new Error(`there is no ${what} ${path}: create it with mode 0600, or name another`)
    throw new Error(`the ${what} ${path} cannot be read: ${systemReason(error as Error)}`)
  }
}

/** Error messages name `where` instead of the token, which must not leak into logs. */
export function checkToken(token: string, where: string): string {
  if (!isDeviceToken(token)) throw new Error(`there is no device token (jd_…) in ${where}`)
  return token
}
