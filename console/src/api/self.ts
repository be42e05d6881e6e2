// The signed-in key or person. Undefined while loading, null when signed out. All tabs share the session.

import type { OwnKey, SignIn } from '@jobcast/client'
import { signal } from '@preact/signals'
import { jobcast } from './client.ts'
import { hasIssuer, signOutEverywhere } from './issuer.ts'
import { queryCache } from './query-cache.ts'
import { isRefusal, onRefusal } from './refusal.ts'
import { clearLists } from './use-list.ts'

export const self = signal<OwnKey | null | undefined>(undefined)

/** Why the request for the signed-in key failed. */
export const selfError = signal<unknown>(undefined)

/** Why the session of this tab has ended. An expired session can be continued, so its screen is kept. */
export const endedBecause = signal<'expired' | 'signed out' | undefined>(undefined)

/** The key of the session whose screen is open, also while it is hidden because the session has expired. */
export const shownSelf = signal<OwnKey | undefined>(undefined)

/** Incremented for each session that cannot continue the previous one. */
export const sessionNumber = signal(0)

/** Scripts cannot read the cookie. This item has the id of the key, and notifies other tabs of changes. */
const signedInKey = 'jobcast-signed-in'

/** May be outdated, because the session may have ended on the server. */
export function mayBeSignedIn(): boolean {
  return localStorage.getItem(signedInKey) !== null
}

export async function findSelf(): Promise<void> {
  // After a return from the issuer, there is a session that is not recorded yet.
  if (!mayBeSignedIn() && !(await hasIssuer())) {
    self.value = null
    return
  }
  try {
    selfError.value = undefined
    const found = await jobcast.keys.self()
    localStorage.setItem(signedInKey, found.keyId)
    begin(found)
  } catch (error) {
    if (isRefusal(error)) endSession('expired')
    else selfError.value = error
  }
}

export async function signIn(by: SignIn): Promise<void> {
  const key = await jobcast.session.signIn(by)
  localStorage.setItem(signedInKey, key.keyId)
  begin(key)
}

function begin(key: OwnKey): void {
  // Another owner must not see data of the previous session.
  if (shownSelf.value?.ownerId !== key.ownerId || endedBecause.value !== 'expired') forgetAll()
  shownSelf.value = key
  endedBecause.value = undefined
  self.value = key
}

export async function signOut(): Promise<void> {
  const isPerson = self.value?.principal.startsWith('user:') ?? false
  const next = isPerson ? await signOutEverywhere() : await jobcast.session.signOut().then(() => undefined)
  endSession(undefined)
  if (next !== undefined) location.assign(next)
}

function endSession(because: 'expired' | 'signed out' | undefined): void {
  const wasOpen = self.value !== null && self.value !== undefined
  endedBecause.value = wasOpen ? because : undefined
  self.value = null
  localStorage.removeItem(signedInKey)
  if (endedBecause.value !== 'expired') forgetAll()
}

/** Clears all data, so that the next user cannot see it. */
function forgetAll(): void {
  queryCache.clear()
  clearLists()
  shownSelf.value = undefined
  sessionNumber.value++
}

/** Called when a request of this session was refused. */
export function sessionRefused(): void {
  if (self.value) endSession('expired')
}
onRefusal(sessionRefused)

// Another tab has signed in or out; all tabs share the cookie.
window.addEventListener('storage', ({ key, newValue }) => {
  if (key !== signedInKey) return
  if (newValue === null) {
    if (self.value) endSession('signed out')
  } else if (self.value?.keyId !== newValue) void findSelf()
})
