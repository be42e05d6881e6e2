// Sends one request and retries until it is answered: across lost connections, for days if necessary.

import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { DeviceOperation } from '@jobcast/contract'
import { orAborted } from './or-aborted.ts'
import { type Backoff, reconnectDelayMs } from './reconnect-delay.ts'
import { type Answer, NoAnswer, type Transport } from './transport.ts'

export type AskDeps = { transport: Transport; backoff: Backoff }

/** Rejects only when the signal is aborted. */
export async function ask(
  { transport, backoff }: AskDeps,
  operation: DeviceOperation,
  fields: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Answer> {
  for (let refusals = 0; ; ) {
    await transport.ready(signal)
    const answer = await orAborted(transport.request(operation, fields), signal).catch(noAnswer)
    if (answer === undefined) {
      // The transport notices a lost connection one turn of the event loop later.
      await nextTurn()
      continue
    }
    if (!isTemporary(answer)) return answer
    await sleep(reconnectDelayMs(refusals++, backoff), undefined, { signal })
  }
}

function noAnswer(error: unknown): undefined {
  if (!(error instanceof NoAnswer)) throw error
}

/** The server cannot accept it now, but will later. */
function isTemporary(answer: Answer): boolean {
  return (
    answer.outcome === 'rejected' && (answer.code === 'InternalError' || answer.code === 'RequestThrottled')
  )
}
