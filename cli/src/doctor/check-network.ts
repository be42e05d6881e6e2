// The way to the service, as far as it can be seen without HTTP: name, port, certificate.

import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { connect } from 'node:net'
import { type TLSSocket, connect as tlsConnect } from 'node:tls'
import { exitCode } from '../errors/exit-code.ts'
import { bad, type Finding, good, warning } from './finding.ts'

const patienceMs = 10_000
const soonDays = 21
const dayMs = 86_400_000

/** Stops at the first trouble: what comes behind it would only say the same. */
export async function* checkNetwork(address: string): AsyncGenerator<Finding> {
  const url = new URL(address)
  for (const check of [checkName, checkPort, checkEncryption]) {
    const finding = await check(url)
    yield finding
    if (finding.mark === 'bad') return
  }
}

async function checkName({ hostname }: URL): Promise<Finding> {
  try {
    const found = await lookup(hostOf(hostname), { all: true })
    return good('name', `${hostname} is ${found.map(({ address }) => address).join(', ')}`)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return bad('name', `${hostname} is not known here (${code}); is the address right?`, exitCode.unavailable)
  }
}

async function checkPort(url: URL): Promise<Finding> {
  const socket = connect({ host: hostOf(url.hostname), port: portOf(url) })
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(patienceMs) })
    return good('port', `port ${portOf(url)} takes connections`)
  } catch (error) {
    const why = reasonOf(error)
    const text = `port ${portOf(url)} takes no connection (${why}); is the service running, does a firewall stand between?`
    return bad('port', text, exitCode.unavailable)
  } finally {
    socket.destroy()
  }
}

async function checkEncryption(url: URL): Promise<Finding> {
  const { hostname } = url
  if (url.protocol === 'https:') return checkCertificate(url)
  const isHere = /^(?:localhost|127\..*|\[::1\])$/.test(hostname)
  if (isHere) return good('encryption', 'none, and none is needed on this machine')
  return warning('encryption', 'none: the API key travels in clear text; use https')
}

async function checkCertificate(url: URL): Promise<Finding> {
  const host = hostOf(url.hostname)
  // Looked at even if it is bad, to say what is bad about it. Nothing is sent.
  const socket = tlsConnect({ host, port: portOf(url), servername: nameFor(host), rejectUnauthorized: false })
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(patienceMs) })
    return judgeCertificate(socket)
  } catch (error) {
    return bad('encryption', `no TLS on this port (${reasonOf(error)})`, exitCode.unavailable)
  } finally {
    socket.destroy()
  }
}

function judgeCertificate(socket: TLSSocket): Finding {
  const { valid_to: until } = socket.getPeerCertificate()
  const days = Math.floor((Date.parse(until) - Date.now()) / dayMs)
  if (!socket.authorized) {
    const why = String(socket.authorizationError)
    const hint = 'NODE_EXTRA_CA_CERTS=<file> names others who sign'
    return bad('encryption', `the certificate is not trusted (${why}); ${hint}`, exitCode.unavailable)
  }
  const text = `${socket.getProtocol()}, the certificate is good for ${days} days`
  return days < soonDays ? warning('encryption', `${text}: renew it`) : good('encryption', text)
}

/** An address in an URL has brackets if it is one of IPv6. */
function hostOf(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '')
}

/** TLS names no addresses. */
function nameFor(host: string): string {
  return /^[\d.]+$|:/.test(host) ? '' : host
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
}

function reasonOf(error: unknown): string {
  const { name, code, message } = error as NodeJS.ErrnoException
  return name === 'AbortError' ? `no answer for ${patienceMs / 1000} s` : (code ?? message)
}
