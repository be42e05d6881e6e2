// The ticket of a sign-in link. Read when the page loads, before the sign-in screen is.

import { signal } from '@preact/signals'
import { self } from './self.ts'

/** `/sign-in#ticket=…`: the part after # is not sent to any server. It is removed from the address and the history. */
export const ticket = signal(takeTicket())

// If the page is already open, opening a link does not reload it.
window.addEventListener('hashchange', () => {
  const taken = takeTicket()
  if (taken === undefined) return
  ticket.value = taken
  self.value = null
})

function takeTicket(): string | undefined {
  const taken = new URLSearchParams(location.hash.slice(1)).get('ticket')
  if (taken === null) return undefined
  history.replaceState(null, '', `${location.pathname}${location.search}`)
  return taken
}
