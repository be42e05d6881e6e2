// A device that is connected to a node and has subscribed to everything.

import type { TestContext } from 'node:test'
import { type Json, MqttLine, type SignIn } from '@jobcast/testkit/mqtt-line'
import { deviceFilters } from '@jobcast/testkit/simulated-device'

export type ConnectedDevice = {
  line: MqttLine
  notices: { suffix: string; json: Json }[]
  /** Resolves with the first notice that fits, also if it has come already. */
  notice(isIt: (suffix: string, json: Json) => boolean): Promise<Json>
}

/** `address` begins with mqtt or, for a WebSocket, with http. */
export async function connectDevice(
  t: TestContext,
  address: string,
  signIn: SignIn,
): Promise<ConnectedDevice> {
  const line = await MqttLine.open(address, signIn)
  t.after(() => line.cut())
  const notices: ConnectedDevice['notices'] = []
  let tell: () => void = () => undefined
  line.onNotice = (suffix, json) => {
    notices.push({ suffix, json })
    tell()
  }
  await line.subscribe(...deviceFilters)
  return {
    line,
    notices,
    async notice(isIt) {
      for (;;) {
        const found = notices.find(({ suffix, json }) => isIt(suffix, json))
        if (found) return found.json
        await new Promise<void>((resolve) => {
          tell = resolve
        })
      }
    },
  }
}

export const isNext = (suffix: string, json: Json) => suffix === 'notify-next' && json.execution !== undefined
