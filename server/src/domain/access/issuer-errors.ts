/** The issuer does not respond, or not as specified. */
export class IssuerUnavailable extends Error {
  constructor(cause: unknown) {
    super('The issuer cannot be reached', { cause })
    this.name = 'IssuerUnavailable'
  }
}

/** The issuer refuses, or its response or the browser's request cannot be trusted. */
export class SignInRefused extends Error {
  constructor(cause: unknown) {
    super('The sign-in was refused', { cause })
    this.name = 'SignInRefused'
  }
}

const maxReason = 300

/** For the log. Only error messages: other fields may contain tokens. */
export function reasonOf(error: unknown): string {
  const said: string[] = []
  let each = error
  for (; each instanceof Error && said.length < 5; each = each.cause) said.push(each.message)
  if (typeof each === 'string') said.push(each)
  return said.join(': ').slice(0, maxReason)
}
