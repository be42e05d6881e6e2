// The connection of a bridge alone, with the errors that it has reported.

import type { TestContext } from 'node:test'
import type { BridgeSettings } from '../../../src/gateway/bridge/bridge-settings.ts'
import { BrokerLink } from '../../../src/gateway/bridge/broker-link.ts'

export function openLink(t: TestContext, settings: BridgeSettings) {
  const errors: string[] = []
  const link = new BrokerLink({
    settings,
    elapsed: () => performance.now(),
    receive: () => undefined,
    onUp: () => undefined,
    onLost: () => undefined,
    onError: (error, isNew) => isNew && errors.push(error),
    onRoom: () => undefined,
  })
  t.after(() => link.stop())
  link.start()
  return { link, errors }
}
