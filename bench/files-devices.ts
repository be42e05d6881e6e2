// The devices of bench/files.ts: each fetches the content of one URL and discards it. As agents do, they try again after 503, and
// continue where a connection was cut.

import { get, type IncomingMessage } from 'node:http'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { limitRate } from '../agent/src/files/limit-rate.ts'

export type FetchOrder = { url: string; size: number; devices: number; bytesPerSecond: number | undefined }
/** `retries`: after a response with 503, or a cut. */
export type FetchResult = { bytes: number; ms: number; retries: number }

const pauseMs = 1000
const { url, size, devices, bytesPerSecond } = JSON.parse(process.argv[2] ?? '{}') as FetchOrder
const begun = performance.now()
let retries = 0
const fetched = await Promise.all(Array.from({ length: devices }, fetchOne))
const bytes = fetched.reduce((sum, each) => sum + each, 0)
process.send?.({ bytes, ms: performance.now() - begun, retries } satisfies FetchResult)
process.on('disconnect', () => process.exit())

async function fetchOne(): Promise<number> {
  let count = 0
  while (count < size) {
    const response = await request(count)
    const { statusCode = 0 } = response
    if (statusCode === 503) response.resume()
    else if (statusCode !== (count === 0 ? 200 : 206)) throw new Error(`answered ${statusCode}`)
    else {
      const discard = new Writable({
        write(chunk: Buffer, _encoding, done) {
          count += chunk.length
          done()
        },
      })
      const limit = bytesPerSecond === undefined ? [] : [limitRate(bytesPerSecond)]
      await pipeline([response, ...limit, discard]).catch(() => undefined)
    }
    if (count < size) {
      retries++
      await sleep(pauseMs)
    }
  }
  return count
}

function request(first: number): Promise<IncomingMessage> {
  const headers = first === 0 ? {} : { range: `bytes=${first}-` }
  return new Promise((resolve, reject) => {
    get(url, { agent: false, headers }, resolve).on('error', reject)
  })
}
