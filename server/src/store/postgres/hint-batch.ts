// Hints for the other nodes, gathered while earlier ones are sent. Duplicates are removed, and they are packed into as few
// messages as possible.

import type { Hint } from '../../domain/common/ports/nodes.ts'

/** PostgreSQL accepts less than 8000 bytes per message. */
const maxBytes = 7900
/** With more hints, the other nodes should check everything. */
const maxWaiting = 20_000

export class HintBatch {
  /** Hints as JSON, so that the set removes duplicates. */
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

  /** All waiting hints as messages. */
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

/** Unknown hints, from nodes of another version, are ignored. */
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

/** Split into single hints, which are small and can be compared. */
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
