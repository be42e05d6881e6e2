// An issuer that signs whatever a test wants, including what no honest issuer sends.

import { createHmac, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose'
import type { Ending } from './temporary-folder.ts'

type Forge = (claims: Record<string, unknown>, header?: { kid?: string; typ?: string }) => Promise<string>

type ForgingIssuer = {
  readonly url: string
  /** A valid signature. */
  sign: Forge
  /** Signed with a key that is not published. */
  signByStranger: Forge
  unsigned: Forge
  /** Signed with HS256, with the published key as the secret. */
  signByPublicKey: Forge
  /** The response of the token endpoint. */
  idToken: (nonce: string) => Promise<string>
  /** How often its discovery document was requested. */
  discoveries: number
  /** Switches to new keys. */
  rotate(): Promise<void>
}

export async function openForgingIssuer(t: Ending): Promise<ForgingIssuer> {
  let keys = await newKeys('first')
  const stranger = await newKeys('first')
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', url)
    const answer = (body: unknown) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(body))
    }
    if (pathname === '/.well-known/openid-configuration') {
      issuer.discoveries++
      answer(metadataOf(url))
    } else if (pathname === '/jwks') answer({ keys: [keys.published] })
    else if (pathname === '/token') {
      request.resume()
      void issuer
        .idToken('')
        .then((idToken) => answer({ access_token: 'opaque', token_type: 'Bearer', id_token: idToken }))
    } else response.writeHead(404).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer: ForgingIssuer = {
    url,
    sign: (claims, header) => signBy(keys, claims, header),
    signByStranger: (claims, header) => signBy(stranger, claims, header),
    unsigned: async (claims) => `${encode({ alg: 'none' })}.${encode(claims)}.`,
    async signByPublicKey(claims) {
      const signed = `${encode({ alg: 'HS256', kid: keys.kid })}.${encode(claims)}`
      const secret = await exportSPKI(keys.publicKey)
      return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
    },
    idToken: async () => '',
    discoveries: 0,
    async rotate() {
      keys = await newKeys('second')
    },
  }
  return issuer
}

type Keys = { kid: string; publicKey: CryptoKey | KeyObject; privateKey: CryptoKey; published: object }

async function newKeys(kid: string): Promise<Keys> {
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true })
  return {
    kid,
    publicKey,
    privateKey,
    published: { ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' },
  }
}

function signBy({ kid, privateKey }: Keys, claims: Record<string, unknown>, header = {}): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid, ...header }).sign(privateKey)
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function metadataOf(url: string): object {
  return {
    issuer: url,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    jwks_uri: `${url}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    // A careless issuer announces even the worst algorithms, so only our own checks refuse them.
    id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
  }
}
