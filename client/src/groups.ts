// Groups: named selectors.

import { path } from './path.ts'
import { remove, resourceCalls } from './resource-calls.ts'
import type { CallOptions, Transport } from './transport.ts'

/** `force`: even if something refers to it; otherwise J-315. */
type DeleteOptions = CallOptions & { force?: boolean | undefined }

export type Groups = ReturnType<typeof groupCalls>

export function groupCalls(transport: Transport) {
  return {
    ...resourceCalls(transport, 'groups'),

    delete(groupName: string, { force, signal }: DeleteOptions = {}): Promise<void> {
      return remove(transport, {
        path: path`/job/api/groups/${groupName}`,
        query: force ? { force: true } : {},
        signal,
      })
    },
  }
}
