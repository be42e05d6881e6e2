// The port to connected devices in a cluster: a device that is not connected here may be connected to another node.

import type { Nodes } from '../../domain/common/ports/nodes.ts'
import type { DeviceKey } from '../../domain/device/device-key.ts'
import { type DeviceLink, keyOf } from '../../domain/device/ports/device-link.ts'
import type { WebhookLink } from '../../domain/webhook/webhook.ts'
import type { Dispatcher } from '../dispatcher.ts'

/** For a larger run, the hint carries only the run id, and other nodes read its devices from the store. */
const maxDevicesInHint = 50

export function shareLink(here: Dispatcher, nodes: Pick<Nodes, 'send'>): DeviceLink {
  const elsewhere = (devices: Iterable<DeviceKey>) =>
    [...devices].filter((device) => !here.isConnected(device))
  const wakeElsewhere = (devices: DeviceKey[]) => {
    if (devices.length > 0) nodes.send({ kind: 'wake', devices })
  }
  return {
    wake(devices) {
      const all = [...devices]
      here.wake(all)
      wakeElsewhere(elsewhere(all))
    },
    launched(ownerNo, run) {
      here.launched(ownerNo, run)
      if (run.devices.length > maxDevicesInHint) nodes.send({ kind: 'launched', ownerNo, runId: run.runId })
      else wakeElsewhere(elsewhere(run.devices.map(({ deviceId }) => ({ ownerNo, deviceId }))))
    },
    released(part, released) {
      here.released(part, released)
      const { ownerNo, runId, from, to } = part
      if (released.executions.length > maxDevicesInHint)
        nodes.send({ kind: 'released', ownerNo, runId, from, to })
      else wakeElsewhere(elsewhere(released.executions.map(({ deviceId }) => ({ ownerNo, deviceId }))))
    },
    withdraw(device, jobExecutionId) {
      here.withdraw(device, jobExecutionId)
      if (!here.isConnected(device)) nodes.send({ kind: 'withdraw', device: keyOf(device), jobExecutionId })
    },
    disconnect(device) {
      here.disconnect(device)
      nodes.send({ kind: 'credential-void', device: keyOf(device) })
    },
  }
}

/** Another node may be the one that delivers the webhook. */
export function shareWebhooks(here: WebhookLink, nodes: Pick<Nodes, 'send'>): WebhookLink {
  return {
    changed(webhookNo) {
      here.changed(webhookNo)
      nodes.send({ kind: 'webhook-changed', webhookNo })
    },
    test: (webhook) => here.test(webhook),
  }
}
