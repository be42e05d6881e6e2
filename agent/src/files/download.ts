// One attempt to fetch a file. It continues after the bytes that are already there.

import { createWriteStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { addAbortSignal } from 'node:stream'
import { finished } from 'node:stream/promises'
import { limitRate } from './limit-rate.ts'
import type { WantedFile } from './wanted-files.ts'

/** A retry may work: the connection was lost, or the server is busy. */
export class TryLater extends Error {
  readonly afterMs: number | undefined
  constructor(message: string, afterMs?: number) {
    super(message)
    this.afterMs = afterMs
  }
}
/** The URL has expired. */
export class UrlExpired extends Error {}
/** A retry cannot work. */
export class CannotFetch extends Error {}

const silenceMs = 60_000
const maxRedirects = 5

export type DownloadDeps = {
  /** In bytes per second. */
  maxRate?: number | undefined
}

/** Appends the missing bytes to `part`. `onBytes` gets the number of bytes that are there. */
export async function download(
  { maxRate }: DownloadDeps,
  { url, size }: WantedFile,
  part: string,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const before = (await stat(part).catch(() => undefined))?.size ?? 0
  if (before > size) await rm(part)
  const first = before > size ? 0 : before
  if (first === size && size > 0) return
  // No If-Range: only our server uses the sha256 as the ETag, and the hash of the whole file is checked anyway.
  const headers: Record<string, string> = first === 0 ? {} : { range: `bytes=${first}-` }
  const response = await follow(url, headers, signal)
  const start = startOf(response, first)
  let bytes = start
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > size) response.destroy(new CannotFetch(`has more than ${size} bytes`))
    onBytes(Math.min(bytes, size))
  })
  response.setTimeout(silenceMs, () => response.destroy(new TryLater('nothing arrives')))
  try {
    await append(addAbortSignal(signal, response), part, start === 0 ? 'w' : 'a', maxRate)
  } catch (error) {
    throw explain(error as NodeJS.ErrnoException)
  }
  if (bytes < size) throw new TryLater(`ended after ${bytes} of ${size} bytes`)
}

/** When the connection is cut, the bytes received so far are stored: the next attempt continues after them. */
async function append(
  response: IncomingMessage,
  part: string,
  flags: 'w' | 'a',
  maxRate: number | undefined,
): Promise<void> {
  const file = createWriteStream(part, { flags, mode: 0o600 })
  const stored = finished(file)
  stored.catch((error: Error) => response.destroy(error))
  const sink = maxRate === undefined ? file : limitRate(maxRate)
  if (sink !== file) sink.pipe(file)
  response.pipe(sink, { end: false })
  try {
    await finished(response)
  } finally {
    sink.end()
    await stored
  }
}

/** The offset at which the response begins. */
function startOf(response: IncomingMessage, first: number): number {
  const { statusCode = 0, headers } = response
  if (statusCode === 200) return 0
  if (statusCode === 206 && headers['content-range']?.startsWith(`bytes ${first}-`)) return first
  response.destroy()
  const seconds = Number(headers['retry-after'])
  const afterMs = seconds > 0 ? Math.min(seconds, 600) * 1000 : undefined
  if (statusCode === 403) throw new UrlExpired('the URL has expired (403)')
  if (statusCode >= 500 || statusCode === 429 || statusCode === 408) {
    throw new TryLater(`the server answers ${statusCode}`, afterMs)
  }
  throw new CannotFetch(`the server answers ${statusCode}`)
}

async function follow(
  url: string,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  let at = url
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const response = await get(at, headers, signal)
    const { statusCode = 0, headers: answered } = response
    if (![301, 302, 303, 307, 308].includes(statusCode) || answered.location === undefined) return response
    response.destroy()
    at = new URL(answered.location, at).href
    if (!/^https?:/.test(at) || (url.startsWith('https:') && at.startsWith('http:'))) {
      throw new CannotFetch('the server redirects to where nothing is fetched from')
    }
  }
  throw new CannotFetch('the server redirects too often')
}

async function get(
  url: string,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  // TLS takes memory, so it is loaded only where it is used.
  const request = url.startsWith('https:') ? (await import('node:https')).request : requestHttp
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers, signal, agent: false })
    sent.setTimeout(silenceMs, () => sent.destroy(new TryLater('there is no answer')))
    sent.once('error', (error) => reject(explain(error)))
    sent.once('response', resolve)
    sent.end()
  })
}

function explain(error: NodeJS.ErrnoException): Error {
  if (error instanceof TryLater || error instanceof CannotFetch || error.name === 'AbortError') return error
  if (error.code === 'ENOSPC' || error.code === 'EDQUOT') return new CannotFetch('the disk is full')
  const isOfDisk = error.syscall === 'open' || error.syscall === 'write'
  return isOfDisk ? new CannotFetch(`cannot be stored: ${error.message}`) : new TryLater(error.message)
}
