// The write-ahead journal of starts: each is on disk before it happens, so nothing is started twice after a crash.

import { randomBytes } from 'node:crypto'
import { type FileHandle, open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { AttemptKey } from './attempt-key.ts'
import {
  afterRecord,
  type Entry,
  type JournalRecord,
  keyOf,
  type ReadJournal,
  readRecords,
  recordsOf,
} from './journal-records.ts'

/** Settled entries kept, in case a server restored from a backup hands the execution out again. */
const settledKept = 1000
const rewriteBeyondBytes = 1024 * 1024

export class Journal {
  /** Changes if the journal was lost: then this agent must not resume what is in progress on the server. */
  readonly agentId: string
  readonly #path: string
  readonly #entries = new Map<string, Entry>()
  #file: FileHandle
  #bytes: number
  #isTailBad = false
  #writing: Promise<void> = Promise.resolve()

  private constructor(
    path: string,
    agentId: string,
    records: JournalRecord[],
    file: FileHandle,
    bytes: number,
  ) {
    this.#path = path
    this.agentId = agentId
    this.#file = file
    this.#bytes = bytes
    for (const record of records) this.#remember(record)
  }

  /** A damaged journal is renamed and replaced. */
  static async open(path: string, onReplaced: (keptAs: string) => void): Promise<Journal> {
    const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
    let found: ReadJournal | undefined = bytes?.length ? readRecords(bytes) : undefined
    if (found?.kind === 'damaged') {
      const keptAs = `${path}.damaged-${Date.now()}`
      await rename(path, keptAs)
      onReplaced(keptAs)
      found = undefined
    }
    if (found === undefined) {
      const agentId = randomBytes(6).toString('hex')
      const journal = new Journal(path, agentId, [], await open(path, 'a', 0o600), 0)
      await journal.#rewrite()
      return journal
    }
    const file = await open(path, 'r+')
    await file.truncate(found.goodBytes)
    const journal = new Journal(path, found.agentId, found.records, file, found.goodBytes)
    if (found.goodBytes > rewriteBeyondBytes) await journal.#rewrite()
    return journal
  }

  get(attempt: AttemptKey): Entry | undefined {
    return this.#entries.get(keyOf(attempt))
  }

  /** Oldest first. */
  unsettled(): Entry[] {
    return [...this.#entries.values()].filter(({ phase }) => phase !== 'settled')
  }

  /**
   * If this rejects, the record counts as not written. A durable record survives a power cut; any other survives only
   * the end of the agent.
   */
  async add(record: JournalRecord, isDurable: boolean): Promise<void> {
    const adding = this.#writing.then(async () => {
      await this.#write([record], isDurable)
      this.#remember(record)
    })
    this.#writing = adding.catch(() => undefined)
    await adding
    if (record.kind === 'settled' && this.#bytes > rewriteBeyondBytes) {
      // Not urgent: if it fails, the next settled record triggers it again.
      this.#writing = this.#writing.then(() => this.#rewrite()).catch(() => undefined)
    }
  }

  async close(): Promise<void> {
    await this.#writing
    await this.#file.close()
  }

  #remember(record: JournalRecord): void {
    if (record.kind === 'agent') return
    const key = keyOf(record)
    const entry = afterRecord(this.#entries.get(key), record)
    // Moved to the end, so that the oldest settled entries are dropped first.
    if (record.kind === 'settled') this.#entries.delete(key)
    if (entry) this.#entries.set(key, entry)
  }

  async #write(records: JournalRecord[], isDurable: boolean): Promise<void> {
    const bytes = Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(''))
    // Remove what a failed write has left behind.
    if (this.#isTailBad) await this.#file.truncate(this.#bytes)
    this.#isTailBad = true
    for (let written = 0; written < bytes.length; ) {
      const at = this.#bytes + written
      written += (await this.#file.write(bytes, written, bytes.length - written, at)).bytesWritten
    }
    if (isDurable) await this.#file.datasync()
    this.#isTailBad = false
    this.#bytes += bytes.length
  }

  /** Compacts into a new file; the old one stays until the new one is on disk. */
  async #rewrite(): Promise<void> {
    const settled = [...this.#entries.values()].filter(({ phase }) => phase === 'settled')
    for (const entry of settled.slice(0, -settledKept)) this.#entries.delete(keyOf(entry))
    const records = [...this.#entries.values()].flatMap(recordsOf)
    const newPath = `${this.#path}.new`
    const old = this.#file
    const state = { bytes: this.#bytes, isTailBad: this.#isTailBad }
    this.#file = await open(newPath, 'w', 0o600)
    this.#bytes = 0
    this.#isTailBad = false
    try {
      await this.#write([{ kind: 'agent', agentId: this.agentId }, ...records], true)
      await rename(newPath, this.#path)
    } catch (error) {
      await this.#file.close()
      this.#file = old
      this.#bytes = state.bytes
      this.#isTailBad = state.isTailBad
      throw error
    }
    await old.close()
    await syncFolder(dirname(this.#path))
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
