/// <reference path="./oidc-provider.d.ts" />
// A real OpenID Connect issuer (oidc-provider, which is certified) on a free port. Whoever comes is signed in at once, as the
// person that the test has set: the forms of an issuer are not ours to test.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'
import type { Ending } from './temporary-folder.ts'

type TestPerson = { sub: string } & Record<string, unknown>

type TestIssuer = {
  readonly url: string
  readonly clientId: string
  readonly clientSecret: string
  /** Who signs in next, and what is said of that person from now on. */
  person: TestPerson
  /** Answers nothing but errors while this is set. */
  isDown: boolean
  /** Tokens that were asked for by refresh tokens. */
  refreshes: number
  close(): Promise<void>
  /** On the same port. */
  reopen(): Promise<void>
}

type Options = { publicUrl: string; isPublic?: boolean }

export async function openIssuer(t: Ending, { publicUrl, isPublic = false }: Options): Promise<TestIssuer> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const [clientId, clientSecret] = ['jobcast', 'a-secret-of-the-tests']
  const claims = ['name', 'email', 'groups', 'realm_access', 'roles', '_claim_names']
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const issuer: TestIssuer = {
    ...{ url, clientId, clientSecret, person: { sub: 'nobody' }, isDown: false, refreshes: 0 },
    async close() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
    async reopen() {
      await once(server.listen(port, '127.0.0.1'), 'listening')
    },
  }
  const provider = new Provider(url, {
    clients: [
      {
        client_id: clientId,
        // Command lines have no secret.
        ...(isPublic ? { token_endpoint_auth_method: 'none' } : { client_secret: clientSecret }),
        grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
        redirect_uris: [`${publicUrl}/auth/callback`],
        post_logout_redirect_uris: [`${publicUrl}/sign-in`],
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: 'of-the-tests' }] },
    claims: { openid: ['sub'], profile: claims },
    cookies: { keys: ['of-the-tests'] },
    features: {
      devInteractions: { enabled: false },
      deviceFlow: { enabled: true },
      revocation: { enabled: true },
      rpInitiatedLogout: { enabled: true, logoutSource: signOutAtOnce },
    },
    interactions: { url: () => '/interaction' },
    issueRefreshToken: async () => true,
    findAccount: async (_context: unknown, sub: string) => ({
      accountId: sub,
      claims: async () => (sub === issuer.person.sub ? issuer.person : { sub }),
    }),
    loadExistingGrant: async (context: GrantContext) => {
      const { client, session, provider: its } = context.oidc
      const grant = new its.Grant({ clientId: client.clientId, accountId: session.accountId })
      grant.addOIDCScope('openid profile email offline_access')
      await grant.save()
      return grant
    },
  })
  provider.on('grant.success', (context) => {
    const { params } = (context as { oidc: { params: { grant_type: string } } }).oidc
    if (params.grant_type === 'refresh_token') issuer.refreshes++
  })
  const serve = provider.callback()
  server.on('request', (request, response) => {
    if (issuer.isDown) response.writeHead(503).end()
    else if (request.url?.startsWith('/interaction')) void interact(provider, issuer, request, response)
    else serve(request, response)
  })
  t.after(() => issuer.close())
  return issuer
}

/** Its own page asks, and loads a font from another host. */
function signOutAtOnce(context: { body: string }, form: string): void {
  const confirmed = form.replace('</form>', '<input type="hidden" name="logout" value="yes"></form>')
  context.body = `<!doctype html>${confirmed}<script>document.forms[0].submit()</script>`
}

type Grant = { addOIDCScope(scope: string): void; save(): Promise<void> }
type GrantContext = {
  oidc: {
    client: { clientId: string }
    session: { accountId: string }
    provider: { Grant: new (of: { clientId: string; accountId: string }) => Grant }
  }
}

async function interact(
  provider: Provider,
  { person }: TestIssuer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prompt } = await provider.interactionDetails(request, response)
  const result = prompt.name === 'login' ? { login: { accountId: person.sub } } : { consent: {} }
  await provider.interactionFinished(request, response, result)
}
