// Signing in and out, for pages that the service itself serves: the session is a cookie, and the client needs no key.

import type { ApiKey, SignIn, SignInTicket } from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

export class Session {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** With an API key, or with a ticket, which works once. */
  signIn(by: SignIn, { signal }: CallOptions = {}): Promise<ApiKey> {
    return this.#transport.value({ method: 'POST', path: '/job/api/session', body: by, signal })
  }

  signOut({ signal }: CallOptions = {}): Promise<void> {
    return this.#transport.value({ method: 'DELETE', path: '/job/api/session', signal })
  }

  /** Signs in once with the key of this client: `/sign-in#ticket=…`. */
  createTicket({ signal }: CallOptions = {}): Promise<SignInTicket> {
    return this.#transport.value({ method: 'POST', path: '/job/api/session/tickets', signal })
  }
}
