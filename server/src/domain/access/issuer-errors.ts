/** The issuer does not answer, or not with what it should. */
export class IssuerUnavailable extends Error {
  constructor(cause: unknown) {
    super('The issuer cannot be reached', { cause })
    this.name = 'IssuerUnavailable'
  }
}

/** The issuer says no, or what it or the browser sent is not to be trusted. */
export class SignInRefused extends Error {
  constructor(cause: unknown) {
    super('The sign-in was refused', { cause })
    this.name = 'SignInRefused'
  }
}

const maxReason = 300

/** For the log. Only what errors say of themselves: their other fields may have tokens in them. */
export function reasonOf(error: unknown): string {
  const said: string[] = []
  let each = error
  for (; each instanceof Error && said.length < 5; each = each.cause) said.push(each.message)
  if (typeof each === 'string') said.push(each)
  return said.join(': ').slice(0, maxReason)
}
