// The fleet overview.

import { List, type Query } from './list.ts'
import type {
  FleetDevice,
  FleetGroups,
  GetFleetGroupsQuery,
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

  /** Devices counted by tag and state. */
  groups(query: Query<GetFleetGroupsQuery> = {}, { signal }: CallOptions = {}): Promise<FleetGroups> {
    return this.#transport.value({ method: 'GET', path: '/job/api/fleet/groups', query, signal })
  }
}
