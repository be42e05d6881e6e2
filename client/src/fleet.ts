// The fleet overview.

import { List, type Query } from './list.ts'
import type {
  Bridge,
  FleetDevice,
  FleetGroups,
  Freeze,
  FreezeRequest,
  GetFleetGroupsQuery,
  ListBridgesQuery,
  ListFleetDevicesQuery,
  Fleet as WholeFleet,
} from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

export class Fleet {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Current counts, and the history of the last day. */
  get({ signal }: CallOptions = {}): Promise<WholeFleet> {
    return this.#transport.value({ method: 'GET', path: '/job/api/fleet', signal })
  }

  /** Devices with their last execution, in compact form; up to 10,000 per page. */
  devices(query: Query<ListFleetDevicesQuery> = {}, options: CallOptions = {}): List<FleetDevice> {
    return new List(this.#transport, '/job/api/fleet/devices', query, options)
  }

  /** Bridges to brokers of the user, and whether they work. */
  bridges(query: Query<ListBridgesQuery> = {}, options: CallOptions = {}): List<Bridge> {
    return new List(this.#transport, '/job/api/bridges', query, options)
  }

  /** Stops offering work to devices; running executions continue. */
  freeze(request: FreezeRequest, { signal }: CallOptions = {}): Promise<Freeze> {
    return this.#transport.value({
      method: 'POST',
      path: '/job/api/fleet/freeze',
      body: request,
      safe: true,
      signal,
    })
  }

  getFreeze({ signal }: CallOptions = {}): Promise<Freeze> {
    return this.#transport.value({ method: 'GET', path: '/job/api/fleet/freeze', signal })
  }

  async unfreeze({ signal }: CallOptions = {}): Promise<void> {
    await this.#transport.answer({ method: 'DELETE', path: '/job/api/fleet/freeze', signal })
  }

  /** Devices counted by tag and state. */
  groups(query: Query<GetFleetGroupsQuery> = {}, { signal }: CallOptions = {}): Promise<FleetGroups> {
    return this.#transport.value({ method: 'GET', path: '/job/api/fleet/groups', query, signal })
  }
}
