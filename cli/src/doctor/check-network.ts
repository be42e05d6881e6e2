// The connection to the service below HTTP: name, port, certificate.

import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { connect } from 'node:net'
import { type TLSSocket, connect as tlsConnect } from 'node:tls'
import { exitCode } from '../errors/exit-code.ts'
import { isLoopback } from '../service/http-url.ts'
import { type Finding, ok, problem, warning } from './finding.ts'

const waitLimitMs = 10_000
const soonDays = 21
const dayMs = 86_400_000

/** Stops at the first problem, which would affect the following checks as well. */
export async function* checkNetwork(address: string): AsyncGenerator<Finding> {
  const url = new URL(address)
  for (const check of [checkName, checkPort, checkEncryption]) {
    const finding = await check(url)
    yield finding
    if (finding.mark === 'problem') return
  }
}

async function checkName({ hostname }: URL): Promise<Finding> {
  try {
    const found = await lookup(hostOf(hostname), { all: true })
    return ok('name', `${hostname} resolves to ${found.map(({ address }) => address).join(', ')}`)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return problem(
      'name',
      `${hostname} cannot be resolved (${code}); is the address correct?`,
      exitCode.unavailable,
    )
  }
}

async function checkPort(url: URL): Promise<Finding> {
  const socket = connect({ host: hostOf(url.hostname), port: portOf(url) })
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(waitLimitMs) })
    return ok('port', `port ${portOf(url)} accepts connections`)
  } catch (error) {
    const why = reasonOf(error)
    const text = `cannot connect to port ${portOf(url)} (${why}); is the service running, or does a firewall block it?`
    return problem('port', text, exitCode.unavailable)
  } finally {
    socket.destroy()
  }
}

async function checkEncryption(url: URL): Promise<Finding> {
  if (url.protocol === 'https:') return checkCertificate(url)
  if (isLoopback(url)) return ok('encryption', 'none, and none is needed on loopback')
  return warning('encryption', 'none: the API key is sent in clear text; use https')
}

async function checkCertificate(url: URL): Promise<Finding> {
  const host = hostOf(url.hostname)
  // Read the certificate even if it is not trusted, to say why. No data is sent.
  const socket = tlsConnect({ host, port: portOf(url), servername: nameFor(host), rejectUnauthorized: false })
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(waitLimitMs) })
    return judgeCertificate(socket)
  } catch (error) {
    return problem('encryption', `no TLS on this port (${reasonOf(error)})`, exitCode.unavailable)
  } finally {
    socket.destroy()
  }
}

function judgeCertificate(socket: TLSSocket): Finding {
  const { valid_to: until } = socket.getPeerCertificate()
  const days = Math.floor((Date.parse(until) - Date.now()) / dayMs)
  if (!socket.authorized) {
    const why = String(socket.authorizationError)
    const hint = 'NODE_EXTRA_CA_CERTS=<file> adds trusted CAs'
    return problem('encryption', `the certificate is not trusted (${why}); ${hint}`, exitCode.unavailable)
  }
  const text = `${socket.getProtocol()}, the certificate is valid for ${days} more days`
  return days < soonDays ? warning('encryption', `${text}: renew it`) : ok('encryption', text)
}

/** Without the brackets of an IPv6 address. */
function hostOf(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '')
}

/** TLS server names cannot be IP addresses. */
function nameFor(host: string): string {
  return /^[\d.]+$|:/.test(host) ? '' : host
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
}

function reasonOf(error: unknown): string {
  const { name, code, message } = error as NodeJS.ErrnoException
  return name === 'AbortError' ? `no response for ${waitLimitMs / 1000} s` : (code ?? message)
}
