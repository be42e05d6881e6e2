// Hints on their way to the other nodes, gathered while those before them are sent: each thing is said once, in as few
// messages as their size allows.

import type { Hint } from '../../domain/common/ports/nodes.ts'

/** PostgreSQL takes less than 8000 bytes in a message. */
const maxBytes = 7900
/** If so many wait, the others may as well look at everything. */
const maxWaiting = 20_000

export class HintBatch {
  /** As JSON, so that what is said twice is there once. */
  #texts = new Set<string>()
  #hasEvents = false
  #saysNothing = false

  get isEmpty(): boolean {
    return this.#texts.size === 0 && !this.#hasEvents && !this.#saysNothing
  }

  add(hint: Hint): void {
    for (const each of singles(hint)) this.#texts.add(JSON.stringify(each))
    if (this.#texts.size > maxWaiting) this.#texts = new Set([JSON.stringify({ kind: 'check-all' })])
  }

  addEvents(): void {
    this.#hasEvents = true
  }

  addNothing(): void {
    this.#saysNothing = true
  }

  /** All that waits, as messages. */
  take(): string[] {
    const messages: string[] = []
    let message: string[] = this.#hasEvents ? ['"events"'] : []
    let bytes = 0
    for (const text of this.#texts) {
      const size = Buffer.byteLength(text) + 1
      if (bytes + size > maxBytes) {
        messages.push(`[${message.join()}]`)
        message = []
        bytes = 0
      }
      message.push(text)
      bytes += size
    }
    messages.push(`[${message.join()}]`)
    this.#texts = new Set()
    this.#hasEvents = false
    this.#saysNothing = false
    return messages
  }
}

/** Nodes of another version may say what this one does not know: that is passed over. */
export function readHints(text: string): { hints: Hint[]; events: boolean } {
  try {
    const all: unknown = JSON.parse(text)
    if (!Array.isArray(all)) return { hints: [], events: false }
    return {
      hints: all.filter((each) => typeof each === 'object' && each !== null),
      events: all.includes('events'),
    }
  } catch {
    return { hints: [], events: false }
  }
}

/** One by one they are small, and the same thing looks the same. */
function singles(hint: Hint): Hint[] {
  switch (hint.kind) {
    case 'wake':
      return hint.devices.map(({ ownerNo, deviceId }) => ({ kind: 'wake', devices: [{ ownerNo, deviceId }] }))
    case 'runs-changed':
      return hint.runIds.map((runId) => ({ kind: 'runs-changed', runIds: [runId] }))
    case 'outputs-grew':
      return hint.jobExecutionIds.map((id) => ({ kind: 'outputs-grew', jobExecutionIds: [id] }))
    default:
      return [hint]
  }
}
