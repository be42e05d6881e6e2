// Sign-in: by an API key, or by a ticket in the link that `npm start` prints.

import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { endedBecause, self, signIn } from '../api/self.ts'
import { useAction } from '../api/use-action.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { TextField } from '../parts/field.tsx'
import { Mark } from '../parts/navigation.tsx'

/** `/sign-in#ticket=…`: what is behind the # reaches no server. It is taken out of the address and of the history. */
export const ticket = signal(takeTicket())

// A link opened where the page is already open does not reload it.
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

export function SignInScreen({ onShown }: { onShown: () => void }) {
  const [apiKey, setApiKey] = useState('')
  const byTicket = useAction((taken: string) => signIn({ ticket: taken }))
  const byKey = useAction(() => signIn({ apiKey: apiKey.trim() }))
  useEffect(() => {
    document.title = 'Sign in · Jobcast'
    onShown()
  }, [onShown])
  const waiting = ticket.value
  useEffect(() => {
    if (waiting === undefined) return
    ticket.value = undefined // it works once
    void byTicket.run(waiting)
  }, [waiting, byTicket.run])
  if (byTicket.isRunning || waiting !== undefined) return <main class="alone" aria-busy="true" />
  return (
    <SignInFrame>
      <form
        class="sign-in"
        onSubmit={(event) => {
          event.preventDefault()
          void byKey.run()
        }}
      >
        <h1>
          <Mark />
          Sign in to Jobcast
        </h1>
        {endedBecause.value !== undefined && <p role="status">{endings[endedBecause.value]}</p>}
        {byTicket.error !== undefined && byKey.error === undefined && (
          <div class="error-note" role="alert">
            <p>
              <strong>This link has already been used or has expired.</strong> Sign in with an API key, or get
              a new link: <code>npm start</code> prints one.
            </p>
          </div>
        )}
        <ErrorNote error={byKey.error} />
        <TextField
          label="API key"
          type="password"
          mono
          autoFocus
          required
          placeholder="jc_…"
          hint="The first one is in the file admin-key in the data folder. The browser keeps only a session, for 12 hours."
          value={apiKey}
          onInput={setApiKey}
        />
        <button type="submit" class="primary" disabled={byKey.isRunning || apiKey.trim() === ''}>
          Sign in
        </button>
      </form>
    </SignInFrame>
  )
}

const endings = {
  expired: 'Your session has expired. Sign in to continue where you were.',
  'signed out': 'You signed out in another tab.',
}

/** Over the kept screen of an expired session it is a modal dialog: that screen may have one open, too. */
function SignInFrame({ children }: { children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const isOverlay = endedBecause.value === 'expired'
  useEffect(() => {
    if (isOverlay) dialog.current?.showModal()
  }, [isOverlay])
  const frame = <main class="alone">{children}</main>
  if (!isOverlay) return frame
  return (
    <dialog
      ref={dialog}
      class="sign-in-overlay"
      aria-label="Sign in"
      onCancel={(event) => event.preventDefault()}
    >
      {frame}
    </dialog>
  )
}
