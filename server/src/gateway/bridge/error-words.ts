// Errors of a connection to a broker, in words.

/** Reasons why Node does not accept the certificate of a server: X509 error codes of Node, and a wrong name. */
const untrusted =
  /^(CERT_\w+|\w*SELF_SIGNED_CERT\w*|UNABLE_TO_(GET|VERIFY|DECODE|DECRYPT)_\w+|INVALID_(CA|PURPOSE)|PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH|ERR_TLS_CERT_\w+)$/
const fromOpenSsl = /:SSL routines:[^:]*:([^:]+)/
/** Alerts of the other end about our certificate. */
const ofOurCertificate = / alert ((?:.*certificate.*|unknown ca|access denied))$/

export function wordsOf(error: unknown): string {
  // Errors of sockets with several addresses have no text of their own.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(wordsOf).join('; ')
  if (!(error instanceof Error)) return String(error)
  if ('code' in error && untrusted.test(String(error.code)))
    return `the certificate of the broker is not trusted (${error.message})`
  const reason = fromOpenSsl.exec(error.message)?.[1]
  if (reason === undefined) return error.message
  const rejection = ofOurCertificate.exec(reason)?.[1]
  return rejection === undefined
    ? `TLS failed (${reason})`
    : `the broker rejects the certificate of the service (${rejection})`
}
