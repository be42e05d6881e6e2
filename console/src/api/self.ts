// Who is signed in: the key of this session. Undefined until that is known, null when nobody is.

import { type ApiKey, isJobcastError, type SignIn } from '@jobcast/client'
import { signal } from '@preact/signals'
import { jobcast } from './client.ts'
import { queryClient } from './query-client.ts'
import { forgetLists } from './use-list.ts'

export const self = signal<ApiKey | null | undefined>(undefined)

/** Why the page could not ask who is signed in. */
export const selfError = signal<unknown>(undefined)

/** A script cannot see the cookie; this says whether to ask at all, and no more. */
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
    if (isRefusal(error)) forgetSelf()
    else selfError.value = error
  }
}

export async function signIn(by: SignIn): Promise<void> {
  const key = await jobcast.session.signIn(by)
  queryClient.clear()
  forgetLists()
  localStorage.setItem(signedInBefore, 'yes')
  self.value = key
}

export async function signOut(): Promise<void> {
  await jobcast.session.signOut()
  forgetSelf()
}

/** The session has ended on the server: whatever is on the screen may not be seen any more. */
export function forgetSelf(): void {
  self.value = null
  localStorage.removeItem(signedInBefore)
  queryClient.clear()
  forgetLists()
}

queryClient.getQueryCache().subscribe((change) => {
  if (change.type === 'updated' && change.action.type === 'error' && isRefusal(change.action.error))
    forgetSelf()
})

/** The session or its key is not good any more, as opposed to a scope that it lacks. */
export function isRefusal(error: unknown): boolean {
  return isJobcastError(error, 'J-802', 'J-803', 'J-808')
}
