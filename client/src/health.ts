// Liveness and readiness of the service.

import type { CallOptions, Transport } from './transport.ts'

export class Health {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  live({ signal }: CallOptions = {}): Promise<{ status: 'ok' }> {
    return this.#transport.value({ method: 'GET', path: '/livez', signal })
  }

  version({ signal }: CallOptions = {}): Promise<{ version: string; api: number }> {
    return this.#transport.value({ method: 'GET', path: '/version', signal })
  }

  /** Rejects with J-909 or J-910 while the service is not ready. */
  ready({ signal }: CallOptions = {}): Promise<{ status: 'ok' }> {
    return this.#transport.value({ method: 'GET', path: '/readyz', signal })
  }
}
