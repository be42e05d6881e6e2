// Limits the rate of downloads, so that they leave bandwidth for others.

import { Transform } from 'node:stream'

const units = { '': 1, K: 1024, M: 1024 * 1024 }
/** At a lower rate, both ends would time out. */
const leastRate = 4096

/** In the format of curl: 500000, 200K, 2M. Undefined if it is not a valid rate. */
export function parseRate(text: string): number | undefined {
  const [, count, unit = ''] = /^([1-9]\d{0,8})([KM])?$/.exec(text) ?? []
  const rate = Number(count) * units[unit as keyof typeof units]
  return rate >= leastRate ? rate : undefined
}

/** Passes data on, at most `bytesPerSecond` on average since its creation. */
export function limitRate(bytesPerSecond: number): Transform {
  const begun = performance.now()
  let bytes = 0
  let timer: NodeJS.Timeout | undefined
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      const waitMs = begun + (bytes / bytesPerSecond) * 1000 - performance.now()
      timer = setTimeout(() => done(null, chunk), Math.max(0, waitMs))
    },
    destroy(error, done) {
      clearTimeout(timer)
      done(error)
    },
  })
}
