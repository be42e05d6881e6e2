import type { Store } from '../../../domain/common/ports/store.ts'
import type { DeviceKey } from '../../../domain/device/device-key.ts'
import type { HttpGatewayDeps } from '../gateway-app.ts'
import type { KnownDevices } from './known-devices.ts'

type DdiSettings = {
  /** What links begin with. */
  base: () => string
  /** How long devices sleep while nothing waits for them. */
  pollSeconds: number
}

export type DdiDeps = HttpGatewayDeps & {
  store: Pick<Store, 'findOwnerByName' | 'getRun' | 'listExecutions' | 'hasUnfinished' | 'findClaim'>
  presence: { seenByDdi(device: DeviceKey): void }
  elapsed: () => number
  ddi: DdiSettings & { known: KnownDevices }
}

export type DdiParams = { tenant: string; deviceId: string; id?: string }
