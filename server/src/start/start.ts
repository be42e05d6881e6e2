// The context passed to each step of the start: settings, clocks, event reporting, and the list of what to close.

import { statfs } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import packageJson from '../../package.json' with { type: 'json' }
import type { Config } from '../config/config.ts'
import type { Tell } from '../observe/events.ts'
import { openLog } from '../observe/log-lines.ts'
import { buildMetrics } from '../observe/metrics.ts'
import type { DiskUse } from '../state/disk-space.ts'
import type { TakeDown } from './take-down.ts'

export type StartOptions = {
  now?: () => number
  /** Monotonic milliseconds. */
  elapsed?: () => number
  /** Reads the usage of the disk with this folder. */
  readDisk?: (folder: string) => Promise<DiskUse>
  /** Folder of the built console, if not the default one. */
  consoleFolder?: string
  /** The storage failed for good. The caller must end the process. */
  onLost?: () => void
}

export type Start = ReturnType<typeof openStart>

const builtConsole = fileURLToPath(new URL('../../../console/dist', import.meta.url))

export function openStart(
  config: Config,
  {
    now: ownNow = Date.now,
    elapsed = () => performance.now(),
    readDisk = readDiskUse,
    consoleFolder = builtConsole,
    onLost = () => undefined,
  }: StartOptions,
  takeDown: TakeDown,
) {
  const log = openLog({
    level: config.logLevel,
    json: config.jsonLog,
    isoTime: config.logTime === 'iso',
    requestLevel: config.requestLogLevel,
  })
  takeDown.add(log.close)
  const metrics = buildMetrics()
  const tell: Tell = (event) => {
    metrics.tell(event)
    log.tell(event)
  }
  return {
    ...{ config, ownNow, elapsed, readDisk, consoleFolder, onLost, takeDown, log, metrics, tell },
    version: packageJson.version,
    stopping: new AbortController(),
  }
}

async function readDiskUse(folder: string): Promise<DiskUse> {
  const { bavail, blocks, bsize } = await statfs(folder)
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
}
