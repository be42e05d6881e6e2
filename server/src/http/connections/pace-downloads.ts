// Downloads take turns, so that a trigger does not wait for them: all downloads together hand on at most 64 KB in each turn of the event
// loop. Without this, 64 downloads hand on a chunk each in the same turn, which takes milliseconds, and a trigger waits for several turns.

import { pipeline, type Readable, Transform } from 'node:stream'

/** The size of a chunk from a folder or a connection. */
const bytesPerTurn = 64 * 1024

type Waiting = { bytes: number; handOn: () => void }

/** The first has waited longest. Each download is in it at most once. */
const waiting: Waiting[] = []
let isScheduled = false

/** Passes the content on when it is its turn. Destroying one of both streams destroys the other. */
export function paceDownload(content: Readable): Readable {
  const paced = new Transform({
    // One chunk on each side, because there are many downloads.
    ...{ writableHighWaterMark: 1, readableHighWaterMark: 1 },
    transform(chunk: Buffer, _encoding, done) {
      waiting.push({ bytes: chunk.length, handOn: () => done(null, chunk) })
      schedule()
    },
  })
  return pipeline(content, paced, () => undefined)
}

function schedule(): void {
  if (isScheduled || waiting.length === 0) return
  isScheduled = true
  setImmediate(takeTurn)
}

function takeTurn(): void {
  isScheduled = false
  for (let left = bytesPerTurn; left > 0; ) {
    const next = waiting.shift()
    if (next === undefined) break
    left -= next.bytes
    next.handOn()
  }
  schedule()
}
