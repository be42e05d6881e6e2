// TLS of the HTTPS and the MQTT listener: the certificate of the service, and which certificates of devices are trusted.

import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import type { Server, TlsOptions as ServerOptions, TLSSocket } from 'node:tls'
import type { Tell } from '../../observe/events.ts'
import { normalizeSerial, revokedSerials, splitRevocationLists } from './revoked-serials.ts'
import { watchFile } from './watch-file.ts'

type KeyPair = { cert: string; key: string }

export type TlsSettings = KeyPair & {
  /** Without it, listeners ask for no certificates. */
  deviceCa: string | undefined
  /** File with revocation lists; read again when it changes. */
  deviceCrlFile?: string | undefined
}

/** Subject of a trusted certificate. */
export type CertificateSubject = {
  commonName: string
  organization: string | undefined
  /** Serial number of the certificate, normalized as in revoked-serials.ts. */
  serial: string
}

type Verified = CertificateSubject & {
  expiresAt: number
  /** How often the lists had been read when the handshake began. */
  reads: number
}

/** The default of Node's HTTPS server, longer than that of the MQTT listener. */
const longestHandshakeMs = 120_000

export class ListenerTls {
  readonly #deviceCa: string | undefined
  #pair: KeyPair
  #lists: string[]
  #revoked: ReadonlySet<string> = new Set()
  #reads = 0
  #readAt = Number.NEGATIVE_INFINITY
  readonly #servers: Server[] = []
  readonly #verified = new WeakMap<Socket, Verified>()
  readonly #listeners: ((serials: ReadonlySet<string>) => void)[] = []
  readonly #stopWatching: (() => void) | undefined

  constructor({ cert, key, deviceCa, deviceCrlFile }: TlsSettings, tell: Tell) {
    this.#pair = { cert, key }
    this.#deviceCa = deviceCa
    this.#lists = deviceCrlFile === undefined ? [] : splitRevocationLists(readFileSync(deviceCrlFile, 'utf8'))
    const use = (pem: string) => tell({ kind: 'device-crl-read', revoked: this.#useLists(pem) })
    if (deviceCrlFile !== undefined)
      this.#stopWatching = watchFile(deviceCrlFile, use, (error) =>
        tell({ kind: 'device-crl-failed', error }),
      )
  }

  get asksForCertificates(): boolean {
    return this.#deviceCa !== undefined
  }

  /** For creating a server, which must then be passed to `serve`. Clients without a certificate sign in otherwise. */
  get serverOptions(): ServerOptions {
    return {
      ...this.#context(),
      ...(this.asksForCertificates && { requestCert: true, rejectUnauthorized: false }),
    }
  }

  serve(server: Server): void {
    this.#servers.push(server)
    // The lists may have changed since the server was created.
    server.setSecureContext(this.#context())
    // First, because other listeners ask for the subject.
    if (this.asksForCertificates)
      server.prependListener('secureConnection', (socket) => this.#remember(socket))
  }

  /** Open connections keep the previous certificate. */
  renew(pair: KeyPair): void {
    this.#pair = pair
    this.#renewContexts()
  }

  /** Called after the lists have been read again. The serials may belong to certificates of different CAs. */
  onRevoked(listener: (serials: ReadonlySet<string>) => void): void {
    this.#listeners.push(listener)
  }

  /** Undefined without a trusted certificate, and once it has expired or been revoked. */
  subjectOf(socket: Socket): CertificateSubject | undefined {
    const verified = this.#verified.get(socket)
    if (verified === undefined || verified.expiresAt <= Date.now()) return undefined
    // TLS has verified newer connections against the current lists, and knows which CA issued a serial.
    if (verified.reads < this.#reads && this.#revoked.has(verified.serial)) return undefined
    return verified
  }

  stop(): void {
    this.#stopWatching?.()
  }

  #useLists(pem: string): number {
    const lists = splitRevocationLists(pem)
    if (lists.length === 0) throw new Error('the file has no revocation list')
    const serials = revokedSerials(lists)
    const before = this.#lists
    this.#lists = lists
    try {
      this.#renewContexts()
    } catch (error) {
      this.#lists = before
      throw error
    }
    this.#revoked = serials
    this.#reads++
    this.#readAt = performance.now()
    for (const listener of this.#listeners) listener(serials)
    return serials.size
  }

  /** New contexts have new ticket keys, so no session is resumed without checking the current lists. */
  #renewContexts(): void {
    for (const server of this.#servers) server.setSecureContext(this.#context())
  }

  #context() {
    return {
      ...this.#pair,
      ...(this.#deviceCa && { ca: this.#deviceCa }),
      ...(this.#lists.length > 0 && { crl: this.#lists }),
    }
  }

  #remember(socket: TLSSocket): void {
    const mayBeOlder = performance.now() - this.#readAt < longestHandshakeMs
    const verified = verifiedOf(socket, mayBeOlder ? this.#reads - 1 : this.#reads)
    if (verified) this.#verified.set(socket, verified)
  }
}

/** A subject with repeated names is rejected. */
function verifiedOf(socket: TLSSocket, reads: number): Verified | undefined {
  if (!socket.authorized) return undefined
  const { subject, serialNumber = '', valid_to: validTo } = socket.getPeerCertificate()
  const { CN: commonName, O: organization } = subject ?? {}
  if (typeof commonName !== 'string' || Array.isArray(organization)) return undefined
  return {
    commonName,
    organization,
    serial: normalizeSerial(serialNumber),
    expiresAt: Date.parse(validTo),
    reads,
  }
}
