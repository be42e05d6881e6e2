// Fetches the files of a document before its first step starts: from the cache, or over connections that may break.

import { stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Backoff, reconnectDelayMs } from '../transport/reconnect-delay.ts'
import { CannotFetch, type DownloadDeps, download, TryLater, UrlExpired } from './download.ts'
import type { FileCache } from './file-cache.ts'
import type { WantedFile } from './wanted-files.ts'

type Fetched =
  | { kind: 'fetched' }
  /** The document must be requested again. */
  | { kind: 'expired' }
  | { kind: 'ended' }
  /** `isWrong`: the content does not match its sha256. */
  | { kind: 'failed'; reason: string; isWrong: boolean }

type FetchDeps = DownloadDeps & { cache: FileCache; backoff: Backoff }

/** Attempts in a row that receive no new byte. */
const maxTries = 30

/** `onProgress` gets the percentage over all files. */
export async function fetchFiles(
  deps: FetchDeps,
  files: WantedFile[],
  signal: AbortSignal,
  onProgress: (percent: number) => void,
): Promise<Fetched> {
  const { cache } = deps
  const total = files.reduce((sum, { size }) => sum + size, 0)
  const needed = new Set(files.map(({ sha256 }) => sha256))
  let done = 0
  for (const file of files) {
    const onBytes = (bytes: number) => onProgress(Math.floor((100 * (done + bytes)) / Math.max(1, total)))
    try {
      if (await cache.has(file.sha256)) onBytes(file.size)
      else await fetchOne(deps, file, needed, signal, onBytes)
    } catch (error) {
      if (signal.aborted) return { kind: 'ended' }
      if (error instanceof UrlExpired) return { kind: 'expired' }
      if (!(error instanceof WrongContent)) await cache.discard(file.sha256).catch(() => undefined)
      const reason = `the file ${file.fileName} ${(error as Error).message}`
      return { kind: 'failed', reason, isWrong: error instanceof WrongContent }
    }
    done += file.size
  }
  return { kind: 'fetched' }
}

class WrongContent extends Error {}

async function fetchOne(
  deps: FetchDeps,
  file: WantedFile,
  needed: ReadonlySet<string>,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const { cache } = deps
  const part = await cache.partOf(file.sha256)
  await cache.makeRoom(file.size, needed)
  const arrived = (await stat(part).catch(() => undefined))?.size ?? 0
  if (!(await cache.hasSpace(file.size - arrived))) throw new CannotFetch('does not fit on the disk')
  for (;;) {
    const isResumed = (await stat(part).catch(() => undefined)) !== undefined
    await downloadWhole(deps, file, part, signal, onBytes)
    if (await cache.accept(file.sha256)) return
    // The part from an earlier attempt may be damaged, for example by a power cut. Fetch all of it once more.
    if (!isResumed) throw new WrongContent('has other content than its sha256 says')
  }
}

/** Retries over new connections until the file is complete. */
async function downloadWhole(
  deps: FetchDeps,
  file: WantedFile,
  part: string,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): Promise<void> {
  let arrived = 0
  for (let failures = 0; ; failures++) {
    signal.throwIfAborted()
    try {
      return await download(deps, file, part, signal, (bytes) => {
        // Only new bytes reset the count: a server that always starts over must not be retried forever.
        if (bytes > arrived) [failures, arrived] = [0, bytes]
        onBytes(bytes)
      })
    } catch (error) {
      if (!(error instanceof TryLater)) throw error
      if (failures >= maxTries) throw new CannotFetch(`cannot be fetched: ${error.message}`)
      await sleep(error.afterMs ?? reconnectDelayMs(failures, deps.backoff), undefined, { signal })
    }
  }
}
