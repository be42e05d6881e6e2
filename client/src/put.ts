// PUT and DELETE, shared by all named resources.

import type { Call, Transport } from './transport.ts'

/** `created` is false if it was replaced. */
export type Put<T> = { created: boolean; value: T }

export async function put<T>(transport: Transport, call: Omit<Call, 'method'>): Promise<Put<T>> {
  const { status, value } = await transport.answer<T>({ ...call, method: 'PUT' })
  return { created: status === 201, value }
}

/** Only if it does not exist yet, else J-312. Not retried: an answer that got lost may have created it. */
export function ifAbsent<T extends Omit<Call, 'method'>>(
  call: T,
  { ifAbsent }: { ifAbsent?: boolean | undefined },
): T & Omit<Call, 'method'> {
  return ifAbsent ? { ...call, headers: { ...call.headers, 'if-none-match': '*' }, safe: false } : call
}

/** If a retry after a lost answer finds nothing, the first request was successful. */
export async function remove(transport: Transport, call: Omit<Call, 'method'>): Promise<void> {
  await transport.answer({
    ...call,
    method: 'DELETE',
    wasServedBefore: ({ status, code }) => status === 404 && code !== 'J-901',
  })
}
