// The fleet at a glance.

import { List, type Query } from './list.ts'
import type { FleetDevice, ListFleetDevicesQuery, Fleet as WholeFleet } from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

export class Fleet {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** How much waits and runs, and the course of the last day. */
  get({ signal }: CallOptions = {}): Promise<WholeFleet> {
    return this.#transport.value({ method: 'GET', path: '/job/api/fleet', signal })
  }

  /** Devices with their last execution, in little space; a page has up to 10,000. */
  devices(query: Query<ListFleetDevicesQuery> = {}, options: CallOptions = {}): List<FleetDevice> {
    return new List(this.#transport, '/job/api/fleet/devices', query, options)
  }
}
