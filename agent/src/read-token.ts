// Reads and checks the device's token; its file must be readable only by its owner.

import { readFileSync, statSync } from 'node:fs'

const forOthers = 0o077

/** Throws an error whose message says how to fix the file. */
export function readTokenFile(path: string): string {
  const { mode } = statSync(path)
  if (mode & forOthers) {
    const shown = (mode & 0o777).toString(8).padStart(4, '0')
    throw new Error(`others can read the token file ${path} (mode ${shown}): chmod 600 ${path}`)
  }
  return checkToken(readFileSync(path, 'utf8').trim(), path)
}

/** Error messages name `where` instead of the token, which must not leak into logs. */
export function checkToken(token: string, where: string): string {
  if (!/^jd_[\x21-\x7e]+$/.test(token)) throw new Error(`there is no device token (jd_…) in ${where}`)
  return token
}
