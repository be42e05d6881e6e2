// The issuer that people sign in at, if the service has one. Asks it from this machine, as `jobcast login` does.

import { exitCode } from '../errors/exit-code.ts'
import { discover, readAuthConfig } from '../service/person-login.ts'
import { reasonOf } from '../service/reach.ts'
import { type Finding, ok, problem, warning } from './finding.ts'

export async function* checkIssuer(url: string): AsyncGenerator<Finding> {
  const config = await readAuthConfig(url.replace(/\/+$/, ''))
  if (config === undefined) return
  const { issuer } = config
  try {
    const found = (await discover(config)).serverMetadata()
    yield found.device_authorization_endpoint === undefined
      ? warning(
          'issuer',
          `people sign in at ${issuer}, but it has no device flow: "jobcast login" needs a key`,
        )
      : ok('issuer', `people sign in at ${issuer}`)
  } catch (error) {
    yield judgeFailure(issuer, error)
  }
}

/** Only a warning if the issuer is unreachable: the service may still reach it. A wrong answer is a problem for both. */
function judgeFailure(issuer: string, error: unknown): Finding {
  const reason = reasonOf(error as Error)
  const { code, cause } = error as { code?: unknown; cause?: unknown }
  const isDown = cause instanceof Response && cause.status >= 500
  if (error instanceof TypeError || code === 'OAUTH_TIMEOUT' || isDown)
    return warning(
      'issuer',
      `${issuer} cannot be reached from here (${reason}): nobody can sign in from here`,
    )
  return problem(
    'issuer',
    `${issuer} does not respond as an OpenID Connect issuer (${reason}): check oidc-issuer`,
    exitCode.unavailable,
  )
}
