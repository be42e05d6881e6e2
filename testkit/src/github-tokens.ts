// The token service of a GitHub Actions job with `permissions: id-token: write`, here with an issuer of the tests.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { openForgingIssuer } from './forging-issuer.ts'
import type { Ending } from './temporary-folder.ts'

type GithubTokens = {
  /** The variables of the job. */
  env: { ACTIONS_ID_TOKEN_REQUEST_URL: string; ACTIONS_ID_TOKEN_REQUEST_TOKEN: string }
  /** The tokens it has issued. */
  readonly issued: string[]
}

export async function openGithubTokens(
  t: Ending,
  issuer: Pick<Awaited<ReturnType<typeof openForgingIssuer>>, 'url' | 'sign'>,
  subject: string,
): Promise<GithubTokens> {
  const bearer = 'of-this-job-only'
  const issued: string[] = []
  const server = createServer(async ({ url = '', headers }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://localhost')
    const isAllowed =
      headers.authorization === `Bearer ${bearer}` && searchParams.get('api-version') === '2.0'
    if (!isAllowed || pathname !== '/token') return response.writeHead(401).end()
    const iat = Math.floor(Date.now() / 1000)
    const aud = searchParams.get('audience')
    const value = await issuer.sign({ iss: issuer.url, sub: subject, aud, iat, exp: iat + 300 })
    issued.push(value)
    response.setHeader('content-type', 'application/json; charset=utf-8')
    return response.end(JSON.stringify({ count: value.length, value }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    env: {
      // As at GitHub, the address has a query already.
      ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${port}/token?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: bearer,
    },
    issued,
  }
}
