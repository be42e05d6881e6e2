// The address at which this service is reachable, as far as it knows.

import { hostname } from 'node:os'
import type { Config } from '../config/config.ts'

type ListenConfig = Pick<Config, 'host' | 'port' | 'publicUrl' | 'tls'>

export class OwnAddress {
  readonly #config: ListenConfig
  #reachable: string

  constructor(config: ListenConfig) {
    this.#config = config
    // Devices may send requests over MQTT or a broker before the API listens; only port 0 is unknown until then.
    this.#reachable = config.port === 0 ? '' : reachableAddress(config.port, config)
  }

  /** The base of URLs for devices. */
  readonly base = (): string => this.#config.publicUrl ?? this.#reachable

  /** Call when the API listens on this port. Returns its address. */
  listensAt(port: number): string {
    this.#reachable = reachableAddress(port, this.#config)
    return addressOf(port, this.#config)
  }
}

function addressOf(port: number, { host, tls }: ListenConfig): string {
  return `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Wildcard addresses are replaced by the host name, because clients cannot connect to them. */
function reachableAddress(port: number, config: ListenConfig): string {
  const isAny = config.host === '0.0.0.0' || config.host === '::'
  return addressOf(port, isAny ? { ...config, host: hostname() } : config)
}
