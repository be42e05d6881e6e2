// One server for all tests of a file, because starting and stopping a server takes a second.

import { after } from 'node:test'
import { type OpenServer, openServer, type ServerOptions } from './open-server.ts'

type Close = () => unknown

/** Closed after the last test of the file. */
export function openSharedServer(options: ServerOptions = {}): Promise<OpenServer> {
  const closes: Close[] = []
  after(async () => {
    for (const close of closes) await close()
  })
  return openServer({ after: (close) => closes.push(close) }, options)
}

/** A clock that stands still until a test moves it forward. */
export function buildClock(): { now: () => number; forward: (ms: number) => void } {
  let at = Date.parse('2026-11-15T09:30:00.000Z')
  return {
    now: () => at,
    forward(ms) {
      at += ms
    },
  }
}
