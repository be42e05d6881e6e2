// The port to connected devices where there are several nodes: who is not connected here may be elsewhere.

import { type DeviceLink, keyOf } from '../../domain/device-link.ts'
import type { Nodes } from '../../domain/nodes.ts'
import type { DeviceKey } from '../../domain/ports/devices.ts'
import type { WebhookLink } from '../../domain/webhook.ts'
import type { Dispatcher } from '../dispatcher.ts'

/** Of a run with more devices, other nodes read for themselves which they are. */
const fewDevices = 50

export function shareLink(here: Dispatcher, nodes: Pick<Nodes, 'tell'>): DeviceLink {
  const elsewhere = (devices: Iterable<DeviceKey>) =>
    [...devices].filter((device) => !here.isConnected(device))
  const wakeElsewhere = (devices: DeviceKey[]) => {
    if (devices.length > 0) nodes.tell({ kind: 'wake', devices })
  }
  return {
    wake(devices) {
      const all = [...devices]
      here.wake(all)
      wakeElsewhere(elsewhere(all))
    },
    launched(ownerNo, run) {
      here.launched(ownerNo, run)
      if (run.devices.length > fewDevices) nodes.tell({ kind: 'launched', ownerNo, runId: run.runId })
      else wakeElsewhere(elsewhere(run.devices.map(({ deviceId }) => ({ ownerNo, deviceId }))))
    },
    withdraw(device, jobExecutionId) {
      here.withdraw(device, jobExecutionId)
      if (!here.isConnected(device)) nodes.tell({ kind: 'withdraw', device: keyOf(device), jobExecutionId })
    },
    disconnect(device) {
      here.disconnect(device)
      nodes.tell({ kind: 'credential-void', device: keyOf(device) })
    },
  }
}

/** Another node may be the one that carries it out. */
export function shareWebhooks(here: WebhookLink, nodes: Pick<Nodes, 'tell'>): WebhookLink {
  return {
    changed(webhookNo) {
      here.changed(webhookNo)
      nodes.tell({ kind: 'webhook-changed', webhookNo })
    },
  }
}
