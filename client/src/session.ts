// Sign-in and sign-out for pages served by the service itself: the session is a cookie, so the client needs no key.

import type { ExchangedToken, OwnKey, SignIn, SignInTicket, TicketFacts } from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

export class Session {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** With an API key, or with a single-use ticket. */
  signIn(by: SignIn, { signal }: CallOptions = {}): Promise<OwnKey> {
    return this.#transport.value({ method: 'POST', path: '/job/api/session', body: by, signal })
  }

  signOut({ signal }: CallOptions = {}): Promise<void> {
    return this.#transport.value({ method: 'DELETE', path: '/job/api/session', signal })
  }

  /** A ticket for one sign-in with the key of this client: `/sign-in#ticket=…`. */
  createTicket({ signal }: CallOptions = {}): Promise<SignInTicket> {
    return this.#transport.value({ method: 'POST', path: '/job/api/session/tickets', signal })
  }

  /**
   * Exchanges a token of a trusted issuer for 15 minutes of access (RFC 8693): the `access_token` is then sent as a key.
   * `audience`: the name of the owner, if several are possible. `accessToken`: the access token of a person.
   */
  exchange(
    idToken: string,
    { audience, accessToken, signal }: CallOptions & { audience?: string; accessToken?: string } = {},
  ): Promise<ExchangedToken> {
    const form = new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: idToken,
      subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
      ...(audience !== undefined && { audience }),
      ...(accessToken !== undefined && { access_token: accessToken }),
    })
    return this.#transport.value({
      method: 'POST',
      path: '/job/api/session/exchange',
      text: form.toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      signal,
    })
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
