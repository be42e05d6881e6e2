// Sign-in: at the OpenID Connect issuer, with an API key, or with a ticket in the link that `npm start` prints.

import './sign-in.css'
import type { TicketFacts } from '@jobcast/client'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { jobcast } from '../api/client.ts'
import { hasIssuer, signInHref } from '../api/issuer.ts'
import { endedBecause, findSelf, mayBeSignedIn, signIn } from '../api/self.ts'
import { ticket } from '../api/ticket.ts'
import { useAction } from '../api/use-action.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { TextField } from '../parts/field.tsx'
import { Mark } from '../parts/navigation.tsx'

export default function SignInScreen({ onShown }: { onShown: () => void }) {
  const [apiKey, setApiKey] = useState('')
  const byTicket = useAction((taken: string) => signIn({ ticket: taken }))
  const byKey = useAction(() => signIn({ apiKey: apiKey.trim() }))
  useEffect(() => {
    document.title = 'Sign in · Jobcast'
    onShown()
  }, [onShown])
  const [isByIssuer, setByIssuer] = useState(false)
  useEffect(() => {
    void hasIssuer().then(setByIssuer)
  }, [])
  // Asks for confirmation, because a link from an attacker must not replace a session unnoticed.
  const [asked, setAsked] = useState<{ ticket: string; facts: TicketFacts }>()
  const checking = useAction(async (taken: string) => {
    setAsked({ ticket: taken, facts: await jobcast.session.checkTicket(taken) })
  })
  const waiting = ticket.value
  useEffect(() => {
    if (waiting === undefined) return
    ticket.value = undefined // a ticket can be used once
    void (mayBeSignedIn() ? checking : byTicket).run(waiting)
  }, [waiting, byTicket.run, checking.run])
  if (byTicket.isRunning || checking.isRunning || waiting !== undefined)
    return <main class="alone" aria-busy="true" />
  if (asked !== undefined) {
    return (
      <AskFirst
        facts={asked.facts}
        onAnswer={(isYes) => {
          setAsked(undefined)
          void (isYes ? byTicket.run(asked.ticket) : findSelf())
        }}
      />
    )
  }
  const linkError = byTicket.error ?? checking.error
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
        {linkError !== undefined && byKey.error === undefined && (
          <div class="error-note" role="alert">
            <p>
              <strong>This link has already been used or has expired.</strong> Sign in with an API key, or get
              a new link: <code>npm start</code> prints one.
            </p>
          </div>
        )}
        <ErrorNote error={byKey.error} />
        {isByIssuer && (
          <>
            <a class="button primary" href={signInHref(returnPath())}>
              Sign in with your account
            </a>
            <p class="or">or</p>
          </>
        )}
        <TextField
          label="API key"
          type="password"
          mono
          autoFocus
          required
          placeholder="jc_…"
          hint="The first one is in the file admin-key in the data folder. The browser keeps only a session, for at most 12 hours."
          value={apiKey}
          onInput={setApiKey}
        />
        <button
          type="submit"
          class={isByIssuer ? '' : 'primary'}
          disabled={byKey.isRunning || apiKey.trim() === ''}
        >
          Sign in
        </button>
      </form>
    </SignInFrame>
  )
}

/** The previous or requested page. */
function returnPath(): string {
  const { pathname, search } = location
  if (pathname !== '/sign-in') return pathname + search
  return new URLSearchParams(search).get('next') ?? '/'
}

function AskFirst({ facts, onAnswer }: { facts: TicketFacts; onAnswer: (isYes: boolean) => void }) {
  return (
    <SignInFrame>
      <section class="sign-in" aria-labelledby="ask-first">
        <h1 id="ask-first">
          <Mark />
          Sign in as another key?
        </h1>
        <p>
          This link signs in as key <strong>{facts.keyName}</strong> (<code>{facts.keyId}</code>) of owner{' '}
          <strong>{facts.ownerName}</strong>. It replaces the session of this browser. Continue only if you
          asked for the link.
        </p>
        <button type="button" class="primary" onClick={() => onAnswer(true)}>
          Sign in as {facts.keyName}
        </button>
        <button type="button" onClick={() => onAnswer(false)}>
          Keep my session
        </button>
      </section>
    </SignInFrame>
  )
}

const endings = {
  expired: 'Your session has expired. Sign in to continue where you were.',
  'signed out': 'You signed out in another tab.',
}

/** A modal dialog over the kept screen of an expired session, which may have an open dialog itself. */
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
