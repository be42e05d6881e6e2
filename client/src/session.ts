// Sign-in and sign-out for pages served by the service itself: the session is a cookie, so the client needs no key.

import type { ApiKey, SignIn, SignInTicket, TicketFacts } from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

export class Session {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** With an API key, or with a single-use ticket. */
  signIn(by: SignIn, { signal }: CallOptions = {}): Promise<ApiKey> {
    return this.#transport.value({ method: 'POST', path: '/job/api/session', body: by, signal })
  }

  signOut({ signal }: CallOptions = {}): Promise<void> {
    return this.#transport.value({ method: 'DELETE', path: '/job/api/session', signal })
  }

  /** A ticket for one sign-in with the key of this client: `/sign-in#ticket=…`. */
  createTicket({ signal }: CallOptions = {}): Promise<SignInTicket> {
    return this.#transport.value({ method: 'POST', path: '/job/api/session/tickets', signal })
  }

  /** The key that a ticket signs in with; it remains valid. */
  checkTicket(ticket: string, { signal }: CallOptions = {}): Promise<TicketFacts> {
    return this.#transport.value({
      method: 'POST',
      path: '/job/api/session/tickets/check',
      body: { ticket },
      signal,
    })
  }
}
