/// <reference path="./oidc-provider.d.ts" />
// A real OpenID Connect issuer (oidc-provider, which is certified) on a free port. It signs everyone in at once as the person
// that the test has set: the forms of an issuer are not tested here.

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
  /** The person who signs in next, with their claims from now on. */
  person: TestPerson
  /** Responds only with errors while this is set. */
  isDown: boolean
  /** Number of requests with a refresh token. */
  refreshes: number
  close(): Promise<void>
  /** On the same port. */
  reopen(): Promise<void>
}

type Options = {
  publicUrl: string
  isPublic?: boolean
  /** Issues access tokens for this address to clients that register themselves. */
  resource?: string
}

export async function openIssuer(
  t: Ending,
  { publicUrl, isPublic = false, resource }: Options,
): Promise<TestIssuer> {
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
        // A public client, such as a command line, has no secret.
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
      ...(resource !== undefined && ofResource(resource)),
    },
    ...(resource !== undefined && { extraTokenClaims: async () => issuer.person }),
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
      if (resource !== undefined) grant.addResourceScope(resource, 'profile')
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

function ofResource(resource: string) {
  const jwt = { sign: { alg: 'RS256' } }
  return {
    registration: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: async () => undefined,
      useGrantedResource: async () => true,
      getResourceServerInfo: async (_context: unknown, asked: string) => {
        if (asked !== resource) throw new Error(`a client asked for ${asked}`)
        return { scope: 'profile', audience: resource, accessTokenFormat: 'jwt', jwt }
      },
    },
  }
}

/** Replaces the issuer's own page, which asks first and loads a font from another host. */
function signOutAtOnce(context: { body: string }, form: string): void {
  const confirmed = form.replace('</form>', '<input type="hidden" name="logout" value="yes"></form>')
  context.body = `<!doctype html>${confirmed}<script>document.forms[0].submit()</script>`
}

type Grant = {
  addOIDCScope(scope: string): void
  addResourceScope(resource: string, scope: string): void
  save(): Promise<void>
}
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
