// The device's token: from a file that only its owner can read, or as it was given.

import { readFileSync, statSync } from 'node:fs'

const forOthers = 0o077

/** Throws a sentence that says what to do. */
export function readTokenFile(path: string): string {
  const { mode } = statSync(path)
  if (mode & forOthers) {
    const shown = (mode & 0o777).toString(8).padStart(4, '0')
    throw new Error(`others can read the token file ${path} (mode ${shown}): chmod 600 ${path}`)
  }
  return checkToken(readFileSync(path, 'utf8').trim(), path)
}

/** `where` is named instead of the token: a token is in no message. */
export function checkToken(token: string, where: string): string {
  if (!/^jd_[\x21-\x7e]+$/.test(token)) throw new Error(`there is no device token (jd_…) in ${where}`)
  return token
}
