// The bytes of every request, made before the clock runs.

import { fleet, jobName } from './fleet.ts'

export type Work = { kind: 'trigger'; devices: number } | { kind: 'livez' }

/** Enough that callers do not all name the same devices; few enough to stay in the CPU's cache. */
const maxVariants = 256
const maxBytes = 4 * 1024 * 1024

export function buildRequests(work: Work, apiKey: string): Buffer[] {
  if (work.kind === 'livez') return [Buffer.from('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n')]
  const size = triggerRequest(apiKey, 0, work.devices).length
  const variants = Math.min(maxVariants, Math.max(1, Math.floor(maxBytes / size)))
  return Array.from({ length: variants }, (_, variant) =>
    triggerRequest(apiKey, Math.floor((variant * fleet.length) / variants), work.devices),
  )
}

export function triggerRequest(apiKey: string, firstDevice: number, devices: number): Buffer {
  const deviceIds = Array.from(
    { length: devices },
    (_, index) => fleet[(firstDevice + index) % fleet.length]?.deviceId,
  )
  const body = JSON.stringify({ jobName, deviceIds })
  const head = [
    'POST /job/api/jobs/execute HTTP/1.1',
    'Host: localhost',
    `X-API-Key: ${apiKey}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
}
