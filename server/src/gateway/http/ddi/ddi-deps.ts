import type { Store } from '../../../domain/common/ports/store.ts'
import type { DeviceKey } from '../../../domain/device/device-key.ts'
import type { HttpGatewayDeps } from '../gateway-app.ts'
import type { KnownDevices } from './known-devices.ts'

type DdiSettings = {
  /** The base URL of links. */
  base: () => string
  /** The poll interval of devices for which nothing is pending. */
  pollSeconds: number
}

export type DdiDeps = HttpGatewayDeps & {
  store: Pick<Store, 'findOwnerByName' | 'getRun' | 'listExecutions' | 'hasUnfinished' | 'findClaim'>
  presence: { seenByDdi(device: DeviceKey): void }
  elapsed: () => number
  ddi: DdiSettings & { known: KnownDevices }
}

export type DdiParams = { tenant: string; deviceId: string; id?: string }
