// Who is signed in: the key of this session. Undefined while loading, null when signed out.

import { type ApiKey, isJobcastError, type SignIn } from '@jobcast/client'
import { signal } from '@preact/signals'
import { jobcast } from './client.ts'
import { queryClient } from './query-client.ts'
import { clearLists } from './use-list.ts'

export const self = signal<ApiKey | null | undefined>(undefined)

/** Why the request for the signed-in key failed. */
export const selfError = signal<unknown>(undefined)

/** A script cannot see the cookie; this flag only tells whether asking makes sense. */
const signedInBefore = 'jobcast-signed-in'

export async function findSelf(): Promise<void> {
  if (localStorage.getItem(signedInBefore) === null) {
    self.value = null
    return
  }
  try {
    selfError.value = undefined
    self.value = await jobcast.keys.self()
  } catch (error) {
    if (isRefusal(error)) endSession()
    else selfError.value = error
  }
}

export async function signIn(by: SignIn): Promise<void> {
  const key = await jobcast.session.signIn(by)
  queryClient.clear()
  clearLists()
  localStorage.setItem(signedInBefore, 'yes')
  self.value = key
}

export async function signOut(): Promise<void> {
  await jobcast.session.signOut()
  endSession()
}

/** The session has ended on the server: nothing of it may stay on the screen. */
export function endSession(): void {
  self.value = null
  localStorage.removeItem(signedInBefore)
  queryClient.clear()
  clearLists()
}

queryClient.getQueryCache().subscribe((change) => {
  if (change.type === 'updated' && change.action.type === 'error' && isRefusal(change.action.error))
    endSession()
})

/** The session or its key is no longer valid, as opposed to a missing scope. */
export function isRefusal(error: unknown): boolean {
  return isJobcastError(error, 'J-802', 'J-803', 'J-808')
}
