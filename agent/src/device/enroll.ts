// Fetches a device's first token with an enrollment token.
//
// This folder is about the device itself. Read next: read-token.ts, the token from then on; report-attributes.ts and
// time-zone.ts, what the device reports about itself.

import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectionReason, systemReason } from '@jobcast/contract/words'
import { printable } from '../output/printable.ts'
import { StartRefused } from '../state/start-refused.ts'
import { HttpCaller } from '../transport/http-call.ts'
import { type Backoff, defaultBackoff, reconnectDelayMs } from '../transport/reconnect-delay.ts'
import { parseObject } from '../transport/transport.ts'
import { isDeviceToken } from './read-token.ts'

export type EnrollOptions = {
  /** HTTP address of the service, without a slash at its end. */
  server: string
  deviceId: string
  enrollmentToken: string
  tokenFile: string
  deviceName?: string | undefined
  /** Attempts to reach the service before giving up. */
  tries?: number
  backoff?: Backoff
}

const oneRequestMs = 15_000

/**
 * The claim is on disk before it is sent: if the answer is lost or this program crashes, repeating the command within
 * ten minutes gets a token without counting as another use of the enrollment.
 */
export async function enrollDevice(options: EnrollOptions): Promise<void> {
  const { tokenFile } = options
  if (existsSync(tokenFile)) throw new StartRefused(`a token already exists in ${tokenFile}`)
  const claimFile = `${tokenFile}.claim`
  if (!existsSync(claimFile)) {
    try {
      writeSecret(claimFile, randomBytes(24).toString('base64url'))
    } catch (error) {
      throw new StartRefused(`the token file ${tokenFile} cannot be written: ${systemReason(error as Error)}`)
    }
  }
  writeSecret(tokenFile, await fetchToken(options, readFileSync(claimFile, 'utf8').trim()))
  rmSync(claimFile)
}

async function fetchToken({ tries = 5, ...options }: EnrollOptions, claim: string): Promise<string> {
  for (let failures = 1; ; failures++) {
    const answer = await ask(options, claim).catch((error: Error) => error)
    if (answer instanceof StartRefused) throw answer
    if (!(answer instanceof Error)) return answer
    if (failures >= tries) {
      throw new StartRefused(
        `${options.server} cannot be reached: ${connectionReason(answer.message)}. You can run the same command again.`,
      )
    }
    await sleep(reconnectDelayMs(failures, options.backoff ?? defaultBackoff))
  }
}

async function ask(options: EnrollOptions, claim: string): Promise<string> {
  const { server, deviceId, enrollmentToken, deviceName } = options
  const caller = new HttpCaller(server)
  try {
    const { status, text } = await caller.call({
      method: 'POST',
      url: `${server}/things/${encodeURIComponent(deviceId)}/enroll`,
      headers: { authorization: `Bearer ${enrollmentToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ claim, deviceName }),
      signal: AbortSignal.timeout(oneRequestMs),
    })
    const { deviceToken, message } = parseObject(text) ?? {}
    if (status === 201 && isDeviceToken(deviceToken)) return deviceToken
    if (status === 201)
      throw new StartRefused('the server issued something that is not a device token (jd_…)')
    const reason = typeof message === 'string' ? printable(message) : `the server returned ${status}`
    if (status >= 500 || status === 429) throw new Error(reason)
    throw new StartRefused(status === 401 ? refusedToken : reason)
  } finally {
    caller.close()
  }
}

const refusedToken = 'the enrollment token is wrong, expired, revoked or used up'

/** Atomic and durable: a lost token cannot be fetched again. */
function writeSecret(path: string, text: string): void {
  const temporary = `${path}.new`
  const file = openSync(temporary, 'w', 0o600)
  writeSync(file, `${text}\n`)
  fsyncSync(file)
  closeSync(file)
  renameSync(temporary, path)
}
