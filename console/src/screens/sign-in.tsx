// Sign-in: by an API key, or by a ticket in the link that `npm start` prints.

import { useEffect, useState } from 'preact/hooks'
import { signIn } from '../api/self.ts'
import { useAction } from '../api/use-action.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { TextField } from '../parts/field.tsx'
import { Mark } from '../parts/navigation.tsx'

/** `/sign-in#ticket=…`: what is behind the # reaches no server. It is taken out of the address and of the history. */
export function takeTicket(): string | undefined {
  const ticket = new URLSearchParams(location.hash.slice(1)).get('ticket')
  if (ticket === null) return undefined
  history.replaceState(null, '', `${location.pathname}${location.search}`)
  return ticket
}

type Props = { ticket: string | undefined; onRefused: () => void }

let isTicketUsed = false

export function SignInScreen({ ticket, onRefused }: Props) {
  const [apiKey, setApiKey] = useState('')
  const byTicket = useAction(async () => {
    await signIn({ ticket: ticket ?? '' })
  })
  const byKey = useAction(async () => {
    await signIn({ apiKey: apiKey.trim() })
  })
  // Once, when it is shown.
  useEffect(() => {
    document.title = 'Sign in · Jobcast'
    onRefused()
    if (ticket === undefined || isTicketUsed) return
    isTicketUsed = true
    void byTicket.run()
  }, [])
  if (byTicket.isRunning) return <main class="alone" aria-busy="true" />
  return (
    <main class="alone">
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
        {byTicket.error !== undefined && byKey.error === undefined && (
          <div class="error-note" role="alert">
            <p>
              <strong>This link has been used already, or is too old.</strong> Sign in with an API key, or get
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
          hint="The first one is in the file admin-key of the data folder. It stays with the server; the browser keeps a session of 12 hours."
          value={apiKey}
          onInput={setApiKey}
        />
        <button type="submit" class="primary" disabled={byKey.isRunning || apiKey.trim() === ''}>
          Sign in
        </button>
      </form>
    </main>
  )
}
