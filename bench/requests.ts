// The bytes of every request. Parts that do not change between calls are prepared before the measurement.

import { randomUUID } from 'node:crypto'
import { fleet, jobName } from './fleet.ts'

/**
 * Kinds of callers: with only a key and JSON; with an Idempotency-Key, a new random UUID for each call or always the same one;
 * through a reverse proxy.
 */
export const manners = ['plain', 'new key', 'repeated key', 'behind a proxy'] as const
export type Manner = (typeof manners)[number]
export type Work = { kind: 'trigger'; devices: number; manner?: Manner } | { kind: 'livez' }

/** The requests of one caller. */
export type NextRequest = () => Buffer

/** Enough that callers name different devices, and few enough to stay in the CPU's cache. */
const maxVariants = 256
const maxBytes = 4 * 1024 * 1024

/** The requests of each caller. */
export function buildCalls(work: Work, apiKey: string, callers: number): NextRequest[] {
  const requests = buildRequests(work, apiKey)
  const manner = work.kind === 'trigger' ? (work.manner ?? 'plain') : 'plain'
  return Array.from({ length: callers }, (_, caller) => {
    const next = inTurn(requests, Math.floor((caller * requests.length) / callers))
    return manner === 'plain' ? next : withHeaders(manner, caller, next)
  })
}

export function inTurn(requests: Buffer[], first: number): NextRequest {
  let turn = first
  return () => requests[turn++ % requests.length] as Buffer
}

/** Unique per run, because runs may use the same database. */
const ofThisRun = `${process.pid.toString(36)}-${Date.now().toString(36)}`
let calls = 0

function withHeaders(manner: Exclude<Manner, 'plain'>, caller: number, next: NextRequest): NextRequest {
  switch (manner) {
    case 'new key':
      return () => addHeaders(next(), `Idempotency-Key: ${randomUUID()}\r\n`)
    case 'repeated key': {
      const repeated = addHeaders(next(), `Idempotency-Key: ${ofThisRun}-caller-${caller}\r\n`)
      return () => repeated
    }
    case 'behind a proxy': {
      const forwarded = `X-Forwarded-For: 203.0.113.${caller % 256}\r\nX-Forwarded-Proto: https\r\n`
      return () => addHeaders(next(), `${forwarded}X-Request-Id: ${ofThisRun}-${++calls}\r\n`)
    }
  }
}

const firstLine = 'POST /job/api/jobs/execute HTTP/1.1\r\n'

function addHeaders(request: Buffer, lines: string): Buffer {
  return Buffer.concat([Buffer.from(firstLine + lines, 'latin1'), request.subarray(firstLine.length)])
}

export function buildRequests(work: Work, apiKey: string): Buffer[] {
  if (work.kind === 'livez') return [Buffer.from('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n')]
  const size = triggerRequest(apiKey, 0, work.devices).length
  const variants = Math.min(maxVariants, Math.max(1, Math.floor(maxBytes / size)))
  return Array.from({ length: variants }, (_, variant) =>
    triggerRequest(apiKey, firstDevice(variant, variants), work.devices),
  )
}

function firstDevice(variant: number, variants: number): number {
  return Math.floor((variant * fleet.length) / variants)
}

export function triggerBody(first: number, devices: number): { jobName: string; deviceIds: string[] } {
  const deviceIds = Array.from(
    { length: devices },
    (_, index) => fleet[(first + index) % fleet.length]?.deviceId ?? '',
  )
  return { jobName, deviceIds }
}

export function triggerRequest(apiKey: string, first: number, devices: number): Buffer {
  const body = JSON.stringify(triggerBody(first, devices))
  const head = [
    'Host: localhost',
    `X-API-Key: ${apiKey}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  return Buffer.from(`${firstLine}${head.join('\r\n')}\r\n\r\n${body}`)
}
