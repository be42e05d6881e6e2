// PUT and DELETE, alike for everything that has a name.

import type { Call, Transport } from './transport.ts'

/** `created`: it is new, otherwise it was replaced. */
export type Put<T> = { created: boolean; value: T }

export async function put<T>(transport: Transport, call: Omit<Call, 'method'>): Promise<Put<T>> {
  const { status, value } = await transport.answer<T>({ ...call, method: 'PUT' })
  return { created: status === 201, value }
}

/** Sent again because the answer got lost, it finds nothing more: then it was done. */
export async function remove(transport: Transport, call: Omit<Call, 'method'>): Promise<void> {
  await transport.answer({
    ...call,
    method: 'DELETE',
    wasServedBefore: ({ status, code }) => status === 404 && code !== 'J-901',
  })
}
