// One request, asked until it is answered: over lost connections, for days if need be.

import { setTimeout as rest, setImmediate as turn } from 'node:timers/promises'
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
      // A connection that is lost is known as lost one turn later.
      await turn()
      continue
    }
    if (!isPassing(answer)) return answer
    await rest(reconnectDelayMs(refusals++, backoff), undefined, { signal })
  }
}

function noAnswer(error: unknown): undefined {
  if (!(error instanceof NoAnswer)) throw error
}

/** The server cannot store it now; later it will. */
function isPassing(answer: Answer): boolean {
  return (
    answer.outcome === 'rejected' && (answer.code === 'InternalError' || answer.code === 'RequestThrottled')
  )
}
